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

The QoS of a port is asked port by port, as is its link: there is no proven form for all. Without a RoCE mode it is a gap.
"""

from __future__ import annotations

from auditor.address import Layer
from auditor.dialects import lldpctl, lldpctl_text
from auditor.facts import ClassMap, DscpMap, Interface, Neighbour, Optic, QosPort, Queue, System
from auditor.model import Failure, Fill, GapReason, Parameter, Parser, Platform, Privilege, Source, Transport, Unsupported
from auditor.platforms.cumulus_linux import lldp, names, ports, qos, system

_NO_PROOF = "no capture and no document of Cumulus Linux proves what it prints of it"
_PORTS = Parameter("port", ("interfaces",), names.listed)
_NEIGHBOUR = r"^Interface: +{0}," + "\n"
_TREE = r"^ +operational +applied\b"

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
            ),
            parser=Parser.TEXT,
            normalise=qos.roce,
            anchor=(_TREE, r"^RoCE PCP/DSCP->SP mapping", r"^RoCE SP->TC mapping", r"^Exception List\s*\n=+\s*\n\s*\S"),
            proof={
                "dscp_map": r"^ +\d+ +\d +(?:\d+,)*{1}(?:,\d+)* +\d+ *$",
                "class_map": r"^RoCE SP->TC mapping and ETS configurations *" + "\n" + r"^ +\d+ +{1} +\d+ +\S",
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
        Unsupported("firmware", ("version",), _NO_PROOF),
        Unsupported(
            "interface",
            (
                "frame_bytes", "description", "alias", "lag", "up_since", "cable_length_m", "breakout_parent", "lanes",
                "error_disabled",
            ),
            _NO_PROOF,
        ),
        Unsupported("neighbour", ("heard_s",), "lldpd prints the time since the last change, not since the last frame"),
        Unsupported("qos_port", ("tc_to_pg", "global_pause_rx", "global_pause_tx"), _NO_PROOF),
        Unsupported("queue", ("ecn_min_bytes", "ecn_max_bytes"), "printed rounded: 146.48 KB is 153.00 KB in a port's view"),
        Unsupported("queue", ("scheduler", "weight"), "the view of a port has the two RoCE classes alone"),
        Unsupported("queue", ("watchdog_enabled",), "no output of the PFC watchdog is at hand"),
        Unsupported("optic", ("length_m", "firmware"), _NO_PROOF),
        Unsupported("buffer", ("mode", "ingress_pools", "model"), "printed rounded, and no document gives the units of the JSON"),
    ),
)  # fmt: skip
