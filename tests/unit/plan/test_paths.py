"""Which switches lie on the way between hosts of a plan."""

from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.paths import devices_between

HOSTS = frozenset({"h1", "h2", "h3"})


def link(a: str, b: str, plane: str = "compute") -> PlanLink:
    return PlanLink(PlanEnd(a, f"to-{b}"), PlanEnd(b, f"to-{a}"), plane)


PLAN = Plan(
    links=(
        link("h1", "leaf1"), link("h2", "leaf2"), link("h3", "leaf3"),
        *(link(leaf, spine) for leaf in ("leaf1", "leaf2", "leaf3") for spine in ("spine1", "spine2")),
        link("spine2", "core1"), link("h1", "store1", "storage"), link("store1", "store2", "storage"),
    )
)  # fmt: skip


def test_between_two_hosts_lie_their_leaves_and_the_spines_that_join_them() -> None:
    found = devices_between(PLAN, ["h1", "h2"], HOSTS)
    assert found == {"h1", "h2", "leaf1", "leaf2", "spine1", "spine2", "store1", "store2"}


def test_of_one_host_the_leaves_and_what_stands_next_to_them_count() -> None:
    assert devices_between(PLAN, ["h3"], HOSTS) == {"h3", "leaf3", "spine1", "spine2"}


def test_hosts_that_the_plan_does_not_have_are_left_out() -> None:
    assert devices_between(PLAN, ["h9"], HOSTS) == frozenset()


def test_hosts_on_one_leaf_need_no_spine_but_it_stands_beside_them() -> None:
    plan = Plan(links=(*PLAN.links, link("h4", "leaf3")))
    assert devices_between(plan, ["h3", "h4"], HOSTS | {"h4"}) == {"h3", "h4", "leaf3", "spine1", "spine2"}
