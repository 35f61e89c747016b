"""What an OS10 switch is, and the firmware of its parts: `show version`, `show system`, `show inventory`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from auditor.canonical import printable
from auditor.facts import Firmware, System
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.dell_os10.documents import only, said
from auditor.xmldoc import CutOff

VERSION = ("vendor", "hardware_model", "os_name", "os_version", "image_id")
DOCUMENT = (*VERSION, "hostname", "booted_at")
SYSTEM = ("vendor", "hardware_model", "serial", "os_version")


def version_document(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show version | display-xml`."""
    try:
        root = only(body)
    except CutOff as error:
        yield Unread(System, reason=GapReason.TRUNCATED, detail=str(error))
        return
    software, state = root.find("./data/system-sw-state/sw-version"), root.find("./data/system-state/system-status")
    if said(software, "sw-version") is None:
        raise ValueError("no element sw-version")
    yield System(
        vendor="Dell",
        hardware_model=said(software, "sw-platform"),
        os_name="OS10",
        os_version=said(software, "sw-version"),
        image_id=said(software, "sw-build-version"),
        hostname=said(state, "hostname"),
        booted_at=_moment(said(state, "boot-datetime")),
    )


def _moment(text: str | None) -> str | None:
    if text is None:
        return None
    return datetime.fromisoformat(text).astimezone(UTC).isoformat().replace("+00:00", "Z")


def version(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show version`. Raises ValueError for the same words inside the description of a neighbour."""
    first = re.search(r"^Dell .*\bOS10\b", body, re.MULTILINE)
    if first is None:
        raise ValueError("no line 'Dell … OS10'")
    values = _labels(body[first.start() :].splitlines())
    yield System(
        vendor="Dell",
        hardware_model=values.get("System Type"),
        os_name="OS10",
        os_version=values.get("OS Version"),
        image_id=values.get("Build Version"),
    )


def system_document(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show system | display-xml`: model, service tag and firmware of the node's units."""
    try:
        root = only(body)
    except CutOff as error:
        for row_type in (System, Firmware):
            yield Unread(row_type, reason=GapReason.TRUNCATED, detail=str(error))
        return
    nodes = root.findall("./data/system/node")
    units = [unit for node in nodes for unit in node.findall("./unit")]
    if len(nodes) != 1 or not units:
        raise ValueError(f"{len(nodes)} nodes with {len(units)} units in it")
    maker = nodes[0].find("./mfg-info")
    yield System(
        vendor="Dell",
        hardware_model=said(maker, "product-name"),
        serial=said(maker, "service-tag"),
        os_version=said(units[0], "software-version"),
    )
    for unit in units:
        prefix = f"unit{said(unit, 'unit-id')}." if len(units) > 1 else ""
        for part in unit.findall("./firmware"):
            name, number = said(part, "firmware-name"), said(part, "firmware-version")
            if name is None:
                yield Unread(Firmware, detail="a part without a name")
            elif number is None:
                yield Unread(Firmware, (prefix + component(name),), "version", detail="no version in it")
            else:
                yield Firmware(component=prefix + component(name), version=number)


_UNIT = re.compile(r"-- Unit (\d+) --\s*")
_KNOWN = (
    "Status", "System Identifier", "Down Reason", "Digital Optical Monitoring", "System Location LED", "Required Type",
    "Current Type", "Hardware Revision", "Software Version", "Physical Ports",
)  # fmt: skip
"""What stands of a unit before its firmware."""


def system(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show system`: the firmware of a unit follows its `Physical Ports`, up to the power supplies."""
    units: dict[str, list[str]] = {}
    inside = ""
    for line in body.splitlines():
        found = _UNIT.fullmatch(line)
        if found is not None:
            inside = found.group(1)
            units.setdefault(inside, [])
        elif line.startswith("-- "):
            inside = ""
        elif inside:
            units[inside].append(line)
    if not units:
        raise ValueError("no line '-- Unit 1 --'")
    for number, lines in units.items():
        prefix, firmware = f"unit{number}." if len(units) > 1 else "", False
        values = _labels(lines)
        if number == min(units) and values.get("Software Version"):
            yield System(vendor="Dell", os_version=values["Software Version"])
        for label, value in values.items():
            if firmware:
                yield Firmware(component=prefix + component(label), version=value)
            elif label not in _KNOWN:
                yield Unread(Firmware, detail=f"an unknown line before the firmware: {printable(label, 40)!r}")
            firmware = firmware or label == "Physical Ports"


def component(name: str) -> str:
    """`bios`, `bmc`, `cpld.system`, `cpld.secondary-1`, `fpga`; other parts in lower case."""
    word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    found = re.fullmatch(r"([a-z]+)-cpld(-\d+)?", word)
    return word if found is None else f"cpld.{found.group(1)}{found.group(2) or ''}"


_UNIT_ROW = re.compile(r"\*?\s*\d+\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S{7})\s+\d{3} \d{3} \d{3} \d{2}\s*")


def inventory(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show inventory`: model and service tag of the unit that answers, which a `*` marks."""
    values = _labels(body.splitlines())
    rows = [found for line in body.splitlines() if line.startswith("*") and (found := _UNIT_ROW.fullmatch(line)) is not None]
    if len({found.group(5) for found in rows}) != 1:
        raise ValueError("not one row with a star and a service tag")
    yield System(
        vendor="Dell",
        hardware_model=values.get("Product") or rows[0].group(1),
        serial=rows[0].group(5),
        os_version=values.get("Software version"),
    )


def _labels(lines: list[str]) -> dict[str, str]:
    """Values by label, of lines `label : value`; the first of several, and none without a value."""
    values: dict[str, str] = {}
    for line in lines:
        found = re.fullmatch(r"(\S[^:]*?)\s*:\s+(\S.*?)\s*", line)
        if found is not None:
            values.setdefault(found.group(1), found.group(2))
    return values
