"""Facts about a device as a whole: what it is, which firmware it runs, which configuration files it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from auditor.facts.row import Column, Key, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class System(Row):
    """The device itself. One row."""

    TABLE: ClassVar[str] = "system"

    hostname: Annotated[str | None, Column("Name the device gives itself")] = None
    vendor: Annotated[str | None, Column("Maker", peer="model")] = None
    hardware_model: Annotated[str | None, Column("Model; on SONiC the HwSKU")] = None
    serial: Annotated[str | None, Column("Serial number")] = None
    os_name: Annotated[str | None, Column("Operating system", peer="model")] = None
    os_version: Annotated[str | None, Column("Version of the operating system", peer="model")] = None
    kernel: Annotated[str | None, Column("Kernel release", peer="model")] = None
    image_id: Annotated[str | None, Column("Identity of the installed image or build", peer="model")] = None
    booted_at: Annotated[str | None, Column("Time of the last start, UTC, ISO 8601", volatile=True)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Firmware(Row):
    """One firmware component.

    Components: `bios`, `bmc`, `cpld.*`, `nic.<pci>`, `gpu.<pci>.vbios`, `nvswitch.<n>`, `driver.gpu`, `driver.nic`,
    `fabric_manager`, `optic.<port>`, `sdk`.
    """

    TABLE: ClassVar[str] = "firmware"

    component: Annotated[str, Key("Component, dotted")]
    version: Annotated[str | None, Column("Running version", peer="model")] = None
    pending_version: Annotated[str | None, Column("Version that the next start will run")] = None
    part_number: Annotated[str | None, Column("Vendor part number of the component")] = None
    psid: Annotated[str | None, Column("Parameter-set id of an NVIDIA adapter (PSID)")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile(Row):
    """A configuration file that the next reload reads."""

    TABLE: ClassVar[str] = "config_file"

    name: Annotated[str, Key("Path on the device")]
    exists: Annotated[bool | None, Column("Whether it is there")] = None
    parses: Annotated[bool | None, Column("Whether it can be read as what it should be")] = None
    digest: Annotated[str | None, Column("SHA-256 of its canonical content")] = None
