"""The story of `auditor commands`: everything that would be sent to a device, for a security team to approve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from auditor.checks import rules
from auditor.collect.guard import OPENING, SUDO_TEST, UNAME, allowed, transport_for
from auditor.collect.inventory import Route
from auditor.evaluate.device import lines
from auditor.model import Baseline, Device, Source, Transport
from auditor.platforms import platforms


@dataclass(frozen=True, slots=True)
class Sent:
    """One command: as it is sent, what it needs, how long it may take, and who reads its answer."""

    device: str
    platform: str
    command: str
    privilege: str
    seconds: float
    tables: tuple[str, ...]
    rules: tuple[str, ...]


def sent_to(
    devices: Sequence[Device], baselines: Mapping[str, tuple[Baseline, ...]], routes: Mapping[str, Route] | None = None
) -> list[Sent]:
    """Every command of every device in order, on the way to it, then what a login or `inventory test` sends besides."""
    out = []
    for device in devices:
        readers = _readers(baselines.get(device.name, ()))
        route = (routes or {}).get(device.name)
        asked = None if route is None else route.transport
        for platform, source, text in allowed(device, platforms(), asked):
            out.append(
                Sent(
                    device.name,
                    platform.name,
                    text,
                    str(source.privilege),
                    source.seconds,
                    tuple(sorted(source.tables())),
                    tuple(sorted(rule for rule, reads in readers.items() if _reads(source, reads))),
                )
            )
        own = [platforms()[name] for name in device.platforms]
        ways = [transport_for(platform, asked) for platform in own]
        for platform, way in zip(own, ways, strict=True):
            if way is Transport.NAPALM:
                out += [Sent(device.name, platform.name, text, "none", 10.0, (), ("login",)) for text in OPENING[platform.napalm]]
        if {Transport.EXEC, Transport.SHELL} & set(ways):
            out.append(Sent(device.name, "", UNAME, "none", 10.0, (), ("inventory test",)))
            out.append(Sent(device.name, "", SUDO_TEST, "sudo", 10.0, (), ("inventory test",)))
    return out


def _readers(baselines: Iterable[Baseline]) -> dict[str, frozenset[str]]:
    readers = {rule.id: frozenset((*rule.reads, *rule.optional)) for rule in rules().values()}
    for line in lines(baselines):
        readers[line.id] = frozenset({f"{line.at.table}.{line.at.column or '*'}"})
    return readers


def _reads(source: Source, reads: frozenset[str]) -> bool:
    for fill in source.fills:
        table = fill.row_type.TABLE
        if f"{table}.*" in reads or any(f"{table}.{column}" in reads for column in fill.columns):
            return True
    return False
