"""The stories that ask NetBox: its devices for the inventory, its cables as a document or as a plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from auditor.errors import InventoryError, SetupError
from auditor.plan.formats import Imported, formats
from auditor.workflows.inventory_sources import Entry, from_netbox

MAX_BYTES = 512 * 1024 * 1024


def is_url(source: str) -> bool:
    """Whether a source is an address and no file."""
    return source.startswith(("https://", "http://"))


def devices(source: str, filters: Iterable[tuple[str, str]], ca_file: Path | None) -> tuple[list[Entry], list[str]]:
    """Devices by REST, or from a document of `fetch`, and what was left out. Raises SetupError, PlanError."""
    wanted: dict[str, list[str]] = {}
    for name, value in filters:
        wanted.setdefault(name, []).append(value)
    if is_url(source):
        from auditor.collect.netbox import NetBox

        with NetBox(source, ca_file=ca_file) as server:
            return from_netbox(server.devices(wanted), source)
    if wanted:
        raise SetupError("--filter is for an address: a file was filtered when it was fetched")
    try:
        with Path(source).open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as problem:
        raise InventoryError(f"cannot be read: {problem.strerror}", source) from None
    if len(raw) > MAX_BYTES:
        raise InventoryError(f"is larger than {MAX_BYTES} bytes", source)
    return from_netbox(raw, source)


def cables(url: str, options: Mapping[str, str], ca_file: Path | None = None) -> Imported:
    """The cables of a NetBox as a plan. Raises SetupError, PlanError."""
    from auditor.collect.netbox import NetBox

    with NetBox(url, ca_file=ca_file) as server:
        raw = server.cables(options.get("site", ""))
    return formats()["netbox"].read(raw, url, options)


def fetch(url: str, site: str, ca_file: Path | None, output: Path) -> str:
    """Write cables and devices as one document, whole or not at all; how many of what were written."""
    from auditor.collect.netbox import NetBox

    with NetBox(url, ca_file=ca_file) as server:
        raw = server.cables(site)
    part = output.with_name(output.name + ".part")
    try:
        part.write_bytes(raw)
        part.replace(output)
    except OSError as problem:
        raise SetupError(f"{output} cannot be written: {problem.strerror}") from None
    return ", ".join(f"{len(items)} {kind.partition('/')[2]}" for kind, items in json.loads(raw).items())
