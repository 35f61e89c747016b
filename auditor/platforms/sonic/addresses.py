"""What SONiC learned of the addresses behind its ports: `show mac`, `show arp`, `show ndp`, and the members of aggregates.

Each of the first three ends with a line that counts the rows. On a box with several ASICs one table stands behind the other,
each under its namespace.
"""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.address import Layer
from auditor.canonical import printable
from auditor.dialects.ruler import tables
from auditor.facts import ArpEntry, LagMember, MacEntry, Row
from auditor.model import Fill, GapReason, Normalised, Parser, Source, Unread
from auditor.platforms.sonic.config_db import port_name
from auditor.platforms.sonic.tables import broken_off, does_not_fit, one_table, port_rows

_TOTAL = re.compile(r"^Total number of entries (\d{1,9})[ ]*$", re.MULTILINE)
_NAMED = re.compile(r"(?:Ethernet|PortChannel)[\w/.-]*")
_MEMBER = re.compile(r"(\S+)\(([SD])(\*?)\)")


def _rows(body: str, row_type: type[Row], columns: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, str]] | Unread]:
    """Namespace (as the beginning of a name) and cells of each whole row; an Unread where rows are broken or missing."""
    *texts, rest = _TOTAL.split(body)
    parts = [*zip(texts[::2], map(int, texts[1::2]), strict=True), *([(rest, None)] if rest.strip() else [])]
    for text, total in parts:
        found = [table for table in tables(text) if set(columns) <= set(table.headers)]
        if total is None and not found and texts:
            yield Unread(row_type, reason=GapReason.TRUNCATED, detail=f"more behind the table: {printable(text.strip(), 60)!r}")
            continue
        if len(found) != 1:
            raise ValueError(f"{len(found)} tables with the columns {', '.join(columns)} before a line that counts them, not one")
        spaces = [match.group(1) for match in map(re.compile(r"Namespace: (asic\d+)\s*").fullmatch, found[0].before) if match]
        prefix, read = (f"{spaces[-1]}/" if spaces else ""), 0
        for row in found[0].rows:
            if not row.ended:
                yield broken_off(row_type, row)
            elif row.cells is None:
                yield Unread(row_type, detail=does_not_fit(row))
            elif not row.cells.get(columns[0]):
                continue  # the next line of a cell that has several
            elif columns[-1] not in row.cells:
                yield broken_off(row_type, row)
            else:
                read += 1
                yield prefix, row.cells
        if read != total:
            counted = "no line counts the rows" if total is None else f"the table counts {total} rows"
            yield Unread(row_type, reason=GapReason.TRUNCATED, detail=f"{counted}, {read} were read")


