"""The two fingerprints of a tree: `exact` keeps addresses, that of the shape does not; neither knows identities.

Left out of both: GUIDs, hashes of the host, ranks, and what the library merely noted (gdr, keep, latency, maxconn, its own
numbers of network devices), as well as attributes that only some of its versions write (vendor, device, family). So the dumps
of one machine are equal whatever version wrote them and in whatever order.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from auditor.topology.shape import NAMED
from auditor.topology.tree import Cpu, Pci, Topology

LENGTH = 16
"""Hexadecimal digits of a fingerprint."""


def fingerprint(sentences: Iterable[str]) -> str:
    """The hash of a shape told in sentences; names of NICs do not count."""
    return _hash(sentence for sentence in sentences if f": {NAMED} " not in sentence)


def exact(topology: Topology) -> str:
    """The hash of all that is known of a tree, addresses and CPUs included."""
    return _hash(sorted(line for cpu in topology.cpus for line in _cpu(cpu)))


def _hash(lines: Iterable[str]) -> str:
    return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]


def _cpu(cpu: Cpu) -> Iterable[str]:
    node = f"cpu {cpu.numa}"
    yield f"{node} {cpu.cpus}"
    for net in cpu.nets:
        yield f"{node} {net.name} {net.port} {net.speed}"
    stack = [(pci, node) for pci in cpu.children]
    while stack:
        pci, parent = stack.pop()
        yield from _pci(pci, parent)
        stack.extend((child, pci.address) for child in pci.children)


def _pci(pci: Pci, parent: str) -> Iterable[str]:
    yield f"{parent} {pci.address} {pci.code} {pci.speed} {pci.width}"
    for net in pci.nets:
        yield f"{pci.address} {net.name} {net.port} {net.speed}"
    if pci.gpu is not None:
        yield f"{pci.address} gpu {pci.gpu.number}"
        for link in pci.gpu.links:
            yield f"{pci.address} {link.kind} {link.target} {link.count}"
