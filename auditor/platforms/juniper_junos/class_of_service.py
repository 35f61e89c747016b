"""What `show configuration class-of-service` sets, taken apart: forwarding classes, classifiers, profiles, schedulers, ports.

By Juniper's documents (CLI reference, statements below `[edit class-of-service]`; Traffic Management User Guide, QFX Series;
"Create and Import a DCQCN Configlet"; "PFC Watchdog"):

- A classifier gives each code point, in binary or by its alias, a forwarding class, and `forwarding-classes` gives that a queue.
  What a classifier does not name goes to the class of queue 0 ("Juniper Networks Default Forwarding Classes"), unless it imports.
- `best-effort` has queue 0, `fcoe` queue 3 and `no-loss` queue 4 where nothing is said; the last two are lossless then, and lossy
  when they are configured without `no-loss`. `network-control` differs between switches and routers.
- A profile pauses by VLAN priority or by DSCP, never both. By DSCP the pause bears the `pfc-priority` of the forwarding class.
- Without an `output` part, queues 3 and 4 obey pauses of priorities 3 and 4; with one, the queues that it names and no others.
- The watchdog looks every 100 ms, finds a storm after 2 looks, drops, and restores after 200 ms, unless told otherwise. It works
  on the queues that `flow-control-queue` names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from auditor.dialects.junos_statements import Statement, behind, below, named, statements

DEFAULT_OBEYED = {3: 3, 4: 4}
_POLL_MS, _LOOKS, _RECOVERY_MS = 100, 2, 200
_ALIASES = {
    "be": 0, "ef": 46, "nc1": 48, "nc2": 56, **{f"cs{at}": 8 * at for at in range(1, 8)},
    **{f"af{high}{low}": 8 * high + 2 * low for high in range(1, 5) for low in range(1, 4)},
}  # fmt: skip
"""Default aliases of DSCP ("Default CoS Values and Aliases")."""


@dataclass(frozen=True, slots=True)
class ForwardingClass:
    """Its queue; whether it is lossless; which priority pauses for it, where that is told."""

    queue: int
    lossless: bool = False
    priority: int | None = None


DEFAULT_CLASSES = {
    "best-effort": ForwardingClass(0), "be": ForwardingClass(0), "fcoe": ForwardingClass(3, True, 3),
    "no-loss": ForwardingClass(4, True, 4),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Classifier:
    """Forwarding class by code point; `imports` names what gives the rest, `unknown` are words that are no code points."""

    points: Mapping[int, str]
    imports: str = ""
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Watchdog:
    """Times in seconds, and the action."""

    detection: float
    restoration: float
    action: str


@dataclass(frozen=True, slots=True)
class Profile:
    """A congestion-notification profile. `obeyed`: queues by priority of a received pause; None: the default."""

    points: tuple[int, ...]
    priorities: tuple[int, ...]
    obeyed: Mapping[int, tuple[int, ...]] | None
    watchdog: Watchdog | None
    cable_m: float | None
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Whether it marks, its drop profile, and the chance at the upper end of that."""

    marks: bool
    drop_profile: str | None
    chance: float | None


@dataclass(slots=True)
class ClassOfService:
    """Everything by name. `ports`: statements by the name or pattern that `interfaces` has. `defaults`: the forwarding classes
    that are there without a word."""

    classes: dict[str, ForwardingClass] = field(default_factory=dict)
    classifiers: dict[str, Classifier] = field(default_factory=dict)
    profiles: dict[str, Profile] = field(default_factory=dict)
    schedulers: dict[str, Scheduler] = field(default_factory=dict)
    maps: dict[str, dict[str, str]] = field(default_factory=dict)
    ports: dict[str, list[Statement]] = field(default_factory=dict)
    defaults: Mapping[str, ForwardingClass] = field(default_factory=dict)

    def resolve(self, name: str) -> ForwardingClass | None:
        """The forwarding class of a name: the configured one, else the default."""
        return self.classes.get(name, self.defaults.get(name))


def read(body: str, *, whole: bool) -> ClassOfService:
    """Take a configuration apart; a `whole` one has the defaults of what it does not say.

    Raises what `statements` raises, and ValueError for numbers that are none.
    """
    found = list(statements(body))
    found = below(found, "class-of-service") or found
    dscp = {**_ALIASES, **{words[0]: int(words[1], 2) for words in below(found, "code-point-aliases", "dscp") if len(words) > 1}}
    dropping = named(below(found, "drop-profiles"))
    return ClassOfService(
        classes=_classes(below(found, "forwarding-classes")),
        classifiers={
            name: _classifier(parts, dscp) for name, parts in named(below(found, "classifiers", "dscp")).items()
        },
        profiles={
            name: _profile(parts, dscp) for name, parts in named(below(found, "congestion-notification-profile")).items()
        },
        schedulers={name: _scheduler(parts, dropping) for name, parts in named(below(found, "schedulers")).items()},
        maps={name: _map(parts) for name, parts in named(below(found, "scheduler-maps")).items()},
        ports=named(below(found, "interfaces")),
        defaults=DEFAULT_CLASSES if whole else {},
    )  # fmt: skip


