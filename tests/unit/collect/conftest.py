from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from auditor.address import Layer
from auditor.facts import TABLES
from auditor.model import Failure, Fill, GapReason, Parameter, Parser, Platform, Privilege, Source


def _nothing(data: Any, parameters: Mapping[str, str]) -> Iterable[Any]:
    return ()


def _fill(table: str, *columns: str) -> Fill:
    return Fill(TABLES[table], Layer.APPLIED, columns)


def _ports(body: str) -> list[str]:
    return re.findall(r"^link (\S+)$", body, re.MULTILINE)


PORTS = Parameter("port", ("links", "links_old"), _ports)

PLATFORM = Platform(
    "demo",
    "A device for tests",
    sources=(
        Source("version", "show version", (_fill("system", "os_version"),), Parser.TEXT, _nothing, aliases=("show ver",)),
        Source("links", "show links", (_fill("interface", "up"),), Parser.TEXT, _nothing),
        Source("links_old", "show link", (_fill("interface", "up"),), Parser.TEXT, _nothing, fallback_for="links"),
        Source("mtu", "show mtu -i {port}", (_fill("interface", "mtu"),), Parser.TEXT, _nothing, parameter=PORTS),
        Source("detail", "show {port}", (_fill("interface", "fec"),), Parser.TEXT, _nothing, parameter=PORTS),
        Source("peers", "lldpctl -f json", (_fill("neighbour", "system"),), Parser.JSON, _nothing, privilege=Privilege.SUDO),
        Source("peers_text", "lldpctl", (_fill("neighbour", "system"),), Parser.TEXT, _nothing, fallback_for="peers"),
        Source(
            "saved",
            "cat '/etc/demo config'",
            (Fill(TABLES["interface"], Layer.SAVED, ("mtu",)),),
            Parser.TEXT,
            _nothing,
            empty=True,
            ok_status=(0, 3),
        ),
    ),
    failures=(Failure(r"^% Invalid", GapReason.REJECTED, "the device refused the command"),),
    secrets=(r"^community (\S+)",),
)


@pytest.fixture
def platform() -> Platform:
    return PLATFORM


@pytest.fixture
def platforms() -> dict[str, Platform]:
    return {PLATFORM.name: PLATFORM}
