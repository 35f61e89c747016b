"""Single phrases of a collective library's log: text to plain values. Formats as NCCL 2.4 to 2.30 and RCCL print them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from auditor.dialects.nccl_job import Nic

_CONNECTION = re.compile(
    r"(?:Channel|Ring) (\d{1,4})(?:/(\d{1,2}))? : (\d{1,7})(?:\[([0-9a-f]{1,16})\])? -> (\d{1,7})(?:\[([0-9a-f]{1,16})\])? "
    r"\[(send|receive)\] via NET/(.{1,60})/(\d{1,4})(?:\((\d{1,7})\))?((?:/[A-Za-z]\w*(?:\(\w*\)?)?)*)/?"
    r"(?: comm (0x[0-9a-f]+).*)?\s*$"
)
_COMMUNICATOR = re.compile(r"comm (0x[0-9a-f]{1,16}) rank (\d{1,7}) n[Rr]anks (\d{1,7})(.*)")
_PAIR = re.compile(r"(\w+) (0x[0-9a-f]+|-?\w+)")
_SET = re.compile(r"(N?R?CCL_\w{1,100}) set (?:by environment )?to (.{0,2000})$")
_NUMBER = re.compile(r"(-?\d+)\.$")
_LISTED = re.compile(r"\[(\d{1,4})\]([^\s:\[\]]{1,64}):(\d{1,3})/(\S{1,32})")
_ONE = re.compile(r"\[(\d{1,4})\] ([^\s:]{1,64}):[^\s:]{1,64}:(\d{1,3})/(\S{1,32})(.{0,1000})$")
_MADE = re.compile(r"Made virtual device \[(\d{1,4})\] name=(\S{1,300}) speed=(\d{1,9}) ndevs=(\d{1,3})")
_LINK = re.compile(r"( *)\+ ([A-Z0-9]{2,5})\[([0-9.]{1,12})\] - (\S{1,60})")
_FABRIC = re.compile(
    r"MNNVL busId (?:0x)?([0-9a-f]{1,16}) fabric UUID ([0-9a-f.]{1,40}) cliqueId (?:0x)?([0-9a-f]{1,8}) state (\d{1,3})"
)
_GPU_NAME = 3
"""Brackets of up to this many digits hold the number of a GPU; older libraries print its bus there."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One line about one end of a network connection. `gpu` of the process that printed it, None where a bus id stands."""

    channel: int
    index: int
    source: int
    target: int
    sends: bool
    gpu: int | None
    network: str
    device: int
    relay: bool
    direct: bool | None
    lone: bool
    pointer: str


def connection(text: str, *, cut: bool) -> Connection | None:
    """`Channel 06/0 : 7[7] -> 14[6] [receive] via NET/IB/6/GDRDMA`. `cut`: the line's end is missing, so that nothing may be
    concluded from what does not stand there. None for what is not such a line."""
    found = _CONNECTION.match(text)
    if found is None:
        return None
    channel, index, source, a, target, b, way, network, device, relay, suffix, pointer = found.groups()
    sends = way == "send"
    mine = a if sends else b
    words = suffix.split("/")[1:]
    direct: bool | None = any(word.startswith("GDRDMA") for word in words)
    half = bool(words) and not direct and any("GDRDMA".startswith(word) for word in words)
    if not direct and (half or (cut and "Shared" not in words and not pointer)):
        direct = None
    return Connection(
        int(channel), int(index or 0), int(source), int(target), sends,
        int(mine) if mine and len(mine) <= _GPU_NAME and mine.isdecimal() else None,
        network, int(device), relay is not None, direct, "Shared" in words or index == "1", pointer or "",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Membership:
    """One line about one rank of a communicator. `facts` are the words and values after the number of ranks."""

    pointer: str
    rank: int
    size: int
    facts: dict[str, str]
    state: str

    def number(self, name: str) -> int | None:
        """A decimal fact."""
        text = self.facts.get(name, "")
        return int(text) if text.isdecimal() and len(text) < 10 else None


def membership(text: str) -> Membership | None:
    """`comm 0x… rank 3 nranks 16 cudaDev 3 busId 5d000 commId 0x… - Init START`, and the line with nNodes and localRanks."""
    found = _COMMUNICATOR.search(text)
    if found is None:
        return None
    rest, _, state = found[4].partition(" - ")
    return Membership(found[1], int(found[2]), int(found[3]), dict(_PAIR.findall(rest[:500])), state.strip())


def setting(text: str) -> tuple[str, str] | None:
    """`NCCL_IB_TC set by environment to 106.`: numbers end in a full stop that is not theirs."""
    found = _SET.match(text)
    if found is None:
        return None
    value = found[2].strip()
    number = _NUMBER.match(value)
    return found[1], number[1] if number else value


def listed(text: str) -> dict[int, Nic]:
    """The devices of `NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:1/IB [RO]; OOB …`."""
    part = text.partition("OOB")[0]
    return {int(index): Nic(name, port, link) for index, name, port, link in _LISTED.findall(part)}


def one_device(text: str) -> tuple[int, Nic] | None:
    """`NET/IB: [2] mlx5_2:uverbs2:1/RoCE provider=Mlx5 speed=400000 context=… pciPath=…/0000:3b:00.0 ar=0`."""
    found = _ONE.search(text)
    if found is None:
        return None
    facts = dict(word.split("=", 1) for word in found[5].split() if "=" in word)
    speed, path = facts.get("speed", ""), facts.get("pciPath", "")
    pci = path.rpartition("/")[2]
    return int(found[1]), Nic(
        found[2],
        found[3],
        found[4],
        int(speed) if speed.isdecimal() and len(speed) < 10 else None,
        pci if re.fullmatch(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]", pci) else "",
    )


def made_device(text: str) -> tuple[int, str, int] | None:
    """(index, name, Mbit/s) of `NET/IB : Made virtual device [4] name=mlx5_0+mlx5_1 speed=400000 ndevs=2`."""
    found = _MADE.search(text)
    return (int(found[1]), found[2], int(found[3])) if found else None


def tree_link(text: str) -> tuple[int, str, float, str] | None:
    """(indentation, kind, GB/s, name) of a line of the system block: `   + PCI[48.0] - GPU/0-68000 (8)`."""
    found = _LINK.match(text)
    if found is None or found[3].count(".") > 1:
        return None
    return len(found[1]), found[2], float(found[3]), found[4]


def gpu_fabric(text: str) -> tuple[str, str, int, int] | None:
    """(bus, UUID, clique, state) of `MNNVL busId 0x801000 fabric UUID a44….7d6… cliqueId 0x2786 state 3 healthMask 0xaa`."""
    found = _FABRIC.match(text)
    return (found[1], found[2], int(found[3], 16), int(found[4])) if found else None


def kind(warning: str) -> str:
    """A warning without what differs each time: numbers, addresses, quoted names."""
    plain = re.sub(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)*(?:<\d+>)?", "#", warning[:300])
    return " ".join(plain.split())
