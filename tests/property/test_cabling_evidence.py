"""What the evidence may say of cables, whatever of it is lost, in whatever order it comes, and whatever neighbours claim."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.address import Address, Layer
from auditor.cabling.links import build_wiring
from auditor.model import Device, Fact, LinkEnd, LinkVerdict, NeighbourSeen, Place, Plan, PlanEnd, PlanLink, Via, Wiring

BAD = (LinkVerdict.MISSING, LinkVerdict.WRONG)


@dataclass
class Fabric:
    """Hosts, leaves and a spine, with what is really plugged where."""

    links: list[tuple[Place, Place]] = field(default_factory=list)
    spare: list[Place] = field(default_factory=list)
    real: dict[Place, Place] = field(default_factory=dict)
    mute: set[str] = field(default_factory=set)
    """Devices that see no neighbours, as hosts with an agent in their firmware."""


@st.composite
def fabrics(draw: st.DrawFn) -> Fabric:
    hosts, nics = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    made = Fabric()
    for host in range(hosts):
        for nic in range(nics):
            made.links.append(((f"gpu-{host}", f"ens{nic}np0"), (f"leaf-{nic}", f"Ethernet{host * 4}")))
    for nic in range(nics):
        made.links.append(((f"leaf-{nic}", f"Ethernet{(hosts + 1) * 4}"), ("spine-0", f"Ethernet{nic * 4}")))
        made.spare.append((f"leaf-{nic}", f"Ethernet{(hosts + 2) * 4}"))
    far = [b for _, b in made.links]
    for _ in range(draw(st.integers(0, 3))):  # cables exchanged
        one, other = draw(st.integers(0, len(far) - 1)), draw(st.integers(0, len(far) - 1))
        far[one], far[other] = far[other], far[one]
    pairs = list(zip([a for a, _ in made.links], far, strict=True))
    for at in draw(st.sets(st.integers(0, len(pairs) - 1), max_size=2)):  # a cable in a port that nobody planned
        if draw(st.booleans()):
            spare = [place for place in made.spare if place not in {b for _, b in pairs}]
            pairs[at] = (pairs[at][0], draw(st.sampled_from(spare))) if spare else pairs[at]
    gone = draw(st.sets(st.integers(0, len(pairs) - 1), max_size=2))
    for at, (a, b) in enumerate(pairs):
        if at not in gone and a[0] != b[0]:
            made.real[a], made.real[b] = b, a
    made.mute = draw(st.sets(st.sampled_from([f"gpu-{host}" for host in range(hosts)])))
    return made


def mac(place: Place) -> str:
    return f"b8:3f:d2:{int(place[0][4:]):02x}:00:{int(place[1][3:-3]):02x}"


def words_of(far: Place, style: int) -> NeighbourSeen:
    """A port as it presents itself: by name, by alias and description, by MAC, by MAC without any name."""
    device, port = far
    if not device.startswith("gpu"):
        return (
            NeighbourSeen(f"{device}.example.net", f"etp{port[8:]}", "local", port) if style % 2 else NeighbourSeen(device, port)
        )
    return (
        NeighbourSeen(device.upper(), port, "name"),
        NeighbourSeen(device, mac(far), "mac", port),
        NeighbourSeen("", mac(far), "mac", "", mac(far)),
        NeighbourSeen("", "1", "local", "", mac(far)),
    )[style % 4]


def end(place: Place, *seen: NeighbourSeen, up: bool | None = True) -> LinkEnd:
    device, port = place
    facts = {"interface.up": Fact(Address("interface", (port,), "up"), up, Layer.APPLIED)}
    host = device.startswith("gpu")
    own = (port, mac(place)) if host else (port, f"etp{port[8:]}")
    return LinkEnd(device, port, port, "gpu_host" if host else "leaf", facts, seen, own)


def ends_of(fabric: Fabric, style: int) -> dict[Place, LinkEnd]:
    places = [*(place for link in fabric.links for place in link), *fabric.spare]
    found = {}
    for at, place in enumerate(places):
        far = fabric.real.get(place)
        seen = () if far is None or place[0] in fabric.mute else (words_of(far, style + at),)
        found[place] = end(place, *seen, up=far is not None)
    return found


def wire(fabric: Fabric, ends: dict[Place, LinkEnd], order: int | None = None) -> Wiring:
    links = [PlanLink(PlanEnd(*a), PlanEnd(*b), "compute") for a, b in fabric.links]
    items = list(ends.items())
    if order is not None:
        random = Random(order)
        random.shuffle(links)
        random.shuffle(items)
        links = [replace(link, a=link.b, b=link.a) if random.random() < 0.5 else link for link in links]
    devices = {name: Device(name, ("linux",)) for name in sorted({place[0] for place in ends})}
    return build_wiring(Plan("plan", tuple(links)), dict(items), devices)


def verdicts(wiring: Wiring) -> dict[str, LinkVerdict]:
    return {link.name: link.verdict for link in wiring.links}


@settings(max_examples=60, deadline=None)
@given(fabrics(), st.integers(0, 3), st.data())
def test_lost_neighbours_make_no_link_missing_or_wrong(fabric: Fabric, style: int, data: st.DataObject) -> None:
    ends = ends_of(fabric, style)
    before = wire(fabric, ends)
    lost = data.draw(st.sets(st.sampled_from(sorted(ends)), min_size=1, max_size=max(1, len(ends) // 10)))
    after = wire(fabric, ends | {place: replace(ends[place], neighbours=()) for place in lost})
    was, now = verdicts(before), verdicts(after)
    assert {name for name in now if now[name] in BAD and was[name] is not now[name]} == set()
    assert after.observed.items() <= before.observed.items()


@settings(max_examples=60, deadline=None)
@given(fabrics(), st.integers(0, 3))
def test_true_neighbours_tell_the_truth(fabric: Fabric, style: int) -> None:
    wiring = wire(fabric, ends_of(fabric, style))
    assert wiring.observed.items() <= fabric.real.items()
    for (a, b), link in zip(fabric.links, wiring.links, strict=True):
        if fabric.real.get(a) == b:
            assert link.verdict in (LinkVerdict.PROVEN, LinkVerdict.PROVEN_ONE_END)
        elif a in fabric.real or b in fabric.real:
            seen = [place for place in (a, b) if place in wiring.observed]
            assert (link.verdict is LinkVerdict.WRONG) == bool(seen)
        else:
            assert link.verdict is LinkVerdict.MISSING


@settings(max_examples=40, deadline=None)
@given(fabrics(), st.integers(0, 3), st.integers(0, 2**16))
def test_the_order_of_plan_and_evidence_does_not_matter(fabric: Fabric, style: int, order: int) -> None:
    ends = ends_of(fabric, style)
    one, other = wire(fabric, ends), wire(fabric, ends, order)
    assert verdicts(one) == verdicts(other)
    assert one.observed == other.observed
    assert {link.name: link.reason for link in one.unplanned} == {link.name: link.reason for link in other.unplanned}


@settings(max_examples=100, deadline=None)
@given(fabrics(), st.integers(0, 2**16), st.data())
def test_whatever_neighbours_claim_a_port_has_one_cable(fabric: Fabric, order: int, data: st.DataObject) -> None:
    ends = ends_of(fabric, 0)
    places = sorted(ends)
    claims = st.tuples(st.sampled_from(places), st.sampled_from(places), st.sampled_from([Via.LLDP, Via.MAC, Via.FABRIC]))
    for near, far, via in data.draw(st.lists(claims, max_size=12)):
        said = words_of(far, order) if via is not Via.FABRIC else NeighbourSeen(*far)
        ends[near] = replace(ends[near], neighbours=(*ends[near].neighbours, said._replace(via=via)))
    one, other = wire(fabric, ends), wire(fabric, ends, order)
    assert verdicts(one) == verdicts(other)
    assert one.observed == other.observed
    assert all(one.observed[far] == near and near[0] != far[0] for near, far in one.observed.items())
    assert {link.name: set(link.far) for link in one.links} == {link.name: set(link.far) for link in other.links}
