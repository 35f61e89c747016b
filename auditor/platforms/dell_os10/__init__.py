"""Dell OS10 (SmartFabric OS10): the switch and its firmware, its ports, and what LLDP hears on them.

Traps, each met in a capture:

- `| display-xml` prints one XML document after another, for `show interface` one per interface, and a prompt behind the last.
- Ports are `ethernet1/1/1` in the configuration, in XML and in LLDP, `Ethernet 1/1/1` in `show interface`, `Eth 1/1/1` in tables.
- The MTU comes twice: of the frame, and 32 bytes less of the IP packet; XML has the first alone.
- The serial number of a switch is its service tag; the fields called serial number are empty.
- A neighbour without a name is `Not Advertised`, and its description may hold lines that look like labels.
- `show interface status` has no column of what the operator wants, and cuts descriptions.

Nothing of QoS is read: no capture and no manual at hand shows what `show qos`, `show interface priority-flow-control` and the
others print.
"""

from __future__ import annotations

from auditor.address import Layer
from auditor.facts import Firmware, Interface, Neighbour, Optic, QosPort, System
from auditor.model import Failure, Fill, GapReason, Parser, Platform, Source, Transport, Unsupported
from auditor.platforms.dell_os10 import lldp, names, ports, system

_XML = (r"<rpc-reply\b", r"</rpc-reply>")
_BLOCK = "^{0} is \n"
_NEIGHBOUR = r"^Remote Port ID: {1}\s*$"

