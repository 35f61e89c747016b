"""Arista EOS: the switch itself, whether its ports are up, and what LLDP hears on them.

Traps, each met in a capture:

- Tables call a port `Et1/1` and everything else `Ethernet1/1`. MAC addresses are written `b83f.d211.0210`.
- The status of a port folds what the operator wants and what is: `disabled`, `errdisabled`, `notconnect`, `connected`. Speeds
  with `a-` are negotiated; without a link they say what could be, so they are read of connected ports only.
- The name column of `show interfaces status` is cut and holds any words; so the cells behind it are read from the right.
- What EOS has to complain of begins with `% `, and the session goes on.
- Management ports come behind all Ethernet ports; a table of ports without one stops too early.
- `| json` is asked of no switch, since no command with a pipe is sent; captures may hold its answer. It has points in time
  instead of ages, and nothing in it says when it was printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.address import Layer
from auditor.canonical import printable
from auditor.facts import Interface, Neighbour, System
from auditor.model import Failure, Fill, GapReason, Normalised, Parser, Platform, Source, Transport, Unread, Unsupported
from auditor.platforms.arista_eos import lldp, names


def version(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show version`. The serial number of a virtual switch is empty; a build behind the version is not part of it."""
    values: dict[str, str] = {}
    for line in body.splitlines():
        label, colon, value = line.partition(":")
        if colon:
            values.setdefault(label.strip(), value.strip())
    model = re.search(r"^Arista (\S+)\s*$", body, re.MULTILINE)
    yield System(
        vendor="Arista",
        hardware_model=None if model is None else model.group(1),
        serial=values.get("Serial number") or None,
        os_name="EOS",
        os_version=values.get("Software image version", "").partition(" ")[0] or None,
        kernel=values.get("Kernel version") or None,
        image_id=values.get("Internal build ID") or None,
    )


_STATUS = re.compile(
    r"([A-Z][A-Za-z-]*\d[\d/.]*)\s+(?:.*\s)?(connected|notconnect|disabled|errdisabled|inactive)\s+(in Po\d+|\S+)"
    r"\s+(?:a-)?(?:full|half|auto|unconf|unknown)\s+(a-)?(\d{1,4}(?:\.\d)?[MGT]|auto|unconf|unknown)\s+\S.*"
)


