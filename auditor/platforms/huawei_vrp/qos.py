"""What CloudEngine's manual shows of QoS: trust and schedulers of one port, and whether its queues mark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.canonical import printable
from auditor.facts import QosPort, Queue
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.huawei_vrp import names

_TRUST = {"outer 8021p": ("pcp",), "inner 8021p": ("pcp",), "8021p": ("pcp",), "dscp": ("dscp",)}
_QUEUE = re.compile(r" (\d) +\S+ +\S+ +(drr|pq|wrr|wfq)\b.*")
_WEIGHT = re.compile(r" +\S+ +\S+ +weight = (\d{1,5})\s*")
_ECN = re.compile(r"(\S*) +(\d) +(\[?\d{1,7}\]?\*?) +(\[?\d{1,7}\]?\*?) +(\d{1,3}) +\d{1,9}\s*")
QUEUES = 8


def port(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`display qos configuration interface`: one port, eight queues."""
    named, trusted = (
        re.search(r"^ ?interface (\S+)", body, re.MULTILINE),
        re.search(r"^ ?trust flag +: (.+?)\s*$", body, re.MULTILINE),
    )
    if named is None or trusted is None:
        raise ValueError("no port, or no trust flag")
    name = names.long_name(named.group(1))
    trust = _TRUST.get(trusted.group(1))
    yield QosPort(port=name, trust=trust)
    if trust is None:
        yield Unread(QosPort, (name,), "trust", detail=f"trust flag {printable(trusted.group(1), 40)!r} is not known")
    found: dict[str, tuple[str, int | None]] = {}
    number = ""
    for line in body.splitlines():
        queue, weight = _QUEUE.fullmatch(line), _WEIGHT.fullmatch(line)
        if queue is not None:
            number = queue.group(1)
            found[number] = (queue.group(2), None)
        elif weight is not None and number:
            found[number] = (found[number][0], int(weight.group(1)))
            number = ""
    for key, (scheduler, share) in found.items():
        if scheduler == "pq" or share is not None:
            yield Queue(port=name, queue=key, scheduler={"pq": "strict", "drr": "dwrr"}.get(scheduler, scheduler), weight=share)
        else:
            yield Unread(Queue, (name, key), reason=GapReason.TRUNCATED, detail=f"queue {key} stops before its weight")
    for key in (str(at) for at in range(QUEUES) if str(at) not in found):
        yield Unread(Queue, (name, key), reason=GapReason.TRUNCATED, detail=f"queue {key} is not in it")


def ecn(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`display qos ecn threshold interface`: a queue marks where its thresholds are not zero. Names stand on first rows alone."""
    name, strange = "", []
    head = re.search(r"^Interface +Queue +Min +Max +Probability.*$", body, re.MULTILINE)
    for line in body[0 if head is None else head.end() :].splitlines():
        row = _ECN.fullmatch(line)
        if row is None:
            strange += [] if not line.strip() or set(line.strip()) == {"-"} or "(KB)" in line else [line]
            continue
        name = names.long_name(row.group(1)) or name
        if name:
            marks = any(int(text.strip("[]*")) for text in row.group(3, 4))
            yield Queue(
                port=name, queue=row.group(2), ecn_enabled=marks, ecn_probability=int(row.group(5)) / 100 if marks else None
            )
    if strange:
        yield Unread(Queue, detail=f"does not fit under the columns: {printable(strange[0], 80)!r}")
