"""QoS of NX-OS as the running configuration has it.

What the code relies on, by Cisco's QoS configuration guide for the Nexus 9000 and the reference configurations named in the
platform:

- `class-map type qos` matches `dscp` or `cos`; `policy-map type qos` gives each class a qos-group; what no class matches is in
  class-default, qos-group 0 unless that says otherwise. A class-map with another kind of match is not followed.
- A port takes its `service-policy type qos input`, else that of `system qos`.
- `policy-map type network-qos` of `system qos` says by `pause pfc-cos` which priorities are no-drop; a port obeys it with
  `priority-flow-control mode on`, not with `off`; with `auto` or no line DCBX decides.
- Names of `policy-map type queuing` end in the queue: `c-out-8q-q3`, `c-out-8q-q-default` (0). It marks with the word `ecn`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from auditor.canonical import printable
from auditor.facts import DscpMap, QosPort, Queue
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.cisco_nxos import names

_NAMES = {"default": 0, "ef": 46, **{f"cs{at}": 8 * at for at in range(1, 8)},
          **{f"af{a}{b}": 8 * a + 2 * b for a in range(1, 5) for b in range(1, 4)}}  # fmt: skip
"""Code points by name: RFC 2474, RFC 2597, RFC 3246."""
_LINE = re.compile(r" |!|[a-z][\w-]*(?: |$)")
"""What a line of configuration begins with; what the switch logs into a session begins with a time or a bracket."""
_ECN = re.compile(r"random-detect minimum-threshold \d+ \w+ maximum-threshold \d+ \w+(?: drop-probability (\d{1,3}))?.* ecn")


@dataclass(slots=True)
class _Running:
    """Blocks by their opening line, each with its lines in order, blanks at the front taken away."""

    blocks: dict[str, list[str]] = field(default_factory=dict)
    last: str = ""

    def of(self, start: str) -> Iterator[tuple[str, list[str]]]:
        """(rest of the opening line, lines) of every block that opens so."""
        for head, lines in self.blocks.items():
            if head.startswith(start):
                yield head.removeprefix(start).strip(), lines


def _read(body: str) -> _Running:
    found = _Running()
    for line in body.splitlines():
        if not line.strip() or line.startswith("!"):
            continue
        if not line.startswith(" "):
            found.last = line.strip()
            found.blocks.setdefault(found.last, [])
        elif found.last:
            found.blocks[found.last].append(line.strip())
    return found


def running(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every port with a line of QoS, the map of each policy, and whether queues mark. The last block may be cut: left out."""
    body = body[max(0, body.find("!Command:")) :]  # a recorded answer may begin with the prompt and the command
    foreign = next((line for line in body.splitlines() if line.strip() and not _LINE.match(line)), None)
    if foreign is not None:
        for row_type in (QosPort, DscpMap, Queue):
            yield Unread(row_type, detail=f"a line that is no configuration stands in it: {printable(foreign, 80)!r}")
        return
    config = _read(body)
    policies = dict(config.of("policy-map type qos "))
    matches = {name.split()[-1]: lines for name, lines in config.of("class-map type qos ")}
    system = [line for _, lines in config.of("system qos") for line in lines]
    paused = _paused(config, system)
    queues = {name: _queues(lines) for name, lines in config.of("policy-map type queuing ")}
    whole = {name: found for name, lines in policies.items() if (found := _policy(lines, matches)) is not None}
    for name, (trust, groups) in whole.items():
        if "dscp" in trust:
            for dscp, group in groups.items():
                yield DscpMap(name=name, dscp=str(dscp), traffic_class=group)
    for written, lines in config.of("interface "):
        port = names.long_name(written)
        if f"interface {written}" == config.last:
            yield Unread(QosPort, (port,), reason=GapReason.TRUNCATED, detail="the last block of the configuration may be cut")
            continue
        everywhere = [
            line for line in system if line.startswith(("service-policy type qos input", "service-policy type queuing"))
        ]
        yield from _port(port, [*lines, *everywhere], whole, paused, queues)


