"""QoS of EOS as the running configuration has it: trust, the map of DSCPs, transmit queues, PFC and ECN.

The lines are those of the configurations in the tests of Arista's AVD. The defaults are those of
the EOS manual, chapter Quality of Service, as published articles on lossless EOS fabrics quote it; Arista's AI Network Fabric
Deployment Guide confirms them for CS3. What the code relies on:

- What a port does may stand under it, or in the `qos profile` that its line `service-profile` names. Where the two differ,
  nothing is concluded.
- A routed port trusts DSCP and a switched one 802.1p, unless a line `qos trust` says otherwise. A member of an aggregate is not
  asked: its aggregate is. A `service-policy type qos` classifies before the maps do.
- DSCPs without a line keep the class of the default map, which is the same on all chips: 0-7 are class 1, 8-15 class 0, and so
  on by eight. A traffic class without a line uses the transmit queue of its own number.
- `priority-flow-control on` (older: `mode on`) enables PFC, `priority … no-drop` says for which priorities; no line, no PFC.
- A queue marks with ECN when it has a line `random-detect ecn`. Thresholds in `segments` count units of the chip's own, and no
  document says whether `kbytes` are 1000 or 1024 bytes, so only those in `bytes` are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import ClassMap, DscpMap, QosPort, Queue
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.arista_eos.running import Block, Running, from_document, from_text

PORT = ("trust", "dscp_map", "tc_to_queue", "pfc_priorities")
QUEUE = (
    "scheduler", "weight", "ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability", "watchdog_detection_s",
    "watchdog_restoration_s", "watchdog_action",
)  # fmt: skip
MAP = "global"
"""EOS has one map of each kind for the whole switch; it has no name, so it gets this one."""
QUEUES = 8

_NAME = re.compile(r"(?:Ethernet|Port-Channel)\d[\d/]*")
_DEFAULT = (1, 0, 2, 3, 4, 5, 6, 7)
_DSCP = re.compile(r"qos map dscp (\d[\d ,-]*) to traffic-class (\d)(?: drop-precedence \d)?")
_QUEUE = re.compile(r"qos map traffic-class (\d[\d ,-]*) to (?:uc-)?tx-queue (\d)")
_TRUST = {"qos trust dscp": ("dscp",), "qos trust cos": ("pcp",), "no qos trust": ()}
_PFC = re.compile(r"priority-flow-control (?:(mode )?(on)|priority ([0-7]) (no-drop|drop))")
_MODE = re.compile(r"(?:uc-)?tx-queue (\d)")
_ECN = re.compile(
    r"random-detect ecn minimum-threshold (\d{1,12}) (\w+) maximum-threshold (\d{1,12}) (\w+)"
    r"(?: max-mark-probability (\d{1,3}))?(?: weight \d{1,2})?"
)
_NAMED = re.compile(r"qos map (?:dscp to traffic-class|traffic-class to (?:uc-)?tx-queue) \S+")
_WATCHDOG = {
    "watchdog_detection_s": re.compile(r"priority-flow-control pause watchdog default timeout (\d{1,2}(?:\.\d{1,3})?)"),
    "watchdog_restoration_s": re.compile(r"priority-flow-control pause watchdog default recovery-time (\d{1,2}(?:\.\d{1,3})?)"),
    "watchdog_action": re.compile(r"priority-flow-control pause watchdog action (\S+)"),
}
_ACTIONS = {"drop": "drop", "no-drop": "forward", "notify-only": "alert"}


def document(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show running-config | json`."""
    return facts(from_document(data))


