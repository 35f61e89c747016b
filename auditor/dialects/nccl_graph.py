"""The graph XML of NCCL and RCCL (`NCCL_GRAPH_DUMP_FILE`): the rings and trees that the library chose, as plain values.

Channels list GPUs by their local rank and network devices by the number that the library gave them in this process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from auditor import canonical, xmldoc
from auditor.xmldoc import Element

MAX_GRAPHS = 64


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel: its GPUs in their order, and the network devices at its beginning and end, if it leaves the host."""

    gpus: tuple[int, ...]
    nets: tuple[int, ...]

    @property
    def turns(self) -> bool:
        """It leaves by another network device than it comes in."""
        return len(set(self.nets)) > 1


@dataclass(frozen=True, slots=True)
class Graph:
    """One graph. Speeds in bit/s; path types as the library abbreviates them."""

    id: int
    pattern: int | None
    cross_nic: bool | None
    speed_intra: int | None
    speed_inter: int | None
    type_intra: str | None
    type_inter: str | None
    channels: tuple[Channel, ...]


def read(text: str) -> list[Graph]:
    """The graphs of a file; raises ValueError."""
    root = xmldoc.parse(text)
    if root.tag != "graphs":
        raise ValueError(f"no graphs: the root element is {canonical.printable(root.tag, 40)!r}, not 'graphs'")
    elements = root.findall("graph")
    if len(elements) > MAX_GRAPHS:
        raise ValueError(f"{len(elements)} graphs; at most {MAX_GRAPHS} are read")
    return [_graph(element) for element in elements]


def _graph(element: Element) -> Graph:
    number = _integer(element, "id")
    if number is None:
        raise ValueError("a graph without an id")
    cross_nic = _integer(element, "crossnic")
    channels = tuple(_channel(child) for child in element.findall("channel"))
    count = _integer(element, "nchannels")
    if count is not None and count != len(channels):
        raise ValueError(f"graph {number} says that it has {count} channels and shows {len(channels)}")
    return Graph(
        number,
        _integer(element, "pattern"),
        None if cross_nic is None else bool(cross_nic),
        _speed(element, "speedintra"),
        _speed(element, "speedinter"),
        _word(element, "typeintra"),
        _word(element, "typeinter"),
        channels,
    )


def _channel(element: Element) -> Channel:
    def numbers(tag: str) -> tuple[int, ...]:
        return tuple(number for child in element.findall(tag) if (number := _integer(child, "dev")) is not None)

    return Channel(numbers("gpu"), numbers("net"))


def _integer(element: Element, name: str) -> int | None:
    text = element.get(name, "").strip()
    if text and not re.fullmatch(r"\d{1,9}", text):
        raise ValueError(f"{element.tag}: {name} is no number: {canonical.printable(text, 40)!r}")
    return int(text) if text else None


def _speed(element: Element, name: str) -> int | None:
    """Bits per second from GB/s, the library's unit."""
    text = element.get(name, "").strip()
    if text and not re.fullmatch(r"\d{1,6}(?:\.\d{1,9})?", text):
        raise ValueError(f"{element.tag}: {name} is no speed: {canonical.printable(text, 40)!r}")
    return round(float(text) * 8e9) if text else None


def _word(element: Element, name: str) -> str | None:
    text = element.get(name, "").strip()
    return canonical.printable(text, 20) if text else None
