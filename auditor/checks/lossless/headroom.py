"""Headroom: what a priority group can still take in after it has sent a pause, and what it must.

The lower bound and its inputs, with their sources (see docs/headroom.md):

- What is on the cable when the pause is sent, and what is sent until it arrives: speed × length × 2 × 5 ns/m. Light in fibre
  takes 4.9 to 5 ns/m; SONiC's own formula divides by 198,000,000 m/s (buffer_headroom_mellanox.lua, `speed_of_light`).
- Two of the largest frames of the class: one that the pausing port has just begun to send, so that the pause waits behind it, and
  one that the far end has just begun to send. A RoCE frame is the RDMA MTU and 62 bytes (Ethernet 14, IPv4 20, UDP 8, BTH 12,
  ICRC 4, FCS 4); never larger than the port's MTU and 18 bytes. The MTU of the port alone is no bound: NVIDIA's default profile
  for 10G and 5 m reserves 16,384 bytes on ports with an MTU of 9,100 (SN4280, pg_profile_lookup.ini).
- Not in the bound, shown only: the longest reaction that IEEE 802.3 allows the far end, clause 31B.3.7, in pause quanta of 512
  bits by speed (as quoted in SONiC's buffer_headroom_mellanox.lua).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from auditor.address import Address, Layer
from auditor.checks.lossless.ports import (
    amount,
    gap,
    in_cages,
    listed,
    numbers,
    paused,
    spot,
    used,
)
from auditor.checks.lossless.profiles import differences, gigabits, group_cell, lossless_groups, metres
from auditor.model import (
    ABSENT,
    Cell,
    Deviation,
    Judgement,
    RuleContext,
    Severity,
    State,
    check,
    failed,
    passed,
    unseen,
)
from auditor.model.device import is_host

PROPAGATION_S_PER_M = 5e-9
ROCE_HEADERS = 62
ETHERNET_BYTES = 18
LARGEST_RDMA_MTU = 4096
"""InfiniBand's largest path MTU, taken where `fabric.yaml` names none."""
QUANTUM_BYTES = 64
REACTION_QUANTA = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905}
"""Pause quanta by speed in Gbit/s."""


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes that arrive after a pause is sent: `least` for certain, of which `cable` by propagation and twice `frame`;
    `worst` with the longest reaction that the standard allows, where it names one for the speed."""

    cable: int
    frame: int
    worst: int | None

    @property
    def least(self) -> int:
        """The provable lower bound."""
        return self.cable + 2 * self.frame


def need(speed: int, length_m: float, rdma_mtu: int, port_mtu: int | None) -> Need:
    """What a port must be able to absorb. `speed` in bit/s, `port_mtu` in IP bytes."""
    frame = rdma_mtu + ROCE_HEADERS
    if port_mtu is not None:
        frame = min(frame, port_mtu + ETHERNET_BYTES)
    cable = int(speed * 2 * length_m * PROPAGATION_S_PER_M / 8)
    quanta = REACTION_QUANTA.get(speed // 10**9)
    worst = None if quanta is None else cable + 2 * frame + quanta * QUANTUM_BYTES
    return Need(cable, frame, worst)


@check(
    reads=(
        "priority_group.lossless", "priority_group.headroom_bytes", "priority_group.profile", "priority_group.pool",
        "buffer_pool.shared_headroom_bytes", "qos_port.pfc_priorities", "interface.enabled", "interface.breakout_parent",
    ),
    optional=(
        "priority_group.lossless", "priority_group.headroom_bytes", "priority_group.profile", "priority_group.pool",
        "buffer_pool.shared_headroom_bytes", "qos_port.pfc_priorities", "interface.enabled", "interface.breakout_parent",
    ),
    severity=Severity.CRITICAL,
    family="lossless",
    remedy="Give the port's priority group a lossless buffer profile made for its speed and cable length. On SONiC the buffer "
    "manager does so for a port that is enabled and has a cable length other than zero: set both, then look at the buffers "
    "that are applied.",
)  # fmt: skip
def no_headroom(state: State, context: RuleContext) -> Iterator[Judgement]:
    """On every switch port in use, the priority group of each lossless class with PFC has headroom.

    Judged are the priorities that have PFC on the port and belong to a lossless class of its plane; where none of them does, all
    with PFC. A priority group sends pauses of the priority of its own number (802.1Qbb). A group without headroom of its own
    that may borrow from a shared pool has headroom, unless the device itself calls it lossy. Ports that are switched off are not
    judged: their buffers are taken away on purpose.

    Why it matters: a pause takes effect late. Without headroom everything that arrives until then is dropped, in a class that
    everybody takes for lossless, and only under congestion: the job fails while all settings that people look at are right.
    """
    if is_host(context.role):
        return
    failures: dict[str, Deviation] = {}
    for port in used(state, context):
        row = Address("qos_port", (port,))
        pfc, priorities = paused(state, context, port)
        if not pfc.known:
            yield unseen(row, gap(state, pfc))
            continue
        found = {str(priority): _headroom(state, port, str(priority)) for priority in sorted(priorities)}
        bare = {group: cell for group, (has, cell) in found.items() if has is False}
        hidden = next((cell for has, cell in found.values() if has is None), None)
        if bare:
            failures[port] = _bare_deviation(state, port, pfc, bare)
        elif hidden is not None:
            yield unseen(row, gap(state, hidden))
        elif found:
            yield passed(row)
    for port, deviation in in_cages(state, failures).items():
        yield failed(Address("qos_port", (port,)), deviation)


def _headroom(state: State, port: str, group: str) -> tuple[bool | None, Cell]:
    """Whether a priority group has headroom, of its own or in a shared pool; and the cell that says so."""
    lossless, size = state.cell(group_cell(port, group)), state.cell(group_cell(port, group, "headroom_bytes"))
    if lossless.known and lossless.value is not True:
        return False, size if amount(size) == 0 else lossless
    own = amount(size)
    if not lossless.known or own is None:
        return None, size if lossless.known else lossless
    return own > 0 or (amount(_shared(state, port, group)) or 0) > 0, size


def _shared(state: State, port: str, group: str) -> Cell:
    """The headroom that the group's pool shares, or the pool's name where that is not known."""
    pool = state.cell(group_cell(port, group, "pool"))
    return state.cell(Address("buffer_pool", (str(pool.value),), "shared_headroom_bytes")) if pool.present else pool


def _bare_deviation(state: State, port: str, pfc: Cell, bare: dict[str, Cell]) -> Deviation:
    groups: dict[str, list[str]] = defaultdict(list)
    for group, cell in bare.items():
        profile = state.cell(group_cell(port, group, "profile"))
        name = f" ({profile.value})" if profile.present else ""
        if cell.address.column == "headroom_bytes":
            groups[f"reserves 0 bytes{name}"].append(group)
        elif cell.value is ABSENT and not profile.present:
            groups["does not exist"].append(group)
        else:
            groups[f"is lossy{name}"].append(group)
    words = "; ".join(f"priority group {listed(members)} {said}" for said, members in groups.items())
    message = f"{port} pauses on priority {listed(numbers(pfc.value))} without headroom: {words}"
    cells = [*bare.values(), pfc]
    enabled = state.cell(Address("interface", (port,), "enabled", Layer.CONFIGURED))
    if enabled.value is ABSENT:
        message += "; no administrative state is configured for it (SONiC: admin_status is missing in its row of PORT)"
        cells.append(enabled)
    spots = tuple(spot(state, cell) for cell in cells)
    return Deviation("headroom behind every priority with PFC", words, message, spots)


@check(
    reads=(
        "priority_group.lossless", "priority_group.headroom_bytes", "priority_group.profile", "priority_group.pool",
        "buffer_pool.shared_headroom_bytes", "interface.speed", "interface.mtu", "interface.cable_length_m",
    ),
    optional=(
        "priority_group.lossless", "priority_group.headroom_bytes", "priority_group.profile", "priority_group.pool",
        "priority_group.profile_cable_length_m", "priority_group.profile_speed", "buffer_pool.shared_headroom_bytes",
        "interface.speed", "interface.mtu", "interface.cable_length_m", "interface.enabled", "interface.breakout_parent",
    ),
    severity=Severity.ERROR,
    family="lossless",
    remedy="Use a buffer profile with more headroom, made for the speed and the cable length of the port; correct the "
    "cable length that the switch was told if that is what is wrong.",
)  # fmt: skip
def headroom_too_small(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The headroom of every lossless priority group of a port in use holds what arrives for certain after a pause is sent.

    The bound is what the cable holds both ways at line rate, and two of the largest frames of the class. It is a lower bound that
    can be proved: every real switch needs more, so a group below it drops, and one above it may drop as well. What the far end
    may take at most to react is added in the message and is no finding. A group that may borrow from a shared headroom pool is
    judged by its own headroom and the whole pool. Where nobody told the switch the cable length, it counts as zero.

    Why it matters: headroom for a shorter cable, or for the speed before the upgrade, looks configured and is not enough. It
    drops under incast alone, some frames at a time.
    """
    if is_host(context.role):
        return
    for port, group in lossless_groups(state, context):
        row = Address("priority_group", (port, group))
        size = state.cell(group_cell(port, group, "headroom_bytes"))
        speed, mtu, length = (state.cell(Address("interface", (port,), name)) for name in ("speed", "mtu", "cable_length_m"))
        pool, own, rate = _shared(state, port, group), amount(size), amount(speed)
        if own == 0:
            continue  # no_headroom says so
        if own is None or rate is None:
            hidden = size if own is None else speed
            if not hidden.known:
                yield unseen(row, gap(state, hidden))
            continue
        rdma_mtu, port_mtu = _rdma_mtu(context, port), amount(mtu)
        wanted = need(int(rate), amount(length) or 0, rdma_mtu or LARGEST_RDMA_MTU, None if port_mtu is None else int(port_mtu))
        enough = own + (amount(pool) or 0) >= wanted.least
        blind = [cell for cell in (length if enough else pool, mtu) if not cell.known and (cell is not mtu or rdma_mtu is None)]
        if blind:
            yield unseen(row, gap(state, blind[0]))
        elif enough:
            yield passed(row)
        else:
            yield failed(row, _small_deviation(state, row, wanted, (size, pool, length, speed)))


