"""Ports called by their PCI address: renamed where an answer tells the network device, a gap where none does."""

from datetime import UTC, datetime

from auditor.address import Layer
from auditor.facts import HostDscp, Nic, QosPort
from auditor.model import Fill, Gap, GapReason, Parser, Platform, RawOutput, Source
from auditor.parse.answer import Parsed
from auditor.parse.naming import name_ports

PCI, OTHER = "0000:06:00.0", "0000:16:00.0"
TOOL = Source(
    "tool", "tool", (Fill(QosPort, Layer.APPLIED, ("trust",)), Fill(HostDscp, Layer.APPLIED, ("priority",))), Parser.TEXT, iter
)  # fmt: skip
NICS = Source("nics", "nics", (Fill(Nic, Layer.APPLIED, ("netdev",)),), Parser.TEXT, iter)
HOST = Platform("host", "host", (TOOL, NICS))
SWITCH = Platform("switch", "switch", (TOOL,))
OUTPUT = RawOutput("gpu-1", "host", "tool", "tool", "", "0" * 64, datetime(2026, 3, 1, tzinfo=UTC))


def answer(source, *rows, gaps=(), platform=HOST):
    return OUTPUT, source, platform, Parsed([(Layer.APPLIED, row) for row in rows], list(gaps))


def test_rows_and_gaps_get_the_name_of_the_network_device():
    gap = Gap("gpu-1", "host_dscp", "tool", GapReason.UNSUPPORTED, "no map", Layer.APPLIED, (PCI, "3"))
    tool = answer(TOOL, QosPort(port=PCI, trust=("dscp",)), HostDscp(netdev=PCI, dscp="26", priority=3), gaps=[gap])
    name_ports([tool, answer(NICS, Nic(pci=PCI, netdev="ens1"))])
    assert [row.key for _, row in tool[3].rows] == [("ens1",), ("ens1", "26")]
    assert [found.key for found in tool[3].gaps] == [("ens1", "3")]


def test_a_port_that_no_answer_names_becomes_one_gap_for_each_table():
    rows = (HostDscp(netdev=OTHER, dscp=str(n), priority=0) for n in range(64))
    tool = answer(TOOL, QosPort(port=OTHER, trust=("dscp",)), QosPort(port="ens9", trust=("pcp",)), *rows)
    name_ports([tool, answer(NICS, Nic(pci=PCI, netdev="ens1"))])
    assert [row.key for _, row in tool[3].rows] == [("ens9",)]
    assert [(gap.table, gap.key, gap.reason) for gap in tool[3].gaps] == [
        (table, (OTHER,), GapReason.NOT_COLLECTED) for table in ("qos_port", "host_dscp")
    ]


def test_names_are_left_as_they_are():
    rows = (QosPort(port="ens1", trust=("dscp",)), QosPort(port="Ethernet1/1", trust=("dscp",)), Nic(pci=PCI, netdev="ens1"))
    tool = answer(TOOL, *rows)
    name_ports([tool])
    assert [row for _, row in tool[3].rows] == list(rows)


def test_platforms_without_adapters_are_not_looked_at():
    tool = answer(TOOL, QosPort(port=PCI, trust=("dscp",)), platform=SWITCH)
    name_ports([tool])
    assert [row.key for _, row in tool[3].rows] == [(PCI,)]
