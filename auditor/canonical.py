"""Vendor-neutral forms of what devices print: MACs, GUIDs, PCI addresses, speeds, FEC names, lengths, durations.

Every function takes text and raises ValueError for what it does not know; none guesses. What a vendor calls things,
and what its MTU counts, is platform data.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NOTHING = frozenset(
    {"", "n/a", "n\\a", "-", "--", "---", "none", "null", "not advertised", "unknown", "unknown!", "not supported"}
    | {"[n/a]", "[not supported]", "not specified", "not available"}
)

FEC_NAMES = {
    "rs": "rs", "rs-fec": "rs", "rs528": "rs", "rs544": "rs", "rs(528,514)": "rs", "rs(544,514)": "rs", "fec91": "rs",
    "fec119": "rs", "cl91": "rs", "cl108-rs": "rs", "reed-solomon": "rs",
    "fc": "fc", "fec74": "fc", "cl74": "fc", "cl74-fc": "fc", "fire-code": "fc", "baser": "fc", "base-r": "fc",
    "none": "none", "off": "none", "disabled": "none",
    "auto": "auto",
}  # fmt: skip


def nothing(text: str) -> bool:
    """Whether a cell says that there is no value (`N/A`, `-`, blank …): unknown, never a number and never wrong."""
    return text.strip().lower() in _NOTHING


def mac(text: str) -> str:
    """`b8:3f:d2:5c:12:0a` from any usual spelling of 48 bits."""
    digits = re.sub(r"[.:\-]", "", text.strip()).lower()
    if not re.fullmatch(r"[0-9a-f]{12}", digits):
        raise ValueError(f"no MAC address: {text!r}")
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def guid(text: str) -> str:
    """16 lower-case hex digits from `b83f:d203:005c:120a`, `0xb83fd203005c120a` or the bare digits, padded on the left."""
    digits = text.strip().lower().removeprefix("0x").replace(":", "")
    if not re.fullmatch(r"[0-9a-f]{1,16}", digits):
        raise ValueError(f"no GUID: {text!r}")
    return digits.zfill(16)


def pci(text: str) -> str:
    """`0000:e6:00.0`: with domain, lower case."""
    found = re.fullmatch(r"(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})\.([0-7])", text.strip())
    if found is None:
        raise ValueError(f"no PCI address: {text!r}")
    domain, bus, device, function = found.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{device}.{function}".lower()


def speed(text: str) -> int:
    """Bits per second from `400G`, `1000M`, `10000Mb/s`, `100 Gbps`, `2.5G`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKMGT])(?:b/s|bps|bit/s|bit|b)?", text.strip())
    if found is None:
        raise ValueError(f"no speed: {text!r}")
    factor = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}[found.group(2).lower()]
    return round(float(found.group(1)) * factor)


INFINIBAND_LANES = {
    "SDR": 2_500_000_000, "DDR": 5_000_000_000, "QDR": 10_000_000_000, "FDR10": 10_000_000_000, "FDR": 14_000_000_000,
    "EDR": 25_000_000_000, "HDR": 50_000_000_000, "NDR": 100_000_000_000, "XDR": 200_000_000_000,
}  # fmt: skip
"""Bits per second of one lane by generation, rounded as `ibv_devinfo` rounds them."""


def infiniband_rate(text: str) -> int:
    """Bits per second from `4xNDR`, `2xHDR`, `1X EDR`: width times generation; a bare generation has four lanes."""
    found = re.fullmatch(r"(?:(1|2|4|8|12)\s*x\s*)?([SDQFEHNX]DR|FDR10)", text.strip(), re.IGNORECASE)
    if found is None:
        raise ValueError(f"no InfiniBand width and generation: {text!r}")
    return int(found.group(1) or 4) * INFINIBAND_LANES[found.group(2).upper()]


def fec(text: str) -> str:
    """`rs`, `fc`, `none` or `auto` from a vendor's word."""
    try:
        return FEC_NAMES[text.strip().lower()]
    except KeyError:
        raise ValueError(f"no FEC mode: {text!r}") from None


def metres(text: str) -> float:
    """Metres from `5m`, `300m`, `0.5 m`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*m", text.strip())
    if found is None:
        raise ValueError(f"no length in metres: {text!r}")
    return float(found.group(1))


def number_list(text: str) -> tuple[int, ...]:
    """Sorted whole numbers from `3,4`, `3-4,6` or an empty text; at most 4,096 of them."""
    out: set[int] = set()
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part)
        if found is None:
            raise ValueError(f"no list of numbers: {text!r}")
        first, last = int(found.group(1)), int(found.group(2) or found.group(1))
        if last < first or last - first > 4096:
            raise ValueError(f"no list of numbers: {text!r}")
        out.update(range(first, last + 1))
    return tuple(sorted(out))


def age(text: str) -> float:
    """Seconds from lldpd's `0 day, 05:09:02`."""
    found = re.fullmatch(r"(\d+) days?, (\d+):(\d{2}):(\d{2})", text.strip())
    if found is None:
        raise ValueError(f"no age: {text!r}")
    days, hours, minutes, seconds = (int(part) for part in found.groups())
    return float(days * 86400 + hours * 3600 + minutes * 60 + seconds)


def same_host(one: str, other: str) -> bool:
    """Whether two device names mean one device: case aside, whole or by their first label when one has no domain."""
    a, b = one.strip().lower().rstrip("."), other.strip().lower().rstrip(".")
    if not a or not b:
        return False
    return a == b or (("." in a) != ("." in b) and a.partition(".")[0] == b.partition(".")[0])


def printable(text: str, limit: int = 400) -> str:
    """Device text made safe for a screen or a report: control characters escaped, length bounded."""
    if text.isprintable() and len(text) <= limit:
        return text
    out = "".join(char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in text)
    return out if len(out) <= limit else out[: limit - 1] + "…"


@lru_cache(1 << 16)
def natural(text: str) -> tuple[tuple[int, str], ...]:
    """Sort key by which port 2 comes before port 10."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", text) if part)
