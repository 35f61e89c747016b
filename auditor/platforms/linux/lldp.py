"""What lldpd heard on the ports of a host, in the forms that it prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from auditor.address import Layer
from auditor.dialects import lldpctl, lldpctl_keyvalue, lldpctl_text
from auditor.facts import Neighbour
from auditor.model import Fill, GapReason, Normalised, Parser, Privilege, Source, Unread


def neighbours(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """LLDP neighbours from JSON."""
    for entry in lldpctl.neighbours(document):
        yield entry.row()


def neighbours_text(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The same from the printed form."""
    yield from _rows(lldpctl_text.neighbours(body))


def neighbours_keyvalue(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The same from the keyvalue form."""
    yield from _rows(lldpctl_keyvalue.neighbours(body))


def _rows(found: Iterable[lldpctl.LldpEntry | str]) -> Iterator[Normalised]:
    for item in found:
        yield Unread(Neighbour, reason=GapReason.TRUNCATED, detail=item) if isinstance(item, str) else item.row()


_PORT = r"^Interface: +{0}," + "\n"
_FILL = Fill(Neighbour, Layer.APPLIED, lldpctl.COLUMNS)

SOURCES = (
    Source(
        key="lldpctl", command="lldpctl -f json", privilege=Privilege.SUDO,
        aliases=(
            "lldpctl -f json0", "lldpcli show neighbors -f json", "lldpcli show neighbors -f json0",
            "lldpcli -f json show neighbors", "lldpcli -f json0 show neighbors", "lldpcli show neighbors details -f json",
            "lldpcli show neighbors details -f json0", "lldpcli -f json show neighbors details",
            "lldpcli -f json0 show neighbors details",
        ),
        fills=(_FILL,),
        parser=Parser.JSON, normalise=neighbours, proof={"neighbour": "/lldp/interface/{0}"}, proven_by="lldpd 1.0.16",
    ),
    Source(
        key="lldpctl_text", command="lldpctl", privilege=Privilege.SUDO, fallback_for="lldpctl",
        aliases=("lldpcli show neighbors", "lldpcli show neighbors details"),
        fills=(_FILL,),
        parser=Parser.TEXT, normalise=neighbours_text, anchor=(r"^LLDP neighbors:", lldpctl_text.END),
        proof={
            "neighbour": _PORT + r"^ +PortID: +\S+ {1}$", "neighbour.system": _PORT + r"^ +SysName:",
            "neighbour.port_description": _PORT + r"^ +PortDescr:", "neighbour.chassis": _PORT + r"^ +ChassisID:",
        },
        proven_by="lldpd 1.0.16 (both tools print the same with details); text_writer.c and display.c of lldpd",
    ),
    # Live, the two above suffice.
    Source(
        key="lldpctl_keyvalue", command="lldpctl -f keyvalue", fallback_for="lldpctl", sent=False,
        aliases=(
            "lldpcli show neighbors -f keyvalue", "lldpcli -f keyvalue show neighbors",
            "lldpcli show neighbors details -f keyvalue", "lldpcli -f keyvalue show neighbors details",
        ),
        fills=(_FILL,),
        parser=Parser.TEXT, normalise=neighbours_keyvalue, empty=True, anchor=(lldpctl_keyvalue.START,),
        proof={
            "neighbour": r"^lldp\.{0}\.port\.\w+={1}$", "neighbour.system": r"^lldp\.{0}\.chassis\.name=",
            "neighbour.port_description": r"^lldp\.{0}\.port\.descr=",
        },
        proven_by="lldpd 1.0.16; kv_writer.c of lldpd",
    ),
)  # fmt: skip
