"""Buffer profiles of lossless priority groups: whether they fit their port, and where they start and end a pause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from auditor.address import Address, Layer
from auditor.checks.lossless.ports import amount, by_port, gap, in_cages, listed, spot, used
from auditor.facts import PriorityGroup
from auditor.model import Cell, Deviation, Judgement, RuleContext, Severity, State, check, failed, passed, unseen
from auditor.model.device import is_host


class PauseLevels(BaseModel):
    """`params` of `xoff_xon_ratio`: shares of the pool, as [least, most]. What is left out is not judged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    xoff: tuple[float, float] | None = Field(default=None, description="Where pause is sent, as a share of the pool")
    xon: tuple[float, float] | None = Field(default=None, description="Where it is lifted, as a share of the pool")
    why: str = Field(default="", description="Why the site wants it so")


def group_cell(port: str, group: str, column: str = "lossless") -> Address:
    """A cell of a priority group, by default whether it is lossless."""
    return Address("priority_group", (port, group), column)


def lossless_groups(state: State, context: RuleContext) -> Iterator[tuple[str, str]]:
    """Port and number of every priority group that is lossless, on ports in use."""
    groups = by_port(state, PriorityGroup, "lossless")
    for port in used(state, context):
        for group in groups.get(port, ()):
            if state.cell(group_cell(port, group)).value is True:
                yield port, group


def metres(cell: Cell) -> str:
    """A length in words."""
    return f"{amount(cell) or 0:g} m"


def gigabits(cell: Cell) -> str:
    """A speed in words."""
    return f"{(amount(cell) or 0) / 10**9:g} Gbit/s"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a profile does not fit its port: in words, whether it is too small for it, and the two cells."""

    profile: str
    port: str
    too_small: bool
    cells: tuple[Cell, Cell]


def differences(state: State, port: str, group: str) -> tuple[list[Difference], list[Cell], int]:
    """Where the profile of a group does not fit, what could not be seen of it, and how many pairs were compared."""
    found: list[Difference] = []
    hidden: list[Cell] = []
    compared = 0
    for column, name, words in (
        ("profile_cable_length_m", "cable_length_m", metres),
        ("profile_speed", "speed", gigabits),
    ):
        made = state.cell(group_cell(port, group, column))
        real = state.cell(Address("interface", (port,), name))
        hidden += [cell for cell in (made, real) if not cell.known]
        for_, has = amount(made), amount(real)
        if for_ is None or has is None:
            continue
        compared += 1
        if for_ != has and not (for_ > has and amount(state.cell(Address("interface", (port,), name, Layer.CONFIGURED))) == for_):
            found.append(Difference(words(made), words(real), for_ < has, (made, real)))
    return found, hidden, compared


@check(
    reads=(
        "priority_group.lossless", "priority_group.profile_cable_length_m", "priority_group.profile_speed",
        "priority_group.profile", "interface.cable_length_m", "interface.speed",
    ),
    optional=(
        "priority_group.lossless", "priority_group.profile_cable_length_m", "priority_group.profile_speed",
        "priority_group.profile", "interface.cable_length_m", "interface.speed", "interface.enabled", "interface.breakout_parent",
    ),
    severity=Severity.ERROR,
    family="lossless",
    remedy="Let the priority group use the profile that is made for the speed and the cable length of its port. On SONiC the "
    "buffer manager binds it when the cable length is set again; look at the applied buffers afterwards.",
)  # fmt: skip
def profile_for_other_cable(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The lossless buffer profiles of a port in use are made for its speed and its cable length.

    Too short or too slow is an error; too long or too fast wastes buffer and is a warning. Profiles that tell no length and no
    speed are not judged. On a port that runs below its configured speed the profile may be for either.

    Why it matters: after the cable length is corrected, or a port is split, the profile sometimes stays the old one. The length
    that people look up is right, and the headroom is that of the former cable.
    """
    if is_host(context.role):
        return
    groups: dict[str, list[str]] = defaultdict(list)
    for port, group in lossless_groups(state, context):
        groups[port].append(group)
    failures: dict[str, Deviation] = {}
    for port, members in groups.items():
        row = Address("qos_port", (port,))
        wrong: dict[str, list[Difference]] = {}
        hidden: list[Cell] = []
        compared = 0
        for group in members:
            found, unknown, pairs = differences(state, port, group)
            hidden += unknown
            compared += pairs
            if found:
                wrong[group] = found
        if wrong:
            failures[port] = _other_deviation(state, port, wrong)
        elif hidden:
            yield unseen(row, gap(state, hidden[0]))
        elif compared:
            yield passed(row)
    for port, deviation in in_cages(state, failures).items():
        yield failed(Address("qos_port", (port,)), deviation)


