"""Arista EOS: the switch itself, its ports and their modules, what LLDP hears on them, and QoS as it is configured.

Every command is asked for as JSON, which proves by itself that it is whole; the text form is asked for where that fails, and is
read from captures. Traps, each met in a capture:

- Tables call a port `Et1/1` and everything else `Ethernet1/1`. MAC addresses are written `b83f.d211.0210`.
- The status of a port folds what the operator wants and what is: `disabled`, `errdisabled`, `notconnect`, `connected`. Speeds
  with `a-` are negotiated; without a link they say what could be, so they are read of connected ports only.
- The name column of `show interfaces status` is cut and holds any words; so the cells behind it are read from the right.
- What EOS has to complain of begins with `% `, and the session goes on.
- Management ports come behind all Ethernet ports; a table of ports without one stops too early.
- `IP MTU` belongs to routed ports and `Ethernet MTU` to switched ones, to which not every chip holds traffic: of those the number
  is shown, and no IP MTU is concluded from it. Neighbours announce it with 22 bytes more, as a frame.
- LLDP as JSON has points in time instead of ages, and nothing in it says when it was printed.
- `show running-config` needs the privileged mode.
"""

from __future__ import annotations

from auditor.address import Layer
from auditor.facts import ClassMap, DscpMap, Interface, Neighbour, Optic, QosPort, Queue, Row, System
from auditor.model import Census, Failure, Fill, GapReason, Parser, Platform, Source, Transport, Unsupported
from auditor.platforms.arista_eos import lldp, names, optics, ports, qos, system


def _port(row: Row) -> bool:
    """Whether the table of states lists this interface: a port, not one of the switch's own making."""
    return row.key[0].startswith(("Ethernet", "Management", "Port-Channel")) and "." not in row.key[0]


_BLOCK = "^{0} is \n"
_HEARD = "^Interface {0} detected\n" + r'^  Neighbor .*/"?{1}"?, age \d'
_LINES = (
    Fill(QosPort, Layer.CONFIGURED, qos.PORT), Fill(DscpMap, Layer.CONFIGURED, ("traffic_class",)),
    Fill(ClassMap, Layer.CONFIGURED, ("kind", "to")), Fill(Queue, Layer.CONFIGURED, qos.QUEUE),
)  # fmt: skip
_QOS_PROOF = (
    "tests of Arista's AVD (eos_cli_config_gen: qos, ethernet-interfaces); defaults of the EOS manual, Quality of Service"
)

