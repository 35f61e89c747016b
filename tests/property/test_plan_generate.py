"""Whatever plan is asked for: it is refused with a reason, or every port is used once and nothing is oversubscribed."""

from __future__ import annotations

from collections import Counter

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from auditor.errors import SetupError
from auditor.model import Plan
from auditor.plan.generate import Wanted, design, links
from auditor.plan.lint import Surroundings, lint
from auditor.plan.tiers import hosts, shapes

WANTED = st.builds(
    Wanted,
    hosts=st.integers(1, 60),
    rails=st.integers(1, 9),
    ports=st.sampled_from([4, 6, 8, 16, 32, 33, 64]),
    pods=st.integers(1, 5),
    hosts_per_rack=st.sampled_from([None, 1, 4]),
    switch_port=st.sampled_from(["swp1", "Ethernet0,Ethernet8", "1"]),
)


@settings(deadline=None, max_examples=80)
@given(WANTED)
def test_a_generated_plan_lints_clean_and_carries_what_it_must(wanted: Wanted) -> None:
    try:
        found = design(wanted)
    except SetupError as refused:
        assert len(str(refused)) > 10
        assume(False)
        return
    plan = Plan("generated", tuple(links(found)))
    assert len(plan.links) == found.links
    places = Counter(end.place for link in plan.links for end in (link.a, link.b))
    assert set(places.values()) == {1}
    endpoints = hosts(plan, {})
    assert len(endpoints) == wanted.hosts
    used = Counter(device for device, _ in places if device not in endpoints)
    assert len(used) == wanted.pods * (found.leaves + found.spines) + found.cores
    assert max(used.values()) <= wanted.ports
    assert [str(finding) for finding in lint(plan, Surroundings()).findings] == []
    (plane,) = shapes(plan, endpoints, {})
    for load in plane.loads.values():
        assert not load.up or (load.ratio or 0) <= 1


@settings(deadline=None, max_examples=40)
@given(WANTED, st.data())
def test_a_generated_plan_with_one_end_moved_to_a_free_leaf_port_is_not_clean(wanted: Wanted, data: st.DataObject) -> None:
    try:
        found = design(wanted)
    except SetupError:
        assume(False)
        return
    every = list(links(found))
    at = data.draw(st.integers(0, wanted.hosts * wanted.rails - 1))
    assume(found.leaves > 1)
    taken = every[at]
    clashing = data.draw(st.sampled_from([link.b for link in every if link.b != taken.b]))
    every[at] = type(taken)(taken.a, clashing, taken.plane, taken.rail, taken.speed)
    findings = lint(Plan("broken", tuple(every)), Surroundings()).findings
    assert any("already used" in finding.message for finding in findings)