def numbers(words: Iterable[str], aliases: Mapping[str, int], bits: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Code points from words of so many binary digits or aliases; and the words that are neither."""
    known: list[int] = []
    unknown: list[str] = []
    for word in words:
        if re.fullmatch(f"[01]{{{bits}}}", word):
            known.append(int(word, 2))
        elif word in aliases:
            known.append(aliases[word])
        else:
            unknown.append(word)
    return tuple(known), tuple(unknown)


def _classes(found: list[Statement]) -> dict[str, ForwardingClass]:
    words: dict[str, list[str]] = {}
    for statement in found:
        if statement[:1] == ("class",) and len(statement) > 2:
            words.setdefault(statement[1], []).extend(statement[2:])
        elif statement[:1] == ("queue",) and len(statement) > 2:
            words.setdefault(statement[2], []).extend(("queue-num", statement[1], *statement[3:]))
    out = {}
    for name, told in words.items():
        queue, priority = _number(told, "queue-num"), _number(told, "pfc-priority")
        if queue is not None:
            out[name] = ForwardingClass(queue, "no-loss" in told, priority)
    return out


def _number(words: Iterable[str], name: str) -> int | None:
    found = behind(tuple(words), name)
    return int(found[0]) if found and found[0].isdecimal() else None


def _classifier(found: list[Statement], aliases: Mapping[str, int]) -> Classifier:
    points: dict[int, str] = {}
    strange: list[str] = []
    for statement in found:
        if statement[:1] != ("forwarding-class",) or len(statement) < 2:
            continue
        known, unknown = numbers(behind(statement, "code-points"), aliases, 6)
        strange += unknown
        for point in known:
            if points.setdefault(point, statement[1]) != statement[1]:
                raise ValueError(f"code point {point:06b} has two forwarding classes in one classifier")
    return Classifier(
        points, next((words[1] for words in found if words[:1] == ("import",) and len(words) > 1), ""), tuple(strange)
    )


def _profile(found: list[Statement], aliases: Mapping[str, int]) -> Profile:
    by_dscp, strange = numbers(_paused(found, "dscp"), aliases, 6)
    by_vlan, odd = numbers(_paused(found, "ieee-802.1"), {}, 3)
    obeyed: dict[int, tuple[int, ...]] = {}
    wrong: tuple[str, ...] = ()
    for words in below(found, "output", "ieee-802.1", "code-point"):
        priority, unknown = numbers(words[:1], {}, 3)
        wrong += unknown
        for at in priority:
            queues = {int(word) for word in behind(words, "flow-control-queue") if word.isdecimal()}
            obeyed[at] = tuple(sorted({*obeyed.get(at, ()), *queues}))
    cable = next((words[0] for words in below(found, "input", "cable-length") if words), "")
    return Profile(
        points=by_dscp,
        priorities=tuple(sorted(by_vlan)),
        obeyed=obeyed if below(found, "output") else None,
        watchdog=_watchdog(found),
        cable_m=float(cable) if cable.isdecimal() else None,
        unknown=(*strange, *odd, *wrong),
    )


def _paused(found: list[Statement], kind: str) -> list[str]:
    return [words[0] for words in below(found, "input", kind, "code-point") if "pfc" in words[1:]]


def _watchdog(found: list[Statement]) -> Watchdog | None:
    told = below(found, "pfc-watchdog")
    if not told:
        return None
    words = tuple(word for statement in told for word in statement)
    poll, looks, recovery = (_number(words, name) for name in ("poll-interval", "detection", "recovery"))
    action = behind(words, "watchdog-action")
    return Watchdog(
        (_POLL_MS if poll is None else poll) * (_LOOKS if looks is None else looks) / 1000,
        (_RECOVERY_MS if recovery is None else recovery) / 1000,
        action[0] if action else "drop",
    )


def _scheduler(found: list[Statement], dropping: Mapping[str, list[Statement]]) -> Scheduler:
    wanted = [behind(words, "drop-profile")[:1] for words in found if words[:1] == ("drop-profile-map",) and _for_low(words)]
    profile = wanted[0][0] if wanted and wanted[0] else None
    chances = [
        int(word) for words in dropping.get(profile or "", []) for word in behind(words, "drop-probability") if word.isdecimal()
    ]
    marks = any(words[:1] == ("explicit-congestion-notification",) for words in found)
    return Scheduler(marks, profile, max(chances) / 100 if chances else None)


def _for_low(words: Statement) -> bool:
    """Whether it drops packets of low loss priority, which all are that no policer has marked."""
    return behind(words, "loss-priority")[:1] in (("any",), ("low",))


def _map(found: list[Statement]) -> dict[str, str]:
    """Scheduler by forwarding class."""
    return {words[1]: words[3] for words in found if len(words) > 3 and (words[0], words[2]) == ("forwarding-class", "scheduler")}
