"""NVIDIA (Mellanox) Onyx, formerly MLNX-OS: the switch, its ports, and how ports classify.

Traps, each met in an answer:

- JSON comes as a list of objects with one member in one version and as one object in another; all numbers are texts with units.
- `MTU` holds two sizes in one text: `1500 bytes(Maximum packet size 1522 bytes)`, the IP packet and the frame.
- The speed of a port that is down is the one that it was set to.
- Ports are `Eth1/1` in answers and `ethernet 1/1` in commands.
- DSCPs lead to switch priorities, and these to traffic classes; PFC and buffers go by the switch priority. So what other
  platforms call a traffic class is the switch priority here, and the traffic class is the queue.
- `Product model: x86onie` is the board that Onyx runs on, not the model of the switch.

`show qos interface` is read from captures only: no document at hand shows which form of the command prints every port. Which
priorities have PFC is told by the running configuration alone, of which no answer with priorities is at hand.
"""

from __future__ import annotations

from auditor.address import Layer
from auditor.facts import ClassMap, DscpMap, Interface, QosPort, System
from auditor.model import Failure, Fill, GapReason, Parser, Platform, Source, Transport, Unsupported
from auditor.platforms.mellanox_mlnxos import answers, names

_NO_PROOF = "no capture and no document of Onyx proves what it prints of it"

PLATFORM = Platform(
    name="mellanox_mlnxos",
    title="NVIDIA Onyx (MLNX-OS)",
    netmiko="mellanox_mlnxos",
    transport=Transport.CLI,
    formats=("| json-print",),
    interface_name=names.long_name,
    sources=(
        Source(
            key="version",
            command="show version",
            fills=(Fill(System, Layer.APPLIED, ("vendor", "os_name", "os_version", "serial", "image_id")),),
            parser=Parser.TEXT,
            normalise=answers.version,
            anchor=(r"^Product name: +\S", r"^Product release: +\S", r"^System memory: +\S"),
            proof={
                "system": r"^Product name:", "system.os_version": r"^Product release:", "system.image_id": r"^Build ID:",
                "system.serial": r"^System serial num:",
            },
            proven_by="capture onyx/msn_3_6_5000 (fixture of mellanox.onyx)",
        ),
        Source(
            key="interfaces",
            command="show interfaces ethernet | json-print",
            aliases=("show interfaces ethernet json",),
            fills=(
                Fill(
                    Interface, Layer.APPLIED, ("enabled", "up", "mtu", "frame_bytes", "mtu_shown", "speed", "fec", "mac"),
                    whole=False,
                ),
            ),
            parser=Parser.JSON,
            normalise=answers.interfaces,
            proof={"interface": "/[header={0}]"},
            proven_by="capture onyx/two_ports_100g (fixture of mellanox.onyx, module onyx_facts)",
            seconds=30.0,
        ),
        Source(
            key="qos",
            command="show_qos_interface_ethernet_json",
            aliases=("show qos interface ethernet | json-print", "show qos interface ethernet json"),
            sent=False,
            fills=(
                Fill(QosPort, Layer.APPLIED, ("trust", "dscp_map", "tc_to_queue"), whole=False),
                Fill(DscpMap, Layer.APPLIED, ("traffic_class",), whole=False),
                Fill(ClassMap, Layer.APPLIED, ("kind", "to"), whole=False),
            ),
            parser=Parser.JSON,
            normalise=answers.qos,
            proof={"qos_port": "/0/{0}"},
            proven_by="capture onyx/trust_both (fixture of mellanox.onyx, module onyx_qos)",
        ),
    ),
    failures=(
        Failure(r'^% Unrecognized command ".*"\.?', GapReason.REJECTED, "the switch does not take the command"),
        Failure(r"^% .*(?:[Pp]rivilege|[Pp]ermission|not authorized).*", GapReason.PERMISSION, "the switch refused it"),
        Failure(r"^% .+", GapReason.REJECTED, "the switch does not take the command"),
    ),
    pagers=(r"lines \d+-\d+(?:/\d+ \(END\))?",),
    prompts=(r"[\w.-]{1,80} \[[^\]\r\n]{1,80}\] [>#] ?$",),
    unsupported=(
        Unsupported("system", ("hardware_model", "hostname", "kernel", "booted_at"), _NO_PROOF),
        Unsupported(
            "interface",
            (
                "up_since", "autoneg", "alias", "cable_length_m", "breakout_parent", "lanes", "lag", "description",
                "error_disabled",
            ),
            _NO_PROOF,
        ),
        Unsupported("qos_port", ("tc_to_pg", "pfc_to_queue", "pfc_priorities", "pfc_direction"), _NO_PROOF),
        Unsupported(
            "queue", ("ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "watchdog_enabled", "scheduler", "weight"),
            "answers for one port are at hand, and no document shows the command for every port",
        ),
        *(
            Unsupported(table, columns, _NO_PROOF)
            for table, columns in (
                ("neighbour", ("system", "port_kind", "chassis")),
                ("optic", ("present", "type")),
                ("firmware", ("version",)),
                ("buffer", ("mode", "ingress_pools", "model")),
            )
        ),
    ),
)  # fmt: skip