PLATFORM = Platform(
    name="dell_os10",
    title="Dell SmartFabric OS10",
    netmiko="dell_os10",
    transport=Transport.CLI,
    formats=("| display-xml", "| no-more"),
    interface_name=names.short_name,
    sources=(
        Source(
            key="version_xml",
            command="show version | display-xml",
            fills=(Fill(System, Layer.APPLIED, system.DOCUMENT),),
            parser=Parser.TEXT,
            normalise=system.version_document,
            anchor=(*_XML, r"<sw-version>"),
            proof={
                "system": r"<sw-name-long>", "system.os_version": r"<sw-version>\d", "system.hardware_model": r"<sw-platform>",
                "system.image_id": r"<sw-build-version>", "system.hostname": r"<hostname>",
                "system.booted_at": r"<boot-datetime>",
            },
            proven_by="capture dell_os10/napalm_s6000_vm",
        ),
        Source(
            key="version",
            command="show version",
            fallback_for="version_xml",
            fills=(Fill(System, Layer.APPLIED, system.VERSION),),
            parser=Parser.TEXT,
            normalise=system.version,
            anchor=(r"^Dell .*\bOS10\b", r"^OS Version: \S", r"^Architecture: \S"),
            proof={
                "system": r"^Dell .*\bOS10\b", "system.os_version": r"^OS Version:", "system.image_id": r"^Build Version:",
                "system.hardware_model": r"^System Type:",
            },
            proven_by="show version of 10.5.6.1 in microsoft/arc-switch, of 10.4 and 10.5 in other documents",
        ),
        Source(
            key="system_xml",
            command="show system | display-xml",
            fills=(
                Fill(System, Layer.APPLIED, system.SYSTEM),
                Fill(Firmware, Layer.APPLIED, ("version",)),
            ),
            parser=Parser.TEXT,
            normalise=system.system_document,
            anchor=(*_XML, r"<unit>"),
            proof={"system": r"<product-name>", "system.serial": r"<service-tag>", "firmware": r"<firmware-name>"},
            proven_by="capture dell_os10/napalm_s6000_vm",
            seconds=20.0,
        ),
        Source(
            key="system",
            command="show system",
            fallback_for="system_xml",
            fills=(
                Fill(System, Layer.APPLIED, ("vendor", "os_version")),
                Fill(Firmware, Layer.APPLIED, ("version",)),
            ),
            parser=Parser.TEXT,
            normalise=system.system,
            anchor=(r"^-- Unit \d+ --", r"^Physical Ports\s*: ", r"^-- Power Supplies --"),
            proof={"system": r"^Software Version\s*:", "firmware": r"^Physical Ports\s*:"},
            proven_by="capture dell_os10/arc_s5248_10_6",
            seconds=20.0,
        ),
        Source(
            key="inventory",
            command="show inventory",
            fills=(Fill(System, Layer.APPLIED, system.SYSTEM),),
            parser=Parser.TEXT,
            normalise=system.inventory,
            anchor=(r"^Product\s*: ", r"^Unit Type\s+Part Number\b.*Svc Tag", r"^\*\s*\d+\s"),
            proof={"system": r"^Product\s*:", "system.serial": r"^\*\s*\d+\s", "system.os_version": r"^Software version\s*:"},
            proven_by="capture dell_os10/arc_s5248_10_6",
        ),
        Source(
            key="interfaces",
            command="show interface",
            aliases=("show interface | no-more",),
            fills=(
                Fill(Interface, Layer.APPLIED, ports.TEXT, whole=False),
                Fill(Optic, Layer.APPLIED, ("present", "type"), whole=False),
                Fill(QosPort, Layer.APPLIED, ("global_pause_rx", "global_pause_tx"), whole=False),
            ),
            parser=Parser.TEXT,
            normalise=ports.detail,
            anchor=(r"^[A-Z][A-Za-z-]+ \d[\d/:]* is (?:up|down), line protocol is ",),
            shown=names.spoken,
            proof={
                "interface": r"^{0} is ", "interface.mtu": _BLOCK + r"^MTU \d", "interface.mtu_shown": _BLOCK + r"^MTU \d",
                "interface.frame_bytes": _BLOCK + r"^MTU \d", "interface.speed": _BLOCK + r"^LineSpeed ",
                "interface.autoneg": _BLOCK + r"^LineSpeed ", "interface.fec": _BLOCK + r"^Configured FEC is ",
                "interface.mac": _BLOCK + r"^(?:Hardware is Eth, a|A)ddress is ",
                "interface.description": _BLOCK + r"^Description:",
                "optic": _BLOCK + r"^Pluggable media ", "qos_port": _BLOCK + r"^Flowcontrol rx ",
            },
            proven_by="show interface of 10.5 in microsoft/arc-switch (example_show_interface)",
            seconds=60.0,
        ),
        Source(
            key="interfaces_xml",
            command="show interface | display-xml",
            fills=(Fill(Interface, Layer.APPLIED, ports.DOCUMENT),),
            parser=Parser.TEXT,
            normalise=ports.document,
            anchor=_XML,
            proof={"interface": r"^\s*<name>{0}</name>"},
            proven_by="capture dell_os10/napalm_s6000_vm",
            seconds=120.0,
        ),
        Source(
            key="interface_status",
            command="show interface status",
            fallback_for="interfaces",
            fills=(Fill(Interface, Layer.APPLIED, ports.STATUS, whole=False),),
            parser=Parser.TEXT,
            normalise=ports.status,
            anchor=(r"^Port\s+Description\s+Status\s+Speed\s+Duplex\b",),
            shown=names.in_tables,
            proof={"interface": r"^{0}\s"},
            proven_by="captures dell_os10/arc_s5248_10_6, cray_agg",
        ),
        Source(
            key="lldp_detail",
            command="show lldp neighbors detail",
            fills=(Fill(Neighbour, Layer.APPLIED, lldp.COLUMNS),),
            parser=Parser.TEXT,
            normalise=lldp.detail,
            anchor=(r"^Remote Chassis ID Subtype: \S", lldp.RULE),
            proof={"neighbour": _NEIGHBOUR, "neighbour.system": _NEIGHBOUR + "\n" + r"^Remote System Name:"},
            proven_by="capture dell_os10/arc_s5248_10_5",
            seconds=20.0,
        ),
    ),
    failures=(
        Failure(r"^\s*% Error: .*(?:[Pp]ermission|[Aa]uthori[sz]|not allowed).*", GapReason.PERMISSION, "the switch refused it"),
        Failure(r"^\s*% Error: .+", GapReason.REJECTED, "the switch does not take the command"),
    ),
    pagers=(r"--\s?[Mm]ore\s?--",),
    prompts=(r"[\w.()-]{1,80}[>#] ?$",),
    unsupported=(
        Unsupported("system", ("kernel",), "no answer of OS10 names its kernel"),
        Unsupported("firmware", ("pending_version", "part_number", "psid"), "show system has running versions only"),
        Unsupported(
            "interface",
            ("up_since", "alias", "cable_length_m", "breakout_parent", "lanes", "lag", "error_disabled"),
            "none of it is in these answers; members of an aggregate stand in a command of each",
        ),
        Unsupported("neighbour", ("protocol",), "OS10 lists what it heard by LLDP alone"),
        Unsupported(
            "optic", ("vendor", "part_number", "serial", "length_m", "firmware"), "`show interface phy-eth` is not read yet"
        ),
        Unsupported(
            "qos_port",
            ("trust", "dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities", "pfc_direction"),
            "no capture and no manual at hand proves what OS10 prints of it",
        ),
        *(
            Unsupported(table, columns, "no capture and no manual at hand proves what OS10 prints of it")
            for table, columns in (
                ("dscp_map", ("traffic_class",)),
                ("class_map", ("kind", "to")),
                ("queue", ("scheduler", "ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "watchdog_enabled")),
                ("priority_group", ("lossless", "headroom_bytes", "xon_bytes", "threshold", "pool")),
                ("buffer", ("mode", "ingress_pools", "model", "vendor_word", "total_bytes")),
                ("buffer_pool", ("direction", "size_bytes", "mode", "shared_headroom_bytes")),
            )
        ),
    ),
)  # fmt: skip
