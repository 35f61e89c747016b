"""What a Junos switch says of itself: `show version` and `show chassis hardware`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor.facts import System
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.juniper_junos.names import root, value


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


def chassis_document(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show chassis hardware` as JSON."""
    inventory = root(document, "chassis-inventory")
    yield System(serial=value(root(inventory, "chassis"), "serial-number"))


def chassis(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show chassis hardware`: the line of the chassis has a serial number and a description, and nothing before them."""
    found = re.search(r"^Chassis +(\S+) +\S", body, re.MULTILINE)
    if found is None:
        raise ValueError("no line of the chassis with a serial number")
    yield System(serial=found.group(1))
