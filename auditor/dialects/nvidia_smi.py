"""Grammar of `nvidia-smi`: the log in its XML and text forms, the table, and the state of NVLinks.

The XML says what the text says; its schemas (10 to 13 are known) rename clocks and power, none of which is read here. A value
that the driver cannot tell is `N/A`, `[N/A]`, `Not Supported` or `[Not Supported]`, by version. A GPU that fell off the bus
prints a complaint where its values stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from auditor import xmldoc
from auditor.canonical import nothing

COMPLAINTS = re.compile(r"gpu is lost|.*requires reset|\[?unknown error\]?|err!|insufficient permissions|.*deprecated", re.I)
"""What stands in place of a value that the driver would know, were all well."""

_ADDRESS = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"

_FIELDS = {
    "product": ("product_name", ("Product Name",)),
    "uuid": ("uuid", ("GPU UUID",)),
    "vbios": ("vbios_version", ("VBIOS Version",)),
    "board": ("board_part_number", ("Board Part Number",)),
    "performance_state": ("performance_state", ("Performance State",)),
    "link_generation": (
        "pci/pci_gpu_link_info/pcie_gen/current_link_gen", ("PCI", "GPU Link Info", "PCIe Generation", "Current"),
    ),
    "fabric_state": ("fabric/state", ("Fabric", "State")),
    "fabric_status": ("fabric/status", ("Fabric", "Status")),
}  # fmt: skip
"""Where each field stands: a path of elements, and the labels of the text with those above them."""


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU of the log. `values` are texts by the names of `_FIELDS`; one that the driver does not print is not there."""

    pci: str
    values: dict[str, str] = field(default_factory=dict)
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Log:
    """What `nvidia-smi -q` printed. `attached`: how many GPUs there are by its own word."""

    driver: str | None
    attached: int | None
    devices: tuple[Device, ...]

    @property
    def whole(self) -> bool:
        """Whether every GPU that it announces is there to its end."""
        return self.attached == len(self.devices) and all(device.whole for device in self.devices)


def xml(text: str) -> Log:
    """The log from `nvidia-smi -q -x`; raises ValueError for what is not such a document."""
    root = xmldoc.parse(text)
    if root.tag != "nvidia_smi_log":
        raise ValueError(f"is a document of {root.tag[:40]!r}, not of nvidia-smi")
    devices = []
    for gpu in root.findall("gpu"):
        found = {name: gpu.findtext(path) for name, (path, _) in _FIELDS.items()}
        devices.append(Device(gpu.get("id", ""), {name: text.strip() for name, text in found.items() if text is not None}))
    return Log(_known(root.findtext("driver_version")), _count(root.findtext("attached_gpus")), tuple(devices))


def log(text: str) -> Log:
    """The log from `nvidia-smi -q`: labels with values, nested by four blanks."""
    driver, attached = None, None
    devices: list[Device] = []
    path: list[str] = []
    labels = {labels: name for name, (_, labels) in _FIELDS.items()}
    ended: set[int] = set()
    for line in text.splitlines():
        head = re.fullmatch(rf"GPU ({_ADDRESS})\s*", line)
        if head is not None:
            devices.append(Device(head.group(1)))
            continue
        label, colon, value = (part.strip() for part in line.partition(" : "))
        if not label:
            continue
        if not devices:
            driver = _known(value) if label == "Driver Version" else driver
            attached = _count(value) if label == "Attached GPUs" else attached
            continue
        depth = (len(line) - len(line.lstrip(" "))) // 4
        if depth < 1:
            continue
        path[depth - 1 :] = [label.removesuffix(" :")]
        name = labels.get(tuple(path))
        if name is not None and colon:
            devices[-1].values.setdefault(name, value)
        if path == ["Processes"]:
            ended.add(len(devices) - 1)
    return Log(driver, attached, tuple(Device(device.pci, device.values, at in ended) for at, device in enumerate(devices)))


@dataclass(frozen=True, slots=True)
class Listed:
    """One GPU of the table that a bare `nvidia-smi` prints. A long name is cut there and ends in dots."""

    index: int
    product: str | None
    pci: str


def table(text: str) -> tuple[str | None, list[Listed]]:
    """Version of the driver and the GPUs from the table of `nvidia-smi`."""
    driver = re.search(r"\bDriver Version: (\d[\w.]*)", text)
    row = re.compile(rf"^\|\s+(\d{{1,3}})  (\S.*?)\s+(?:On|Off|N/A)\s+\|\s+({_ADDRESS})\s", re.MULTILINE)
    listed = [
        Listed(int(found.group(1)), None if found.group(2).endswith("...") else found.group(2), found.group(3))
        for found in row.finditer(text)
    ]
    return (driver.group(1) if driver else None), listed


@dataclass(frozen=True, slots=True)
class Links:
    """The NVLinks of one GPU: their text by number. `silent`: the tool gave no list, because every one is off. `odd`: the first
    line among them that speaks of no link: a cut one, or a pager."""

    index: int
    product: str
    uuid: str
    states: dict[int, str]
    silent: bool = False
    odd: str | None = None

    @property
    def up(self) -> int:
        """How many run: a link that does has a speed."""
        return sum(re.fullmatch(r"\d+(?:\.\d+)? GB/s", state) is not None for state in self.states.values())

    @property
    def strange(self) -> str | None:
        """A line that speaks of no link, or a state that is neither a speed nor `<inactive>`."""
        if self.odd is not None:
            return self.odd
        known = re.compile(r"\d+(?:\.\d+)? GB/s|<inactive>")
        return next((state for state in self.states.values() if known.fullmatch(state) is None), None)


def nvlinks(text: str) -> Iterator[Links]:
    """The GPUs of `nvidia-smi nvlink -s`, each with its links."""
    blocks = re.split(r"^GPU (\d{1,3}): (.+?) \(UUID: (\S+)\)\s*$", text, flags=re.MULTILINE)
    for at in range(1, len(blocks), 4):
        index, product, uuid, body = blocks[at : at + 4]
        states = {int(number): state.strip() for number, state in re.findall(r"^\s+Link (\d{1,3}): (.+)$", body, re.MULTILINE)}
        silent = not states and re.search(r"Unable to retrieve NVLink information as all links are inActive", body) is not None
        rest = (line for line in body.splitlines() if line.strip() and not re.match(r"\s+Link \d{1,3}: .", line))
        yield Links(int(index), product, uuid, states, silent, None if silent else next(rest, None))


def _known(text: str | None) -> str | None:
    return None if text is None or nothing(text) or COMPLAINTS.fullmatch(text.strip()) else text.strip()


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\s*\d{1,4}\s*", text) else None
