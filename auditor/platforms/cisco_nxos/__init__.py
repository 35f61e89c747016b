"""Cisco NX-OS (Nexus 9000): the switch, its ports and modules, LLDP, and QoS from the running configuration.

Traps, each met in a capture:

- Tables call a port `Eth1/1`, everything else `Ethernet1/1`. MAC addresses are written `6cb2.ae9f.e726`.
- `MTU` is the size of the packet; what a no-drop class lets through stands in the network-qos policy, too.
- The state of a port holds its reason in brackets, `down (Authorization pending)`; FEC has two spellings in one answer, and
  `oper fec state` is the one that is used.
- The table of `show interface status` cuts states (`notconnec`), and on narrow terminals wraps types into a line of their own.
- A neighbour without a name is called `null`; what does not advertise says `not advertised`; descriptions go on over several
  lines.
- QoS is spread: class-map (what is matched), policy-map type qos (which qos-group), network-qos (which are paused), and on each
  port whether PFC is on. A policy that matches `cos` alone leaves routed RoCE, which is marked by DSCP, unclassified. A port
  without a line for PFC is in mode auto: what DCBX agreed on is not told here.
- Thresholds are in kbytes, and no document at hand says whether these are 1,000 or 1,024 bytes.
"""

from __future__ import annotations

from auditor.address import Layer
from auditor.facts import DscpMap, Firmware, Interface, Neighbour, Optic, QosPort, Queue, Row, System
from auditor.model import Census, Failure, Fill, GapReason, Parser, Platform, Source, Transport, Unsupported
from auditor.platforms.cisco_nxos import lldp, names, ports, qos, system


def cabled(row: Row) -> bool:
    """Whether both lists of ports must have it: a port that a cable goes into."""
    return names.is_port(row.key[0])


_NO_PROOF = "no capture and no document of NX-OS proves what it prints of it"
_PORT = "^{0} is \n"

