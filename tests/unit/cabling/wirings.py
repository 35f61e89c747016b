"""Small fabrics with cables moved by hand, as the evidence would show them."""

from auditor.address import Address, Layer
from auditor.cabling.causes import find_causes
from auditor.model import ABSENT, Device, Fabric, Fact, Link, LinkEnd, LinkVerdict, Plan, PlanEnd, PlanLink, Wiring

FABRIC = Fabric()


def leaf_port(number):
    return f"Ethernet{8 * number}"


def nic(number):
    return f"ens{108 + 2 * number}np0"


def plan(hosts=8, rails=8, racks=2, spines=0, nics=nic, ids=False):
    """Hosts whose NIC n is on leaf n, all NICs of a host in the same port; `spines` have one link from each leaf."""
    links = []
    for host in range(hosts):
        rack = f"R{host * racks // hosts + 1:02}" if racks else ""
        for rail in range(rails):
            near = PlanEnd(
                f"gpu-{host + 1:03}", nics(rail), rack, str(host % 8 + 1), "", f"0000:{rail + 16:02x}:00.0" if ids else ""
            )
            far = PlanEnd(f"leaf-{rail}", leaf_port(host), "R90" if racks else "")
            links.append(PlanLink(near, far, "compute", str(rail), label=f"C{host}-{rail}"))
    for spine in range(spines):
        for rail in range(rails):
            near, far = PlanEnd(f"leaf-{rail}", leaf_port(100 + spine)), PlanEnd(f"spine-{spine}", leaf_port(rail))
            links.append(PlanLink(near, far, "compute", label=f"S{spine}-{rail}"))
    return Plan("plan", tuple(links))


def roles(plan):
    names = {end.device for link in plan.links for end in (link.a, link.b)}
    return {name: Device(name, (), role="gpu_host" if name.startswith("gpu") else name.partition("-")[0]) for name in names}


def cables(plan, **ends):
    """The cables as planned, by (device, port) both ways; change them with `put`."""
    return {place: other for link in plan.links for place, other in both(link.a.place, link.b.place)}


def both(one, other):
    return (one, other), (other, one)


def put(wires, *pairs, out=()):
    """Take the cables of the places in `pairs` and `out` away, then plug these pairs in."""
    for place in [*out, *(place for pair in pairs for place in pair)]:
        other = wires.pop(place, None)
        if other is not None:
            wires.pop(other, None)
    for pair in pairs:
        wires.update(both(*pair))
    return wires


def far(plan, place):
    return next(link.other(link.end(*place)).place for link in plan.links if place in (link.a.place, link.b.place))


def swap(plan, wires, one, other):
    """Exchange the plugs in two places."""
    a, b = wires[one], wires[other]
    return put(wires, (one, b), (other, a))


def wiring(plan, wires, lost=(), identities=None, slow=()):
    """What the evidence says: all ports collected; of a pair in `lost` nobody says anything but that it is up."""
    seen = {one: other for one, other in wires.items() if one not in lost and other not in lost}
    places = {place for link in plan.links for place in (link.a.place, link.b.place)} | set(wires)
    ends = {place: end(place, place in wires, (identities or {}).get(place, ())) for place in places}
    links = []
    for link in plan.links:
        a, b = link.a.place, link.b.place
        if seen.get(a) == b:
            verdict = LinkVerdict.DEGRADED if link.name in slow else LinkVerdict.PROVEN
        elif a in seen or b in seen:
            verdict = LinkVerdict.WRONG
        else:
            verdict = LinkVerdict.LINK_ONLY if a in wires and b in wires else LinkVerdict.MISSING
        links.append(Link(ends[a], ends[b], verdict, link, "", (seen.get(a), seen.get(b))))
    known = {place for link in plan.links for place in (link.a.place, link.b.place)}
    stray = [(one, other) for one, other in seen.items() if one < other and not {one, other} & known]
    unplanned = tuple(Link(ends[one], ends[other], LinkVerdict.UNPLANNED) for one, other in stray)
    return Wiring(tuple(links), unplanned, seen, ends)


def end(place, up, identities=()):
    device, port = place
    facts = {"interface.up": up, "optic.present": True if up else ABSENT}
    cells = {
        name: Fact(Address(name.partition(".")[0], (port,), name.partition(".")[2]), value, Layer.APPLIED)
        for name, value in facts.items()
    }
    role = "gpu_host" if device.startswith("gpu") else device.partition("-")[0]
    return LinkEnd(device, port, port, role, cells, identities=tuple(identities))


def causes(plan, wires, judged=None, fabric=FABRIC, devices=None, **options):
    return find_causes(wiring(plan, wires, **options), plan, fabric, devices or roles(plan), judged)
