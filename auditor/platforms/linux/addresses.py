"""Who answered on which interface of a host: the neighbours of the IP layer (`ip neigh`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from auditor import canonical
from auditor.address import Layer
from auditor.errors import NormaliseError
from auditor.facts import ArpEntry
from auditor.model import Fill, GapReason, Normalised, Parser, Source, Unread

_UNPROVEN = {"FAILED", "INCOMPLETE", "NOARP", "NONE"}
"""States in which nobody answered: those of a broken or a never made resolution, and of addresses that need none."""


def ip_neigh(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Resolved neighbours of both families from JSON."""
    if not isinstance(document, list) or not all(isinstance(item, dict) for item in document):
        raise NormaliseError("ip_neigh", "document", "no list of objects")
    yield from _entries(document)


def ip_neigh_text(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The same from the printed form: an address, pairs of words, `router` and `proxy` by themselves, the state at the end."""
    entries: list[Mapping[str, Any]] = []
    for line in body.splitlines():
        words = [word for word in line.split() if word not in ("router", "proxy", "extern_learn", "managed", "offload")]
        if len(words) % 2 == 0 and len(words) >= 4 and words[1] == "dev" and words[-1].isupper():
            pairs = dict(zip(words[1:-1:2], words[2:-1:2], strict=True))
            entries.append({"dst": words[0], "state": [words[-1]], **pairs})
        elif words and "proxy" not in line.split():
            yield Unread(ArpEntry, reason=GapReason.TRUNCATED, detail=f"no neighbour: {line.strip()[:60]!r}")
    yield from _entries(entries)


def _entries(found: list[Mapping[str, Any]] | list[dict[str, Any]]) -> Iterator[Normalised]:
    """A link-local address, or one that several interfaces have, carries its interface behind a `%`, as in RFC 4007."""
    rows: defaultdict[str, dict[ArpEntry, None]] = defaultdict(dict)
    for item in filter(None, found):
        address, device, states = item.get("dst"), item.get("dev"), item.get("state")
        if not isinstance(address, str) or not isinstance(device, str):
            raise NormaliseError("ip_neigh", "dst", str(item)[:80])
        if not isinstance(states, list) or not states or _UNPROVEN.intersection(map(str, states)):
            continue
        text = item.get("lladdr")
        if not isinstance(text, str):
            continue
        mac = canonical.mac(text) if text.count(":") == 5 else None  # 20 bytes on InfiniBand
        rows[address][ArpEntry(address=address, mac=mac, interface=device, state=str(states[-1]).lower())] = None
    for address, same in rows.items():
        for row in same:
            alone = len(same) == 1 and not address.lower().startswith("fe80:")
            yield row if alone else replace(row, address=f"{address}%{row.interface}")


_FILL = Fill(ArpEntry, Layer.APPLIED, ("mac", "interface", "state"))

SOURCES = (
    Source(
        key="ip_neigh", command="ip -j neigh",
        aliases=("ip -j neigh show", "ip -json neigh", "ip -j neighbour", "ip -j neighbor", "ip -j n"),
        fills=(_FILL,), parser=Parser.JSON, normalise=ip_neigh, proof={"arp_entry": "/[dst={0}]"},
        proven_by="iproute2 6.1; ip/ipneigh.c of iproute2",
    ),
    Source(
        key="ip_neigh_text", command="ip neigh", fallback_for="ip_neigh",
        aliases=("ip neigh show", "ip neighbour", "ip neighbor", "ip n"),
        fills=(_FILL,), parser=Parser.TEXT, normalise=ip_neigh_text, empty=True, anchor=(r"^\S+ dev \S+ .*[A-Z] *$",),
        proof={"arp_entry": r"^{0} dev "},
        proven_by="iproute2 6.1; ip/ipneigh.c of iproute2",
    ),
)  # fmt: skip
