"""Network interfaces of a host: `ip link` in its forms."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from auditor import canonical
from auditor.address import Layer
from auditor.errors import NormaliseError
from auditor.facts import Interface, LagMember, Nic, from_plain
from auditor.model import Fill, GapReason, Normalised, Parameter, Parser, Source, Unread
from auditor.platforms.linux.bonds import member

_LINK = ("enabled", "up", "mtu", "mtu_shown", "mac", "alias", "lag", "description")
_UP_STATES: Mapping[object, bool | None] = {
    "UP": True, "UNKNOWN": None,
    "DOWN": False, "LOWERLAYERDOWN": False, "DORMANT": False, "NOTPRESENT": False, "TESTING": False,
}  # fmt: skip


def ip_link(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Interfaces, PCI network functions and members of bonds from `ip -j -d link`.

    Old releases print `{}` for what they filtered out.
    """
    if not isinstance(document, list) or not all(isinstance(link, dict) for link in document):
        raise NormaliseError("ip_link", "document", "no list of objects")
    if not any(document):
        raise NormaliseError("ip_link", "document", "no interface, not even lo")
    links = [link for link in document if link]
    yield from _interfaces(links)
    masters = _masters(links)
    for link in links:
        lag = _lag(link, masters)
        if lag is not None:
            yield from member(lag, str(link["ifname"]), link)


def ip_link_text(groups: Mapping[str, list[dict[str, str]]], _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The same facts from the printed form, with or without `-d` and `-o`."""
    yield from _interfaces([_from_text(row) for row in groups.get("rows", [])])


def _from_text(row: Mapping[str, str]) -> dict[str, Any]:
    """One printed interface as the object that the JSON form has for it."""
    head, *more = row["rest"].split("\\")
    lines = [line.strip() for line in more]
    address = row.get("link") or next((line[5:] for line in lines if line.startswith("link/")), "")
    names = [line[8:] for line in lines if line.startswith("altname ")] + row.get("altnames", "").split()
    details = " ".join([address, *lines])
    link: dict[str, Any] = {
        "ifname": row["name"].partition("@")[0],
        "flags": row["flags"].split(","),
        "mtu": int(row["mtu"]),
        "operstate": _after("state", head),
        "master": _after("master", head),
        "permaddr": _after("permaddr", address),
        "parentbus": row.get("parentbus") or _after("parentbus", details),
        "parentdev": row.get("parentdev") or _after("parentdev", details),
        "altnames": names,
        "ifalias": row.get("description") or next((line[6:] for line in lines if line.startswith("alias ")), None),
    }
    kind, *rest = address.split()[:2] or [""]
    return link | {"link_type": kind, "address": rest[0] if rest else None}


def _after(label: str, text: str) -> str | None:
    found = re.search(rf"(?:^|\s){label} (\S+)", text)
    return None if found is None else found.group(1)


def _interfaces(links: list[dict[str, Any]]) -> Iterator[Normalised]:
    masters = _masters(links)
    shared = Counter(_pci(link) for link in links)
    for link in links:
        name = link.get("ifname")
        if not isinstance(name, str) or not name:
            raise NormaliseError("ip_link", "ifname", str(link)[:80])
        cells: dict[str, Any] = {"name": name, "lag": _lag(link, masters)}
        for column, read in _CELLS.items():
            try:
                cells[column] = read(link)
            except ValueError as error:
                yield Unread(Interface, (name,), column, detail=str(error))
        yield from_plain(Interface, cells)
        pci = _pci(link)
        # A function whose representors hang on it as well belongs to none of them alone.
        if pci is not None and shared[pci] == 1:
            with contextlib.suppress(ValueError):  # a bad address is told above
                yield Nic(pci=pci, netdev=name, mac=_mac(link, permanent=True))


def _mtu(link: Mapping[str, Any]) -> int:
    mtu = link.get("mtu")
    if not isinstance(mtu, int) or isinstance(mtu, bool):
        raise ValueError(f"no MTU: {str(mtu)[:40]!r}")
    return mtu


def _flags(link: Mapping[str, Any]) -> list[str]:
    flags = link.get("flags")
    if not isinstance(flags, list) or not all(isinstance(flag, str) for flag in flags):
        raise ValueError(f"no flags: {str(flags)[:40]!r}")
    return flags


def _up(link: Mapping[str, Any]) -> bool:
    """Operational state. Where a driver keeps none (UNKNOWN), the carrier speaks, as the kernel's operstates.rst has it."""
    state = link.get("operstate")
    if state not in _UP_STATES:
        raise ValueError(f"no operational state: {str(state)[:40]!r}")
    up = _UP_STATES[state]
    return "LOWER_UP" in _flags(link) if up is None else up


def _mac(link: Mapping[str, Any], *, permanent: bool) -> str | None:
    text = (link.get("permaddr") if permanent else None) or link.get("address")
    return canonical.mac(text) if link.get("link_type") == "ether" and isinstance(text, str) else None


def _own_mac(link: Mapping[str, Any]) -> str | None:
    """Members of a bond show the bond's address; their own tells them apart."""
    return _mac(link, permanent="SLAVE" in _flags(link))


def _first_altname(link: Mapping[str, Any]) -> str | None:
    names = link.get("altnames")
    return next((name for name in names if isinstance(name, str)), None) if isinstance(names, list) else None


def _description(link: Mapping[str, Any]) -> str | None:
    text = link.get("ifalias")
    return text if isinstance(text, str) and text else None


_CELLS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "enabled": lambda link: "UP" in _flags(link),
    "up": _up,
    "mtu": _mtu,
    "mtu_shown": lambda link: str(_mtu(link)),
    "mac": _own_mac,
    "alias": _first_altname,
    "description": _description,
}


