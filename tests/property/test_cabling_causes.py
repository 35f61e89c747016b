"""Causes of random mixes of cable faults: every faulty link has one, and what one mistake did is one."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.cabling.causes import find_causes
from auditor.cabling.words import LANGUAGES, WorkOrders, sentence
from auditor.model import CauseKind, Fabric, Hand, LinkVerdict, Plan, PlanEnd, PlanLink
from tests.unit.cabling.wirings import cables, causes, leaf_port, nic, plan, put, roles, swap, wiring

FAULTY = (LinkVerdict.WRONG, LinkVerdict.MISSING, LinkVerdict.DEGRADED)
NO_MOVES = (CauseKind.SWITCH_NAMES_EXCHANGED, CauseKind.RENUMBERED, CauseKind.CABLES_OR_NUMBERING, CauseKind.PLAN_WRONG)
FEW = settings(max_examples=40, deadline=None)


def counted(rail):
    return f"mlx5_{rail}"


def with_breakouts(own, legs=4):
    """The plan with one breakout more on every leaf: `legs` management ports of as many hosts on one plug."""
    hosts = sorted({link.a.device for link in own.links if link.a.device.startswith("gpu")})
    extra = [
        PlanLink(
            PlanEnd(host, f"enp9s{leaf}"),
            PlanEnd(f"leaf-{leaf}", f"Ethernet{4000 + at}", "", "", str(at)),
            "inband",
            cable_id=f"B{leaf}-{number}",
        )
        for leaf in range(2)
        for number, start in enumerate(range(0, len(hosts), legs))
        for at, host in enumerate(hosts[start : start + legs], start)
    ]
    return Plan("plan", (*own.links, *extra))


@st.composite
def mixes(draw):
    """A plan with cables as planned but for a few faults, links that are slow, and ports that nobody is seen on."""
    own = plan(
        hosts=draw(st.integers(2, 9)),
        rails=draw(st.integers(2, 6)),
        racks=draw(st.integers(0, 3)),
        spines=draw(st.integers(0, 2)),
        nics=draw(st.sampled_from([nic, counted])),
        ids=draw(st.booleans()),
    )
    if draw(st.booleans()):
        own = with_breakouts(own)
    wires = cables(own)
    for _ in range(draw(st.integers(1, 6))):
        places = sorted(wires)
        if len(places) < 4:
            break
        one, other = draw(st.sampled_from(places)), draw(st.sampled_from(places))
        match draw(st.sampled_from(["swap", "swap", "free", "out", "stray", "host"])):
            case "swap" if other not in (one, wires[one]):
                swap(own, wires, one, other)
            case "free":
                put(wires, (one, (other[0], leaf_port(draw(st.integers(500, 505))))))
            case "out":
                put(wires, out=[one])
            case "stray":
                put(wires, ((one[0], "Ethernet9000"), (other[0], "Ethernet9001")))
            case "host":
                mine = [place for place in places if place[0] == one[0]]
                order = draw(st.permutations(mine))
                put(
                    wires, *[(place, wires[there]) for place, there in zip(mine, order, strict=True) if wires[there][0] != one[0]]
                )
    lost = frozenset(draw(st.sets(st.sampled_from(sorted(wires)), max_size=4))) if wires else frozenset()
    slow = frozenset(draw(st.sets(st.sampled_from([link.name for link in own.links]), max_size=3)))
    return own, wires, lost, slow


@FEW
@given(mixes())
def test_every_faulty_link_has_exactly_one_cause_and_every_cause_is_about_faulty_links(mix):
    own, wires, lost, slow = mix
    seen = wiring(own, wires, lost, slow=slow)
    found = find_causes(seen, own, Fabric(), roles(own))
    faulty = {link.name for link in seen.links if link.verdict in FAULTY} | {link.name for link in seen.unplanned}
    assert Counter(name for cause in found for name in cause.links) == Counter(faulty)
    assert all(cause.links for cause in found)
    assert len({cause.key for cause in found}) == len(found)


@FEW
@given(mixes())
def test_every_cause_can_be_read_in_every_language(mix):
    own, wires, lost, slow = mix
    devices = roles(own)
    for cause in find_causes(wiring(own, wires, lost, slow=slow), own, Fabric(), devices):
        for lang in LANGUAGES:
            assert sentence(cause, lang)
            told = WorkOrders(own, devices, lang).steps(cause)
            assert len(told) >= max(1, len(cause.moves))
            assert all(told)


@FEW
@given(mixes())
def test_the_same_evidence_gives_the_same_causes(mix):
    own, wires, lost, slow = mix
    other = {place: wires[place] for place in sorted(wires, reverse=True)}
    assert causes(own, wires, lost=lost, slow=slow) == causes(own, other, lost=lost, slow=slow)


@FEW
@given(st.data())
def test_a_renumbering_never_yields_a_move(data):
    own = plan(hosts=data.draw(st.integers(1, 10)), rails=data.draw(st.integers(2, 8)), nics=counted, spines=2)
    wires = cables(own)
    hosts = sorted({device for device, _ in wires if device.startswith("gpu")})
    everywhere = data.draw(st.none() | st.permutations(range(sum(device == hosts[0] for device, _ in wires))))
    for host in data.draw(st.sets(st.sampled_from(hosts), min_size=1)):
        ports = sorted(place for place in wires if place[0] == host)
        order = everywhere or data.draw(st.permutations(range(len(ports))))
        put(wires, *[(port, wires[ports[at]]) for port, at in zip(ports, order, strict=True)])
    lost = data.draw(st.sets(st.sampled_from(sorted(wires)), max_size=3))
    found = causes(own, wires, lost=lost)
    assert all(cause.moves == () for cause in found)
    assert {cause.kind for cause in found} <= set(NO_MOVES)


@FEW
@given(st.data())
def test_a_rotation_of_all_hosts_is_one_cause(data):
    rails = data.draw(st.integers(3, 8))
    own = plan(hosts=data.draw(st.integers(1, 40)), rails=rails, racks=data.draw(st.integers(0, 4)), spines=1)
    step = data.draw(st.integers(1, rails - 1))
    wires = rotated(own, lambda host: step)
    found = causes(own, wires)
    assert [cause.kind for cause in found] == [CauseKind.NIC_ORDER]
    assert Hand.MOVE in {move.hand for move in found[0].moves}
    assert ("fleet" in found[0].params) == (len(found[0].params["hosts"].split("\n")) >= 8)


@FEW
@given(st.data())
def test_two_racks_rotated_by_different_steps_are_two_causes(data):
    rails = data.draw(st.integers(4, 8))
    own = plan(hosts=2 * data.draw(st.integers(1, 8)), rails=rails, racks=2)
    steps = data.draw(st.lists(st.integers(1, rails - 1), min_size=2, max_size=2, unique=True))
    racks = {link.a.device: link.a.rack for link in own.links}
    wires = rotated(own, lambda host: steps[racks[host] == "R01"])
    assert [cause.kind for cause in causes(own, wires)] == [CauseKind.NIC_ORDER] * 2


def rotated(own, step):
    wires = cables(own)
    for host in sorted({device for device, _ in wires if device.startswith("gpu")}):
        ports = [link.a.place for link in own.links if link.a.device == host]
        put(wires, *[(port, wires[ports[(at + step(host)) % len(ports)]]) for at, port in enumerate(ports)])
    return wires
