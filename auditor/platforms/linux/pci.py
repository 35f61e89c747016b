"""PCI functions, their links and the tree: the kernel's device tree on live hosts, `lspci` in captures and for access control.

Of a link the lower end tells width and speed; ports of processors and switches tell only what they can do. Left out are the
processor's own helpers (performance counters and the like), of which a host has hundreds.

Traps: an idle GPU lowers the speed of its link, so that is never told here; idle AMD cards lower its width as well (four MI50
run eight lanes of sixteen), so below full speed neither counts. A virtual machine's bridges are made up: what they say they can
do is left out. A function that answers with ones alone has fallen off the bus and is not there. Without root `lspci` hides links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from auditor.address import Layer
from auditor.dialects import lspci as printed
from auditor.dialects import lspci_tree, sysfs_pci
from auditor.errors import NormaliseError
from auditor.facts import NcclPath, Pci
from auditor.model import Fill, GapReason, Normalised, Parser, Privilege, Source, Unread
from auditor.topology.places import Function, affinity, is_gpu, places
from auditor.topology.tree import MAX_DEVICES

BRIDGE = 0x0604
NVSWITCH = 0x0680
_GPU_BASES = frozenset({0x03, 0x12})
_HELPERS = frozenset({0x05, 0x06, 0x08, 0x11})
"""Bases of classes that are left out: memory, bridges to other buses, system peripherals, signal processing."""

_MADE_UP = frozenset({0x1B36, 0x15AD, 0x1414, 0x80EE, 0x5853, 0x1D0F})
"""Makers of bridges that exist in virtual machines only: QEMU, VMware, Hyper-V, VirtualBox, Xen, Amazon."""

_AMD = 0x1002
_MAKERS = {
    "NVIDIA Corporation": 0x10DE, "Advanced Micro Devices, Inc. [AMD/ATI]": _AMD, "Red Hat, Inc. QEMU": 0x1B36,
    "VMware": 0x15AD, "Amazon.com": 0x1D0F,
}  # fmt: skip
"""How names begin, where no numbers are printed; those of which a trap above depends."""

_AWAY = frozenset({"Root Port", "Downstream Port"})
_NO_LINK = frozenset({"Root Complex Integrated Endpoint", "Root Complex Event Collector"})
_LINK = ("width", "speed", "width_cap", "speed_cap")


@dataclass(slots=True)
class Seen:
    """One function as any source shows it. `away`: a port whose link is the one below it; None when that is not known."""

    address: str
    class_code: int | None
    maker: int | None
    away: bool | None
    can: printed.Ends
    runs: printed.Ends
    row: Pci

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU, or the sound of one."""
        return self.class_code is not None and self.class_code >> 8 in _GPU_BASES


def is_kept(class_code: int | None) -> bool:
    """Whether functions of this class become rows. Unknown classes do."""
    return class_code is None or class_code in (BRIDGE, NVSWITCH) or class_code >> 8 not in _HELPERS


def links(seen: Iterable[Seen], parents: Mapping[str, str | None]) -> Iterator[Normalised]:
    """The rows with what is known of their links, and a word about what is left out."""
    functions = {function.address: function for function in seen}
    idle = _lowered_when_idle(functions, parents)
    for address, function in functions.items():
        can, runs = function.can, function.runs
        if function.class_code == BRIDGE and function.maker in _MADE_UP:
            can = runs = printed.Ends(None, None)
        elif function.away is None:
            yield from (Unread(Pci, (address,), name, detail="no kind of port is printed") for name in ("width", "speed"))
        width, speed = (None, None) if function.away is not False else (runs.width, runs.speed)
        if address in idle:
            speed = None
            if function.maker == _AMD and runs.speed is not None and can.speed is not None and runs.speed < can.speed:
                width = None
        row = function.row
        yield Pci(
            address=address, vendor_id=row.vendor_id, device_id=row.device_id, class_code=function.class_code,
            numa_node=row.numa_node, width=width, speed=speed, width_cap=can.width, speed_cap=can.speed, parent=row.parent,
            slot=row.slot, acs=row.acs,
        )  # fmt: skip
    detail = "told of the lower end of a link, and of none that an idle GPU lowers"
    yield from (Unread(Pci, (), name, GapReason.UNSUPPORTED, detail) for name in ("width", "speed"))
    detail = "no link, or one that is made up"
    yield from (Unread(Pci, (), name, GapReason.UNSUPPORTED, detail) for name in ("width_cap", "speed_cap"))


