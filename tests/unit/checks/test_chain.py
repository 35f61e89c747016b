"""The fabric rule over link ends made by hand: objects, severities, what stays open, and what is counted."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from auditor.address import Address, Layer
from auditor.checks import rules
from auditor.model import (
    Fact,
    Gap,
    GapReason,
    Hop,
    HopCell,
    Judgement,
    Link,
    LinkEnd,
    LinkVerdict,
    PlanEnd,
    PlanLink,
    RuleContext,
    Severity,
    Verdict,
)
from auditor.plan.fabric import parse_fabric

RULE = rules()["lossless.priority_chain_broken"]
FABRIC = parse_fabric("planes: {compute: {classes: [{name: roce, dscp: [26], priority: 3}]}, storage: {}}")
UNSEEN = Gap("leaf-01", "queue", "s", GapReason.TIMEOUT)
UNSUPPORTED = Gap("leaf-01", "queue", "s", GapReason.UNSUPPORTED)


def cell(name: str, ok: bool | None = True, port: str = "e1", gap: Gap | None = None, seen: str = "so") -> HopCell:
    table = "queue" if name in ("watchdog", "ecn") else "qos_port"
    address = Address(table, (port, "3") if table == "queue" else (port,), name, Layer.CONFIGURED)
    return HopCell(
        name, ok, seen, "otherwise", Fact(address, None if ok is None else 1, Layer.CONFIGURED, gap=gap), read="configured"
    )


def end(device: str, port: str, *cells: HopCell, role: str = "leaf", **changes: object) -> LinkEnd:
    ways = ("send", "receive") if role.endswith("host") else ("ingress", "egress")
    hops = tuple(Hop("roce", way, cells) for way in ways)
    return replace(LinkEnd(device, port, port, role, hops=hops), **changes)  # type: ignore[arg-type]


def cable(*, leaf: LinkEnd, host: LinkEnd | None = None, plane: str = "compute") -> Link:
    host = host or end(f"gpu-{leaf.port}", "ens1", cell("trust", port="ens1"), role="gpu_host")
    plan = PlanLink(PlanEnd(host.device, host.port), PlanEnd(leaf.device, leaf.port), plane)
    return Link(host, leaf, LinkVerdict.PROVEN, plan)


def judged(*links: Link) -> dict[str, Judgement]:
    said = list(RULE.function(links, RuleContext(fabric=FABRIC)))
    found = {str(item.object): item for item in said}
    assert len(found) == len(said), "one judgement per object"
    return found


def test_every_port_of_a_plane_with_a_lossless_class_is_an_object() -> None:
    found = judged(cable(leaf=end("leaf-01", "e1", cell("trust"))), cable(leaf=end("leaf-01", "e9"), plane="storage"))
    assert {name: str(item.verdict) for name, item in found.items()} == {
        "gpu-e1:qos_port[ens1]": "pass",
        "leaf-01:qos_port[e1]": "pass",
    }


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        *((name, Severity.CRITICAL) for name in ("trust", "headroom", "tc_to_queue")),
        *((name, Severity.ERROR) for name in ("watchdog", "ecn", "cnp")),
    ],
)
def test_what_loses_packets_is_critical_and_a_missing_net_an_error(name: str, severity: Severity) -> None:
    deviation = judged(cable(leaf=end("leaf-01", "e1", cell(name, ok=False))))["leaf-01:qos_port[e1]"].deviation
    assert deviation is not None
    assert deviation.severity is severity


def test_a_break_is_told_though_something_before_it_was_not_seen() -> None:
    found = judged(cable(leaf=end("leaf-01", "e1", cell("trust", None, gap=UNSEEN), cell("pfc", ok=False))))
    assert found["leaf-01:qos_port[e1]"].verdict is Verdict.FAIL


def test_an_unseen_cell_leaves_its_port_open_and_an_unsupported_one_stands_beside_it() -> None:
    unseen = judged(cable(leaf=end("leaf-01", "e1", cell("trust"), cell("ecn", None, gap=UNSEEN))))["leaf-01:qos_port[e1]"]
    assert (unseen.verdict, unseen.gap) == (Verdict.NOT_EVALUATED, UNSEEN)
    found = judged(cable(leaf=end("leaf-01", "e1", cell("trust"), cell("ecn", None, gap=UNSUPPORTED))))
    assert found["leaf-01:qos_port[e1]"].verdict is Verdict.PASS
    assert (found["leaf-01:queue[e1,3]"].verdict, found["leaf-01:queue[e1,3]"].gap) == (Verdict.NOT_EVALUATED, UNSUPPORTED)


def test_an_end_without_a_chain_is_not_evaluated_for_its_own_reason() -> None:
    gap = Gap("leaf-01", "*", "", GapReason.UNREACHABLE, "no route to host")
    found = judged(cable(leaf=end("leaf-01", "e1", hops=(), gap=gap)))["leaf-01:qos_port[e1]"]
    assert (found.verdict, found.gap) == (Verdict.NOT_EVALUATED, gap)


def test_a_port_that_is_switched_off_is_not_judged() -> None:
    off = Fact(Address("interface", ("e1",), "enabled"), False, Layer.CONFIGURED)
    leaf = end("leaf-01", "e1", cell("headroom", ok=False), facts={"interface.enabled": off})
    assert "leaf-01:qos_port[e1]" not in judged(cable(leaf=leaf))


def test_ports_that_break_alike_tell_what_they_touch_together_and_others_for_themselves() -> None:
    alike = [cable(leaf=end("leaf-01", port, cell("trust", ok=False, port=port))) for port in ("e1", "e2")]
    other = cable(leaf=end("leaf-01", "e3", cell("trust", ok=False, port="e3", seen="nothing")))
    messages = {name: item.deviation.message for name, item in judged(*alike, other).items() if item.deviation is not None}
    assert "touches 2 ports, 4 paths, 2 hosts (read: configured)" in messages["leaf-01:qos_port[e1]"]
    assert messages["leaf-01:qos_port[e1]"].replace("e1", "e2") == messages["leaf-01:qos_port[e2]"]
    assert "touches 2 paths, 1 host (read: configured)" in messages["leaf-01:qos_port[e3]"]


def test_what_ports_have_in_common_is_said_alike_so_that_it_can_fold() -> None:
    links = [cable(leaf=end("leaf-01", port, cell("trust", ok=False, port=port))) for port in ("e1", "e2")]
    deviations = [item.deviation for item in judged(*links).values() if item.deviation is not None]
    assert len({(item.expected, item.observed) for item in deviations}) == 1


def test_with_a_part_of_the_plan_no_paths_are_counted() -> None:
    stored = end("gpu-e1", "ens1", cell("trust", port="ens1"), role="gpu_host", stale_of=datetime(2026, 3, 1, tzinfo=UTC))
    found = judged(cable(leaf=end("leaf-01", "e1", cell("trust", ok=False)), host=stored))["leaf-01:qos_port[e1]"]
    assert found.deviation is not None
    assert "path" not in found.deviation.message


def test_cells_that_other_rules_cite_for_the_same_fault_are_among_the_spots() -> None:
    address = Address("priority_group", ("e1", "3"), "lossless", Layer.APPLIED)
    group = HopCell("priority_group", False, "lossy", "lossless", Fact(address, False, Layer.APPLIED))
    deviation = judged(cable(leaf=end("leaf-01", "e1", group)))["leaf-01:qos_port[e1]"].deviation
    assert deviation is not None
    assert [str(spot) for spot in deviation.spots] == [
        "leaf-01:priority_group[e1,3].lossless@applied",
        "leaf-01:priority_group[e1,3].profile@applied",
        "leaf-01:priority_group[e1,3].headroom_bytes@applied",
    ]


def test_without_intent_nothing_is_said() -> None:
    assert list(RULE.function([cable(leaf=end("leaf-01", "e1", cell("trust", ok=False)))], RuleContext())) == []
