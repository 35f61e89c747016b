"""H3C and HPE Comware 7: the chassis, its ports, and what LLDP hears on them.

Traps, each met in a capture:

- Tables call a port `XGE1/0/1`, everything else `Ten-GigabitEthernet1/0/1`. MAC addresses are written `70f9-6d6b-1234`.
- `Maximum frame length` is that of the Ethernet frame, with and without a blank behind its colon; only routed ports have a
  `Maximum transmission unit`, which is that of the IP packet. Neither is computed from the other.
- A port without a link says `Unknown-speed mode`; its bandwidth is what it could be.
- Descriptions of neighbours go on over several lines, indented to the column of their values, and may be cut in a word.
- A stack (IRF) lists the parts of several chassis, so it has no one serial number.
- Comware 5 begins a port with ` NAME current state: UP` in one line; it is not read.

Nothing of QoS is read: no capture shows `display priority-flow-control`, `display qos map-table` or `display qos wred interface`.
"""

from __future__ import annotations

from auditor.address import Layer
from auditor.facts import Interface, Neighbour, Row, System
from auditor.model import Census, Failure, Fill, GapReason, Parser, Platform, Source, Transport, Unsupported
from auditor.platforms.hp_comware import lldp, names, ports, system


def cabled(row: Row) -> bool:
    """Whether both lists of ports must have it: a port that a cable goes into."""
    return names.is_port(row.key[0])


_PORT = "^{0}\\s*$\n"
_NO_PROOF = "no capture and no document of Comware proves what it prints of it"

PLATFORM = Platform(
    name="hp_comware",
    title="H3C / HPE Comware 7",
    netmiko="hp_comware",
    transport=Transport.CLI,
    interface_name=names.long_name,
    sources=(
        Source(
            key="manufacture",
            command="display device manuinfo",
            fills=(Fill(System, Layer.APPLIED, ("vendor", "hardware_model", "serial"), whole=False),),
            parser=Parser.TEXT,
            normalise=system.manufacture,
            anchor=(r"^Chassis self\s*$", r"^ VENDOR_NAME +: \S"),
            proof={
                "system.hardware_model": r"^Chassis self\s*$" + "\n" + r"^ DEVICE_NAME",
                "system.serial": r"^ DEVICE_SERIAL_NUMBER", "system.vendor": r"^ VENDOR_NAME",
            },
            proven_by="capture h3c_comware/ntc_chassis",
        ),
        Source(
            key="interfaces",
            command="display interface",
            fills=(Fill(Interface, Layer.APPLIED, ports.COLUMNS),),
            parser=Parser.TEXT,
            normalise=ports.interfaces,
            anchor=(r"^Current state: ?\S", r"^Line protocol state: ?\S"),
            proof={
                "interface": "^{0}\\s*$",
                "interface.mtu": _PORT + r"^Maximum transmission unit:",
                "interface.mtu_shown": _PORT + r"^Maximum (?:transmission unit|frame length):",
                "interface.frame_bytes": _PORT + r"^Maximum frame length:",
                "interface.speed": _PORT + r"^\S+-speed mode",
            },
            proven_by="captures h3c_comware/ntc_100g_admin_down, ntc_release_09119P17",
            seconds=30.0,
        ),
        Source(
            key="interfaces_brief",
            command="display interface brief",
            fills=(Fill(Interface, Layer.APPLIED, ("enabled", "up")),),
            parser=Parser.TEXT,
            normalise=ports.brief,
            anchor=(r"^Interface +Link +\S", r"^Link: ADM - administratively down"),
            shown=names.in_tables,
            proof={"interface": r"^{0}\s"},
            proven_by="capture h3c_comware/ntc_a",
        ),
        Source(
            key="lldp_verbose",
            command="display lldp neighbor-information verbose",
            fills=(Fill(Neighbour, Layer.APPLIED, lldp.COLUMNS, whole=False),),
            parser=Parser.TEXT,
            normalise=lldp.verbose,
            anchor=(r"^LLDP neighbor-information of port \d+\[[^\]\n]+\]:",),
            shown=names.dashed,
            proof={"neighbour": r"^LLDP neighbor-information of port \d+\[{0}\]:" + "\n" + r"^ Port ID +: {1}\s*$"},
            proven_by="capture h3c_comware/ntc_cw7",
            seconds=20.0,
        ),
    ),
    censuses=(Census("interfaces", ("interfaces_brief",), cabled), Census("interfaces_brief", ("interfaces",), cabled)),
    failures=(
        Failure(r"^ ?% ?Unrecognized command found at", GapReason.REJECTED, "the switch does not take the command"),
        Failure(r"^ ?% ?(?:Incomplete|Ambiguous|Wrong) .+", GapReason.REJECTED, "the switch does not take the command"),
        Failure(r"^ ?% ?Too many parameters", GapReason.REJECTED, "the switch does not take the command"),
        Failure(r"^Permission denied\b.*", GapReason.PERMISSION, "the role of the login may not run it"),
    ),
    pagers=(r"-{2,4} ?More ?-{2,4}",),
    prompts=(r"[<\[][\w.~*-]{1,80}[>\]] ?$",),
    unsupported=(
        Unsupported("system", ("os_name", "os_version", "hostname", "kernel", "image_id", "booted_at"), _NO_PROOF),
        Unsupported("firmware", ("version",), _NO_PROOF),
        Unsupported("interface", ("fec", "up_since", "alias", "cable_length_m", "breakout_parent", "lanes", "lag"), _NO_PROOF),
        Unsupported(
            "neighbour", ("heard_s", "since_s", "protocol"), "what `Update time` counts from is told by no document at hand"
        ),
        *(
            Unsupported(table, columns, _NO_PROOF)
            for table, columns in (
                ("optic", ("present", "type", "vendor", "serial")),
                ("qos_port", ("trust", "dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities", "pfc_direction")),
                ("queue", ("watchdog_enabled", "ecn_enabled", "ecn_min_bytes", "ecn_max_bytes")),
                ("buffer", ("mode", "ingress_pools", "model")),
            )
        ),
    ),
)  # fmt: skip
