"""Reads `show_gids`: the address tables of RDMA ports, as plain values.

    DEV     PORT    INDEX   GID                                     IPv4            VER     DEV
    ---     ----    -----   ---                                     ------------    ---     ---
    mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:c000:0203 192.0.2.3       v2      ens1np0
    n_gids_found=1

Columns are apart by tabs, of which a row without an IPv4 address has more; pasted copies have blanks. The script drops empty
entries. It takes the version out of what the kernel prints, `IB/RoCE v1` for InfiniBand and RoCE v1 alike, and a row of
InfiniBand ends without a network device (sbin/show_gids of mlnx-tools).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_ROW = re.compile(r"(\S+)\s+(\d+)\s+(\d+)\s+([0-9a-fA-F:]{39})(?:\s+(\d+\.\d+\.\d+\.\d+))?(?:\s+([vV][12]))?(?:\s+(\S+))?\s*")
_FOUND = re.compile(r"^n_gids_found=(\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `version` is `v1`, `v2` or empty; `netdev` empty where none is printed."""

    device: str
    port: str
    index: int
    address: str
    version: str
    netdev: str


def entries(text: str) -> list[Entry]:
    """Every row of the table."""
    rows = filter(None, map(_ROW.fullmatch, text.splitlines()))
    return [
        Entry(row[1], row[2], int(row[3]), long_form(row[4]), (row[6] or "").lower(), row[7] or "") for row in rows
    ]  # fmt: skip


def counted(text: str) -> int | None:
    """How many rows the script says that it printed; None where it does not come to that line."""
    found = _FOUND.search(text)
    return None if found is None else int(found[1])


def long_form(address: str) -> str:
    """An address in full, lower case. Raises ValueError for what is none."""
    return ipaddress.IPv6Address(address).exploded