def interfaces_status(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces status`: state and speed of every port. Aggregates come last; one that a member names must be there."""
    heading = re.search(r"^Port\s+Name\s+Status\b.*$", body, re.MULTILINE)
    if heading is None:
        raise ValueError("no table with the columns Port, Name, Status")
    strange, seen, named = [], set(), set()
    for line in body[heading.end() :].splitlines():
        row = _STATUS.fullmatch(line)
        if row is not None:
            shown, status, vlan, negotiated, speed = row.groups()
            seen.add(shown)
            named.update([vlan.removeprefix("in ")] if vlan.startswith("in ") else [])
            yield from _port(shown, status, vlan, negotiated, speed)
        elif line.strip():
            strange.append(line)
    for lost in sorted(named - seen):
        detail = f"the table stops before {lost}, which has members in it"
        yield Unread(Interface, (names.long_name(lost),), reason=GapReason.TRUNCATED, detail=detail)
    if strange:
        more = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
        yield Unread(Interface, detail=f"does not fit under the columns: {printable(strange[0], 80)!r}{more}")


def _port(shown: str, status: str, vlan: str, negotiated: str | None, speed: str) -> Iterator[Normalised]:
    name, up = names.long_name(shown), status == "connected"
    told = speed[0].isdigit() and (up or negotiated is None)
    yield Interface(
        name=name,
        enabled=None if status == "inactive" else status != "disabled",
        up=up,
        speed=canonical.speed(speed) if told else None,
        lag=names.long_name(vlan.removeprefix("in ")) if vlan.startswith("in ") else None,
        error_disabled=status == "errdisabled",
    )
    if not told:
        detail = "it negotiates its speed, and has no link"
        yield Unread(Interface, (name,), "speed", GapReason.UNSUPPORTED, detail)
    if status == "inactive":
        yield Unread(Interface, (name,), "enabled", GapReason.UNSUPPORTED, "inactive: another port has its lanes")


_NO_SOURCE = "no source reads it yet"
_HEARD = "^Interface {0} detected\n" + r'^  Neighbor .*/"?{1}"?, age \d'

PLATFORM = Platform(
    name="arista_eos",
    title="Arista EOS",
    netmiko="arista_eos",
    transport=Transport.SHELL,
    interface_name=names.long_name,
    sources=(
        Source(
            key="version",
            command="show version",
            fills=(
                Fill(
                    System, Layer.APPLIED,
                    ("vendor", "hardware_model", "serial", "os_name", "os_version", "kernel", "image_id"),
                ),
            ),
            parser=Parser.TEXT,
            normalise=version,
            anchor=(r"^Arista \S+\s*$", r"^Software image version: \S", r"^Free memory:\s+\d+ kB"),
            proof={
                "system": r"^Arista \S+\s*$", "system.serial": r"^Serial number:",
                "system.os_version": r"^Software image version:", "system.kernel": r"^Kernel version:",
                "system.image_id": r"^Internal build ID:",
            },
            proven_by="captures eos/ccs720xp; show version of vEOS, cEOS and DCS-7010T in ntc-templates",
        ),
        Source(
            key="interfaces_status",
            command="show interfaces status",
            aliases=("show interface status",),
            fills=(Fill(Interface, Layer.APPLIED, ("enabled", "up", "speed", "lag", "error_disabled")),),
            parser=Parser.TEXT,
            normalise=interfaces_status,
            anchor=(r"^Port\s+Name\s+Status\s+Vlan\s+Duplex\s+Speed\s+Type\b", r"^Ma\d"),
            shown=names.in_tables,
            proof={"interface": r"^{0}\s"},
            proven_by="capture eos/flags_col; show interfaces status of three releases in ntc-templates",
        ),
        Source(
            key="lldp_detail",
            command="show lldp neighbors detail",
            aliases=("show lldp neighbor detail",),
            fills=(Fill(Neighbour, Layer.APPLIED, (*lldp.COLUMNS, *lldp.AGES)),),
            parser=Parser.TEXT,
            normalise=lldp.detail,
            anchor=(r"^Interface \S+ detected \d+ LLDP neighbors?:",),
            shown=names.dotted,
            proof={
                "neighbour": _HEARD, "neighbour.system": _HEARD + "\n" + r"^\s+- System Name:",
                "neighbour.port_description": _HEARD + "\n" + r"^\s+- Port Description:",
            },
            proven_by="capture eos/veos_mixed",
            seconds=20.0,
        ),
        Source(
            key="lldp_detail_json",
            command="show_lldp_neighbors_detail_json",
            aliases=("show lldp neighbors detail | json", "show lldp neighbors detail | json | no-more"),
            fallback_for="lldp_detail",
            sent=False,
            fills=(Fill(Neighbour, Layer.APPLIED, lldp.COLUMNS),),
            parser=Parser.JSON,
            normalise=lldp.document,
            proof={"neighbour": "/lldpNeighbors/{0}/lldpNeighborInfo"},
            proven_by="captures eos/anta_two_neighbors, anta_dot_in_hostname; get_lldp_neighbors_detail of napalm's EOS driver",
        ),
        Source(
            key="lldp_neighbors",
            command="show lldp neighbors",
            fallback_for="lldp_detail",
            fills=(Fill(Neighbour, Layer.APPLIED, ("system",)),),
            parser=Parser.TEXT,
            normalise=lldp.table,
            anchor=(r"^Port\s+Neighbor Device ID\s+Neighbor Port ID\s+TTL",),
            shown=names.in_tables,
            proof={"neighbour": r"^{0}\s.*{1}"},
            proven_by="show lldp neighbors of three releases in ntc-templates",
        ),
    ),
    failures=(
        Failure(r"^% (?:Authorization denied|Permission denied|Unauthorized)\b.*", GapReason.PERMISSION, "the switch refused it"),
        Failure(r"^% .+", GapReason.REJECTED, "the switch does not take the command"),
    ),
    pagers=(r"--\s?[Mm]ore\s?--",),
    prompts=(r"[\w.()-]{1,80}[>#] ?$",),
    unsupported=(
        Unsupported("system", ("hostname", "booted_at"), "`show version` has no name and no time of the start"),
        Unsupported(
            "interface",
            (
                "up_since", "mtu", "frame_bytes", "mtu_shown", "fec", "autoneg", "mac", "alias", "cable_length_m",
                "breakout_parent", "lanes", "description",
            ),
            _NO_SOURCE,
        ),
        Unsupported("neighbour", ("protocol",), "EOS lists what it heard by LLDP alone"),
        *(
            Unsupported(table, columns, "no capture and no document of EOS proves what it prints of it")
            for table, columns in (
                ("qos_port", ("trust", "dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities", "pfc_direction")),
                ("buffer", ("mode", "ingress_pools", "model")),
            )
        ),
    ),
)  # fmt: skip
