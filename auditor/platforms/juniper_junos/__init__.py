"""Juniper Junos (QFX and others): the switch, its ports, and what LLDP hears on them.

Traps, each met in a capture:

- JSON wraps every value in a list of objects with the member `data`; empty elements are `[null]`.
- `mtu` of a port is that of the media: it counts the 14 bytes of the Ethernet header and not the check sequence, and
  `frame_bytes` is that number. What a packet may have stands at the family of the unit (9200 under 9214); a port whose units
  route no IP tells none.
- Speeds are written `10Gbps`, `1000mbps`, `800mbps`, `Auto`, `Unlimited`. The FEC mode is an empty element where there is none.
- The local port of a neighbour is `lldp-local-interface` in one answer and `lldp-local-port-id` in another, where the first
  answer has an index of SNMP under that very name. A unit may stand behind it (`fe-0/0/2.0`), and the remote port id may be
  missing.
- Answers of members begin with `fpc0:`; a login prints a banner and `{master:0}` before it.
- `| display json` over SSH and the same through NETCONF are one answer.
- Modules are told by slot; which port that is follows from the list of ports. Their part numbers are Juniper's.

Class of service is read from the configuration, whose statements Juniper's documents show, with what configuration groups set;
without groups (NETCONF has no request for them) only what is there counts. The interfaces in it may be patterns such as `et-*`.
The operational commands are not asked: no capture and no document shows one of a switch with PFC. Thresholds of drop profiles are
percents of a queue whose size is not told, headroom is computed by the switch, and neither is printed in bytes.
"""

from __future__ import annotations

from auditor.address import Layer
from auditor.facts import ClassMap, DscpMap, Interface, Neighbour, Optic, PriorityGroup, QosPort, Queue, System
from auditor.model import Failure, Fill, GapReason, Parameter, Parser, Platform, Source, Transport, Unsupported
from auditor.platforms.juniper_junos import lldp, names, ports, qos, system

_NO_PROOF = "no capture and no document of Junos proves what it prints of it"
_LIST = "/interface-information/0/physical-interface/[name={0}]"
_NAMED = r"^\s*<name>{0}</name>"
_PHYSICAL = r"^ *Physical interface: {0}, "

_PORTS = Parameter("ports", ("interfaces_json", "interfaces_xml", "interfaces"), ports.listed)
_ENTRY = r"^ +(?:{0}|[a-z]*-?[^ {}]*[*?\[][^ {}]*|all) \{$"
"""The line of a port in the configuration, by its name or a pattern."""
_QOS = (
    Fill(
        QosPort, Layer.CONFIGURED,
        ("trust", "dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities", "pfc_direction"), whole=False,
    ),
    Fill(DscpMap, Layer.CONFIGURED, ("traffic_class",), whole=False),
    Fill(ClassMap, Layer.CONFIGURED, ("kind", "to"), whole=False),
    Fill(
        Queue, Layer.CONFIGURED,
        (
            "ecn_enabled", "ecn_probability", "ecn_profile", "watchdog_enabled", "watchdog_detection_s",
            "watchdog_restoration_s", "watchdog_action",
        ),
        whole=False,
    ),
    Fill(PriorityGroup, Layer.CONFIGURED, ("lossless", "profile", "profile_cable_length_m"), whole=False),
)  # fmt: skip
_QOS_PROOF = {
    "qos_port": _ENTRY, "queue": _ENTRY, "priority_group": _ENTRY, "qos_port.dscp_map": _ENTRY + "\n" + r"^ +dscp \S+;$",
    "dscp_map": r"^ +dscp {0} \{$", "class_map": r"^ *(?:forwarding-classes|congestion-notification-profile) \{$",
}  # fmt: skip
_DOCUMENTS = (
    "Juniper's documents: Create and Import a DCQCN Configlet; Configuring DSCP-based PFC for Layer 3 Untagged Traffic; PFC "
    "Watchdog; CLI reference, statements below [edit class-of-service], and `show | display inheritance`"
)

