"""The chain of a link end survives the store, and gives way to a newer look but not to silence."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from auditor.address import Address, Layer
from auditor.model import ABSENT, Fact, Gap, GapReason, Hop, HopCell, LinkEnd, NeighbourSeen, Via
from auditor.store import ends
from auditor.store.ends import KeptEnd

AT = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
DAY = timedelta(days=1)
MAP = Address("dscp_map", ("AZURE", "26"), "traffic_class", Layer.CONFIGURED)


def cell(name: str, value: object, ok: bool | None = True, reason: GapReason | None = None) -> HopCell:
    address = replace(MAP, column=name)
    gap = None if reason is None else Gap("leaf-01", "dscp_map", "config_db", reason, "why", columns=(name,))
    fact = Fact(address, value, Layer.CONFIGURED, "sonic", "config_db", "d" * 64, gap)  # type: ignore[arg-type]
    return HopCell(name, ok, f"{name} is {value}", "3", fact, Address("dscp_map", ("AZURE",)), "configured; applied unsupported")


def end(*cells: HopCell, hops: bool = True) -> LinkEnd:
    found = (Hop("roce", "ingress", cells), Hop("roce", "egress", cells[:1])) if hops else ()
    return LinkEnd("leaf-01", "Ethernet0", "Ethernet0", "leaf", {}, (), ("aa:bb",), AT, hops=found)


def stored(given: LinkEnd) -> LinkEnd:
    (kept,) = ends.load(ends.dump([KeptEnd(given)]))
    return kept.end


def test_hops_come_back_as_they_were() -> None:
    given = end(
        cell("whole", 3), cell("flag", True), cell("list", (3, 4)), cell("words", ("dscp", "pcp")), cell("number", 0.25),
        cell("empty", ()), cell("text", "AZURE\x1b[31m"), cell("absent", ABSENT, False),
        cell("hidden", None, None, GapReason.TIMEOUT), cell("unsupported", None, None, GapReason.UNSUPPORTED),
    )  # fmt: skip
    back = stored(given)
    assert back == given
    values = {item.name: item.fact.value for item in back.hops[0].cells}
    assert values["absent"] is ABSENT
    assert values["hidden"] is None
    assert {name: type(value) for name, value in values.items()} == {
        item.name: type(item.fact.value) for item in given.hops[0].cells
    }


def test_the_chain_has_a_time_of_its_own() -> None:
    kept = KeptEnd(end(cell("a", 3)), older={ends.HOPS: AT - DAY})
    given = ends.give(kept, AT, AT - DAY)
    assert given is not None
    assert (len(given.hops), given.stale_of) == (2, AT - DAY)
    assert ends.give(kept, AT, AT) is None, "nothing else of the end is left"


@pytest.mark.parametrize("reason", sorted(ends.SILENCE))
def test_silence_does_not_wipe_out_a_chain_that_was_seen(reason: GapReason) -> None:
    seen, silent = end(cell("a", 3)), end(cell("a", None, None, reason))
    (kept,) = ends.merge([KeptEnd(seen)], [silent], AT - DAY, saw_neighbours=True)
    assert kept.end.hops == seen.hops
    assert kept.older[ends.HOPS] == AT - DAY


@pytest.mark.parametrize("reason", [GapReason.REJECTED, GapReason.UNPARSED, GapReason.UNSUPPORTED])
def test_an_answer_that_says_nothing_usable_replaces_an_older_chain(reason: GapReason) -> None:
    seen, newer = end(cell("a", 3)), end(cell("a", None, None, reason))
    (kept,) = ends.merge([KeptEnd(seen)], [newer], AT - DAY, saw_neighbours=True)
    assert kept.end.hops == newer.hops


def test_a_newer_look_replaces_an_older_chain_and_so_does_an_intent_without_classes() -> None:
    old, new = end(cell("a", 3)), end(cell("a", 0, False))
    assert ends.merge([KeptEnd(old)], [new], AT, saw_neighbours=True)[0].end.hops == new.hops
    assert ends.merge([KeptEnd(old)], [end(hops=False)], AT, saw_neighbours=True)[0].end.hops == ()


def test_a_chain_with_silence_is_not_complete() -> None:
    names = ends.fact_names([end(cell("a", 3))])
    assert ends.complete([end(cell("a", 3))], names, saw_neighbours=True)
    assert not ends.complete([end(cell("a", None, None, GapReason.TIMEOUT))], names, saw_neighbours=True)
    assert not ends.complete([end(hops=False)], names, saw_neighbours=True)


def test_neighbours_come_back_with_their_source_their_ages_and_the_cell_that_proves_them() -> None:
    proof = Fact(Address("neighbour", ("Ethernet0", "a,b]"), "system"), "gpu-01", Layer.APPLIED, "sonic", "lldp", "d" * 64)
    walked = Fact(Address("ib_port", ("fc6a1c0300c40100", "1"), "peer_guid"), "x", Layer.APPLIED, device="fm-1")
    seen = (
        NeighbourSeen("gpu-01", "a,b]", "name", "ens1", "aa:bb", since_s=9.5, heard_s=None, ttl_s=120.0, fact=proof),
        NeighbourSeen("", "aa:bb", "mac", "", "aa:bb", Via.MAC),
        NeighbourSeen("lf-1", "1", "name", via=Via.FABRIC, fact=walked),
    )
    assert stored(replace(end(), neighbours=seen)).neighbours == seen
