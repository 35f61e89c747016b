"""Dumps of made-up GPU hosts for tests: a machine as plain values, written out as some version of the library would."""

import random
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Slot:
    """A PCIe switch with one GPU and one adapter below it, as a well-built host has them. None: nothing in that place."""

    gpu: int | None
    nic: str | None
    numa: int
    gpu_width: int = 16
    nic_width: int = 16
    switch_width: int = 16
    nvlinks: tuple[int, ...] = (5, 5, 4, 4)


@dataclass(frozen=True)
class Style:
    """What differs between two dumps of one machine and says nothing about it."""

    seed: int = 0
    shuffle: bool = False
    addresses: int = 0
    decimals: str = "32.0 GT/s PCIe"
    vendors: bool = True
    extras: bool = False
    ranks: int = 0
    host_hash: bool = False


@dataclass(frozen=True)
class Host:
    slots: tuple[Slot, ...] = field(default_factory=tuple)

    def change(self, at: int, **what: object) -> "Host":
        return Host((*self.slots[:at], replace(self.slots[at], **what), *self.slots[at + 1 :]))  # type: ignore[arg-type]

    def dump(self, style: Style = Style()) -> str:
        chance = random.Random(style.seed)
        nodes: dict[int, list[str]] = {}
        for at, slot in enumerate(self.slots):
            nodes.setdefault(slot.numa, []).append(_switch(at, slot, style, chance))
        blocks = [_cpu(numa, _order(inside, style, chance), style, chance) for numa, inside in nodes.items()]
        return '<system version="1">\n' + "".join(_order(blocks, style, chance)) + "</system>\n"


def healthy(gpus: int = 8, nodes: int = 2) -> Host:
    return Host(tuple(Slot(n, f"mlx5_{n}", n * nodes // gpus) for n in range(gpus)))


def _order(items: list[str], style: Style, chance: random.Random) -> list[str]:
    items = list(items)
    if style.shuffle:
        chance.shuffle(items)
    return items


def _attributes(given: dict[str, object], style: Style, chance: random.Random) -> str:
    return "".join(f" {item}" for item in _order([f'{name}="{value}"' for name, value in given.items()], style, chance))


def _cpu(numa: int, inside: list[str], style: Style, chance: random.Random) -> str:
    given: dict[str, object] = {"numaid": numa, "affinity": f"{0xFF << 8 * numa:08x}", "arch": "x86_64"}
    if style.vendors:
        given |= {"vendor": "GenuineIntel", "familyid": 6, "modelid": 143}
    if style.host_hash:
        given["host_hash"] = f"0x{style.seed + 1:016x}"
    return f"  <cpu{_attributes(given, style, chance)}>\n{''.join(inside)}  </cpu>\n"


def _function(address: str, code: str, width: int, style: Style, chance: random.Random) -> str:
    given: dict[str, object] = {"busid": address, "class": code, "link_speed": style.decimals, "link_width": width}
    if style.vendors:
        given |= {"vendor": "0x10de", "device": "0x2330"}
    return f"<pci{_attributes(given, style, chance)}>"


def _switch(at: int, slot: Slot, style: Style, chance: random.Random) -> str:
    bus = 0x10 + 4 * at + style.addresses
    inside = []
    if slot.gpu is not None:
        links = [
            f'<nvlink target="0000:{n + 1:02x}:00.0" count="{count}" tclass="0x068000"/>' for n, count in enumerate(slot.nvlinks)
        ]
        gpu = {"dev": slot.gpu, "sm": 90, "rank": slot.gpu + style.ranks, "gdr": 1}
        inside.append(
            f"      {_function(f'0000:{bus + 1:02x}:00.0', '0x030200', slot.gpu_width, style, chance)}"
            f"<gpu{_attributes(gpu, style, chance)}>{''.join(_order(links, style, chance))}</gpu></pci>\n"
        )
    if slot.nic is not None:
        guid = f"0x{chance.getrandbits(63) | 1 << 62:x}"
        net: dict[str, object] = {"name": slot.nic, "dev": at, "speed": 400000, "port": 1, "guid": guid, "gdr": 1}
        net |= {"latency": "0.000", "keep": 1, "coll": 1} if style.extras else {"latency": "0.000000", "maxconn": 131072}
        inside.append(
            f"      {_function(f'0000:{bus + 2:02x}:00.0', '0x020700', slot.nic_width, style, chance)}"
            f"<nic><net{_attributes(net, style, chance)}/></nic></pci>\n"
        )
    head = _function(f"0000:{bus:02x}:00.0", "0x060400", slot.switch_width, style, chance)
    return f"    {head}\n{''.join(_order(inside, style, chance))}    </pci>\n"