def _other_deviation(state: State, port: str, wrong: dict[str, list[Difference]]) -> Deviation:
    every = [item for differences in wrong.values() for item in differences]
    pairs = list(dict.fromkeys((item.profile, item.port, item.too_small) for item in every))
    profiles = dict.fromkeys(str(state.cell(group_cell(port, group, "profile")).value) for group in wrong)
    words = ", ".join(
        f"{made} where the port has {real} ({'too small' if small else 'too large'})" for made, real, small in pairs
    )
    cells = dict.fromkeys(spot(state, cell) for item in every for cell in item.cells)
    return Deviation(
        expected=", ".join(dict.fromkeys(item.port for item in every)),
        observed=", ".join(dict.fromkeys(item.profile for item in every)),
        message=f"{port}: priority group {listed(wrong)} uses {listed(profiles)}: made for {words}",
        spots=tuple(cells),
        severity=Severity.ERROR if any(item.too_small for item in every) else Severity.WARNING,
    )


@check(
    reads=(
        "priority_group.lossless", "priority_group.threshold_kind", "priority_group.xoff_trigger_bytes",
        "priority_group.xon_bytes", "priority_group.pool", "buffer_pool.size_bytes",
    ),
    optional=(
        "priority_group.lossless", "priority_group.threshold_kind", "priority_group.xoff_trigger_bytes",
        "priority_group.xon_bytes", "priority_group.pool", "priority_group.profile", "buffer_pool.size_bytes",
        "interface.enabled",
    ),
    severity=Severity.INFORMATION,
    needs_params=True,
    params_type=PauseLevels,
    family="lossless",
    remedy="Move the static threshold or the XON level of the buffer profile into the range, or change the range of the baseline "
    "if measurements with real traffic say so: these are starting values, not laws.",
)  # fmt: skip
def xoff_xon_ratio(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Lossless priority groups with a static threshold pause at the shares of the pool that the baseline names.

    Dynamic thresholds move with what is free in the pool and are not judged; without `params` nothing is.

    Why it matters: a pause that is sent too late leaves no room for the others, one that is sent too early makes pausing the rule
    instead of the last resort, and XON close to XOFF makes the link stutter.
    """
    intent = context.params
    if is_host(context.role) or not isinstance(intent, PauseLevels):
        return
    for port, group in lossless_groups(state, context):
        kind, pool = state.cell(group_cell(port, group, "threshold_kind")), state.cell(group_cell(port, group, "pool"))
        if kind.value != "static" or not pool.present:
            continue
        row = Address("priority_group", (port, group))
        size = state.cell(Address("buffer_pool", (str(pool.value),), "size_bytes"))
        levels = {"xoff": "xoff_trigger_bytes", "xon": "xon_bytes"}
        cells = {name: state.cell(group_cell(port, group, levels[name])) for name in levels if getattr(intent, name)}
        hidden = next((cell for cell in (size, *cells.values()) if not cell.known), None)
        if hidden is not None:
            yield unseen(row, gap(state, hidden))
            continue
        whole = amount(size)
        shares = {name: value / whole for name, cell in cells.items() if (value := amount(cell)) is not None and whole}
        wrong = {name: share for name, share in shares.items() if not _within(share, getattr(intent, name))}
        if wrong:
            yield failed(row, _level_deviation(state, row, wrong, intent, [*(cells[name] for name in wrong), size]))
        elif shares:
            yield passed(row)


def _within(share: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= share <= limits[1]


def _level_deviation(state: State, row: Address, wrong: dict[str, float], intent: PauseLevels, cells: list[Cell]) -> Deviation:
    port, group = row.key
    profile = state.cell(group_cell(port, group, "profile"))
    wanted = {name: getattr(intent, name) for name in wrong}
    seen = ", ".join(f"{name.upper()} at {share:.4f} of the pool" for name, share in wrong.items())
    return Deviation(
        expected=", ".join(f"{name.upper()} at {least:g} to {most:g}" for name, (least, most) in wanted.items()),
        observed=seen,
        message=f"{port}: priority group {group} has {seen}" + (f"; {intent.why}" if intent.why else ""),
        spots=tuple(spot(state, cell) for cell in cells),
        shared=Address("buffer_profile", (str(profile.value),)) if profile.present else None,
    )
