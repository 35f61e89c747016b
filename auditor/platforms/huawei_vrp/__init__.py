"""Huawei VRP (CloudEngine and others): the switch, its ports, what LLDP hears, and what manuals show of its QoS.

Traps, each met in a capture or in an example of the vendor's manual:

- Legends stand before tables; states in tables carry marks: `*down` was shut by the operator, `up(s)` is spoofing. Names in
  tables carry the speed: `GigabitEthernet15/1/0(10G)`. Members of an Eth-Trunk are indented below it.
- `The Maximum Frame Length` is that of the Ethernet frame; only routed ports have a `Maximum Transmit Unit`, of the IP packet.
- Speeds are plain numbers of Mbit/s.
- Labels of neighbours come with and without a blank behind the colon. A description goes on over several lines without indent,
  and they may look like labels (`Technical Support: http…`).
- `Expired time` is what is left of the time to live, and `Discovered time` a local time without its zone: neither is an age.
- Thresholds are printed in KB, and no document at hand says whether that is 1,000 or 1,024 bytes: whether ECN is on is read,
  where it begins is not. `display dcb` names the profile of PFC, and no priority.

The QoS of one port is read from captures only: no document at hand shows the form of the command that prints every port.
"""

from __future__ import annotations

from auditor.address import Layer
from auditor.facts import Interface, Neighbour, QosPort, Queue, Row, System
from auditor.model import Census, Failure, Fill, GapReason, Parser, Platform, Source, Transport, Unsupported
from auditor.platforms.huawei_vrp import lldp, names, ports, qos, system


def cabled(row: Row) -> bool:
    """Whether both lists of ports must have it: a port that a cable goes into."""
    return names.is_port(row.key[0])


_NO_PROOF = "no capture and no document of VRP proves what it prints of it"
_PORT = "^{0} current state ?:\n"
_NEIGHBOUR = r"^{0} has \d+ neighbor" + "\n" + r"^Port ID +: ?{1}\s*$"

PLATFORM = Platform(
    name="huawei_vrp",
    title="Huawei VRP (CloudEngine)",
    netmiko="huawei_vrp",
    transport=Transport.CLI,
    interface_name=names.long_name,
    sources=(
        Source(
            key="version",
            command="display version",
            fills=(Fill(System, Layer.APPLIED, ("vendor", "os_name", "os_version", "hardware_model")),),
            parser=Parser.TEXT,
            normalise=system.version,
            anchor=(r"^VRP \(R\) software, Version \S", r"\buptime is \d"),
            proof={"system": r"^VRP \(R\) software, Version", "system.hardware_model": r"\buptime is \d"},
            proven_by="capture huawei_vrp/ntc_s7700",
        ),
        Source(
            key="interfaces",
            command="display interface",
            fills=(Fill(Interface, Layer.APPLIED, ports.COLUMNS),),
            parser=Parser.TEXT,
            normalise=ports.interfaces,
            anchor=(r"^\S+ current state ?: ?\S", r"^Line protocol current state ?: ?\S"),
            proof={
                "interface": r"^{0} current state ?:", "interface.mtu": _PORT + r"The Maximum Transmit Unit is \d",
                "interface.frame_bytes": _PORT + r"The Maximum Frame Length is \d",
                "interface.mtu_shown": _PORT + r"The Maximum (?:Transmit Unit|Frame Length) is \d",
                "interface.speed": _PORT + r"^Speed ?: *\d", "interface.autoneg": _PORT + r"Negotiation: *\S",
                "interface.mac": _PORT + r"Hardware address is", "interface.description": _PORT + r"^Description:",
            },
            proven_by="capture huawei_vrp/ntc_ge",
            seconds=30.0,
        ),
        Source(
            key="interfaces_brief",
            command="display interface brief",
            fills=(Fill(Interface, Layer.APPLIED, ("enabled", "up", "lag")),),
            parser=Parser.TEXT,
            normalise=ports.brief,
            anchor=(r"^PHY: Physical", r"^Interface +PHY +Protocol\b"),
            proof={"interface": r"^ *{0}(?:\(\w+\))? "},
            proven_by="capture huawei_vrp/ntc_a",
        ),
        Source(
            key="lldp",
            command="display lldp neighbor",
            fills=(Fill(Neighbour, Layer.APPLIED, lldp.COLUMNS, whole=False),),
            parser=Parser.TEXT,
            normalise=lldp.neighbours,
            anchor=(r"^\S+ has \d+ neighbor(?:\(s\)|s)?:?\s*$",),
            shown=names.shown,
            proof={"neighbour": _NEIGHBOUR},
            proven_by="capture huawei_vrp/ntc_ge_modern",
            seconds=20.0,
        ),
        Source(
            key="qos_port",
            command="display_qos_configuration_interface",
            aliases=("display qos configuration interface",),
            sent=False,
            fills=(
                Fill(QosPort, Layer.CONFIGURED, ("trust",), whole=False),
                Fill(Queue, Layer.CONFIGURED, ("scheduler", "weight"), whole=False),
            ),
            parser=Parser.TEXT,
            normalise=qos.port,
            anchor=(r"^ ?interface \S", r"^ ?trust flag +: \S"),
            proof={"qos_port": r"^ ?trust flag +:", "queue": r"^ {1} "},
            proven_by="CloudEngine 6800 command reference, display qos configuration (example)",
        ),
        Source(
            key="ecn",
            command="display_qos_ecn_threshold_interface",
            aliases=("display qos ecn threshold interface",),
            sent=False,
            fills=(Fill(Queue, Layer.APPLIED, ("ecn_enabled", "ecn_probability"), whole=False),),
            parser=Parser.TEXT,
            normalise=qos.ecn,
            anchor=(r"^Interface +Queue +Min +Max +Probability",),
            proof={"queue": r"^(?:{0}| ) +{1} "},
            proven_by="CloudEngine 6800 command reference, display qos ecn threshold (example)",
        ),
    ),
    censuses=(Census("interfaces", ("interfaces_brief",), cabled), Census("interfaces_brief", ("interfaces",), cabled)),
    failures=(
        Failure(r"^Error: ?(?:You do not have permission|.*\bauthoriz).*", GapReason.PERMISSION, "the login may not run it"),
        Failure(r"^Error: ?.+", GapReason.REJECTED, "the switch does not take it"),
    ),
    pagers=(r"-{2,4} ?More ?-{2,4}",),
    prompts=(r"[<\[][\w.~*-]{1,80}[>\]] ?$",),
    unsupported=(
        Unsupported("system", ("hostname", "serial", "kernel", "image_id", "booted_at"), _NO_PROOF),
        Unsupported("firmware", ("version",), "boards tell versions of parts that no rule can name yet"),
        Unsupported(
            "interface",
            ("fec", "up_since", "alias", "cable_length_m", "breakout_parent", "lanes", "error_disabled"),
            _NO_PROOF,
        ),
        Unsupported("neighbour", ("heard_s", "since_s", "ttl_s", "protocol"), "only the time left and a local time are printed"),
        Unsupported(
            "qos_port", ("dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities", "pfc_direction"),
            "the manual's example of `display diffserv domain` is cut, and `display dcb` names no priority",
        ),
        Unsupported(
            "queue", ("ecn_min_bytes", "ecn_max_bytes", "watchdog_enabled"),
            "KB of unknown size; no output of the watchdog is at hand",
        ),
        Unsupported("optic", ("present", "type", "vendor", "serial"), _NO_PROOF),
        Unsupported("buffer", ("mode", "ingress_pools", "model"), _NO_PROOF),
    ),
)  # fmt: skip
