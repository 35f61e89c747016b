"""Learns a baseline from devices that are there: what most of them agree on, proposed for a person to review. Pure.

Devices are taken together by role, platform and hardware model. Looked at are the columns in which devices should be alike
(`Column.peer`), so no identity, nothing of the moment, nothing that differs by nature. A value is proposed when a stated
share of the objects and enough devices have it; who has another is named beside it. Agreement is no proof: a value that a
rule calls faulty is refused, also when the whole fleet has it, and said so.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from auditor.address import Address, quote_key
from auditor.baseline.lesson import Lesson, Terms
from auditor.baseline.operators import shown
from auditor.baseline.proposal import Proposed
from auditor.canonical import printable
from auditor.facts import TABLES, Value, schema
from auditor.model import ABSENT, Absent, Severity, State

LEFT_OUT = frozenset(
    {
        "system.image_id", "nic_option.value", "buffer_pool.direction", "nccl_topology.fingerprint_shape", "nccl_path.nearest",
        "nccl_graph.networks", "nccl_graph.type_inter",
    }
)  # fmt: skip
"""Compared among peers, yet nobody writes them by hand: the digest of an image, hundreds of firmware options, what
a name says already, and the topology, which `auditor baseline promote` freezes from one tuned host."""

_FAMILIES = {
    "interface.mtu": "mtu", "rdma_port.active_mtu": "mtu", "rdma_port.global_tclass": "lossless", "interface": "fabric",
    "system": "firmware", "firmware": "firmware", "rdma_port": "fabric", "nic": "host", "nccl_env": "nccl",
}  # fmt: skip
"""Family of a line's id by column, else by table, else lossless."""

_SEVERITIES = {
    "interface.mtu": Severity.CRITICAL, "rdma_port.active_mtu": Severity.CRITICAL, "qos_port.trust": Severity.CRITICAL,
    "qos_port.pfc_priorities": Severity.CRITICAL, "dscp_map.traffic_class": Severity.CRITICAL,
    "priority_group.lossless": Severity.CRITICAL, "system.kernel": Severity.WARNING, "system.vendor": Severity.WARNING,
    "system.os_name": Severity.WARNING, "firmware.version": Severity.WARNING, "buffer_pool.direction": Severity.WARNING,
}  # fmt: skip
"""Severity by column, else error."""

_FACING = ("host_facing", "fabric_facing")
_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")

Seen = Value | Absent


@dataclass(frozen=True, slots=True)
class Member:
    """A device to learn from. `groups` are its port groups; `faulty` names the rule for each cell (as text, without layer)
    that one calls faulty."""

    name: str
    role: str
    platform: str
    model: str
    state: State
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    faulty: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> tuple[str, str, str]:
        """Devices of one kind are learned from together."""
        return self.role, self.platform, self.model


@dataclass(frozen=True, slots=True)
class Vote:
    """One object's value. `rule` calls it faulty."""

    device: str
    row: str
    value: Seen
    rule: str = ""


def learn(members: Sequence[Member], terms: Terms) -> Lesson:
    """Propose lines that hold for all kinds of the given devices; what differs between kinds is said and left open."""
    lesson = Lesson()
    kinds: dict[tuple[str, str, str], list[Member]] = defaultdict(list)
    for member in members:
        kinds[member.kind].append(member)
    lessons = []
    for kind, several in sorted(kinds.items()):
        if len(several) < terms.least:
            words = f"{len(several)} {_kind(kind)}: fewer than {terms.least}, nothing was learned from them"
            lesson.small.append(words)
            continue
        lessons.append(_Kind(several, terms).lesson())
    lesson.members = sum(one.members for one in lessons)
    for name in ("refused", "open", "quiet"):
        setattr(lesson, name, list(dict.fromkeys(text for one in lessons for text in getattr(one, name))))
    lesson.psids = [line for one in lessons for line in one.psids]
    places: dict[str, list[Proposed]] = defaultdict(list)
    for one in lessons:
        for line in one.lines:
            places[line.at].append(line)
    used = set(terms.taken)
    for at, lines in places.items():
        if len({repr(line.value) for line in lines}) > 1:
            lesson.open.append(f"{at}: differs by kind: " + "; ".join(f"{_text(line.value)} ({line.why})" for line in lines))
        elif len(lines) < len(lessons):
            lesson.open.append(f"{at}: {_text(lines[0].value)}, but only in {'; '.join(line.why for line in lines)}")
        else:
            why = "; ".join(line.why for line in lines)
            lesson.lines.append(replace(lines[0], id=_id(at, used), why=why))
    return lesson


