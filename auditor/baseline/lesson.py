"""What was learned from devices, and the baseline file made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.baseline.proposal import Proposed, render
from auditor.canonical import printable

SHARE = 0.9
"""Share of the objects that must have a value before it is proposed: one odd device in ten is odd, two are a doubt."""

LEAST = 3
"""Devices that must have it: two that agree may both be wrong."""


@dataclass(slots=True)
class Lesson:
    """What came of it. `refused`: values that most have and a rule calls faulty; `open`: places without enough agreement;
    `quiet`: places left out because they hold nothing but defaults. `psids`: lines on adapters by parameter-set id."""

    lines: list[Proposed] = field(default_factory=list)
    psids: list[Mapping[str, object]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    quiet: list[str] = field(default_factory=list)
    small: list[str] = field(default_factory=list)
    members: int = 0


@dataclass(frozen=True, slots=True)
class Terms:
    """What makes a value one to propose, and what a why says. `dscps` and `priorities`: those of the
    fabric's classes; `taken`: ids that
    no line may have."""

    share: float = SHARE
    least: int = LEAST
    date: str = ""
    dscps: frozenset[str] = frozenset()
    priorities: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()


def write(profile: str, version: str, lesson: Lesson, terms: Terms, source: str) -> str:
    """The baseline as a person would have written it: by table, with counts as comments, and what was not proposed at its end."""
    head = [
        f"Learned from {source}: what at least {terms.share:.0%} of the objects and {terms.least} devices agree on.",
        "A majority is no proof. Read every line, cut what is no intent of yours, and give the rest its real why.",
        *lesson.small,
    ]
    if lesson.refused:
        head.append(
            f"{len(lesson.refused)} values that most of them have are not written, since a rule calls them faulty: see the end."
        )
    text = render(profile, version, lesson.lines, f"learned from {source}", (), head)
    return text + "".join(line + "\n" for line in (*_params(lesson.psids), *_tail(lesson)))


def _params(lines: Sequence[Mapping[str, object]]) -> Iterator[str]:
    if lines:
        yield "params:"
        yield "  firmware.not_allowed:"
    for line in lines:
        words = ", ".join(
            f"{key}: {value if key == 'severity' else json.dumps(value)}" for key, value in line.items() if key != "note"
        )
        yield f"    - {{{words}}}" + (f"  # {printable(str(line['note']), 120)}" if line["note"] else "")


def _tail(lesson: Lesson) -> Iterator[str]:
    sections: tuple[tuple[str, Sequence[str]], ...] = (
        ("Not written: most have it, and a rule calls it faulty. The whole fleet may be wrong", lesson.refused),
        ("Not written: too few agree", lesson.open),
        ("Not written: defaults", lesson.quiet),
    )
    for title, texts in sections:
        if texts:
            yield ""
            yield f"# {title}:"
            yield from (f"#   {printable(text, 300)}" for text in texts)