def _lowered_when_idle(functions: Mapping[str, Seen], parents: Mapping[str, str | None]) -> set[str]:
    """GPUs, what shares a bus with them, and the ports of switches that stand on the card itself (same maker)."""
    found: set[str] = set()
    above = {parents.get(address) for address, function in functions.items() if function.is_gpu} - {None}
    for address, function in functions.items():
        if function.is_gpu or parents.get(address) in above:
            found.add(address)
        at = parents.get(address) if function.is_gpu else None
        while at is not None and at in functions and at not in found and functions[at].maker == function.maker is not None:
            found.add(at)
            at = parents.get(at)
    return found


def _numa_gap(rows: Iterable[Seen]) -> Iterator[Unread]:
    if any(function.row.numa_node is None for function in rows):
        yield Unread(Pci, (), "numa_node", GapReason.UNSUPPORTED, "the firmware names no node (-1)")


def sysfs(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every function from the files of the kernel's device tree."""
    found = sysfs_pci.functions(body)
    slots = sysfs_pci.slots(body)
    seen = []
    for address, function in sorted(found.items()):
        if not function.files.keys() >= {"class", "vendor", "device"}:
            yield Unread(Pci, (address,), reason=GapReason.TRUNCATED, detail="not all of its files are in the answer")
            continue
        try:
            read = _from_files(function, slots.get(address.rpartition(".")[0]))
        except ValueError as error:
            yield Unread(Pci, (address,), detail=str(error))
            continue
        if is_kept(read.class_code) and not function.dead:
            seen.append(read)
    parents = {address: function.parent for address, function in found.items()}
    yield from links(seen, parents)
    yield from _numa_gap(seen)
    yield from _nearest(seen, parents, sysfs_pci.rdma_devices(body))


def _nearest(seen: list[Seen], parents: Mapping[str, str | None], rdma: Mapping[str, str]) -> Iterator[Normalised]:
    """Which RDMA devices are nearest to each GPU. Drivers number GPUs in the order of their addresses."""
    nodes = {function.address: function.row.numa_node for function in seen}
    hanging = places({address: Function(parent, nodes.get(address)) for address, parent in parents.items()})
    gpus = [function.address for function in seen if is_gpu(function.class_code, function.maker)]
    nics = {name: hanging[address] for name, address in sorted(rdma.items()) if address in hanging}
    if len(gpus) > MAX_DEVICES or len(nics) > MAX_DEVICES:
        yield Unread(NcclPath, detail=f"{len(gpus)} GPUs and {len(nics)} RDMA devices: more than a host has")
        return
    for gpu, nic, _, near in affinity({str(number): hanging[address] for number, address in enumerate(gpus)}, nics):
        yield NcclPath(gpu=gpu, nic=nic, nearest=near)
        if near is None:
            detail = "only their NUMA nodes would tell, and the firmware names none"
            yield Unread(NcclPath, (gpu, nic), "nearest", GapReason.UNSUPPORTED, detail)


def _from_files(function: sysfs_pci.Function, slot: str | None) -> Seen:
    code = function.number("class")
    class_code = None if code is None else code >> 8
    row = Pci(
        address=function.address, vendor_id=function.number("vendor"), device_id=function.number("device"),
        numa_node=function.numa, parent=function.parent, slot=slot,
    )  # fmt: skip
    # By turns: the port of the processor, that of a switch towards it, one of the switch away from it, and so on.
    away = class_code == BRIDGE and function.depth % 2 == 0
    can = printed.Ends(function.speed("max_link_speed"), function.width("max_link_width"))
    runs = printed.Ends(function.speed("current_link_speed"), function.width("current_link_width"))
    return Seen(function.address, class_code, row.vendor_id, away, can, runs, row)


def lspci(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every function with its details (`-v` and more). Names stand for numbers, which only `-nn` prints."""
    found = _records(body)
    yield from _cut(body, found)
    bridges = {function.secondary: function.address for function in found if function.secondary}
    parents = {function.address: bridges.get(function.address.rpartition(":")[0]) for function in found}
    places({address: Function(parent) for address, parent in parents.items()})  # raises where ports go in a circle
    seen = [_printed(function, parents[function.address]) for function in found if is_kept(function.class_code)]
    denied = sum(function.denied for function in found)
    if denied:
        detail = f"capabilities of {denied} functions are shown to root only: <access denied>"
        yield from (Unread(Pci, (), name, GapReason.PERMISSION, detail) for name in (*_LINK, "acs"))
    if any(function.class_code == BRIDGE for function in found) and not bridges:
        yield Unread(Pci, (), "parent", GapReason.NOT_COLLECTED, "no bus numbers of bridges in the answer")
    yield from links(seen, parents)
    yield from _unread_acs(found)
    yield from _numa_gap(seen)
    yield from _without_numbers(found)


def lspci_list(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every function with its class, and with `-nn` its numbers; nothing about links."""
    found = _records(body)
    for function in found:
        if is_kept(function.class_code):
            yield _printed(function, None).row
    yield from _without_numbers(found)


def lspci_bridges(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Access control of every bridge."""
    found = _records(body)
    yield from _cut(body, found)
    for function in found:
        yield Pci(address=function.address, acs=_redirects(function))
    yield from _unread_acs(found)
    denied = sum(function.denied for function in found)
    if denied:
        yield Unread(Pci, (), "acs", GapReason.PERMISSION, f"capabilities of {denied} bridges are shown to root only")


def tree(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every function with the port above it, from a drawing."""
    for address, parent in lspci_tree.tree(body).items():
        yield Pci(address=address, parent=parent)


def _cut(body: str, found: list[printed.Function]) -> Iterator[Unread]:
    """Behind every record with details, hence behind the last one too, stands an empty line."""
    if found and re.search(r"\n[ \t]*\n\s*\Z", body) is None:
        found[-1].acs_unread = found[-1].acs is None
        yield Unread(Pci, reason=GapReason.TRUNCATED, detail="no empty line behind the last function: cut, or trimmed")


def _unread_acs(found: list[printed.Function]) -> Iterator[Unread]:
    for function in found:
        if function.acs_unread:
            yield Unread(Pci, (function.address,), "acs", GapReason.TRUNCATED, "its state is not in the answer")


def _records(body: str) -> list[printed.Function]:
    found = [function for function in printed.functions(body) if not function.dead]
    if len({function.address for function in found}) != len(found):
        raise NormaliseError("lspci", "address", "a function stands twice")
    return found


def _printed(function: printed.Function, parent: str | None) -> Seen:
    maker = function.vendor_id
    if maker is None:
        maker = next((number for name, number in _MAKERS.items() if function.name.startswith(name)), None)
    nothing = printed.Ends(None, None)
    away: bool | None = function.port in _AWAY
    if not function.port and function.can is not None:
        away = None if function.class_code in (None, BRIDGE) else False
    row = Pci(
        address=function.address, vendor_id=function.vendor_id, device_id=function.device_id, class_code=function.class_code,
        numa_node=function.numa, parent=parent, slot=function.slot, acs=_redirects(function),
    )  # fmt: skip
    has_link = function.port not in _NO_LINK
    can, runs = (function.can or nothing, function.runs or nothing) if has_link else (nothing, nothing)
    return Seen(function.address, function.class_code, maker, away, can, runs, row)


def _redirects(function: printed.Function) -> bool | None:
    """Whether access control redirects requests: not without it, and unknown where its state was not printed."""
    if function.acs is None and function.class_code == BRIDGE and function.port and not function.acs_unread:
        return False
    return function.acs


def _without_numbers(found: list[printed.Function]) -> Iterator[Unread]:
    detail = "names are printed; numbers with -nn only"
    if any(function.vendor_id is None for function in found):
        yield from (Unread(Pci, (), name, GapReason.UNSUPPORTED, detail) for name in ("vendor_id", "device_id"))
    if any(function.class_code is None for function in found):
        yield Unread(Pci, (), "class_code", GapReason.UNSUPPORTED, detail)


_INCLUDED = " ".join(f"--include={name}" for name in (*sysfs_pci.FILES, "address", "node_type"))
_EXCLUDED = " ".join(f"--exclude-dir={name}" for name in ("system", "virtual", "net", "ports", "msi_irqs", "power"))
_COMMAND = f"grep -rs {_INCLUDED} {_EXCLUDED} . /sys/devices {sysfs_pci.SLOTS}"
"""Follows no link, opens nothing but files of these names, and leaves out the folders that hold most of the others."""

_RECORD = rf"^{printed.HEAD} [^\n]*: "
_COLUMNS = ("class_code", "numa_node", *_LINK, "parent", "slot")
_NUMBERS = ("vendor_id", "device_id")

SOURCES = (
    Source(
        key="pci_sysfs", command=_COMMAND, aliases=("pci_sysfs",),
        fills=(
            Fill(Pci, Layer.APPLIED, (*_NUMBERS, *_COLUMNS)), Fill(NcclPath, Layer.APPLIED, ("nearest",), whole=False),
        ),
        parser=Parser.TEXT, normalise=sysfs, anchor=(r"^/sys/devices/\S+/class:0x[0-9a-f]{6}$",),
        ok_status=(0, 2),  # 2: a file could not be read, as older kernels have it for functions without a link
        proof={"pci": r"\b{0}/class:", "nccl_path": r"\binfiniband/{1}/node_type:"} | {
            f"pci.{column}": rf"\b{{0}}/{file}:" for column, file in (
                ("numa_node", "numa_node"), ("width", "current_link_width"), ("speed", "current_link_speed"),
                ("width_cap", "max_link_width"), ("speed_cap", "max_link_speed"), ("vendor_id", "vendor"),
                ("device_id", "device"),
            )
        },
        proven_by="GNU grep 3.8 on Linux 6.18; drivers/pci/pci-sysfs.c of the kernel (all of it mode 0444; `Unknown` and 0 where "
        "there is no link); paths of a Dell host with eight H100 in logs of NCCL and UCX",
    ),
    Source(
        key="lspci_bridges", command="lspci -D -vv -d ::0604", aliases=("lspci -vv -d ::0604", "lspci -D -vvv -d ::0604"),
        privilege=Privilege.SUDO, empty=True,
        fills=(Fill(Pci, Layer.APPLIED, ("acs",), whole=False),),
        parser=Parser.TEXT, normalise=lspci_bridges, anchor=(_RECORD,),
        proof={"pci": r"^(?:0000:)?{0} ", "pci.acs": r"^(?:0000:)?{0} [^\n]*" + "\n" + r"\s+ACSCtl:"},
        shown=lambda part: part.removeprefix("0000:"),
        proven_by="lspci of a Dell host with eight H100; cap_acs in ls-ecaps.c of pciutils, its manual on -d",
    ),
    # Captures hold the whole list; live it would be a megabyte, and a slow one, since it reads the identity of every adapter.
    Source(
        key="lspci", command="lspci -vvv", sent=False,
        aliases=(
            "lspci -vv", "lspci -D -vvv", "lspci -vvv -D", "lspci -Dvvv", "lspci -vvvD", "lspci -D -vv",
            "lspci -vv -D", "lspci -Dvv", "lspci -nnvvv", "lspci -vvvnn", "lspci -nn -vvv", "lspci -vvv -nn", "lspci -nnvv",
            "lspci -vvnn", "lspci -nn -vv", "lspci -vv -nn", "lspci -D -nn -vvv", "lspci -Dnnvvv", "lspci -vvvnnD",
        ),
        fills=(Fill(Pci, Layer.APPLIED, (*_NUMBERS, *_COLUMNS, "acs")),),
        parser=Parser.TEXT, normalise=lspci, anchor=(_RECORD,),
        proof={"pci": r"^(?:0000:)?{0} "} | {
            f"pci.{column}": r"^(?:0000:)?{0} [^\n]*" + "\n" + rf"\s+{label}:" for column, label in (
                ("width", "LnkSta"), ("speed", "LnkSta"), ("width_cap", "LnkCap"), ("speed_cap", "LnkCap"), ("acs", "ACSCtl"),
                ("numa_node", "NUMA node"), ("slot", "Physical Slot"),
            )
        },
        shown=lambda part: part.removeprefix("0000:"),
        proven_by="lspci -vvv of a Dell host with eight H100 and eight ConnectX-7; ls-caps.c of pciutils",
    ),
    Source(
        key="lspci_list", command="lspci -nn", aliases=("lspci", "lspci -D", "lspci -nnD", "lspci -D -nn", "lspci -nn -D"),
        sent=False,
        fills=(Fill(Pci, Layer.APPLIED, (*_NUMBERS, "class_code")),),
        parser=Parser.TEXT, normalise=lspci_list, anchor=(_RECORD,),
        proof={"pci": r"^(?:0000:)?{0} "}, shown=lambda part: part.removeprefix("0000:"),
        proven_by="lspci -nn of a virtual machine with one A10; lspci of a host with Elba adapters",
    ),
    Source(
        key="lspci_tree", command="lspci -tv", aliases=("lspci -t", "lspci -vt", "lspci -tvv", "lspci -tvvv", "lspci -tvnn"),
        sent=False,
        fills=(Fill(Pci, Layer.APPLIED, ("parent",)),),
        parser=Parser.TEXT, normalise=tree, anchor=(r"^-(?:\+-)?\[[0-9a-f]{4,8}:[0-9a-f]{2}\]-", r"^ *\\-|^-\[[^\n]*\n?\Z"),
        proof={"pci": r"[0-9a-f]{2}\.[0-7]"},
        proven_by="lspci -tv of three virtual machines with eight H200; ls-tree.c of pciutils",
    ),
)  # fmt: skip