def mac_table(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show mac`: ASIC_DB, by VLAN. What was learned behind a tunnel stands on the address of its far end and on no port.

    An address may be in several VLANs of a port, so the VLAN is known from a whole table only.
    """
    found: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    whole = True
    for item in _rows(body, MacEntry, ("MacAddress", "Vlan", "Port", "Type")):
        if isinstance(item, Unread):
            whole = False
            yield item
            continue
        prefix, row = item
        if _NAMED.fullmatch(row["Port"]):
            try:
                found[port_name(prefix, row["Port"]), canonical.mac(row["MacAddress"])].append((row["Vlan"], row["Type"]))
            except ValueError as error:
                yield Unread(MacEntry, detail=str(error))
        elif not _is_address(row["Port"]):
            detail = f"learned on {printable(row['Port'], 40)!r}, which is no port with a name"
            yield Unread(MacEntry, reason=GapReason.UNSUPPORTED, detail=detail)
    for (port, mac), same in found.items():
        vlans = {vlan for vlan, _ in same if vlan.isdecimal() and len(vlan) < 5}
        kinds = {kind.lower() for _, kind in same}
        vlan = int(*vlans) if whole and len(vlans) == 1 else None
        yield MacEntry(port=port, mac=mac, vlan=vlan, kind=kinds.pop() if len(kinds) == 1 else None)
        if len(vlans) > 1:
            shown = ", ".join(sorted({vlan for vlan, _ in same}, key=lambda vlan: (len(vlan), vlan)))
            yield Unread(MacEntry, (port, mac), "vlan", GapReason.UNSUPPORTED, f"learned in VLAN {printable(shown, 60)}")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def arp_table(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show arp`: the kernel's neighbours with, for those of a VLAN, the port that ASIC_DB learned the address on."""
    yield from _neighbours(body, "Vlan")


def ndp_table(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show ndp`: the same for IPv6, with the state."""
    yield from _neighbours(body, "Status")


def _neighbours(body: str, last: str) -> Iterator[Normalised]:
    """A link-local address, or one that several interfaces have, carries its interface behind a `%`, as in RFC 4007."""
    found: defaultdict[str, dict[tuple[str, str, str | None], None]] = defaultdict(dict)
    for item in _rows(body, ArpEntry, ("Address", "MacAddress", "Iface", "Vlan", last)):
        if isinstance(item, Unread):
            yield item
            continue
        prefix, row = item
        # Without a port for it in ASIC_DB the interface of a VLAN is printed as `-`.
        interface = f"Vlan{row['Vlan']}" if row["Iface"] == "-" else port_name(prefix, row["Iface"])
        try:
            mac = canonical.mac(row["MacAddress"])
        except ValueError as error:
            yield Unread(ArpEntry, (row["Address"],), detail=str(error))
            continue
        found[row["Address"]][interface, mac, row["Status"].lower() if last == "Status" else None] = None
    for address, same in found.items():
        for interface, mac, state in same:
            alone = len(same) == 1 and not address.lower().startswith("fe80:")
            key = address if alone else f"{address}%{interface}"
            yield ArpEntry(address=key, mac=mac, interface=interface, state=state)


def aggregates(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces portchannel`: members as teamd selected them (STATE_DB), under aggregates that are up or down (APPL_DB).

    `*`: teamd and the hardware do not agree, so it is not known whether the member carries traffic.
    """
    for item in port_rows(one_table(body, "Team Dev", "Protocol", "Ports"), "Team Dev", "Protocol", LagMember):
        if isinstance(item, Unread):
            yield item
            continue
        lag, row = item
        for word in row.get("Ports", "").split():
            member = _MEMBER.fullmatch(word)
            if member is None:
                if word != "N/A":
                    detail = f"no member of {lag}: {printable(word, 40)!r}"
                    yield Unread(LagMember, reason=GapReason.TRUNCATED, detail=detail)
                continue
            port, flag, differs = member.groups()
            yield LagMember(lag=lag, port=port, active=None if differs else flag == "S" and "(Dw)" not in row["Protocol"])
            if differs:
                detail = "teamd and the hardware do not agree about it"
                yield Unread(LagMember, (lag, port), "active", GapReason.UNSUPPORTED, detail)


SOURCES = (
    Source(
        key="mac_table",
        command="show mac",
        aliases=("fdbshow",),
        fills=(Fill(MacEntry, Layer.APPLIED, ("vlan", "kind")),),
        parser=Parser.TEXT,
        normalise=mac_table,
        anchor=(r"^\s*No\.\s+Vlan\s+MacAddress\s+Port\s+Type\b", _TOTAL.pattern),
        proof={"mac_entry": r"(?i)\s{1}\s+{0}\s"},
        proven_by="sonic-utilities scripts/fdbshow, tests/fdbshow_test.py",
        seconds=20.0,
    ),
    Source(
        key="arp_table",
        command="show arp",
        aliases=("nbrshow -4",),
        fills=(Fill(ArpEntry, Layer.APPLIED, ("mac", "interface"), whole=False),),
        parser=Parser.TEXT,
        normalise=arp_table,
        anchor=(r"^\s*Address\s+MacAddress\s+Iface\s+Vlan\b", _TOTAL.pattern),
        proof={"arp_entry": r"^{0}\s"},
        proven_by="sonic-utilities scripts/nbrshow, its command reference",
        seconds=20.0,
    ),
    Source(
        key="ndp_table",
        command="show ndp",
        aliases=("nbrshow -6",),
        fills=(Fill(ArpEntry, Layer.APPLIED, ("mac", "interface", "state"), whole=False),),
        parser=Parser.TEXT,
        normalise=ndp_table,
        anchor=(r"^\s*Address\s+MacAddress\s+Iface\s+Vlan\s+Status\b", _TOTAL.pattern),
        proof={"arp_entry": r"^{0}\s"},
        proven_by="sonic-utilities scripts/nbrshow, its command reference",
        seconds=20.0,
    ),
    Source(
        key="portchannel",
        command="show interfaces portchannel",
        aliases=("show interface portchannel", "teamshow", "sudo teamshow"),
        fills=(Fill(LagMember, Layer.APPLIED, ("active",)),),
        parser=Parser.TEXT,
        normalise=aggregates,
        anchor=(r"^\s*No\.\s+Team Dev\s+Protocol\s+Ports\b",),
        proof={"lag_member": r"\s{0}\s.*\s{1}\("},
        proven_by="sonic-utilities show/interfaces/portchannel.py, tests/interfaces_test.py",
        seconds=20.0,
    ),
)  # fmt: skip
