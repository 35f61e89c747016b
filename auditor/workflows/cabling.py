"""The installer's story: are the cables of this rack where the plan says, which hand movement mends them, what turned green."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from auditor.cabling.faceplate import find_cage
from auditor.canonical import natural
from auditor.errors import SetupError
from auditor.model import CauseKind, Device, Link, LinkVerdict, Plan, PlanEnd, PlanLink, Run, Verdict
from auditor.report.sheet import SheetLine
from auditor.workflows import check
from auditor.workflows.check import Telling, Wish
from auditor.workflows.project import load_project

RIGHT = (LinkVerdict.PROVEN, LinkVerdict.PROVEN_ONE_END)
OPEN = (LinkVerdict.UNKNOWN, LinkVerdict.LINK_ONLY)

FAULTS = frozenset(CauseKind) - {CauseKind.NOT_PROVEN, CauseKind.UNPLANNED}
"""Kinds of causes that are about a planned cable or its row of the plan."""

RULES = ("cabling.*",)
"""What `cabling check` judges, and so what it collects."""

LLDP_INTERVAL_S = 30.0
"""How often a station announces itself: msgTxInterval of IEEE 802.1AB, 30 s by default."""


def wish(options: Wish, *, rails: bool) -> Wish:
    """The audit that looks at cables alone; far ends are collected with the scope. `rails`: judge by the rail rule."""
    return replace(options, only=RULES, far_ends=True, rails=rails)


def exit_code(run: Run, fail_on: int, *, strict: bool = False) -> int:
    """0 only when every planned cable that is built was proven; 1 with a cause of `fail_on` or worse, or any cable that is not
    as planned; else 3.

    What else could not be seen of the devices does not count, unless `strict`: a cable is proven by whoever sees it.
    """
    code = check.exit_code(run, fail_on, strict=strict)
    if any(not cause.waived and cause.kind in FAULTS for cause in run.causes):
        code = 1
    if code == 1 or strict:
        return code
    links = run.coverage.links
    built = links.get("planned", 0) - links.get(LinkVerdict.NOT_YET, 0)
    crashed = any(result.verdict is Verdict.ERROR for result in run.results)
    unjudged = run.wiring.unjudged if run.wiring is not None else 0
    return 3 if crashed or unjudged or not built or any(links.get(verdict) for verdict in OPEN) else 0


@dataclass(frozen=True, slots=True)
class Look:
    """One poll of a watch. `green` are links that turned right since the last one, `waiting` the seconds for which a port
    that is up has waited for the announcement of its neighbour, `open` what is not right yet."""

    run: Run
    open: tuple[Link, ...]
    green: tuple[str, ...]
    waiting: Mapping[str, float]

    @property
    def done(self) -> bool:
        """Every planned cable is right."""
        return not self.open


def watch(
    options: Wish,
    told: Telling,
    every: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Look]:
    """Poll until every cable of the scope is right. The far ends are asked once; then only the devices in scope are."""
    before: dict[str, LinkVerdict] = {}
    since: dict[str, float] = {}
    known = None
    while True:
        run, _ = check.run(options if known is None else replace(options, far_ends=False, known=known), told)
        wiring = run.wiring
        if wiring is None:
            raise SetupError("there is nothing to watch: no planned link has an end in scope")
        known = known or dict(wiring.ends)
        now = clock()
        built = [link for link in wiring.links if link.verdict is not LinkVerdict.NOT_YET]
        verdicts: dict[str, LinkVerdict] = {link.name: link.verdict for link in built}
        green = tuple(name for name, verdict in verdicts.items() if verdict in RIGHT and before.get(name, verdict) not in RIGHT)
        for name, verdict in verdicts.items():
            if verdict not in OPEN:
                since.pop(name, None)
            elif before.get(name) is not verdict:
                since[name] = now
        before = verdicts
        open_ = tuple(link for link in built if link.verdict not in RIGHT)
        waiting = {link.name: now - since[link.name] for link in open_ if link.verdict is LinkVerdict.LINK_ONLY}
        yield Look(run, open_, green, waiting)
        if not open_:
            return
        sleep(every)


def sheet(folder: str, racks: Sequence[str], plan: str | None = None) -> tuple[SheetLine, ...]:
    """The lines of a sheet: every planned cable with an end in these racks (none: all), sorted by rack, position and port.

    Raises SetupError when the plan knows no such rack.
    """
    project = load_project(folder, plan=plan)
    lines = []
    for link in project.plan.links:
        for near in (link.a, link.b):
            rack, _ = _where(near, project.devices)
            if not racks or rack in racks:
                lines.append(_line(link, near, project.devices))
                if not racks:
                    break
    if not lines:
        raise SetupError(_no_lines(project.plan, racks, project.devices))
    return tuple(sorted(lines, key=lambda line: tuple(map(natural, (line.rack, line.position, line.device, line.port)))))


def _line(link: PlanLink, near: PlanEnd, devices: Mapping[str, Device]) -> SheetLine:
    far = link.other(near)
    (rack, position), (to_rack, to_position) = _where(near, devices), _where(far, devices)
    return SheetLine(
        rack, position, near.device, _port(near), _face(near, devices), link.label, to_rack, to_position, far.device, _port(far),
        _face(far, devices), link.plane, link.rail, f"{link.speed / 1e9:g}G" if link.speed else "", link.type,
        f"{link.length_m:g}" if link.length_m else "", link.via,
    )  # fmt: skip


def _port(end: PlanEnd) -> str:
    return f"{end.port} lane {end.lane}" if end.lane else end.port


def _face(end: PlanEnd, devices: Mapping[str, Device]) -> str:
    device = devices.get(end.device)
    cage = find_cage(device.hardware_model, end.port) if device is not None else None
    return "" if cage is None else f"cage {cage.number} {cage.row}".rstrip()


def _where(end: PlanEnd, devices: Mapping[str, Device]) -> tuple[str, str]:
    """Rack and position: what the plan writes, else what the inventory knows."""
    device = devices.get(end.device)
    return end.rack or (device.rack if device else ""), end.position or (device.position if device else "")


def _no_lines(plan: Plan, racks: Sequence[str], devices: Mapping[str, Device]) -> str:
    if not plan.links:
        return "there is no wiring plan: `auditor plan import` or `auditor plan generate` makes one"
    known = sorted({_where(end, devices)[0] for link in plan.links for end in (link.a, link.b)} - {""}, key=natural)
    shown = ", ".join(known[:8]) + (" …" if len(known) > 8 else "")
    return (
        f"the plan has no cable in rack {', '.join(racks)}; it has racks {shown}"
        if known
        else "neither plan nor inventory names racks"
    )
