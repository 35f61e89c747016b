"""The two ends of a cable that is up: the same speed, the same error correction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from auditor.model import Deviation, Fact, Judgement, Link, LinkEnd, RuleContext, RuleKind, Severity, Spot, check, failed, passed

_IN_MODULE = re.compile(r"\d+G(?:BASE)?[-_ ]?(?:DR|FR|LR|ER|ZR)", re.IGNORECASE)
"""Modules of single-lambda optics, which correct errors themselves, so that one port says `off` and the other `rs`."""


@check(
    reads=("interface.speed", "interface.up"),
    severity=Severity.ERROR,
    kind=RuleKind.LINK,
    family="fabric",
    remedy="Set both ends to the speed of the plan, or let both negotiate; then look which of them says what it was set to and "
    "not what it runs at.",
)
def speed_differs(link: Link, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a link rule)
    """Both ends of a cable that is up say the same speed.

    A port that is down tells what it was set to or nothing, so only cables that are up at both ends are judged.

    Why it matters: a lane that was split differently at one end, or a speed that was forced on one side, runs with errors or at
    the smaller rate, and one slow cable sets the pace of every ring through it.
    """
    if not _up(link):
        return
    facts = [end.fact("interface.speed") for end in link.ends]
    values = [fact.value for fact in facts]
    if not all(isinstance(value, int) and value > 0 for value in values):
        return
    yield passed(link.name) if values[0] == values[1] else _differ(link, facts, [_gigabits(value) for value in values], "speed")


@check(
    reads=("interface.fec", "interface.up"),
    optional=("optic.type",),
    severity=Severity.WARNING,
    kind=RuleKind.LINK,
    family="fabric",
    remedy="Set the same forward error correction on both ends: RS-FEC from 100 Gb/s upwards unless the module does it itself.",
)
def fec_differs(link: Link, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a link rule)
    """Both ends of a cable that is up use the same forward error correction.

    Compared are names of one meaning (`rs` of one vendor is `cl91` of another). `auto` says nothing of what is used. Where one
    end says that it uses none and a module of single-lambda optics is in the port, the module may do it: not judged.

    Why it matters: without the same correction at both ends a link loses frames under load, or trains again every few minutes.
    """
    if not _up(link):
        return
    facts = [end.fact("interface.fec") for end in link.ends]
    values = [fact.value for fact in facts]
    if any(value not in ("rs", "fc", "none") for value in values) or ("none" in values and any(map(_corrects, link.ends))):
        return
    yield passed(link.name) if values[0] == values[1] else _differ(link, facts, [str(value) for value in values], "FEC")


def _up(link: Link) -> bool:
    return all(end.fact("interface.up").value is True for end in link.ends)


def _corrects(end: LinkEnd) -> bool:
    kind = end.fact("optic.type").value
    return isinstance(kind, str) and _IN_MODULE.search(kind) is not None


def _differ(link: Link, facts: list[Fact], words: list[str], what: str) -> Judgement:
    told = ", ".join(f"{end.device}:{end.port} {word}" for end, word in zip(link.ends, words, strict=True))
    spots = tuple(Spot(end.device, replace(fact.address, layer=fact.layer)) for end, fact in zip(link.ends, facts, strict=True))
    return failed(
        link.name,
        Deviation(
            expected=f"the same {what} on both ends",
            observed=told,
            message=f"{what} differs across the cable: {told}",
            spots=spots,
        ),
    )


def _gigabits(value: object) -> str:
    return f"{value / 1e9:g}G" if isinstance(value, int) else str(value)
