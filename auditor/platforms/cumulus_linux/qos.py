"""QoS of Cumulus Linux under a RoCE mode: the maps of the switch, and what each port does.

Cumulus maps code points to switch priorities, and those to the traffic classes by which packets leave. Our words for the two
are traffic class and queue. `lossless`, `lossless-single-ipool`, `lossy` and `lossy-multi-tc` differ in values, not in form.

The PFC watchdog is set for a port and watches those of its queues that PFC pauses; which these are, its view does not tell. So of
a port with the watchdog on, only what it sees is read, and of one without it, that no queue is watched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import Buffer, BufferPool, ClassMap, DscpMap, QosPort, Queue
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.cumulus_linux import answers

PORT = ("trust", "dscp_map", "tc_to_queue", "pfc_to_queue", "pfc_priorities", "pfc_direction")
MAP = "roce"
"""What the one map of a switch with a RoCE mode is called here: the switch gives it no name."""
KINDS = ("tc_to_queue", "pfc_to_queue")
"""PFC is a matter of the switch priority ("switch-prio on which PFC is enabled"): what it pauses leaves by the same map."""
DSCP_TITLE = "RoCE PCP/DSCP->SP mapping configurations"
CLASS_TITLE = "RoCE SP->TC mapping and ETS configurations"
POOL_TITLE = "RoCE pool config"
WATCHDOG_TITLE = "PFC WD Status"
QUEUES = 8
_DIRECTIONS: Mapping[tuple[bool | None, bool | None], str] = {(True, True): "both", (True, False): "rx", (False, True): "tx"}
_YES = {"yes": True, "no": False, "enabled": True, "disabled": False}
_ON = {"enabled": True, "disabled": False, "enable": True, "disable": False, "on": True, "off": False}
_SEEN = {"OK": "operational", "DEADLOCK": "stormed"}


def roce(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show qos roce`. With an exception in its list, some port has other maps: then no map is read."""
    yield from _pools(body)
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


def _pools(body: str) -> Iterator[Normalised]:
    """The buffer as a whole, and its pools. In `lossy` mode too one of them is called `roce-reserved-ingress`."""
    word = answers.settings(body).get("mode", "")
    mode = next((known for known in ("lossless", "lossy") if re.fullmatch(rf"{known}(?:-[\w-]+)?", word)), None)
    try:
        pools = [(row.get("name", ""), row.get("mode", "").lower()) for row in answers.titled(body, POOL_TITLE)]
    except ValueError as error:
        pools = []
        yield Unread(BufferPool, detail=str(error))
    ingress = sum(name.endswith("-ingress") for name, _ in pools)
    yield Buffer(mode=mode, vendor_word=word or None, ingress_pools=ingress or None)
    if mode is None:
        yield Unread(Buffer, (), "mode", detail=f"RoCE mode {printable(word, 40)!r} is not known")
    if not ingress:
        yield Unread(Buffer, (), "ingress_pools", GapReason.TRUNCATED, "there is no ingress pool in it")
    for name, kind in pools:
        way = name.rpartition("-")[2]
        yield BufferPool(
            name=name,
            direction=way if way in ("ingress", "egress") else None,
            mode=kind if kind in ("dynamic", "static") else None,
        )


def watchdog(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show interface PORT qos pfc-watchdog`. A deadlock is what happens now; the counts are of former ones."""
    port, on = parameters["port"], _ON.get(answers.settings(body).get("state", ""))
    if on is None:
        yield Unread(Queue, detail="whether the watchdog is on is not told")
        return
    if not on:
        yield from (Queue(port=port, queue=str(queue), watchdog_enabled=False) for queue in range(QUEUES))
        return
    yield Unread(
        Queue, (port,), "watchdog_enabled", GapReason.UNSUPPORTED, "it is on for the port; which queues that are is not told"
    )
    rows = answers.titled(body, WATCHDOG_TITLE)
    seen = {row["traffic-class"]: row.get("status", "") for row in rows if row["traffic-class"].isdecimal()}
    if set(seen) != set(map(str, range(QUEUES))):
        yield Unread(Queue, (port,), "watchdog_state", GapReason.TRUNCATED, f"{len(seen)} of {QUEUES} classes are in it")
    for queue, word in seen.items():
        yield Queue(port=port, queue=queue, watchdog_state=_SEEN.get(word))
        if word not in _SEEN:
            yield Unread(Queue, (port, queue), "watchdog_state", detail=f"status {printable(word, 40)!r} is not known")


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
