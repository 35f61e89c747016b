"""Modules of EOS: serial numbers by port, and what the inventory says by slot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor.canonical import printable
from auditor.facts import Optic
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.arista_eos import names
from auditor.platforms.arista_eos.ports import members


def modules(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces transceiver dom thresholds | json`: the serial number of the module of each port. A port without
    one says nothing: its cage may be empty, or its module tells no measurements."""
    for shown, item in members(data, "interfaces"):
        serial = item.get("vendorSn")
        if isinstance(serial, str) and serial.strip():
            yield Optic(port=names.long_name(shown), serial=serial.strip())


_SFP_SLOT = re.compile(r"(?:CAB-)?SFP\b.*")
_SLOT = re.compile(r"\d{1,3}(?:/\d{1,3})?")
_LANES = "the inventory goes by slot, and does not say which of its ports a module of several lanes has"


def inventory(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show inventory | json`: maker, part and serial number of modules, by slot. The port of a slot is known of SFP modules,
    whose port has the slot's number; those of several lanes may be `Ethernet49/1` or more."""
    for slot, item in members(data, "xcvrSlots"):
        maker, part, serial = (str(item.get(field) or "").strip() for field in ("mfgName", "modelName", "serialNum"))
        if not _SLOT.fullmatch(slot):
            yield Unread(Optic, detail=f"no slot: {printable(slot, 40)!r}")
        elif maker == "Not Present":
            continue
        elif _SFP_SLOT.fullmatch(part):
            yield Optic(port=f"Ethernet{slot}", vendor=maker or None, part_number=part or None, serial=serial or None)
        else:
            for column in ("vendor", "part_number"):
                yield Unread(Optic, (f"Ethernet{slot}/1",), column, GapReason.UNSUPPORTED, _LANES)
