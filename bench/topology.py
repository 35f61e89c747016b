"""Topologies of a whole fleet: from the text of every host's dump to its shape's fingerprint, and the odd ones told in words."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from time import process_time

from auditor.dialects import nccl_topology
from auditor.topology import difference, fingerprint, shape_of

HOSTS = 1280
"""Hosts of the reference fleet."""

GPUS, RAILS = 8, 8


@dataclass(frozen=True)
class Told:
    """CPU seconds for the fingerprints of all dumps, how many shapes there are, and seconds for telling the odd ones."""

    hosts: int
    seconds: float
    shapes: int
    words_seconds: float


def dump(host: int) -> str:
    """What the library writes on a host of 8 GPUs and 8 adapters, each pair behind two levels of switches. Every 64th host has
    lost an adapter."""
    nodes = []
    for numa in range(2):
        inside = "".join(_slot(host, at) for at in range(numa * 4, numa * 4 + 4))
        nodes.append(
            f'<cpu numaid="{numa}" affinity="{"f" * 8},{"0" * 8}" arch="x86_64" vendor="GenuineIntel">\n{inside}</cpu>\n'
        )
    return f'<system version="1">\n{"".join(nodes)}</system>\n'


def _slot(host: int, at: int) -> str:
    bus = 0x10 + 0x10 * at
    link = 'vendor="0x1000" device="0xc030" link_speed="32.0 GT/s PCIe" link_width="16"'
    links = "".join(
        f'<nvlink target="0000:0{n}:00.0" count="{count}" tclass="0x068000"/>\n' for n, count in enumerate((5, 5, 4, 4), 3)
    )
    gpu = f'<gpu dev="{at}" sm="90" rank="{at}" gdr="1">\n{links}</gpu>\n'
    guid = f"0x{(host + 1) << 32 | at + 1 << 20:016x}"
    net = f'<net name="mlx5_{at}" dev="{at}" speed="400000" port="1" latency="0.0" guid="{guid}" maxconn="131072" gdr="1"/>'
    lost = host % 64 == 63 and at == host // 64 % RAILS
    adapter = "" if lost else f'<pci busid="0000:{bus + 4:02x}:00.0" class="0x020700" {link}><nic>{net}</nic></pci>\n'
    return (
        f'<pci busid="0000:{bus:02x}:00.0" class="0x060400" {link}>\n'
        f'<pci busid="0000:{bus + 1:02x}:00.0" class="0x060400" {link}>\n'
        f'<pci busid="0000:{bus + 2:02x}:00.0" class="0x030200" {link}>\n{gpu}</pci>\n</pci>\n{adapter}</pci>\n'
    )


def measure(hosts: int = HOSTS) -> Told:
    """Read, hash and compare the dumps of so many hosts on one core."""
    texts = [dump(host) for host in range(hosts)]
    start = process_time()
    shapes: dict[str, tuple[str, ...]] = {}
    count: dict[str, int] = {}
    for text in texts:
        sentences = shape_of(nccl_topology.read(text)).sentences()
        hashed = fingerprint(sentences)
        shapes.setdefault(hashed, sentences)
        count[hashed] = count.get(hashed, 0) + 1
    seconds = process_time() - start
    common = max(count, key=lambda hashed: count[hashed])
    start = process_time()
    for hashed, sentences in shapes.items():
        words = difference(shapes[common], sentences)
        assert (len(words) == 1) == (hashed != common)
    return Told(hosts, seconds, len(shapes), process_time() - start)


if __name__ == "__main__":
    print(json.dumps(asdict(measure(int(sys.argv[1]) if len(sys.argv) > 1 else HOSTS))))