def _rdma_mtu(context: RuleContext, port: str) -> int | None:
    planes = context.fabric.planes if context.fabric is not None else {}
    mtus = [plane.rdma_mtu for name, plane in planes.items() if port in context.groups.get(name, ()) and plane.rdma_mtu]
    return min(mtus, default=None)


def _small_deviation(state: State, row: Address, wanted: Need, cells: tuple[Cell, Cell, Cell, Cell]) -> Deviation:
    size, pool, length, speed = cells
    port, group = row.key
    shared = int(amount(pool) or 0)
    available = int(amount(size) or 0) + shared
    borrowed = f", {shared:,} of it shared" if shared else ""
    cable = f"a cable of {metres(length)}" if length.present else "a cable of unknown length"
    worst = "" if wanted.worst is None else f"; with the longest reaction that the standard allows, {wanted.worst:,}"
    profile = state.cell(group_cell(port, group, "profile"))
    made_for_it = profile.present and not differences(state, port, group)[0]
    parent = state.cell(Address("interface", (port,), "breakout_parent"))
    return Deviation(
        expected=f"at least {wanted.least:,} bytes",
        observed=f"{available:,} bytes",
        message=f"{port}: the headroom of priority group {group} is {available:,} bytes{borrowed}, but {wanted.least:,} arrive "
        f"for certain after a pause: {wanted.cable:,} from {cable} at {gigabits(speed)} both ways and two frames of "
        f"{wanted.frame:,}{worst}",
        spots=tuple(spot(state, cell) for cell in (size, length, speed) if cell.known),
        shared=Address("buffer_profile", (str(profile.value),)) if made_for_it else None,
        parent=str(parent.value) if parent.present else "",
    )
