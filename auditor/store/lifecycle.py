"""The life of findings: what becomes of each known finding when a run did, or did not, look at its object. Pure.

A finding ends only by evidence. `resolved` needs a Result of its own rule that examined its very object and found it right,
or that read whole the table the object stood in. Whatever was in scope and not examined is `unverified`; whatever was out
of scope, or seen by an older capture, stays as it is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase

from auditor.model import Finding, Result, Verdict


class Life(StrEnum):
    """States of a finding."""

    OPEN = "open"
    REGRESSED = "regressed"
    FLAPPING = "flapping"
    WAIVED = "waived"
    UNVERIFIED = "unverified"
    RESOLVED = "resolved"
    WITHDRAWN = "withdrawn"


ENDED = (Life.RESOLVED, Life.WITHDRAWN)
UNRESOLVED = tuple(state for state in Life if state not in ENDED)

FLAPPING_WINDOW = timedelta(days=7)
"""A nightly scan sees at most one turn a night, so a fault that comes and goes every other night makes its third turn
within four nights, and one that does so twice a week within seven days; a repair that failed once and was then redone
makes two. A longer window would hold an ordinary second incident against the device."""

FLAPPING_TURNS = 3
"""Turns (failing to fine, or back) within the window that make a finding flapping."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of one finding. `mode` is how it fails while it does; `turns` when it began or ceased to fail lately."""

    fingerprint: str
    rule: str
    object: str
    devices: tuple[str, ...]
    state: Life
    mode: Life
    first_seen: datetime
    last_seen: datetime
    times_seen: int = 1
    resolved_at: datetime | None = None
    turns: tuple[datetime, ...] = ()


def meet(known: Record | None, finding: Finding, at: datetime) -> Record:
    """The record of a finding that this run made. `at` is the time of the evidence."""
    waived = finding.waiver is not None
    if known is None:
        state = Life.WAIVED if waived else Life.OPEN
        return Record(finding.fingerprint, finding.rule, finding.object, finding.devices, state, Life.OPEN, at, at)
    mode = known.mode
    if known.state is Life.RESOLVED:
        recent = [turn for turn in known.turns if turn > at - FLAPPING_WINDOW]
        mode = Life.FLAPPING if len(recent) + 1 >= FLAPPING_TURNS else Life.REGRESSED
    elif known.state is Life.WITHDRAWN:
        mode = Life.OPEN
    return replace(
        known,
        devices=finding.devices,
        state=Life.WAIVED if waived else mode,
        mode=mode,
        last_seen=max(at, known.last_seen),
        times_seen=known.times_seen + 1,
        resolved_at=None,
    )


def part(known: Record, fate: Life, at: datetime) -> Record:
    """The record of a finding that this run did not make, after its fate. A waived one that was not seen stays waived."""
    if fate is Life.UNVERIFIED and known.state is Life.WAIVED:
        return known
    return replace(known, state=fate, resolved_at=at if fate is Life.RESOLVED else known.resolved_at)


