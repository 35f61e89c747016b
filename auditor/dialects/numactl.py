"""Grammar of `numactl -H`: NUMA nodes with their CPUs and memory.

CPUs are plain numbers, even and odd ones by turns on some machines; one that is off line is not there. Pasted copies leave some
out with dots.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from auditor.dialects.cpu_list import ranges


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `cpus` None: some were left out of the text. `megabytes` (2^20 bytes) None: no line tells."""

    number: int
    cpus: str | None
    megabytes: int | None


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the command printed. `available`: how many nodes there are by its own word."""

    available: int | None
    nodes: tuple[Node, ...]


def hardware(text: str) -> Hardware:
    """The nodes in the order in which they stand."""
    head = re.search(r"^available: (\d{1,4}) nodes? \(", text, re.MULTILINE)
    cpus: dict[int, str | None] = {}
    for number, listed in re.findall(r"^node (\d{1,4}) cpus:(.*)$", text, re.MULTILINE):
        words = listed.split()
        plain = all(re.fullmatch(r"\d{1,6}", word) for word in words)
        cpus[int(number)] = ranges(map(int, words)) if plain else None
    sizes = {
        int(number): int(size) for number, size in re.findall(r"^node (\d{1,4}) size: (\d{1,12}) MB\s*$", text, re.MULTILINE)
    }
    nodes = [Node(number, cpus.get(number), sizes.get(number)) for number in sorted(cpus.keys() | sizes.keys())]
    return Hardware(int(head.group(1)) if head else None, tuple(nodes))
