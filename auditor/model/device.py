"""Devices as the inventory describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Status(StrEnum):
    """How far a device is built. Only installed and accepted devices are expected to answer."""

    PLANNED = "planned"
    INSTALLED = "installed"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Device:
    """One device of the inventory. Holds no credential: those stay with the collector."""

    name: str
    platforms: tuple[str, ...]
    address: str = ""
    port: int | None = None
    role: str = ""
    site: str = ""
    pod: str = ""
    rack: str = ""
    position: str = ""
    hardware_model: str = ""
    status: Status = Status.ACCEPTED
    maintenance_until: datetime | None = None
    bmc_address: str = ""
    aaa_group: str = ""
    groups: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


def is_host(role: str) -> bool:
    """Whether a device of this role sends and receives traffic itself: `host`, `gpu_host`, `storage_host` …"""
    return role.lower().endswith("host")