class Examination:
    """What one run looked at, indexed for the records whose fate is asked for, so that each is a few look-ups.

    `scope`: the devices judged, None for all. `rules`: ids of every rule and expectation in force for these devices;
    `only`: the patterns the user narrowed them by. `reached`: devices that answered; `stale`: devices of which the store
    holds something newer. `inventory` and `links` (names `a:p|b:q`): what there is at all, where that is known.
    """

    def __init__(
        self,
        results: Iterable[Result],
        records: Iterable[Record],
        *,
        rules: frozenset[str],
        scope: frozenset[str] | None,
        only: tuple[str, ...] = (),
        reached: frozenset[str] = frozenset(),
        stale: frozenset[str] = frozenset(),
        inventory: frozenset[str] | None = None,
        links: frozenset[str] | None = None,
    ) -> None:
        self.rules, self.scope, self.only, self.reached, self.stale = rules, scope, only, reached, stale
        self.inventory, self.links = inventory, links
        self.results: Mapping[tuple[str, str], list[Result]] = defaultdict(list)
        self.passed: set[tuple[str, str]] = set()
        self.failed: set[tuple[str, str]] = set()
        self.unseen: set[tuple[str, str]] = set()
        self.judged: set[str] = set()
        asked = {record.rule for record in records}
        for result in results:
            self.judged.add(result.scope)
            if result.rule not in asked:
                continue
            self.results[result.rule, result.scope].append(result)
            if result.verdict is not Verdict.ERROR:  # a rule that crashed half-way has proven nothing
                self.passed.update((result.rule, name) for name in result.passed)
            self.failed.update((result.rule, name) for name in result.failed)
            self.unseen.update((result.rule, name) for name in result.unseen)

    def covers(self, known: Record) -> bool:
        """Whether the run was to look at this finding's object at all."""
        in_scope = self.scope is None or any(device in self.scope for device in known.devices)
        wanted = not self.only or any(fnmatchcase(known.rule, pattern) for pattern in self.only)
        return in_scope and wanted and not any(device in self.stale for device in known.devices)

    def fate(self, known: Record) -> Life | None:
        """What becomes of an unresolved finding that this run did not make; None: nothing."""
        if not self.covers(known):
            return None
        if self._is_gone(known):
            return Life.WITHDRAWN
        place = (known.rule, known.object)
        group = group_scope(known.object)
        if group and self.scope is not None and not self._examined(known.rule, group):
            return None  # peers are compared all together, and this run did not look at all of them
        if place in self.failed:
            return None
        if place in self.unseen:
            return Life.UNVERIFIED
        if place in self.passed:
            return Life.RESOLVED
        return self._fate_by_scope(known)

    def _examined(self, rule: str, scope: str) -> bool:
        return any(result.verdict is not Verdict.NOT_APPLICABLE for result in self.results.get((rule, scope), ()))

    def _is_gone(self, known: Record) -> bool:
        link = link_name(known.object)
        if self.inventory is not None and self.scope is None:
            missing = [device not in self.inventory for device in known.devices]
            if any(missing) if link else missing and all(missing):
                return True
        if link and self.links is not None and link not in self.links and known.rule != UNPLANNED:
            return True
        return known.rule not in self.rules and any(device in self.reached for device in known.devices)

    def _fate_by_scope(self, known: Record) -> Life:
        if known.rule == UNPLANNED:
            heard = {scope for (rule, scope), said in self.results.items() if rule == UNPLANNED for one in said if one.whole}
            return Life.RESOLVED if heard.issuperset(known.devices) else Life.UNVERIFIED
        link, group = link_name(known.object), group_scope(known.object)
        scopes = (link, known.object) if link else (group,) if group else known.devices[:1]
        results = [result for scope in scopes for result in self.results.get((known.rule, scope), ())]
        if not results:
            # Every rule in force for a device yields a Result there, so a rule without one no longer concerns the device.
            judged = not link and all(device in self.reached and device in self.judged for device in known.devices)
            return Life.WITHDRAWN if judged else Life.UNVERIFIED
        if any(result.verdict is Verdict.ERROR for result in results):
            return Life.UNVERIFIED
        if any(known.object.startswith((name + "[", name + ".")) for result in results for name in result.unseen):
            return Life.UNVERIFIED  # its table, or its row, was not seen
        table = table_of(known.object, known.devices)
        if table and any(table in result.whole for result in results):
            return Life.WITHDRAWN if group else Life.RESOLVED  # the attribute is compared no more: another rule judges it
        if all(result.verdict is Verdict.NOT_APPLICABLE for result in results):
            return Life.WITHDRAWN
        return Life.UNVERIFIED


UNPLANNED = "cabling.unplanned"
"""The rule whose objects no plan lists: a pair of ports is gone when both devices told all their neighbours without it."""


def link_name(object_: str) -> str:
    """`a:p|b:q` of the object `link[a:p|b:q]`; empty for other objects."""
    return object_[5:-1] if object_.startswith("link[") and object_.endswith("]") else ""


def group_scope(object_: str) -> str:
    """`group[NAME]`, the scope of Results, of the object `group[NAME:address]`; empty for other objects."""
    name, mark, _ = object_.partition(":")
    return f"{name}]" if mark and name.startswith("group[") and object_.endswith("]") else ""


def table_of(object_: str, devices: tuple[str, ...]) -> str:
    """The table of the objects `device:table[key]` and `group[NAME:table[key].column]`; empty for other objects."""
    heads = [object_.partition(":")[0]] if group_scope(object_) else devices
    for head in heads:
        if object_.startswith(head + ":"):
            found = re.match(r"[a-z][a-z0-9_]*", object_[len(head) + 1 :])
            return found.group() if found else ""
    return ""