PLATFORM = Platform(
    name="cisco_nxos",
    title="Cisco NX-OS (Nexus 9000)",
    netmiko="cisco_nxos",
    transport=Transport.CLI,
    also=(Transport.NAPALM,),
    napalm="nxos",
    formats=("| json",),
    interface_name=names.long_name,
    sources=(
        Source(
            key="version",
            command="show version",
            fills=(
                Fill(System, Layer.APPLIED, ("vendor", "os_name", "os_version", "hardware_model", "hostname", "image_id")),
                Fill(Firmware, Layer.APPLIED, ("version",), whole=False),
            ),
            parser=Parser.TEXT,
            normalise=system.version,
            anchor=(r"^Cisco Nexus Operating System \(NX-OS\) Software", r"^ +NXOS: version \S", r"^Kernel uptime is \S"),
            proof={
                "system": r"^Cisco Nexus Operating System", "system.os_version": r"^ +NXOS: version",
                "system.hardware_model": r"^ +cisco Nexus9000", "system.hostname": r"^ +Device name:",
                "system.image_id": r"^ +NXOS image file is:", "firmware": r"^ +BIOS: version",
            },
            proven_by="captures nxos/arc_n9336_10_6, genie_n9k_c9332d_gx2b",
        ),
        Source(
            key="inventory",
            command="show inventory",
            fills=(Fill(System, Layer.APPLIED, ("serial",)),),
            parser=Parser.TEXT,
            normalise=system.inventory,
            anchor=(r'^NAME: "Chassis"', r"^PID: \S"),
            proof={"system.serial": r'^NAME: "Chassis"' + "\n" + r"^PID:"},
            proven_by="capture nxos/genie_c",
        ),
        Source(
            key="interfaces",
            command="show interface",
            fills=(Fill(Interface, Layer.APPLIED, ports.COLUMNS),),
            parser=Parser.TEXT,
            normalise=ports.interfaces,
            anchor=(r"^\S+ is (?:up|down)\b", r"^ *admin state is (?:up|down)\b"),
            proof={
                "interface": r"^{0} is ", "interface.mtu": _PORT + r"^ +MTU \d", "interface.mtu_shown": _PORT + r"^ +MTU \d",
                "interface.speed": _PORT + r"^ +\S+-duplex, ", "interface.fec": _PORT + r"oper fec state is",
                "interface.mac": _PORT + r"address: ", "interface.lag": _PORT + r"^ +Belongs to ",
                "interface.description": _PORT + r"^ +Description:", "interface.autoneg": _PORT + r"Auto-Negotiation is turned",
                "interface.enabled": _PORT + r"admin state is",
            },
            proven_by="captures nxos/genie_fec_auth_pending, ntc_eth1_50_hole; show interface in genieparser",
            seconds=30.0,
        ),
        Source(
            key="interfaces_status",
            command="show interface status",
            fills=(Fill(Interface, Layer.APPLIED, ("enabled", "up")),),
            parser=Parser.TEXT,
            normalise=ports.status,
            anchor=(r"^Port +Name +Status +Vlan +Duplex +Speed +Type",),
            shown=names.in_tables,
            proof={"interface": r"^{0} "},
            proven_by="captures nxos/arc_n9336_10_6, genie_fex_large",
        ),
        Source(
            key="transceivers",
            command="show interface transceiver",
            aliases=("show interface transceiver details",),
            fills=(
                Fill(
                    Optic, Layer.APPLIED, ("present", "type", "vendor", "part_number", "serial", "firmware"), whole=False
                ),
            ),
            parser=Parser.TEXT,
            normalise=ports.transceivers,
            anchor=(r"^ +transceiver is \S",),
            proof={
                "optic": "^{0}\\s*$\n" + r"^ +transceiver is", "optic.type": "^{0}\\s*$\n" + r"^ +type is",
                "optic.serial": "^{0}\\s*$\n" + r"^ +serial number is", "optic.vendor": "^{0}\\s*$\n" + r"^ +name is",
                "optic.part_number": "^{0}\\s*$\n" + r"^ +part number is",
                "optic.firmware": "^{0}\\s*$\n" + r"^ +firmware version is",
            },
            proven_by="captures nxos/ntc_qsfp_dd_400g, arc_n93180_10_3",
            seconds=30.0,
        ),
        Source(
            key="lldp_detail",
            command="show lldp neighbors detail",
            fills=(Fill(Neighbour, Layer.APPLIED, lldp.COLUMNS),),
            parser=Parser.TEXT,
            normalise=lldp.detail,
            anchor=(r"^Total entries displayed: \d+",),
            shown=names.shown,
            proof={"neighbour": r"^Local Port id: {0}\s*$"},
            proven_by="captures nxos/genie_connectx_host, napalm_a",
            seconds=20.0,
        ),
        Source(
            key="running_qos",
            command="show running-config ipqos",
            aliases=("show running-config", "show running-config interface"),
            fills=(
                Fill(QosPort, Layer.CONFIGURED, ("trust", "dscp_map", "pfc_priorities"), whole=False),
                Fill(DscpMap, Layer.CONFIGURED, ("traffic_class",), whole=False),
                Fill(Queue, Layer.CONFIGURED, ("ecn_enabled", "ecn_probability"), whole=False),
            ),
            parser=Parser.TEXT,
            normalise=qos.running,
            anchor=(r"^!Command: show running-config", r"^!Time: \S"),
            proof={
                "qos_port": r"^interface {0}\s*$", "qos_port.dscp_map": r"^interface {0}\s*$" + "\n" + r"^ +service-policy type "
                "qos",
                "qos_port.pfc_priorities": r"^interface {0}\s*$" + "\n" + r"^ +priority-flow-control mode",
                "dscp_map": r"^policy-map type qos {0}\s*$",
            },
            proven_by="capture nxos/arc_n93180_10_3 (show running-config interface); Microsoft's reference configurations of "
            "Nexus switches for Azure Local",
        ),
    ),
    censuses=(Census("interfaces", ("interfaces_status",), cabled), Census("interfaces_status", ("interfaces",), cabled)),
    failures=(
        Failure(r"^% ?Permission denied.*", GapReason.PERMISSION, "the role of the login may not run it"),
        Failure(r"^% ?Invalid (?:command|parameter|number) at", GapReason.REJECTED, "the switch does not take the command"),
        Failure(r"^% ?(?:Incomplete|Ambiguous) command.*", GapReason.REJECTED, "the switch does not take the command"),
        Failure(r"^Syntax error while parsing", GapReason.REJECTED, "the switch does not take the command"),
    ),
    pagers=(r"--\s?[Mm]ore\s?--",),
    prompts=(r"[\w.()-]{1,80}[>#] ?$",),
    secrets=(r"\bpassword \d (\S+)", r"\b(?:key|key-string|md5|secret)(?: \d)? (\S+)", r"\bcommunity (\S+)"),
    unsupported=(
        Unsupported("system", ("kernel", "booted_at"), "the clock of `Last reset` has no zone"),
        Unsupported("interface", ("up_since", "alias", "cable_length_m", "breakout_parent", "lanes", "frame_bytes"), _NO_PROOF),
        Unsupported(
            "neighbour", ("port_kind", "chassis_kind", "heard_s", "since_s", "ttl_s", "protocol"),
            "subtypes and ages are not printed, and of the time to live only what is left",
        ),
        Unsupported(
            "qos_port", ("tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_direction"),
            "qos-groups are queues by their number, and no output says so of a port",
        ),
        Unsupported(
            "qos_port", ("trust", "dscp_map", "pfc_priorities"), "captures of the applied state are of a Nexus 5000 alone",
            Layer.APPLIED,
        ),
        Unsupported("queue", ("ecn_min_bytes", "ecn_max_bytes"), "kbytes of unknown size"),
        Unsupported("queue", ("watchdog_enabled", "watchdog_action"), "the only sample at hand was made by hand"),
        Unsupported("buffer", ("mode", "ingress_pools", "model"), _NO_PROOF),
        Unsupported(
            "priority_group", ("lossless", "headroom_bytes", "profile"), "buffers are carved by the switch, and not told"
        ),
    ),
)  # fmt: skip
