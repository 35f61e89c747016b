"""Cumulus Linux: the switch, its ports with FEC and modules, what LLDP hears, and QoS under a RoCE mode.

NVUE is asked for text. Of its JSON, the same on the command line and by REST, one answer is at hand, of the interfaces of release
4.4: over REST (`transport: https`) that is asked for and the rest is a gap. Traps, each met in a capture or in an example of the
vendor's documents:

- Wide columns are cut with `…`, in the line of dashes too: a MAC address in `Remote Port` is half one. LLDP is asked of lldpd.
- Lines of `nv show interface` without a name go on in the last column. 5.11 has two columns of states where others had one.
- `operational` may be empty while `applied` is set: only what runs is read.
- The MTU is that of the IP packet, as the kernel has it.
- A port with a 100GBASE-DR1 module shows FEC `off`: the module does it.
- Both ends of a copper cable carry one serial number; two ports with the same may be one cable.
- The view of a port rounds thresholds to the chip's cells and then to two digits: not one of them is a number of bytes.
- `nv show qos roce` says `enabled`, the port `yes`; lists may be `-`, commas or ranges.
- Of a file of settings most lines are comments, each of which looks like a setting. What NVUE applies it writes there too.

What runs on a port is asked port by port, as is its link: there is no proven form for all. Where a port tells no RoCE mode, the
file says what is configured, and QoS as it runs is a gap. With three commands for each port, a switch of many ports may need a
longer `device_deadline`.
"""

from __future__ import annotations

from auditor.address import Layer
from auditor.dialects import lldpctl, lldpctl_text
from auditor.facts import (
    Buffer,
    BufferPool,
    ClassMap,
    DscpMap,
    Firmware,
    Interface,
    Neighbour,
    Optic,
    QosPort,
    Queue,
    System,
)
from auditor.model import Failure, Fill, GapReason, Parameter, Parser, Platform, Privilege, Source, Transport, Unsupported
from auditor.platforms.cumulus_linux import config, lldp, names, ports, qos, system

_NO_PROOF = "no capture and no document of Cumulus Linux proves what it prints of it"
_PORTS = Parameter("port", ("interfaces",), names.listed)
_NEIGHBOUR = r"^Interface: +{0}," + "\n"
_TREE = r"^ +operational +applied\b"
_CONFIGURED = (
    Fill(QosPort, Layer.CONFIGURED, config.PORT, whole=False),
    Fill(Queue, Layer.CONFIGURED, config.QUEUE, whole=False),
)
_SET = r"^/etc/cumulus/[\w./-]+\.conf:[ \t]*"
_OF_CONFIGURED = {
    "qos_port": r"^/proc/net/dev: *{0}:",
    "qos_port.trust": _SET + r"(?:traffic|source\.[^.\s]+)\.packet_priority_source_set\b",
    "qos_port.pfc_priorities": _SET + r"pfc\.[^.\s]+\.cos_list\b",
    "qos_port.pfc_direction": _SET + r"pfc\.[^.\s]+\.rx_enable\b",
    "queue": _SET + r"[\w.-]+\.egress_queue_list\b",
    "queue.ecn_min_bytes": _SET + r"[\w.-]+\.min_threshold_bytes\b",
    "queue.ecn_max_bytes": _SET + r"[\w.-]+\.max_threshold_bytes\b",
    "queue.ecn_enabled": _SET + r"[\w.-]+\.ecn_enable\b",
    "queue.ecn_probability": _SET + r"[\w.-]+\.probability\b",
}
_OF_FILE = (r"^/etc/cumulus/[\w./-]+\.conf:", r"^/proc/net/dev:Inter-\|", r"^/proc/net/dev: *swp\d")

