"""The topology XML of NCCL and RCCL (`NCCL_TOPO_DUMP_FILE`, and static `NCCL_TOPO_FILE`): text to a tree.

Element order, number formats and the set of attributes differ by version: attributes are read by name, speeds by their leading
number, and what is empty or absent is unknown.
"""

from __future__ import annotations

import re

from auditor import canonical, xmldoc
from auditor.topology import Cpu, Gpu, GpuLink, Net, Pci, Topology
from auditor.xmldoc import Element

WIDEST = 32
"""Lanes of the widest PCI link; a link that is off prints more."""

_CPUS = 8192


class SeveralHosts(ValueError):
    """The file joins the trees of several hosts (one NVLink domain), and which of them is asked about is not said."""


def read(text: str) -> Topology:
    """The tree of one host; raises ValueError, which names the line where the XML itself is broken, and SeveralHosts."""
    root = xmldoc.parse(text)
    if root.tag != "system":
        raise ValueError(f"no topology: the root element is {canonical.printable(root.tag, 40)!r}, not 'system'")
    if len({element.get("host_hash") for element in root.iter("cpu")} - {None}) > 1:
        raise SeveralHosts("the file joins several hosts; which of them this one is, it does not say")
    topology = Topology(tuple(_cpu(element) for element in root.iter("cpu")))
    if not topology.cpus:
        raise ValueError("no processor stands in it")
    return topology


def _cpu(element: Element) -> Cpu:
    numa = _integer(element, "numaid")
    return Cpu(
        numa if numa is not None and numa >= 0 else None,
        cpu_set(element.get("affinity", "")),
        _functions(element),
        _nets(element),
    )


def _functions(element: Element) -> tuple[Pci, ...]:
    return tuple(_pci(child) for child in element.findall("pci"))


def _pci(element: Element) -> Pci:
    code = _integer(element, "class")
    width = _integer(element, "link_width")
    gpu = element.find("gpu")
    return Pci(
        canonical.pci(element.get("busid", "")),
        None if code is None else code >> 8,
        _transfers(element.get("link_speed", "")),
        width if width is not None and 0 < width <= WIDEST else None,
        _functions(element),
        None if gpu is None else _gpu(gpu),
        _nets(element),
    )


def _gpu(element: Element) -> Gpu:
    number = _integer(element, "dev")
    links = [_gpu_link(child) for child in element if child.tag in ("nvlink", "xgmi")]
    return Gpu(number if number is not None and number >= 0 else None, _flag(element, "gdr"), tuple(links))


def _gpu_link(element: Element) -> GpuLink:
    target = canonical.pci(element.get("target", ""))
    hidden = target.startswith("fffffff:")
    return GpuLink(element.tag, "" if hidden else target, _integer(element, "count") or 0)


def _nets(element: Element) -> tuple[Net, ...]:
    return tuple(_net(child) for nic in element.findall("nic") for child in nic.findall("net"))


def _net(element: Element) -> Net:
    name = element.get("name", "")
    if not name:
        raise ValueError("a network port without a name")
    speed = _integer(element, "speed")
    return Net(
        name,
        _integer(element, "port"),
        speed * 1_000_000 if speed is not None and speed > 0 else None,
        _guid(element.get("guid", "")),
        _flag(element, "gdr"),
    )


def _guid(text: str) -> str | None:
    """The GUID; zero and small numbers stand for one that the library does not know."""
    if not text or int(canonical.guid(text), 16) < 1 << 16:
        return None
    return canonical.guid(text)


def _integer(element: Element, name: str) -> int | None:
    text = element.get(name, "").strip()
    if not text:
        return None
    if not re.fullmatch(r"-?\d{1,18}|0[xX][0-9a-fA-F]{1,16}", text):
        raise ValueError(f"{element.tag}: {name} is no number: {canonical.printable(text, 40)!r}")
    return int(text, 16 if text[:2] in ("0x", "0X") else 10)


def _flag(element: Element, name: str) -> bool | None:
    number = _integer(element, name)
    return None if number is None else bool(number)


def _transfers(text: str) -> int | None:
    """Transfers per second from `16 GT/s`, `16.0 GT/s PCIe`; None for `Unknown speed` and for nothing."""
    found = re.match(r"\s*(\d{1,4}(?:\.\d{1,3})?)\s*GT/s", text)
    return round(float(found.group(1)) * 1e9) if found is not None and float(found.group(1)) > 0 else None


def cpu_set(text: str) -> tuple[int, ...] | None:
    """CPU numbers from groups of 32 bits, the most significant first (`ff,ffff0000,00ffffff`); None for nothing."""
    if not text.strip():
        return None
    groups = text.strip().split(",")
    if len(groups) > _CPUS // 32 or not all(re.fullmatch(r"[0-9a-fA-F]{1,8}", group) for group in groups):
        raise ValueError(f"no CPU mask: {canonical.printable(text, 60)!r}")
    mask = int("".join(group.zfill(8) for group in groups), 16)
    return tuple(number for number in range(mask.bit_length()) if mask >> number & 1)
