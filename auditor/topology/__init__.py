"""The inside of a GPU host as a tree of PCI links: distances, two fingerprints, and what sets two hosts apart, in words.

Pure: no format is read here. Whoever has a tree (a dump of the collective library, PCI facts) makes a `Topology` of it.
"""

from auditor.topology.difference import difference
from auditor.topology.fingerprint import exact, fingerprint
from auditor.topology.paths import Path, nearest, paths
from auditor.topology.shape import Shape, shape_of
from auditor.topology.tree import MAX_DEVICES, Cpu, Device, Gpu, GpuLink, Net, Pci, Topology, devices, natural

__all__ = [
    "MAX_DEVICES",
    "Cpu",
    "Device",
    "Gpu",
    "GpuLink",
    "Net",
    "Path",
    "Pci",
    "Shape",
    "Topology",
    "devices",
    "difference",
    "exact",
    "fingerprint",
    "natural",
    "nearest",
    "paths",
    "shape_of",
]