def _port(
    port: str,
    lines: list[str],
    policies: Mapping[str, tuple[tuple[str, ...], Mapping[int, int]]],
    paused: tuple[int, ...] | None,
    queues: Mapping[str, Mapping[str, tuple[bool, float | None]]],
) -> Iterator[Normalised]:
    policy = next((line.split()[4] for line in lines if line.startswith("service-policy type qos input ")), "")
    mode = next((line.split()[2] for line in lines if line.startswith("priority-flow-control mode ")), "auto")
    known = policies.get(policy)
    priorities = () if mode == "off" else paused if mode == "on" else None
    yield QosPort(
        port=port,
        trust=() if not policy else None if known is None else known[0],
        dscp_map=policy if known is not None and "dscp" in known[0] else None,
        pfc_priorities=priorities,
    )
    if policy and known is None:
        for column in ("trust", "dscp_map"):
            yield Unread(QosPort, (port,), column, detail=f"policy {policy!r} is not in it, or matches by more than DSCP and CoS")
    if priorities is None:
        words = "mode auto: what DCBX agreed on is not told" if mode != "on" else "no network-qos policy of `system qos` is in it"
        reason = GapReason.UNSUPPORTED if mode != "on" else GapReason.UNPARSED
        yield Unread(QosPort, (port,), "pfc_priorities", reason, words)
    queuing = next((line.split()[4] for line in lines if line.startswith("service-policy type queuing output ")), "")
    for queue, (marks, probability) in queues.get(queuing, {}).items():
        yield Queue(port=port, queue=queue, ecn_enabled=marks, ecn_probability=probability)


def _queues(lines: list[str]) -> dict[str, tuple[bool, float | None]]:
    """Whether each queue of a queuing policy marks, and with which probability at the upper threshold."""
    found: dict[str, tuple[bool, float | None]] = {}
    queue = ""
    for line in lines:
        named = re.fullmatch(r"class type queuing c-out-(?:8q-)?q(\d|-default)", line)
        if line.startswith("class "):
            queue = "" if named is None else named.group(1).replace("-default", "0")
            found.update({queue: (False, None)} if queue else {})
        elif queue and (marking := _ECN.fullmatch(line)) is not None:
            share = marking.group(1)
            found[queue] = (True, None if share is None else int(share) / 100)
    return found


def _policy(lines: list[str], matches: Mapping[str, list[str]]) -> tuple[tuple[str, ...], dict[int, int]] | None:
    """What a policy classifies by, and the qos-group of each code point; None for one that cannot be followed."""
    groups, classes = dict.fromkeys(range(64), 0), _classes(lines)
    if classes.get("class-default", 0):
        groups = dict.fromkeys(range(64), classes["class-default"])
    kinds: set[str] = set()
    for name, group in reversed([item for item in classes.items() if item[0] != "class-default"]):
        for line in matches.get(name, ["missing"]):
            words = line.split(None, 2)
            if words[:2] == ["match", "dscp"]:
                points = _points(words[2])
                if points is None:
                    return None
                kinds.add("dscp")
                groups.update(dict.fromkeys(points, group))
            elif words[:2] == ["match", "cos"]:
                kinds.add("pcp")
            elif words[0] not in ("description", "Description:"):
                return None
    return tuple(sorted(kinds)), groups


def _classes(lines: list[str]) -> dict[str, int]:
    """The qos-group of every class of a policy, in the order in which they are tried; the first that matches counts."""
    found: dict[str, int] = {}
    name = ""
    for line in lines:
        words = line.split()
        if words[0] == "class":
            name = words[-1]
            found.setdefault(name, 0)
        elif words[:2] == ["set", "qos-group"] and name:
            found[name] = int(words[2])
    return found


def _points(text: str) -> list[int] | None:
    """Code points from `26`, `24-26,46` or `af31 ef`; None for what is none."""
    out: list[int] = []
    for word in re.split(r"[ ,]+", text.strip()):
        span = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", word)
        if span is not None and int(span.group(2) or span.group(1)) < 64:
            out += range(int(span.group(1)), int(span.group(2) or span.group(1)) + 1)
        elif word.lower() in _NAMES:
            out.append(_NAMES[word.lower()])
        else:
            return None
    return out


def _paused(config: _Running, system: list[str]) -> tuple[int, ...] | None:
    """The no-drop priorities of the network-qos policy in force; None where it is not in the answer."""
    name = next((line.split()[-1] for line in system if line.startswith("service-policy type network-qos ")), "")
    policies = dict(config.of("policy-map type network-qos "))
    if name not in policies:
        return None
    found = [line for line in policies[name] if line.startswith("pause pfc-cos ")]
    return tuple(sorted({int(word) for line in found for word in re.findall(r"\d", line.removeprefix("pause pfc-cos"))}))