PLATFORM = Platform(
    name="cumulus_linux",
    title="NVIDIA Cumulus Linux",
    also=(Transport.HTTPS,),
    sources=(
        Source(
            key="system",
            command="nv show system",
            fills=(Fill(System, Layer.APPLIED, ("hostname",)),),
            parser=Parser.TEXT,
            normalise=system.hostname,
            anchor=(r"^hostname +\S", r"^(?:uptime|timezone|product-name) +\S"),
            proof={"system": r"^hostname +"},
            proven_by="Cumulus Linux documents, nv show system of 5.5 and 5.14 to 5.16",
        ),
        Source(
            key="release",
            command="cat /etc/lsb-release",
            fills=(Fill(System, Layer.APPLIED, ("os_name", "os_version")),),
            parser=Parser.TEXT,
            normalise=system.release,
            anchor=(r'^DISTRIB_ID="Cumulus Linux"', r"^DISTRIB_RELEASE=\S", r"^DISTRIB_DESCRIPTION=\S"),
            proof={"system.os_name": r"^DISTRIB_ID=", "system.os_version": r"^DISTRIB_RELEASE="},
            proven_by="capture cumulus/sq_cl379_spine02 (the file stands in it); Cumulus Linux documents, 3.5 to 5",
        ),
        Source(
            key="platform",
            command="nv show platform",
            fills=(Fill(System, Layer.APPLIED, ("vendor", "hardware_model", "serial")),),
            parser=Parser.TEXT,
            normalise=system.platform,
            anchor=(r"^ +operational\b", r"^manufacturer +\S", r"^serial-number +\S"),
            proof={"system.vendor": r"^manufacturer ", "system.hardware_model": r"^product-name ",
                "system.serial": r"^serial-number "},
            proven_by="capture cumulus/platform_cl513",
        ),
        Source(
            key="firmware",
            command="nv show platform firmware",
            fills=(Fill(Firmware, Layer.APPLIED, ("version", "part_number")),),
            parser=Parser.TEXT,
            normalise=system.firmware,
            anchor=(r"^Name +Actual FW +Part Number\b", r"^BIOS "),
            proof={"firmware": r"^(?i:{0}) "},
            proven_by="NVUE command reference, nv show platform firmware (5.9 and later)",
        ),
        Source(
            key="interfaces",
            command="nv show interface",
            fills=(Fill(Interface, Layer.APPLIED, ports.COLUMNS),),
            parser=Parser.TEXT,
            normalise=ports.interfaces,
            anchor=(r"^Interface +(?:State|Admin Status +Oper Status) +Speed +MTU +Type\b",),
            proof={"interface": r"^{0} "},
            proven_by="capture cumulus/nvue_ref_cl54; Cumulus Linux documents, nv show interface of 5.11 and later",
            seconds=30.0,
        ),
        Source(
            key="interfaces_json",
            command="nv show interface -o json",
            rest="/nvue_v1/interface?rev=operational",
            fallback_for="interfaces",
            fills=(Fill(Interface, Layer.APPLIED, ports.DOCUMENT),),
            parser=Parser.JSON,
            normalise=ports.document,
            proof={
                "interface": "/{0}/link", "interface.mtu": "/{0}/link/mtu", "interface.mtu_shown": "/{0}/link/mtu",
                "interface.speed": "/{0}/link/speed", "interface.mac": "/{0}/link/mac", "interface.up": "/{0}/link/state",
                "interface.autoneg": "/{0}/link/auto-negotiate",
            },
            proven_by="answer of the REST API of release 4.4 in a recorded demonstration; NVIDIA: CLI and API share one document",
            seconds=30.0,
        ),
        Source(
            key="link",
            command="nv show interface {port} link",
            aliases=("nv show int {port} link",),
            parameter=_PORTS,
            fills=(Fill(Interface, Layer.APPLIED, ("fec", "autoneg"), whole=False),),
            parser=Parser.TEXT,
            normalise=ports.link,
            anchor=(_TREE, r"^auto-negotiate\b", r"^fec\b", r"^mtu +\d", r"^state +\S"),
            proof={"interface.fec": r"^fec\b", "interface.autoneg": r"^auto-negotiate\b"},
            proven_by="capture cumulus/fec_cl515_sn2700",
        ),
        Source(
            key="ethtool",
            command="ethtool {port}",
            fallback_for="link",
            parameter=_PORTS,
            fills=(Fill(Interface, Layer.APPLIED, ("autoneg",), whole=False),),
            parser=Parser.TEXT,
            normalise=ports.ethtool,
            anchor=(r"^Settings for \S+:", r"^\s*Auto-negotiation: \S", r"^\s*Link detected: (?:yes|no)\b"),
            proof={"interface": r"^\s*Auto-negotiation:"},
            proven_by="capture cumulus/ethtool_cl513",
        ),
        Source(
            key="transceivers",
            command="nv show platform transceiver",
            fills=(Fill(Optic, Layer.APPLIED, ("present", "type", "vendor", "part_number", "serial"), whole=False),),
            parser=Parser.TEXT,
            normalise=ports.transceivers,
            anchor=(r"^Transceiver +Identifier +Vendor name +Vendor PN +Vendor SN\b",),
            proof={"optic": r"^{0} "},
            proven_by="capture cumulus/transceivers_cl513",
            seconds=30.0,
        ),
        Source(
            key="lldp",
            command="lldpctl -f json",
            privilege=Privilege.SUDO,
            aliases=(
                "lldpctl -f json0", "lldpcli show neighbors -f json", "lldpcli -f json show neighbors", "net show lldp json",
                "net_show_lldp_json",
            ),
            fills=(Fill(Neighbour, Layer.APPLIED, lldpctl.COLUMNS),),
            parser=Parser.JSON,
            normalise=lldp.document,
            proof={"neighbour": "/lldp/interface/{0}"},
            proven_by="capture cumulus/sq_cl379_leaf01; lldpd, which Cumulus runs",
        ),
        Source(
            key="lldp_text",
            command="lldpctl",
            privilege=Privilege.SUDO,
            fallback_for="lldp",
            aliases=("lldpcli show neighbors", "sudo lldpcli show neighbors"),
            fills=(Fill(Neighbour, Layer.APPLIED, lldpctl.COLUMNS),),
            parser=Parser.TEXT,
            normalise=lldp.text,
            anchor=(r"^LLDP neighbors:", lldpctl_text.END),
            proof={
                "neighbour": _NEIGHBOUR + r"^ +PortID: +\S+ {1}$", "neighbour.system": _NEIGHBOUR + r"^ +SysName:",
                "neighbour.port_description": _NEIGHBOUR + r"^ +PortDescr:",
                "neighbour.chassis": _NEIGHBOUR + r"^ +ChassisID:",
            },
            proven_by="capture cumulus/lldp_cl513",
        ),
        Source(
            key="roce",
            command="nv show qos roce",
            fills=(
                Fill(DscpMap, Layer.APPLIED, ("traffic_class",)),
                Fill(ClassMap, Layer.APPLIED, ("kind", "to")),
                Fill(Buffer, Layer.APPLIED, ("mode", "vendor_word", "ingress_pools")),
                Fill(BufferPool, Layer.APPLIED, ("direction", "mode")),
            ),
            parser=Parser.TEXT,
            normalise=qos.roce,
            anchor=(
                _TREE, r"^RoCE PCP/DSCP->SP mapping", r"^RoCE SP->TC mapping", r"^RoCE pool config",
                r"^Exception List\s*\n=+\s*\n\s*\S",
            ),
            proof={
                "dscp_map": r"^ +\d+ +\d +(?:\d+,)*{1}(?:,\d+)* +\d+ *$",
                "class_map": r"^RoCE SP->TC mapping and ETS configurations *" + "\n" + r"^ +\d+ +{1} +\d+ +\S",
                "buffer": r"^mode +\S", "buffer.ingress_pools": r"^RoCE pool config", "buffer_pool": r"^ +\d+ +{0} ",
            },
            proven_by="capture cumulus/roce_cl515_single_ipool; Cumulus Linux documents, lossy-multi-tc of 5.15",
            seconds=20.0,
        ),
        Source(
            key="roce_status",
            command="nv show interface {port} qos roce status",
            parameter=_PORTS,
            fills=(
                Fill(QosPort, Layer.APPLIED, qos.PORT, whole=False),
                Fill(Queue, Layer.APPLIED, ("ecn_enabled", "ecn_probability"), whole=False),
            ),
            parser=Parser.TEXT,
            normalise=qos.status,
            anchor=(_TREE, r"^congestion-control\b", r"^  trust-mode +\S", r"^mode +\S", r"^RoCE Pool Status"),
            proof={
                "qos_port.trust": r"^  trust-mode ", "qos_port.pfc_priorities": r"^  pfc-priority ", "qos_port": r"^mode +",
                "qos_port.pfc_direction": r"^  rx-enabled ", "queue": r"^  enabled-tc ", "queue.ecn_probability": r"^  "
                "probability ",
            },
            proven_by="capture cumulus/roce_cl511",
        ),
        Source(
            key="qos_features",
            command="grep -H '' /etc/cumulus/datapath/qos/qos_features.conf /proc/net/dev",
            fallback_for="roce_status",
            fills=_CONFIGURED,
            parser=Parser.TEXT,
            normalise=config.features,
            anchor=_OF_FILE,
            proof=_OF_CONFIGURED,
            proven_by="Cumulus Linux documents, Quality of Service of 5.4 to 5.6, files that NVUE manages; grep; the kernel",
        ),
        Source(
            key="traffic_conf",
            command="grep -H '' /etc/cumulus/datapath/traffic.conf /proc/net/dev",
            fallback_for="roce_status",
            fills=_CONFIGURED,
            parser=Parser.TEXT,
            normalise=config.features,
            anchor=_OF_FILE,
            proof=_OF_CONFIGURED,
            proven_by="Cumulus Linux documents, Buffer and Queue Management of 3.7 and 4.3",
        ),
        Source(
            key="pfc_watchdog",
            command="nv show interface {port} qos pfc-watchdog",
            parameter=_PORTS,
            fills=(Fill(Queue, Layer.APPLIED, ("watchdog_enabled", "watchdog_state"), whole=False),),
            parser=Parser.TEXT,
            normalise=qos.watchdog,
            anchor=(_TREE, r"^state +\S"),
            proof={"queue.watchdog_enabled": r"^state +", "queue.watchdog_state": r"^ +{1} +[A-Z]+ +\d"},
            proven_by="NVUE command reference, nv show interface qos pfc-watchdog (5.6 and later)",
        ),
    ),
    failures=(
        Failure(r"^Error: .*(?:[Pp]ermission|not authorized|[Ff]orbidden).*", GapReason.PERMISSION, "the login may not"),
        Failure(r"^Error: .+", GapReason.REJECTED, "NVUE does not take it"),
        Failure(r"^.*(?:command not found|: not found)$", GapReason.REJECTED, "the command is not installed"),
        Failure(r"^(?:cat: )?/etc/lsb-release: No such file or directory", GapReason.UNSUPPORTED, "there is no such file"),
        Failure(r"^.*nable to connect to (?:lldpd|socket).*", GapReason.REJECTED, "lldpd does not run"),
        Failure(r"^.*: Permission denied$", GapReason.PERMISSION, "the switch refused it"),
    ),
    unsupported=(
        Unsupported("system", ("kernel", "image_id", "booted_at"), "no source reads it"),
        Unsupported("firmware", ("pending_version", "psid"), _NO_PROOF),
        Unsupported(
            "interface",
            (
                "frame_bytes", "description", "alias", "lag", "up_since", "cable_length_m", "breakout_parent", "lanes",
                "error_disabled",
            ),
            _NO_PROOF,
        ),
        Unsupported("neighbour", ("heard_s",), "lldpd prints the time since the last change, not since the last frame"),
        Unsupported("qos_port", ("tc_to_pg",), _NO_PROOF),
        Unsupported("qos_port", ("global_pause_rx", "global_pause_tx"), "no view under a RoCE mode has it", Layer.APPLIED),
        Unsupported(
            "queue",
            ("ecn_min_bytes", "ecn_max_bytes"),
            "printed rounded: 146.48 KB is 153.00 KB in a port's view",
            Layer.APPLIED,
        ),
        Unsupported("queue", ("scheduler", "weight"), "the view of a port has the two RoCE classes alone"),
        Unsupported(
            "queue",
            ("watchdog_detection_s", "watchdog_restoration_s", "watchdog_action"),
            "polls and rounds are told for the switch, and no document shows how",
        ),
        Unsupported("optic", ("length_m", "firmware"), _NO_PROOF),
        Unsupported("buffer", ("model", "total_bytes"), "pools are dynamic or static, no document calls the buffer so"),
        Unsupported("buffer_pool", ("size_bytes", "shared_headroom_bytes"), "shares of an unknown whole, or rounded"),
        Unsupported("priority_group", ("lossless", "headroom_bytes"), "the one example has cut headers and rounded sizes"),
    ),
)  # fmt: skip