PLATFORM = Platform(
    name="arista_eos",
    title="Arista EOS",
    netmiko="arista_eos",
    transport=Transport.CLI,
    also=(Transport.NAPALM,),
    napalm="eos",
    formats=("| json",),
    interface_name=names.long_name,
    sources=(
        Source(
            key="version_json",
            command="show version | json",
            fills=(Fill(System, Layer.APPLIED, system.DOCUMENT),),
            parser=Parser.JSON,
            normalise=system.document,
            proof={
                "system": "/modelName", "system.serial": "/serialNumber", "system.os_version": "/version",
                "system.kernel": "/kernelVersion", "system.image_id": "/internalBuildId", "system.booted_at": "/bootupTimestamp",
            },
            proven_by="captures eos/napalm_ceos430; show version of EOS 4.33 in documents of others",
        ),
        Source(
            key="version",
            command="show version",
            fallback_for="version_json",
            fills=(Fill(System, Layer.APPLIED, system.TEXT),),
            parser=Parser.TEXT,
            normalise=system.version,
            anchor=(r"^Arista \S+\s*$", r"^Software image version: \S", r"^Free memory:\s+\d+ kB"),
            proof={
                "system": r"^Arista \S+\s*$", "system.serial": r"^Serial number:",
                "system.os_version": r"^Software image version:", "system.kernel": r"^Kernel version:",
                "system.image_id": r"^Internal build ID:",
            },
            proven_by="captures eos/ccs720xp; show version of vEOS, cEOS and DCS-7010T in ntc-templates",
        ),
        Source(
            key="hostname",
            command="show hostname | json",
            fills=(Fill(System, Layer.APPLIED, ("hostname",)),),
            parser=Parser.JSON,
            normalise=system.hostname,
            proof={"system.hostname": "/hostname"},
            proven_by="show hostname in the tests of napalm's EOS driver (get_facts)",
        ),
        Source(
            key="interfaces_status_json",
            command="show interfaces status | json",
            aliases=("show interface status | json", "show interfaces status | json | no-more"),
            fills=(
                Fill(Interface, Layer.APPLIED, ports.STATUS),
                Fill(Optic, Layer.APPLIED, ("present", "type"), whole=False),
            ),
            parser=Parser.JSON,
            normalise=ports.status_document,
            proof={"interface": "/interfaceStatuses/{0}", "optic": "/interfaceStatuses/{0}/interfaceType"},
            proven_by="show interfaces status | json of EOS 4.2x and 4.33 in Aviatrix' documents, anta's and others' tests",
        ),
        Source(
            key="interfaces_status",
            command="show interfaces status",
            aliases=("show interface status",),
            fallback_for="interfaces_status_json",
            fills=(Fill(Interface, Layer.APPLIED, ports.STATUS),),
            parser=Parser.TEXT,
            normalise=ports.status,
            anchor=(r"^Port\s+Name\s+Status\s+Vlan\s+Duplex\s+Speed\s+Type\b", r"^Ma\d"),
            shown=names.in_tables,
            proof={"interface": r"^{0}\s"},
            proven_by="capture eos/flags_col; show interfaces status of three releases in ntc-templates",
        ),
        Source(
            key="interfaces_json",
            command="show interfaces | json",
            aliases=("show interface | json", "show interfaces | json | no-more"),
            fills=(Fill(Interface, Layer.APPLIED, (*ports.DETAIL, *ports.SINCE)),),
            parser=Parser.JSON,
            normalise=ports.document,
            proof={
                "interface": "/interfaces/{0}", "interface.mtu": "/interfaces/{0}/mtu",
                "interface.mtu_shown": "/interfaces/{0}/mtu",
                "interface.speed": "/interfaces/{0}/bandwidth", "interface.mac": "/interfaces/{0}/physicalAddress",
                "interface.description": "/interfaces/{0}/description", "interface.up": "/interfaces/{0}/interfaceStatus",
                "interface.enabled": "/interfaces/{0}/interfaceStatus",
            },
            proven_by="captures eos/napalm_facts, anta_speed; show interfaces | json of EOS 4.26.14M (TechBlueprints/disunified)",
            seconds=30.0,
        ),
        Source(
            key="interfaces",
            command="show interfaces",
            aliases=("show interface",),
            fallback_for="interfaces_json",
            fills=(Fill(Interface, Layer.APPLIED, ports.DETAIL, whole=False),),
            parser=Parser.TEXT,
            normalise=ports.detail,
            anchor=(r"^\S+ is (?:up|down|administratively down), line protocol is ",),
            proof={
                "interface": r"^{0} is ", "interface.mtu": _BLOCK + r"^  (?:IP|Ethernet) MTU ",
                "interface.mtu_shown": _BLOCK + r"^  (?:IP|Ethernet) MTU ", "interface.mac": _BLOCK + r"^  Hardware is ",
                "interface.speed": _BLOCK + r"^  \w+-duplex, ", "interface.description": _BLOCK + r"^  Description: ",
            },
            proven_by="capture eos/ceos; show interfaces of three releases in ntc-templates",
            seconds=30.0,
        ),
        Source(
            key="error_correction",
            command="show interfaces error-correction | json",
            fills=(Fill(Interface, Layer.APPLIED, ("fec",), whole=False),),
            parser=Parser.JSON,
            normalise=ports.error_correction,
            proof={"interface.fec": "/interfaceErrCorrStatuses/{0}/errCorrEncodingStatus"},
            proven_by="show interfaces error-correction | json of EOS 4.26.14M (TechBlueprints/disunified)",
        ),
        Source(
            key="flow_control",
            command="show interfaces flow-control | json",
            aliases=("show flowcontrol | json",),
            fills=(Fill(QosPort, Layer.APPLIED, ("global_pause_rx", "global_pause_tx"), whole=False),),
            parser=Parser.JSON,
            normalise=ports.pause,
            proof={
                "qos_port.global_pause_rx": "/interfaceFlowControls/{0}/rxOperState",
                "qos_port.global_pause_tx": "/interfaceFlowControls/{0}/txOperState",
            },
            proven_by="show interfaces flow-control | json of EOS 4.26.14M (TechBlueprints/disunified)",
        ),
        Source(
            key="transceivers",
            command="show interfaces transceiver dom thresholds | json",
            fills=(Fill(Optic, Layer.APPLIED, ("serial",), whole=False),),
            parser=Parser.JSON,
            normalise=optics.modules,
            proof={"optic.serial": "/interfaces/{0}/vendorSn"},
            proven_by="capture eos/anta_optics",
            seconds=30.0,
        ),
        Source(
            key="inventory",
            command="show inventory | json",
            fills=(Fill(Optic, Layer.APPLIED, ("vendor", "part_number", "serial"), whole=False),),
            parser=Parser.JSON,
            normalise=optics.inventory,
            proof={"optic": "/xcvrSlots"},
            proven_by="capture eos/sq_nossim_leaf01",
            seconds=30.0,
        ),
        Source(
            key="lldp_detail_json",
            command="show lldp neighbors detail | json",
            aliases=("show lldp neighbors detail | json | no-more",),
            fills=(Fill(Neighbour, Layer.APPLIED, lldp.COLUMNS),),
            parser=Parser.JSON,
            normalise=lldp.document,
            proof={"neighbour": "/lldpNeighbors/{0}/lldpNeighborInfo"},
            proven_by="captures eos/anta_two_neighbors, anta_dot_in_hostname; get_lldp_neighbors_detail of napalm's EOS driver",
            seconds=20.0,
        ),
        Source(
            key="lldp_detail",
            command="show lldp neighbors detail",
            aliases=("show lldp neighbor detail",),
            fallback_for="lldp_detail_json",
            fills=(Fill(Neighbour, Layer.APPLIED, (*lldp.COLUMNS, *lldp.AGES)),),
            parser=Parser.TEXT,
            normalise=lldp.detail,
            anchor=(r"^Interface \S+ detected \d+ LLDP neighbors?:",),
            shown=names.dotted,
            proof={
                "neighbour": _HEARD, "neighbour.system": _HEARD + "\n" + r"^\s+- System Name:",
                "neighbour.port_description": _HEARD + "\n" + r"^\s+- Port Description:",
            },
            proven_by="capture eos/veos_mixed",
            seconds=20.0,
        ),
        Source(
            key="lldp_neighbors",
            command="show lldp neighbors",
            fallback_for="lldp_detail",
            fills=(Fill(Neighbour, Layer.APPLIED, ("system",)),),
            parser=Parser.TEXT,
            normalise=lldp.table,
            anchor=(r"^Port\s+Neighbor Device ID\s+Neighbor Port ID\s+TTL",),
            shown=names.in_tables,
            proof={"neighbour": r"^{0}\s.*{1}"},
            proven_by="show lldp neighbors of three releases in ntc-templates",
        ),
        Source(
            key="running_config_json",
            command="show running-config | json",
            fills=_LINES,
            parser=Parser.JSON,
            normalise=qos.document,
            proof={
                "qos_port": "/cmds/interface {0}", "queue": "/cmds/interface {0}", "dscp_map": "/cmds", "class_map": "/cmds",
            },
            proven_by=f"show running-config | json of EOS 4.26.14M (TechBlueprints/disunified); {_QOS_PROOF}",
            seconds=60.0,
        ),
        Source(
            key="running_config",
            command="show running-config",
            fallback_for="running_config_json",
            fills=_LINES,
            parser=Parser.TEXT,
            normalise=qos.text,
            anchor=(r"^! device: \S|^interface Ethernet\d", r"^end\s*$"),
            proof={"qos_port": r"^interface {0}\s*$", "queue": r"^interface {0}\s*$", "dscp_map": r"^qos map dscp ",
                   "class_map": r"^qos map traffic-class "},
            proven_by=_QOS_PROOF,
            seconds=60.0,
        ),
    ),
    failures=(
        Failure(
            r"^% (?:Authorization denied|Permission denied|Unauthorized)\b.*|^% .*privileged mode required.*",
            GapReason.PERMISSION, "the switch refused it",
        ),
        Failure(r"^% .+", GapReason.REJECTED, "the switch does not take the command"),
    ),
    pagers=(r"--\s?[Mm]ore\s?--",),
    prompts=(r"[\w.()-]{1,80}[>#] ?$",),
    secrets=(
        r"\b(?:secret|password|key)(?: (?:sha512|md5|[0-9]{1,2}|8a))+ ([^\s\"]+)",
        r"\bsnmp-server community ([^\s\"]+)",
        r"\bsnmp-server user .*?\bauth \S+ ([^\s\"]+)",
        r"\bsnmp-server user .*?\bpriv \S+ ([^\s\"]+)",
        r"\bauthentication-key \d+ \S+(?: \d)? ([^\s\"]+)",
        r"\b(?:ssh-key|shared-secret|community) ([^\"\n]+)",
    ),
    unsupported=(
        Unsupported("firmware", ("version", "pending_version", "part_number", "psid"),
                    "no capture and no document proves how EOS prints versions of its programmable parts"),
        Unsupported("interface", ("alias", "cable_length_m", "breakout_parent", "lanes"), "none of it is in these answers"),
        Unsupported("optic", ("length_m", "firmware"), "no capture of EOS proves where it prints them"),
        Unsupported("neighbour", ("protocol",), "EOS lists what it heard by LLDP alone"),
        Unsupported("qos_port", ("tc_to_pg", "pfc_to_queue", "pfc_direction"), "EOS has no such map and no such setting"),
        Unsupported("qos_port", qos.PORT, "no capture of `show priority-flow-control` or `show qos interfaces` proves them",
                    Layer.APPLIED),
        Unsupported("queue", qos.QUEUE, "no capture of `show qos interfaces` proves them", Layer.APPLIED),
        Unsupported("queue", ("scheduler", "weight"), "told where a line sets it: defaults differ by chip", Layer.CONFIGURED),
        Unsupported("queue", ("watchdog_enabled", "watchdog_state"),
                    "which queues are watched depends on defaults and on guaranteed bandwidth: no capture proves the answer"),
        Unsupported("queue", ("buffer_profile", "ecn_profile"), "EOS sets marking and buffers at the queue, without such names"),
        *(
            Unsupported(table, columns, "no capture and no document of EOS proves what it prints of it")
            for table, columns in (
                ("priority_group", ("lossless", "headroom_bytes", "xon_bytes", "threshold", "pool")),
                ("buffer", ("mode", "ingress_pools", "model", "vendor_word", "total_bytes")),
                ("buffer_pool", ("direction", "size_bytes", "mode", "shared_headroom_bytes")),
            )
        ),
    ),
    censuses=(
        Census("interfaces_json", ("interfaces_status_json", "interfaces_status"), _port),
        Census("interfaces_status_json", ("interfaces_json",), _port),
        Census("interfaces_status", ("interfaces_json", "interfaces"), _port),
    ),
)  # fmt: skip