def text(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show running-config`."""
    return facts(from_text(body))


def facts(running: Running) -> Iterator[Normalised]:
    """What the configuration says of QoS. A cut one tells no map and no port that its last lines may speak of."""
    alone = [block.line for block in running.blocks]
    yield from _dscp_map(running, alone)
    queues = _queue_map(alone) if running.ended else {}
    yield from _queue_rows(queues)
    unknown = "" if running.ended else "the configuration is cut off"
    if any(number != queue for number, queue in queues.items()):
        unknown = "a traffic class has a queue that is not that of its number"
    profiles = dict(running.of("qos profile"))
    routed = "switchport default mode routed" in alone
    for name, block in running.of("interface"):
        if not _NAME.fullmatch(name):
            continue
        profile = [line.removeprefix("service-profile ") for line in block.lines if line.startswith("service-profile ")]
        used = profiles.get(profile[0]) if profile else None
        if block.torn or (profile and (used is None or used.torn)):
            words = f"the lines of {name} or of its profile are not whole"
            yield Unread(QosPort, (name,), reason=GapReason.TRUNCATED, detail=words)
            yield Unread(Queue, (name,), reason=GapReason.TRUNCATED, detail=words)
            continue
        port = _Port(name, block, used)
        off = "priority-flow-control all off" in alone
        yield from port.qos(routed=routed, off=off)
        yield from port.queues(alone, unknown, off=off)
    if not running.ended:
        for row_type in (QosPort, Queue):
            yield Unread(row_type, reason=GapReason.TRUNCATED, detail="no line 'end': the configuration is cut off")


def _dscp_map(running: Running, alone: Iterable[str]) -> Iterator[Normalised]:
    if not running.ended:
        yield Unread(DscpMap, reason=GapReason.TRUNCATED, detail="no line 'end': lines of the map may be missing")
        return
    classes = {dscp: _DEFAULT[dscp // 8] for dscp in range(64)}
    for line in alone:
        found = _DSCP.fullmatch(line)
        if found is not None:
            classes.update(dict.fromkeys(_numbers(found.group(1)), int(found.group(2))))
        elif line.startswith("qos map dscp ") and not line.startswith("qos map dscp to traffic-class name "):
            yield Unread(DscpMap, (MAP,), detail=f"not read: {printable(line, 80)!r}")
    for dscp in range(64):
        yield DscpMap(name=MAP, dscp=str(dscp), traffic_class=classes[dscp])


def _queue_map(alone: Iterable[str]) -> dict[int, int]:
    """The transmit queue of every traffic class."""
    queues = {number: number for number in range(QUEUES)}
    for line in alone:
        found = _QUEUE.fullmatch(line)
        if found is not None:
            queues.update(dict.fromkeys(_numbers(found.group(1)), int(found.group(2))))
    return queues


def _queue_rows(queues: Mapping[int, int]) -> Iterator[Normalised]:
    if not queues:
        yield Unread(ClassMap, reason=GapReason.TRUNCATED, detail="no line 'end': lines of the map may be missing")
    for number, queue in queues.items():
        yield ClassMap(name=f"tc_to_queue:{MAP}", source=str(number), kind="tc_to_queue", to=queue)


def _numbers(words: str) -> tuple[int, ...]:
    return canonical.number_list(re.sub(r"\s+", ",", words.strip().replace(",", " ")))


class _Port:
    """One port: its own lines, and those of its profile."""

    def __init__(self, name: str, block: Block, profile: Block | None) -> None:
        self.name, self.block, self.profile = name, block, profile

    def both(self) -> list[Block]:
        """Where its lines stand."""
        return [self.block] if self.profile is None else [self.block, self.profile]

    def qos(self, *, routed: bool, off: bool) -> Iterator[Normalised]:
        """How it classifies and pauses."""
        values: dict[str, Any] = {"tc_to_queue": MAP, "dscp_map": MAP}
        why = dict[str, str]()
        trust, paused = self._trust(routed=routed), self._paused()
        policy = next((line for lines in self.both() for line in lines.lines if line.startswith("service-policy type q")), "")
        named = [line for lines in self.both() for line in lines.lines if _NAMED.fullmatch(line)]
        if isinstance(trust, str):
            why["trust"] = trust
        else:
            values["trust"] = trust
        if policy:
            why.update(dict.fromkeys(("trust", "dscp_map"), f"{printable(policy, 60)!r} classifies before the map"))
        for line in named:
            why["dscp_map" if "dscp" in line else "tc_to_queue"] = f"a map of its own: {printable(line, 60)!r}"
        if off:
            values["pfc_priorities"] = ()
        elif isinstance(paused, str):
            why["pfc_priorities"] = paused
        else:
            values["pfc_priorities"] = paused
        yield QosPort(port=self.name, **{column: value for column, value in values.items() if column not in why})
        for column, words in why.items():
            yield Unread(QosPort, (self.name,), column, GapReason.UNSUPPORTED, words)

    def _trust(self, *, routed: bool) -> tuple[str, ...] | str:
        """What it trusts, or why that cannot be said."""
        found = [[_TRUST[line] for line in block.lines if line in _TRUST] for block in self.both()]
        said = [words[-1] for words in found if words]
        if len(set(said)) > 1:
            return "the port and its profile say different things"
        if said:
            return said[0]
        lines = self.block.lines
        if any(line.startswith("channel-group ") for line in lines):
            return "it is a member of an aggregate, whose trust counts"
        return ("dscp",) if "no switchport" in lines or (routed and "switchport" not in lines) else ("pcp",)

    def _paused(self) -> tuple[int, ...] | str:
        """The priorities it pauses on, or why that cannot be said."""
        said = []
        for block in self.both():
            lines = [found for line in block.lines if (found := _PFC.fullmatch(line)) is not None]
            if lines:
                on = any(found.group(2) for found in lines)
                kept = {int(found.group(3)) for found in lines if found.group(4) == "no-drop"}
                said.append(tuple(sorted(kept)) if on else ())
        if len(set(said)) > 1:
            return "the port and its profile say different things"
        return said[0] if said else ()

    def queues(self, alone: Iterable[str], unknown: str, *, off: bool) -> Iterator[Normalised]:
        """Scheduler, marking and watchdog of its queues. `unknown`: why the timers of a queue cannot be told."""
        watchdog, unread = _watchdog(alone)
        priorities = () if off else self._paused()
        if any("watchdog port" in line for block in self.both() for line in block.lines):
            unknown = "timers of its own: not read"
        if isinstance(priorities, str):
            unknown = priorities
        for queue in range(QUEUES):
            key, lines = (self.name, str(queue)), self._lines(queue)
            values: dict[str, Any] = {}
            for column, value in _marking(lines):
                if isinstance(value, str):
                    yield Unread(Queue, key, column, GapReason.UNSUPPORTED, value)
                else:
                    values[column] = value
            if "priority strict" in lines or "no priority" in lines:
                values["scheduler"] = "strict" if "priority strict" in lines else "wrr"
                share = [found.group(1) for line in lines if (found := re.fullmatch(r"bandwidth percent (\d{1,3})", line))]
                values.update({"weight": int(share[0])} if share else {})
            if isinstance(priorities, str) or queue in priorities:
                values.update({} if unknown else watchdog)
                for column, words in (dict.fromkeys(_WATCHDOG, unknown) if unknown else unread).items():
                    yield Unread(Queue, key, column, GapReason.UNSUPPORTED, words)
            yield Queue(port=self.name, queue=str(queue), **values)

    def _lines(self, queue: int) -> list[str]:
        found = []
        for block in self.both():
            for mode, lines in block.inner.items():
                opened = _MODE.fullmatch(mode)
                if opened is not None and int(opened.group(1)) == queue:
                    found += lines
        return found


def _marking(lines: Iterable[str]) -> Iterator[tuple[str, bool | int | float | str]]:
    """Columns of ECN with their values; a text says why there is none."""
    marks = [line for line in lines if line.startswith("random-detect ecn minimum-threshold")]
    if not marks:
        yield "ecn_enabled", False
        return
    found = _ECN.fullmatch(marks[0])
    if found is None or len(set(marks)) > 1:
        words = f"not read: {printable(marks[0], 80)!r}"
        yield from ((column, words) for column in ("ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability"))
        return
    low, low_unit, high, high_unit, probability = found.groups()
    yield "ecn_enabled", True
    for column, number, unit in (("ecn_min_bytes", low, low_unit), ("ecn_max_bytes", high, high_unit)):
        yield column, int(number) if unit == "bytes" else f"no document says how many bytes {number} {unit} are"
    yield "ecn_probability", int(probability) / 100 if probability else "the line does not give it"


def _watchdog(alone: Iterable[str]) -> tuple[dict[str, float | str], dict[str, str]]:
    """What the switch sets for all watched queues, and why some of it is not known."""
    values: dict[str, float | str] = {}
    unread: dict[str, str] = {}
    for column, shape in _WATCHDOG.items():
        said = [found.group(1) for line in alone if (found := shape.fullmatch(line)) is not None]
        if not said:
            unread[column] = "no line says it, and its default is not documented"
        elif column != "watchdog_action":
            values[column] = float(said[-1])
        elif said[-1] in _ACTIONS:
            values[column] = _ACTIONS[said[-1]]
        else:
            unread[column] = f"no action that other switches have: {printable(said[-1], 30)!r}"
    return values, unread
