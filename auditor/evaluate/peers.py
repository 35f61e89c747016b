"""Peer rules at work: the census of what devices say of their attributes, and its findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from auditor.checks import peers as engine
from auditor.checks import rules
from auditor.evaluate import findings
from auditor.evaluate.device import Judged, crash, selected
from auditor.model import (
    Device,
    DeviceOutcome,
    Fact,
    Finding,
    Judgement,
    PeerGroup,
    Peers,
    PeerValue,
    Result,
    Rule,
    RuleContext,
    RuleKind,
    Spot,
    Status,
    Verdict,
)

KEPT = 3
"""Devices per value whose cells are kept, for evidence."""

Attribute = tuple[PeerGroup, str, str]


class Census:
    """Histograms over devices, filled as their outcomes arrive; it grows with the attributes, and by a name per device.

    `releases`: for devices that a rollout concerns, the versions it has moved them to. A release brings along what no baseline
    speaks of (a kernel, a driver), so those devices are compared with each other. None: still planned, or in the window of
    a change, when a device may be on either side of it: nobody's peer.
    """

    def __init__(self, releases: Mapping[str, str | None] | None = None) -> None:
        self._releases = releases or {}
        self._said: dict[Attribute, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self._cells: dict[tuple[Attribute, str], list[tuple[str, tuple[Fact, ...]]]] = defaultdict(list)
        self._words: dict[tuple[Attribute, str], tuple[str, ...]] = {}
        self._unseen: dict[Attribute, dict[str, Fact | None]] = defaultdict(dict)
        self._members: dict[PeerGroup, set[str]] = defaultdict(set)
        self._reached: dict[str, bool] = {}
        self._facts: dict[Spot, Fact] = {}

    def add(self, outcome: DeviceOutcome) -> None:
        """Count the word of one device. A device counts once, however often its outcome arrives."""
        if outcome.device in self._reached:
            return
        self._reached[outcome.device] = outcome.reached
        release = self._releases.get(outcome.device, "")
        for fact in outcome.peers if outcome.reached and release is not None else ():
            group = replace(fact.group, release=release or "")
            attribute = (group, fact.address, fact.column)
            self._members[group].add(outcome.device)
            if fact.value is None:
                self._unseen[attribute][outcome.device] = next(iter(fact.cells), None)
                continue
            self._said[attribute][fact.value].append(outcome.device)
            if fact.words:
                self._words.setdefault((attribute, fact.value), fact.words)
            kept = self._cells[attribute, fact.value]
            if len(kept) < KEPT:
                kept.append((outcome.device, fact.cells))

    def judge(self, inventory: Iterable[Device], told: Iterable[Finding], only: Sequence[str] = ()) -> Judged:
        """Run the selected peer rules. `inventory`: all devices there are; a group counts only when all of it was looked at.
        `told`: what other rules found: a cell that one of them blames is not odd a second time."""
        blamed = {(spot.device, f"{spot.address.table}.{spot.address.column}") for found in told for spot in found.spots}
        expected = [device for device in inventory if device.status is not Status.PLANNED]
        judged = Judged()
        by_place: dict[tuple[PeerGroup, str], list[Attribute]] = defaultdict(list)
        for attribute in self._said:
            by_place[attribute[0], attribute[2]].append(attribute)
        for group in sorted(self._members):
            absent = self._absent(group, expected)
            for rule in rules().values():
                if rule.kind is RuleKind.PEER and selected(rule.id, only):
                    attributes = sorted(found for column in rule.reads for found in by_place.get((group, column), ()))
                    if attributes:
                        self._judge(rule, group, attributes, absent, blamed, judged)
        judged.findings = _folded(judged.findings)
        return judged

    def _absent(self, group: PeerGroup, expected: Sequence[Device]) -> dict[str, bool]:
        """Devices that belong, or may belong, to the group and said nothing: name -> whether this run asked them."""
        members = self._members[group]
        roles = {device.role for device in expected if device.name in members}
        return {
            device.name: device.name in self._reached
            for device in expected
            if device.name not in members
            and self._releases.get(device.name, "") == group.release
            and not self._reached.get(device.name, False)
            and group.may_hold(device.role, device.hardware_model)
            and (device.hardware_model or device.role in roles)
        }

    def _judge(
        self,
        rule: Rule,
        group: PeerGroup,
        attributes: Sequence[Attribute],
        absent: Mapping[str, bool],
        blamed: set[tuple[str, str]],
        judged: Judged,
    ) -> None:
        scope, devices = f"group[{group}]", tuple(sorted(self._members[group]))
        outside = sum(not asked for asked in absent.values())
        if outside:
            reason = f"{len(devices)} devices of {group} were looked at and {outside} were not: peers are compared all together"
            judged.results.append(Result(rule.id, scope, Verdict.NOT_APPLICABLE, reason=reason, devices=devices))
            return
        texts: dict[Verdict, list[str]] = defaultdict(list)
        try:
            for attribute in attributes:
                peers = self._peers(attribute, absent, blamed)
                for judgement in rule.function(peers, RuleContext()):
                    text = f"group[{peers.name}]"
                    texts[judgement.verdict].append(text)
                    if judgement.deviation is not None:
                        judged.findings.append(_finding(rule, peers, judgement, text))
                        self._keep(peers)
        except Exception as error:
            judged.results.append(crash(rule.id, scope, devices, error))
            return
        verdict = next((each for each in (Verdict.FAIL, Verdict.NOT_EVALUATED, Verdict.PASS) if texts[each]), None)
        hidden = {column for named, _, column in self._unseen if named == group} if not absent else set(rule.reads)
        tables = {column.partition(".")[0] for column in rule.reads} - {column.partition(".")[0] for column in hidden}
        judged.results.append(
            Result(
                rule.id,
                scope,
                verdict or Verdict.NOT_APPLICABLE,
                tuple(texts[Verdict.PASS]),
                tuple(texts[Verdict.FAIL]),
                tuple(texts[Verdict.NOT_EVALUATED]),
                whole=tuple(sorted(tables)),
                reason="" if verdict else f"fewer than {engine.LEAST} peers",
                devices=devices,
            )
        )

    def _peers(self, attribute: Attribute, absent: Mapping[str, bool], blamed: set[tuple[str, str]]) -> Peers:
        group, address, column = attribute
        values = []
        for value, devices in self._said[attribute].items():
            clean = tuple(sorted(device for device in devices if (device, column) not in blamed))
            cells = tuple(item for item in self._cells[attribute, value] if item[0] in clean)
            if clean:
                values.append(PeerValue(value, clean, cells, self._words.get((attribute, value), ())))
        unseen = {**dict.fromkeys(absent), **self._unseen.get((group, "", column), {}), **self._unseen.get(attribute, {})}
        values.sort(key=lambda value: (-len(value.devices), value.value))
        return Peers(group, address, column, tuple(values), tuple(sorted(unseen.items(), key=lambda item: item[0])))

    def _keep(self, peers: Peers) -> None:
        for value in peers.values:
            for device, cells in value.cells:
                self._facts.update({Spot(device, replace(cell.address, layer=cell.layer)): cell for cell in cells})

    def fact(self, spot: Spot) -> Fact | None:
        """The fact behind a spot of a finding, for its evidence."""
        return self._facts.get(spot)


def _finding(rule: Rule, peers: Peers, judgement: Judgement, text: str) -> Finding:
    assert judgement.deviation is not None
    devices = tuple(dict.fromkeys(device for value in engine.odd(engine.settled(peers)) for device in value.devices))
    return findings.make(rule.id, text, devices, judgement.deviation, rule.severity, ("peers", text), rule.remedy)


def _folded(found: Sequence[Finding]) -> list[Finding]:
    """Attributes of one concern in which the same devices are odd have one cause: those devices missed, or got, something."""
    first: dict[tuple[str, tuple[str, ...]], str] = {}
    for finding in found:
        first.setdefault((finding.family, finding.devices), finding.object)
    return [replace(finding, root=("peers", first[finding.family, finding.devices])) for finding in found]