def _masters(links: list[dict[str, Any]]) -> set[object]:
    return {link.get("ifname") for link in links if "MASTER" in link.get("flags", ())}


def _lag(link: Mapping[str, Any], masters: Container[object]) -> str | None:
    """The bond or team that an interface is a member of. A bridge is a master too, and none of these."""
    master, info = link.get("master"), link.get("linkinfo")
    if not isinstance(master, str):
        return None
    enslaved = "SLAVE" in link.get("flags", ()) and master in masters
    kind = info.get("info_slave_kind") if isinstance(info, Mapping) else None
    return master if enslaved or kind in ("bond", "team") else None


def _pci(link: Mapping[str, Any]) -> str | None:
    device = link.get("parentdev")
    if link.get("parentbus") != "pci" or not isinstance(device, str):
        return None
    try:
        return canonical.pci(device)
    except ValueError:
        return None


def ip_link_brief(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """State and address of every interface from the short form. Members of a bond show the bond's address in it."""
    for line in body.splitlines():
        found = _BRIEF.fullmatch(line)
        if found is None:
            if line.strip():
                yield Unread(Interface, reason=GapReason.TRUNCATED, detail=f"no interface: {line.strip()[:60]!r}")
            continue
        name, state, address, flags = found.groups()
        link = {"flags": flags.split(","), "operstate": state, "address": address}
        cells: dict[str, Any] = {"name": name.partition("@")[0], "enabled": "UP" in link["flags"]}
        try:
            cells["up"] = _up(link)
        except ValueError as error:
            yield Unread(Interface, (cells["name"],), "up", detail=str(error))
        if "SLAVE" in link["flags"]:
            detail = "of a member the short form prints the address of its bond"
            yield Unread(Interface, (cells["name"],), "mac", GapReason.UNSUPPORTED, detail)
        elif address is not None and "BROADCAST" in link["flags"] and len(address) == 17:  # InfiniBand has 20 bytes
            cells["mac"] = canonical.mac(address)
        yield from_plain(Interface, cells)


_BRIEF = re.compile(r"(\S+) +([A-Z]+) +(?:([0-9a-f:.]+) )?<([^<>]*)> *")
_HEAD, _TAIL = r"^\d+: \S+: <", r"link/[^\n]*+(?:\n[ \t][^\n]*+)*+\s*+\Z"
"""An interface begins with a number; the last one of a whole answer has its link-layer line and only indented lines after it."""

_ROW = r"^\d+: {0}(?:@\S+)?: <"
_TEXT_PROOF = {
    "interface": _ROW, "interface.mac": _ROW + "\n" + r"\blink/", "interface.alias": _ROW + "\n" + r"\baltname ",
    "interface.description": _ROW + "\n" + r"\balias ",
}  # fmt: skip

SOURCES = (
    Source(
        key="ip_link", command="ip -j -d link",
        aliases=("ip -j link", "ip -d -j link", "ip -j -d link show", "ip -j link show", "ip -json -details link"),
        fills=(
            Fill(Interface, Layer.APPLIED, _LINK), Fill(Nic, Layer.APPLIED, ("netdev", "mac"), whole=False),
            Fill(LagMember, Layer.APPLIED, ("active",)),
        ),
        parser=Parser.JSON, normalise=ip_link,
        proof={
            "interface": "/[ifname={0}]/ifname", "interface.mtu": "/[ifname={0}]/mtu",
            "interface.mtu_shown": "/[ifname={0}]/mtu", "interface.enabled": "/[ifname={0}]/flags",
            "interface.up": "/[ifname={0}]/operstate", "interface.mac": "/[ifname={0}]/address",
            "interface.alias": "/[ifname={0}]/altnames", "interface.lag": "/[ifname={0}]/master",
            "interface.description": "/[ifname={0}]/ifalias", "nic": "/[parentdev={0}]/ifname",
            "nic.mac": "/[parentdev={0}]/address", "lag_member": "/[ifname={1}]/linkinfo",
        },
        proven_by="iproute2 6.1 on a Debian host; ip/ipaddress.c and ip/iplink_bond_slave.c of iproute2",
    ),
    Source(
        key="ip_link_text", command="ip -d link", fallback_for="ip_link",
        aliases=(
            "ip link", "ip link show", "ip -d link show", "ip -o link", "ip -o link show", "ip -d -o link", "ip -o -d link",
        ),
        fills=(Fill(Interface, Layer.APPLIED, _LINK), Fill(Nic, Layer.APPLIED, ("netdev", "mac"), whole=False)),
        parser=Parser.TTP, template="ip_link_text", normalise=ip_link_text, anchor=(_HEAD, _TAIL), count=_HEAD,
        proof=_TEXT_PROOF | {"nic": r"parentdev {0}\b"},
        proven_by="iproute2 of a Dell host with a bond; iproute2 6.1",
    ),
    # Live, the two above suffice.
    Source(
        key="ip_link_brief", command="ip -br link", fallback_for="ip_link", sent=False,
        aliases=("ip -br link show", "ip -brief link", "ip -brief link show", "ip -br l"),
        fills=(Fill(Interface, Layer.APPLIED, ("enabled", "up", "mac")),),
        parser=Parser.TEXT, normalise=ip_link_brief, anchor=(r"^\S+ +[A-Z]+ .*<[^<>]*> *$",),
        proof={"interface": r"^{0}(?:@\S+)? "},
        proven_by="iproute2 6.1; print_linkinfo_brief in ip/ipaddress.c of iproute2",
    ),
    # One interface, as captures hold it. Nothing asks for it: the list of all holds it already.
    Source(
        key="ip_link_one", command="ip -d link show {netdev}", fallback_for="ip_link",
        aliases=("ip link show {netdev}", "ip link show dev {netdev}", "ip -d link show dev {netdev}"),
        parameter=Parameter("netdev", ("rdma_link",), lambda _body: ()),
        fills=(Fill(Interface, Layer.APPLIED, _LINK),),
        parser=Parser.TTP, template="ip_link_text", normalise=ip_link_text, anchor=(_HEAD, _TAIL), count=_HEAD,
        proof=_TEXT_PROOF,
        proven_by="iproute2 6.1",
    ),
)  # fmt: skip
