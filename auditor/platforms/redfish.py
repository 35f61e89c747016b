"""BMCs by Redfish: what the board says of its firmware and its BIOS, over HTTPS.

Traps of the field:
- A collection may hold nothing but links. The client asks with `$expand` and follows each link where the BMC ignores that; a
  capture with links alone is a gap.
- Identities differ by vendor: `HostBMC_0` and `HGX_FW_*` (AMI), `BMC` and `BIOS` (Supermicro), numbers with a telling name
  (HPE), `Installed-…`, `Current-…` and `Previous-…` of one part (Dell: only the installed one counts).
- `Not Present`, `N/A`, an empty text and `-…` are no versions. Backup, golden, staging and redundant images do not run.
- The BIOS version is told in other words than the operating system's (`BIOS Date: 08/04/2023 Ver 1.4`), so it is a component
  of its own, `redfish.bios`; `bmc`, `nvswitch.N` and `cpld.NAME` are those that nobody else tells.
- BIOS attributes share no names across vendors: they stand as the vendor has them.
- A host names its BMC as `bmc_address`; the BMC is asked there, and when it is silent the host itself is not.
- Ports of adapters are not read: in the answers at hand they hold no address, so a BMC is no evidence of cables here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from auditor.address import Layer
from auditor.canonical import nothing
from auditor.errors import NormaliseError
from auditor.facts import BiosSetting, Firmware, System
from auditor.model import (
    Failure,
    Fill,
    GapReason,
    Normalised,
    Parameter,
    Parser,
    Platform,
    Source,
    Transport,
    Unread,
    Unsupported,
)

_IDLE = re.compile(r"(?i)^(backup|golden|staging|capsule|previous|current|redundant)[_\- ]|^redundant |InfoROM")
"""Images that lie there and do not run, and Dell's second entries for one part."""

_DELL = re.compile(r"^Installed-\d+-(?P<version>.+)__(?P<part>[^_]+)$")
"""`Installed-159-1.8.2__BIOS.Setup.1-1`: software id, version and the name of the part."""


def members(document: Any) -> list[Mapping[str, Any]]:
    """The members of an expanded collection; raises NormaliseError when there are none or links alone."""
    found = document.get("Members") if isinstance(document, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(item, Mapping) for item in found):
        raise NormaliseError("redfish", "Members", "no list of members")
    if any(set(item) <= {"@odata.id", "@odata.type"} for item in found):
        raise NormaliseError("redfish", "Members", "links alone: the collection was not expanded")
    return found


def firmware(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """One row per component that runs. Several parts of one name and version are one row; of different versions, a gap."""
    versions: defaultdict[str, set[str]] = defaultdict(set)
    for item in members(document):
        name, version = _component(item), item.get("Version")
        if name and isinstance(version, str) and not _no_version(version):
            versions[name].add(version.strip())
    for name, seen in sorted(versions.items()):
        if len(seen) == 1:
            yield Firmware(component=name, version=seen.pop())
        else:
            yield Unread(Firmware, (name,), "version", GapReason.CONFLICT, f"parts of this name run {', '.join(sorted(seen))}")


def _no_version(text: str) -> bool:
    return nothing(text) or text.strip().lower() == "not present" or text.strip().startswith("-")


def _component(item: Mapping[str, Any]) -> str:
    """The component's name here; empty for an image that does not run."""
    ident, name = str(item.get("Id", "")), str(item.get("Name", ""))
    if _IDLE.search(ident) or _IDLE.search(name):
        return ""
    dell = _DELL.match(ident)
    text = dell.group("part") if dell else name if ident.isdecimal() else ident
    if re.fullmatch(r"BMC|HostBMC_\d+|FW_BMC_\d+|BMC-Primary|BMC_Firmware|iDRAC\.Embedded\.\S+|iLO \d+", text):
        return "bmc"
    if re.fullmatch(r"BIOS|HostBIOS_\d+|BIOS\.Setup\.\S+|System ROM|UEFI", text):
        return "redfish.bios"
    switch = re.fullmatch(r"(?:HGX|MGX)_FW_NVSwitch_(\d+)", text)
    if switch:
        return f"nvswitch.{switch.group(1)}"
    return f"cpld.{text}" if re.search(r"(?i)cpld", text) else f"redfish.{text}"


def bios(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The attributes of the BIOS as they are; those waiting for a restart stand elsewhere in Redfish."""
    attributes = document.get("Attributes") if isinstance(document, Mapping) else None
    if not isinstance(attributes, Mapping):
        raise NormaliseError("redfish_bios", "Attributes", "none")
    for name, value in sorted(attributes.items()):
        if value is None or isinstance(value, bool | str | int | float):
            yield BiosSetting(name=str(name), value=None if value is None else str(value))


def system(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The machine as its board knows it."""
    if not isinstance(document, Mapping) or "Manufacturer" not in document:
        raise NormaliseError("redfish_system", "Manufacturer", "no computer system")
    serial = document.get("SerialNumber")
    if isinstance(serial, str) and not nothing(serial):
        yield System(serial=serial)


def system_names(body: str) -> Iterator[str]:
    """The names of the computer systems in the body of `/redfish/v1/Systems`."""
    yield from dict.fromkeys(re.findall(r'"/redfish/v1/Systems/([A-Za-z0-9][A-Za-z0-9._:-]*)"', body))


def nobody(_document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """A list that is only read for the names in it."""
    return iter(())


_SYSTEM = Parameter("system", ("systems",), system_names)

PLATFORM = Platform(
    name="redfish",
    title="BMC (Redfish over HTTPS)",
    transport=Transport.HTTPS,
    sources=(
        Source(
            key="systems", command="GET /redfish/v1/Systems", fills=(), parser=Parser.JSON, normalise=nobody,
            proven_by="DMTF DSP0266, the collection of computer systems", seconds=60,
        ),
        Source(
            key="firmware_inventory", command="GET /redfish/v1/UpdateService/FirmwareInventory",
            aliases=("/redfish/v1/UpdateService/FirmwareInventory",),
            fills=(Fill(Firmware, Layer.APPLIED, ("version",), whole=False),),
            parser=Parser.JSON, normalise=firmware, seconds=120,
            proven_by="captures redfish-firmwareinventory: AMI, HPE iLO 5, Dell iDRAC 9, Supermicro, NVSwitch tray",
        ),
        Source(
            key="bios_attributes", command="GET /redfish/v1/Systems/{system}/Bios", parameter=_SYSTEM,
            fills=(Fill(BiosSetting, Layer.APPLIED, ("value",), whole=False),),
            parser=Parser.JSON, normalise=bios, seconds=60, proof={"bios_setting": "/Attributes/{0}"},
            proven_by="captures redfish-bios: AMI, HPE iLO 5, Dell iDRAC 9, Supermicro",
        ),
        Source(
            key="computer_system", command="GET /redfish/v1/Systems/{system}", parameter=_SYSTEM,
            fills=(Fill(System, Layer.APPLIED, ("serial",), whole=False),),
            parser=Parser.JSON, normalise=system, seconds=60, proof={"system": "/SerialNumber"},
            proven_by="captures redfish-system: AMI, Supermicro",
        ),
    ),
    failures=(Failure(r"^HTTP 40[13]\b", GapReason.PERMISSION, "the BMC refused it"),),
    unsupported=(
        Unsupported("firmware", ("pending_version", "part_number", "psid"), "a BMC's inventory does not tell them alike"),
    ),
)  # fmt: skip