class _Kind:
    """Devices of one kind, learned from together."""

    def __init__(self, members: Sequence[Member], terms: Terms) -> None:
        self.members, self.terms = members, terms
        self.found = Lesson(members=len(members))

    def lesson(self) -> Lesson:
        for table, row_type in TABLES.items():
            for column, info in schema(row_type).columns.items():
                if info.info.peer and f"{table}.{column}" not in LEFT_OUT:
                    self._column(table, column)
        return self.found

    def _column(self, table: str, column: str) -> None:
        shape = schema(TABLES[table])
        if table == "firmware":
            self._firmware()
        elif shape.port_key is not None or shape.port_column is not None:
            self._ports(table, column)
        elif not shape.keys:
            self._decide(f"{table}.{column}", self._cells(table, column, [()]))
        else:
            keys = sorted({key for member in self.members for key in member.state.keys(TABLES[table], column)}, key=_natural)
            self._by_key(table, column, keys)

    # Where votes come from

    def _cells(self, table: str, column: str, keys: Iterable[tuple[str, ...]]) -> list[Vote]:
        """What every member says of these keys, known cells only; a row that is not there is absent."""
        found = (self._vote(member, table, column, key) for key in keys for member in self.members)
        return [vote for vote in found if vote is not None]

    def _vote(self, member: Member, table: str, column: str, key: tuple[str, ...]) -> Vote | None:
        address = Address(table, key, column)
        cell = member.state.cell(address)
        if cell.value is None:
            return None
        value = _without_ecn(table, column, key, cell.value)
        return Vote(member.name, str(address.row), value, member.faulty.get(str(address), ""))

    def _by_key(self, table: str, column: str, keys: Sequence[tuple[str, ...]]) -> None:
        """Rows that have the same name on every device, one line each, those with defaults only told."""
        quiet = []
        for key in keys:
            votes = self._cells(table, column, [key])
            at = f"{table}[{','.join(map(quote_key, key))}].{column}"
            if self._is_usual(table, key, votes):
                quiet.append(key)
            else:
                self._decide(at, votes)
        if quiet:
            self.found.quiet.append(f"{table}: {len(quiet)} rows beside the fabric's classes, all at 0 or their own number")

    def _is_usual(self, table: str, key: tuple[str, ...], votes: Sequence[Vote]) -> bool:
        """Whether a row of a map is what maps start with, for a code point or priority that no class of the fabric uses."""
        if table == "dscp_map":
            return key[1] not in self.terms.dscps and all(vote.value == 0 for vote in votes)
        if table != "class_map" or not self.terms.priorities or key[1] in self.terms.priorities:
            return False
        return all(vote.value == 0 or str(vote.value) == key[1] for vote in votes)

    def _ports(self, table: str, column: str) -> None:
        """Rows of ports, by port group where the plan has some, else all ports taken together."""
        shape = schema(TABLES[table])
        at = 0 if shape.port_key is None else list(shape.keys).index(shape.port_key)
        rows: dict[tuple[str, ...], list[tuple[Member, tuple[str, ...], str]]] = defaultdict(list)
        for member in self.members:
            for key in member.state.keys(TABLES[table], column):
                port = key[at] if shape.port_key is not None else self._owner(member, table, key)
                rest = key[1:] if shape.port_key is not None else ("*",) * (len(key) - 1)
                rows[rest].append((member, key, port))
        names = self._group_names() or [""]
        undecided: set[tuple[str, ...]] = set()
        for name in names:
            within = {
                rest: [row for row in some if not name or row[2] in row[0].groups.get(name, ())] for rest, some in rows.items()
            }
            votes = {rest: self._row_votes(some, table, column) for rest, some in within.items()}
            last = name in _FACING or not any(each in _FACING for each in names)
            chosen = {rest: some for rest, some in votes.items() if some and (name not in _FACING or rest in undecided)}
            undecided |= self._group(table, column, f"@{name}" if name else "*", chosen, last=last)

    def _row_votes(self, rows: Iterable[tuple[Member, tuple[str, ...], str]], table: str, column: str) -> list[Vote]:
        return [vote for member, key, _ in rows if (vote := self._vote(member, table, column, key)) is not None]

    def _owner(self, member: Member, table: str, key: tuple[str, ...]) -> str:
        column = schema(TABLES[table]).port_column
        value = member.state.cell(Address(table, key, column)).value if column else None
        return value if isinstance(value, str) else member.state.port_of(table, key) or ""

    def _group_names(self) -> list[str]:
        """Planes, then the two directions, as far as any member has ports in them."""
        names = {name for member in self.members for name, ports in member.groups.items() if ports and name != "in_use"}
        return sorted(names, key=lambda name: (name in _FACING, name))

    def _group(
        self, table: str, column: str, group: str, votes: Mapping[tuple[str, ...], Sequence[Vote]], *, last: bool
    ) -> set[tuple[str, ...]]:
        """One line over all further keys where they agree, else one per key that holds more than a default. Gives the keys
        that narrower groups may settle; with `last` there are none, and what is open is told."""
        together = [vote for some in votes.values() for vote in some]
        if not together:
            return set()
        if len(votes) > 1 and len({vote.value for vote in together}) == 1:
            self._decide(f"{table}[{','.join([group, *('*' for _ in next(iter(votes)))])}].{column}", together, ports=True)
            return set()
        quiet, undecided = [], set()
        for rest in sorted(votes, key=_natural):
            if self._is_default(table, rest, votes[rest]):
                quiet.append(",".join(rest))
            elif table != "host_dscp" or rest[0] in self.terms.dscps or not self.terms.dscps:
                at = f"{table}[{','.join([group, *map(_quoted, rest)])}].{column}"
                if not self._decide(at, votes[rest], ports=True, tell=last):
                    undecided.add(rest)
        if quiet and quiet != [""]:
            few = ", ".join(quiet[:8]) + (" …" if len(quiet) > 8 else "")
            self.found.quiet.append(f"{table}[{group}].{column}: nothing, or the default, on {few}")
        return undecided

    def _is_default(self, table: str, rest: tuple[str, ...], votes: Sequence[Vote]) -> bool:
        """Whether all say nothing more than absent, off, zero or none; in a host's map, what NICs start with: DSCP div 8."""
        if table == "host_dscp":
            return rest[0] not in self.terms.dscps and all(vote.value == int(rest[0]) // 8 for vote in votes)
        return all(vote.value is ABSENT or not vote.value for vote in votes)

    def _firmware(self) -> None:
        """Adapters by parameter-set id and GPUs, as params of `firmware.not_allowed`; all other components by name."""
        psids: dict[str, list[Vote]] = defaultdict(list)
        plain: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for member in self.members:
            for key in member.state.keys(TABLES["firmware"], "version"):
                psid = member.state.cell(Address("firmware", key, "psid")).value
                vote = self._vote(member, "firmware", "version", key)
                if key[0].startswith("nic.") and isinstance(psid, str):
                    psids[psid] += [vote] if vote is not None else []
                elif not key[0].startswith("optic."):
                    plain[_PCI.sub("*", key[0])].add(key)
        for psid, votes in sorted(psids.items()):
            line = self._line(f"firmware[nic.*].version with PSID {psid}", votes)
            if line is not None:
                said = {"component": "nic.*", "psid": [psid], "in": [str(line.value)], "severity": "error", "why": line.why}
                self.found.psids.append({**said, "note": line.note})
        for name in sorted(plain):
            votes = [
                vote
                for key in plain[name]
                for member in self.members
                if "*" not in name or key in member.state.keys(TABLES["firmware"], "version")
                if (vote := self._vote(member, "firmware", "version", key)) is not None
            ]
            if "*" not in name:
                self._decide(f"firmware[{quote_key(name)}].version", votes)
            elif (line := self._line(f"firmware[{name}].version", votes)) is not None:  # by PCI address: no list of them is whole
                said = {"component": name, "in": [str(line.value)], "severity": "error", "why": line.why}
                self.found.psids.append({**said, "note": line.note})

    # What becomes of them

    def _decide(self, at: str, votes: Sequence[Vote], *, ports: bool = False, tell: bool = True) -> bool:
        """Whether the place is settled: proposed, refused, or nothing to propose. What is open is told with `tell`."""
        open_before = len(self.found.open)
        line = self._line(at, votes, ports=ports)
        if line is not None:
            self.found.lines.append(line)
        settled = len(self.found.open) == open_before
        if not settled and not tell:
            self.found.open.pop()
        return settled

    def _line(self, at: str, votes: Sequence[Vote], *, ports: bool = False) -> Proposed | None:
        """The line on these votes, or a word on why there is none."""
        if not votes:
            return None
        counts = Counter(vote.value for vote in votes)
        value, _ = max(counts.items(), key=lambda item: (item[1], shown(item[0])))
        having = [vote for vote in votes if vote.value == value and type(vote.value) is type(value)]
        sound = [vote for vote in having if not vote.rule]
        devices = {vote.device for vote in votes}
        agreeing = {vote.device for vote in having} - {vote.device for vote in votes if vote.value != value}
        if len(having) >= self.terms.share * len(votes) and len(sound) < self.terms.share * len(having):
            rules = ", ".join(sorted({vote.rule for vote in having if vote.rule}))
            most = f"{_text(value)} on {len(having)} of {len(votes)} objects of {len(devices)} devices"
            self.found.refused.append(f"{at}: {most}, and {rules} calls it faulty")
            return None
        if len(sound) < self.terms.share * len(votes) or len({vote.device for vote in sound}) < self.terms.least:
            if len(devices) >= self.terms.least and counts != {ABSENT: len(votes)}:
                sides = "; ".join(_side(each, count, votes) for each, count in counts.most_common(4))
                self.found.open.append(f"{at}: {sides}; of {len(votes)} objects of {len(devices)} devices")
            return None
        if isinstance(value, Absent):
            return None
        odd = [vote for vote in votes if vote.value != value or vote.rule]
        note = f"{len(votes) - len(odd)} of {len(votes)} objects" if ports or odd else ""
        if odd:
            note += (
                "; not " + ", ".join(_dissent(vote) for vote in odd[:3]) + (f" and {len(odd) - 3} more" if len(odd) > 3 else "")
            )
        why = f"{len(agreeing)} of {len(devices)} {_kind(self.members[0].kind)} had it" + (
            f" on {self.terms.date}" if self.terms.date else ""
        )
        operator, wanted = _demand(at, value)
        return Proposed("", at, wanted, _severity(at), why, note, operator)


def _is_traffic_class(table: str, column: str, name: str) -> bool:
    return f"{table}.{column}" in ("rdma_port.global_tclass", "rdma_port.rdma_tos") or (
        table == "nccl_env" and name in ("NCCL_IB_TC", "NCCL_GIN_IB_TC")
    )


def _without_ecn(table: str, column: str, key: tuple[str, ...], value: Seen) -> Seen:
    """A traffic class without its two ECN bits, which say nothing about where it goes."""
    if not _is_traffic_class(table, column, key[-1] if key else ""):
        return value
    if isinstance(value, str):
        return str(int(value) // 4 * 4) if value.isdecimal() and len(value) < 4 else value
    return value // 4 * 4 if isinstance(value, int) else value


def _demand(at: str, value: Value) -> tuple[str, Value]:
    """Operator and value of a line: a traffic class may have any ECN bits."""
    table, column = at.partition("[")[0], at.rpartition(".")[2]
    if _is_traffic_class(table, column, at.rpartition("]")[0].rpartition(",")[2]):
        if isinstance(value, str) and value.isdecimal():
            return "in", tuple(str(int(value) + bits) for bits in range(4))
        if isinstance(value, int):
            return "between", (value, value + 3)
    return "eq", value


def _severity(at: str) -> Severity:
    column = re.sub(r"\[.*\]", "", at)
    return _SEVERITIES.get(column, Severity.ERROR)


def _side(value: Seen, count: int, votes: Sequence[Vote]) -> str:
    names = list(dict.fromkeys(vote.device for vote in votes if vote.value == value))
    few = f" ({', '.join(names)})" if len(names) <= 3 else ""
    return f"{_text(value)} on {count}{few}"


def _dissent(vote: Vote) -> str:
    said = f"{vote.device}:{vote.row} ({_text(vote.value)}"
    return printable(said + (f", {vote.rule}" if vote.rule else "") + ")", 80)


def _kind(kind: tuple[str, str, str]) -> str:
    role, platform, model = kind
    return printable(f"{role or platform} devices" + (f" of model {model}" if model else ""), 120)


def _text(value: object) -> str:
    return printable(shown(value), 60) if isinstance(value, Absent | str | int | float | tuple) else ""


def _quoted(part: str) -> str:
    return part if part == "*" else quote_key(part)


def _natural(parts: Iterable[str]) -> list[list[tuple[int, str]]]:
    """Keys in a person's order: 2 before 10."""
    return [
        [(int(run), "") if run.isascii() and run.isdigit() else (-1, run) for run in re.findall(r"[0-9]+|[^0-9]+", part)]
        for part in parts
    ]


def _id(at: str, used: set[str]) -> str:
    table, _, rest = at.partition("[")
    keys, _, column = rest.rpartition("].") if rest else ("", "", at.partition(".")[2])
    table = table.partition(".")[0]
    family = _FAMILIES.get(f"{table}.{column}") or _FAMILIES.get(table, "lossless")
    words = [*([] if table == family else [table]), keys, *([] if column == family else [column])]
    stem = f"{family}." + re.sub(r"[^a-z0-9]+", "_", "_".join(words).lower()).strip("_")[:70]
    id_, count = stem, 1
    while id_ in used:
        id_, count = f"{stem}_value{count if count > 1 else ''}", count + 1
    used.add(id_)
    return id_
