"""QoS of Cumulus Linux under a RoCE mode: the maps of the switch, and what each port does.

Cumulus maps code points to switch priorities, and those to the traffic classes by which packets leave. Our words for the two
are traffic class and queue. `lossless`, `lossless-single-ipool`, `lossy` and `lossy-multi-tc` differ in values, not in form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import ClassMap, DscpMap, QosPort, Queue
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.cumulus_linux import answers

PORT = ("trust", "dscp_map", "tc_to_queue", "pfc_to_queue", "pfc_priorities", "pfc_direction")
MAP = "roce"
"""What the one map of a switch with a RoCE mode is called here: the switch gives it no name."""
KINDS = ("tc_to_queue", "pfc_to_queue")
"""PFC is a matter of the switch priority ("switch-prio on which PFC is enabled"): what it pauses leaves by the same map."""
DSCP_TITLE = "RoCE PCP/DSCP->SP mapping configurations"
CLASS_TITLE = "RoCE SP->TC mapping and ETS configurations"
QUEUES = 8
_DIRECTIONS: Mapping[tuple[bool | None, bool | None], str] = {(True, True): "both", (True, False): "rx", (False, True): "tx"}
_YES = {"yes": True, "no": False, "enabled": True, "disabled": False}


def roce(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show qos roce`. With an exception in its list, some port has other maps: then none is read."""
    if re.search(r"^Exception List *\n=+ *\n *No Data *$", body, re.MULTILINE) is None:
        for row_type in (DscpMap, ClassMap):
            yield Unread(row_type, detail="its list of exceptions is not empty: some ports have settings of their own")
        return
    points: dict[int, int] = {}
    for row in answers.titled(body, DSCP_TITLE):
        for point in _numbers(row.get("dscp", "")):
            if point in points:
                raise ValueError(f"DSCP {point} stands twice in it")
            points[point] = int(row["switch-prio"])
    if set(points) != set(range(64)):
        yield Unread(DscpMap, reason=GapReason.TRUNCATED, detail=f"{len(points)} of 64 code points are in it")
    for point, priority in sorted(points.items()):
        yield DscpMap(name=MAP, dscp=str(point), traffic_class=priority)
    classes = [(int(row["switch-prio"]), int(row["traffic-class"])) for row in answers.titled(body, CLASS_TITLE)]
    if {priority for priority, _ in classes} != set(range(QUEUES)):
        yield Unread(ClassMap, reason=GapReason.TRUNCATED, detail=f"{len(classes)} of {QUEUES} switch priorities are in it")
    for priority, queue in classes:
        for kind in KINDS:
            yield ClassMap(name=f"{kind}:{MAP}", source=str(priority), kind=kind, to=queue)


def status(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show interface PORT qos roce status`. Its tables hold the two RoCE priorities alone; the maps are the switch's."""
    port, told = parameters["port"], answers.settings(body)
    trust = told.get("trust.trust-mode", "")
    known = bool(trust) and set(trust.split(",")) <= {"pcp", "dscp"}
    priorities = _numbers(told["pfc.pfc-priority"]) if told.get("pfc.pfc-priority") else None
    rx, tx = (_YES.get(told.get(f"pfc.{way}-enabled", "")) for way in ("rx", "tx"))
    yield QosPort(
        port=port,
        trust=tuple(sorted(trust.split(","))) if known else None,
        dscp_map=MAP,
        tc_to_queue=MAP,
        pfc_to_queue=MAP,
        pfc_priorities=priorities,
        pfc_direction=_DIRECTIONS.get((rx, tx)) if priorities else None,
    )
    if not known:
        yield Unread(QosPort, (port,), "trust", detail=f"trust mode {printable(trust, 40)!r} is not known")
    if priorities is None:
        yield Unread(QosPort, (port,), "pfc_priorities", detail="no priorities of PFC are told")
    if priorities and (rx is None or tx is None):
        yield Unread(QosPort, (port,), "pfc_direction", detail="whether pauses are sent and obeyed is not told")
    if not priorities:
        yield Unread(QosPort, (port,), "pfc_direction", GapReason.UNSUPPORTED, "no priority has PFC")
    yield from _queues(port, told)


def _queues(port: str, told: Mapping[str, str]) -> Iterator[Normalised]:
    mode, chance = told.get("congestion-control.congestion-mode", ""), told.get("congestion-control.probability", "")
    classes = told.get("congestion-control.enabled-tc", "")
    if not mode or not classes:
        yield Unread(Queue, detail="which classes mark is not told")
        return
    marked = _numbers(classes) if "ecn" in mode.lower() else ()
    for queue in range(QUEUES):
        on = queue in marked
        yield Queue(
            port=port, queue=str(queue), ecn_enabled=on,
            ecn_probability=int(chance) / 100 if on and chance.isascii() and chance.isdecimal() else None,
        )  # fmt: skip


def _numbers(text: str) -> tuple[int, ...]:
    """`0,3`, `0-7`; `-` is none. Raises ValueError for other text."""
    return () if text.strip() == "-" else canonical.number_list(text)