PLATFORM = Platform(
    name="juniper_junos",
    title="Juniper Junos",
    netmiko="juniper_junos",
    transport=Transport.CLI,
    also=(Transport.NAPALM,),
    napalm="junos",
    formats=("| display json", "| display xml", "| no-more", "| display json | no-more", "| display inheritance no-comments"),
    interface_name=names.port,
    sources=(
        Source(
            key="version",
            command="show version",
            fills=(Fill(System, Layer.APPLIED, ("vendor", "os_name", "os_version", "hardware_model", "hostname")),),
            parser=Parser.TEXT,
            normalise=system.version,
            anchor=(r"^Hostname: \S", r"^Model: \S", r"^Junos: \S"),
            proof={
                "system": r"^Junos: ", "system.hardware_model": r"^Model: ", "system.hostname": r"^Hostname: ",
            },
            proven_by="captures junos/ntc_qfx5100, sq_qfx_nossim_leaf01",
        ),
        Source(
            key="chassis_json",
            command="show chassis hardware | display json",
            fills=(
                Fill(System, Layer.APPLIED, ("serial",)),
                Fill(Optic, Layer.APPLIED, ("present", "type", "part_number", "serial"), whole=False),
            ),
            parser=Parser.JSON,
            normalise=system.chassis_document,
            beside=_PORTS,
            proof={"system.serial": "/chassis-inventory/0/chassis/0/serial-number", "optic": "/chassis-inventory/0/chassis"},
            proven_by="capture junos/sq_qfx_nossim_leaf01",
        ),
        Source(
            key="chassis",
            command="show chassis hardware",
            fallback_for="chassis_json",
            fills=(Fill(System, Layer.APPLIED, ("serial",)),),
            parser=Parser.TEXT,
            normalise=system.chassis,
            anchor=(r"^Hardware inventory:", r"^Chassis +\S"),
            proof={"system.serial": r"^Chassis +\S"},
            proven_by="capture junos/genie_b",
        ),
        Source(
            key="interfaces_json",
            command="show interfaces | display json",
            aliases=("show interfaces extensive | display json", "show interfaces detail | display json"),
            fills=(Fill(Interface, Layer.APPLIED, ports.COLUMNS),),
            parser=Parser.JSON,
            normalise=ports.document,
            proof={
                "interface": _LIST, "interface.mtu": f"{_LIST}/logical-interface", "interface.mtu_shown": f"{_LIST}/mtu",
                "interface.speed": f"{_LIST}/speed", "interface.up": f"{_LIST}/oper-status",
                "interface.enabled": f"{_LIST}/admin-status", "interface.mac": f"{_LIST}/current-physical-address",
                "interface.fec": f"{_LIST}/ethernet-fec-mode", "interface.description": f"{_LIST}/description",
                "interface.autoneg": f"{_LIST}/if-auto-negotiation",
            },
            proven_by="capture junos/sq_qfx_spine02",
            seconds=30.0,
        ),
        Source(
            key="interfaces_xml",
            command="show interfaces | display xml",
            aliases=("show interfaces extensive | display xml", "show interfaces detail | display xml"),
            fallback_for="interfaces_json",
            fills=(Fill(Interface, Layer.APPLIED, ports.COLUMNS),),
            parser=Parser.TEXT,
            normalise=ports.xml,
            anchor=(r"<interface-information\b",),
            proof={
                "interface": _NAMED, "interface.mtu_shown": _NAMED + "\n" + r"^\s*<mtu>",
                "interface.speed": _NAMED + "\n" + r"^\s*<speed>", "interface.up": _NAMED + "\n" + r"^\s*<oper-status>",
                "interface.enabled": _NAMED + "\n" + r"^\s*<admin-status",
            },
            proven_by="capture junos/napalm_iffdown",
            seconds=30.0,
        ),
        Source(
            key="interfaces",
            command="show interfaces",
            aliases=("show interfaces extensive", "show interfaces detail"),
            fallback_for="interfaces_json",
            fills=(Fill(Interface, Layer.APPLIED, ports.IN_TEXT, whole=False),),
            parser=Parser.TEXT,
            normalise=ports.text,
            anchor=(r"^ *Physical interface: \S+, (?:Enabled|Administratively down), Physical link is \S",),
            proof={
                "interface": _PHYSICAL, "interface.mtu": _PHYSICAL + "\n" + r"^ +Protocol inet, MTU: \d",
                "interface.mtu_shown": _PHYSICAL + "\n" + r"MTU: \d", "interface.speed": _PHYSICAL + "\n" + r"Speed: \S",
                "interface.fec": _PHYSICAL + "\n" + r"^ +Ethernet FEC Mode ",
                "interface.mac": _PHYSICAL + "\n" + r"^ +Current address: ",
                "interface.description": _PHYSICAL + "\n" + r"^ +Description: ",
            },
            proven_by="show interfaces of Junos in genieparser; Juniper's CLI reference, show interfaces (et)",
            seconds=30.0,
        ),
        Source(
            key="lldp_detail",
            command="show lldp neighbors detail | display json",
            fills=(Fill(Neighbour, Layer.APPLIED, (*lldp.COLUMNS, *lldp.AGES)),),
            parser=Parser.JSON,
            normalise=lldp.detail,
            proof={"neighbour": "/lldp-neighbors-information/0/lldp-neighbor-information/[lldp-local-interface={0}]"},
            proven_by="capture junos/sq_qfx_spine01",
            seconds=20.0,
        ),
        Source(
            key="lldp_xml",
            command="show lldp neighbors detail | display xml",
            aliases=("show lldp neighbors interface | display xml",),
            fallback_for="lldp_detail",
            fills=(Fill(Neighbour, Layer.APPLIED, (*lldp.COLUMNS, *lldp.AGES), whole=False),),
            parser=Parser.TEXT,
            normalise=lldp.xml,
            anchor=(r"<lldp-neighbors-information\b",),
            proof={"neighbour": r"^\s*<lldp-local-interface>{0}(?:\.0)?</lldp-local-interface>"},
            proven_by="capture junos/napalm_missing_port_ids, the same answer for one port",
            seconds=20.0,
        ),
        Source(
            key="lldp_brief",
            command="show lldp neighbors | display json",
            fallback_for="lldp_detail",
            fills=(Fill(Neighbour, Layer.APPLIED, ("system", "port_kind", "chassis", "chassis_kind")),),
            parser=Parser.JSON,
            normalise=lldp.brief,
            proof={"neighbour": "/lldp-neighbors-information/0/lldp-neighbor-information/[lldp-local-port-id={0}]"},
            proven_by="capture junos/sq_qfx_leaf3",
            seconds=20.0,
        ),
        Source(
            key="class_of_service",
            command="show configuration class-of-service | display inheritance no-comments",
            fills=_QOS,
            parser=Parser.TEXT,
            normalise=qos.inherited,
            anchor=(r"^ *interfaces \{$",),
            proof=_QOS_PROOF,
            proven_by=_DOCUMENTS,
            beside=_PORTS,
            seconds=20.0,
        ),
        Source(
            key="class_of_service_own",
            command="show configuration class-of-service",
            fallback_for="class_of_service",
            fills=_QOS,
            parser=Parser.TEXT,
            normalise=qos.own,
            anchor=(r"^ *interfaces \{$",),
            proof=_QOS_PROOF,
            proven_by=_DOCUMENTS,
            beside=_PORTS,
            seconds=20.0,
        ),
        Source(
            key="optics",
            command="show interfaces diagnostics optics",
            fills=(Fill(Optic, Layer.APPLIED, ("present",), whole=False),),
            parser=Parser.TEXT,
            normalise=ports.light,
            anchor=(r"^ *Physical interface: \S+\s*$",),
            proof={"optic": r"^ *Physical interface: {0}\s*$"},
            proven_by="capture junos/genie_b",
            seconds=60.0,
        ),
        Source(
            key="optics_xml",
            command="show interfaces diagnostics optics | display xml",
            fallback_for="optics",
            fills=(Fill(Optic, Layer.APPLIED, ("present",), whole=False),),
            parser=Parser.TEXT,
            normalise=ports.light_xml,
            anchor=(r"<interface-information\b",),
            proof={"optic": _NAMED},
            proven_by="capture junos/napalm_inf_with_space",
            seconds=60.0,
        ),
    ),
    failures=(
        Failure(r"^ *(?:unknown command|syntax error)\.?(?:$|,)", GapReason.REJECTED, "the switch does not take the command"),
        Failure(r"^error: permission denied\b.*", GapReason.PERMISSION, "the login class may not run it"),
        Failure(r"^error: .+", GapReason.REJECTED, "the switch does not take the command"),
    ),
    pagers=(r"---\(more(?: \d+%)?\)---",),
    prompts=(r"[\w.-]{1,80}@[\w.-]{1,80}[>#] ?$",),
    unsupported=(
        Unsupported("system", ("kernel", "image_id", "booted_at"), _NO_PROOF),
        Unsupported("firmware", ("version",), _NO_PROOF),
        Unsupported(
            "interface",
            ("up_since", "lag", "alias", "cable_length_m", "breakout_parent", "lanes", "error_disabled"),
            "`interface-flapped` is no time of the last link-up; for the rest there is no proof",
        ),
        Unsupported("neighbour", ("management_address", "since_s", "protocol"), _NO_PROOF),
        Unsupported("optic", ("vendor", "firmware", "length_m"), "the inventory does not tell it"),
        Unsupported("qos_port", ("global_pause_rx", "global_pause_tx"), _NO_PROOF),
        Unsupported("queue", ("scheduler", "weight"), "transmit rates are percents; how they are served, no answer says"),
        Unsupported("queue", ("ecn_min_bytes", "ecn_max_bytes"), "percents of a queue whose size is not told"),
        Unsupported(
            "priority_group", ("headroom_bytes", "size_bytes", "xon_bytes", "threshold"), "the switch computes it and tells none"
        ),
        Unsupported("buffer", ("mode", "ingress_pools", "model"), "shares in percent of a buffer whose size is not told"),
        *(
            Unsupported(fill.row_type.TABLE, fill.columns, "no capture or document shows it of a switch with PFC", Layer.APPLIED)
            for fill in _QOS
        ),
    ),
)  # fmt: skip
