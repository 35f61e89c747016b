"""What a Junos switch says of itself: `show version` and `show chassis hardware`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor.facts import Optic, System
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.juniper_junos.names import elements, root, value

FOREIGN = "NON-JNPR"
"""What stands for the part number of a module that Juniper did not sell."""


def version(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The release and the model; of a virtual chassis what all members say alike."""
    found = {word: set(re.findall(rf"^{word}: (\S+)", body, re.MULTILINE)) for word in ("Hostname", "Model", "Junos")}
    only = {word: next(iter(values)) if len(values) == 1 else None for word, values in found.items()}
    yield System(
        vendor="Juniper",
        os_name="Junos",
        os_version=only["Junos"],
        hardware_model=only["Model"],
        hostname=only["Hostname"],
    )
    for word, column in (("Junos", "os_version"), ("Model", "hardware_model"), ("Hostname", "hostname")):
        if len(found[word]) > 1:
            yield Unread(System, (), column, GapReason.UNSUPPORTED, f"members differ: {', '.join(sorted(found[word])[:4])}")


def chassis_document(document: Any, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show chassis hardware` as JSON: the serial number, and the module in each port.

    A module is told by its slots, and a port is called by them behind the letters of its speed (`et-0/0/48`, channels
    `et-0/0/48:0` and on), so the names come from the list of ports.
    """
    inventory = root(document, "chassis-inventory")
    chassis = root(inventory, "chassis")
    yield System(serial=value(chassis, "serial-number"))
    ports: dict[str, list[str]] = {}
    for name in parameters.get("ports", "").split():
        ports.setdefault(name.partition("-")[2].partition(":")[0], []).append(name)
    homeless = []
    for card in elements(chassis, "chassis-module"):
        for part in elements(card, "chassis-sub-module"):
            for module in elements(part, "chassis-sub-sub-module"):
                slots = "/".join(map(_slot, (card, part, module)))
                if slots in ports:
                    yield from _module(module, ports[slots])
                elif re.fullmatch(r"\d+/\d+/\d+", slots):
                    homeless.append(slots)
    if homeless:
        words = f"no port of the list has the slots {', '.join(homeless[:4])}" if ports else "no list of ports was seen"
        reason = GapReason.UNSUPPORTED if ports else GapReason.UNPARSED
        yield Unread(Optic, reason=reason, detail=f"{len(homeless)} modules are in no port that is known: {words}")


def _slot(item: Mapping[str, Any]) -> str:
    """`FPC 0`, `PIC 0`, `Xcvr 48`: the number; what has another name has none."""
    found = re.fullmatch(r"(?:FPC|PIC|Xcvr) (\d{1,3})", value(item, "name") or "")
    return "" if found is None else found.group(1)


def _module(item: Mapping[str, Any], ports: list[str]) -> Iterator[Normalised]:
    number = value(item, "part-number")
    for port in ports:
        yield Optic(
            port=port,
            present=True,
            type=value(item, "description"),
            part_number=None if number == FOREIGN else number,
            serial=value(item, "serial-number"),
        )
        if number in (FOREIGN, None):
            words = "Junos does not tell that of a module of other makers"
            yield Unread(Optic, (port,), "part_number", GapReason.UNSUPPORTED, words)


def chassis(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show chassis hardware`: the line of the chassis has a serial number and a description, and nothing before them."""
    found = re.search(r"^Chassis +(\S+) +\S", body, re.MULTILINE)
    if found is None:
        raise ValueError("no line of the chassis with a serial number")
    yield System(serial=found.group(1))
