"""LLDP neighbours of SONiC: lldpctl's JSON, else what `show lldp neighbors` prints, else the short table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from auditor.address import Layer
from auditor.dialects import lldpctl, lldpctl_text
from auditor.facts import Neighbour
from auditor.model import Fill, GapReason, Normalised, Parser, Privilege, Source, Unread
from auditor.platforms.sonic import tables


def neighbours(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """LLDP neighbours from lldpctl's JSON."""
    for entry in lldpctl.neighbours(document):
        yield entry.row()


def neighbours_text(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The same from lldpctl's printed form; where several instances run, one list stands behind the other."""
    for item in lldpctl_text.neighbours(body):
        yield Unread(Neighbour, reason=GapReason.TRUNCATED, detail=item) if isinstance(item, str) else item.row()


_PORT = r"^Interface: +{0}," + "\n"

SOURCES = (
    Source(
        key="lldpctl",
        command="lldpctl -f json",
        aliases=(
            "sudo lldpctl -f json", "lldpctl -f json0", "docker exec lldp lldpctl -f json", "docker exec lldp lldpctl -f json0",
            "docker exec -i lldp lldpctl -f json", "docker exec -i lldp lldpctl -f json0",
        ),
        privilege=Privilege.SUDO,
        fills=(Fill(Neighbour, Layer.APPLIED, lldpctl.COLUMNS),),
        parser=Parser.JSON,
        normalise=neighbours,
        proof={"neighbour": "/lldp/interface"},
        proven_by="capture sonic/t0_full; sonic-buildimage docker-lldp/base_image_files/lldpctl",
    ),
    Source(
        key="lldp_neighbors",
        command="show lldp neighbors",
        aliases=("lldpshow -d", "sudo lldpshow -d", "lldpctl", "docker exec lldp lldpctl", "docker exec -i lldp lldpctl"),
        fills=(Fill(Neighbour, Layer.APPLIED, lldpctl.COLUMNS),),
        parser=Parser.TEXT,
        normalise=neighbours_text,
        anchor=(r"^LLDP neighbors:", lldpctl_text.END),
        fallback_for="lldpctl",
        proof={
            "neighbour": _PORT + r"^ +PortID: +\S+ {1}$", "neighbour.system": _PORT + r"^ +SysName:",
            "neighbour.port_description": _PORT + r"^ +PortDescr:", "neighbour.chassis": _PORT + r"^ +ChassisID:",
        },
        proven_by="capture sonic/cmdref_t0; sonic-utilities scripts/lldpshow (get_info)",
    ),
    Source(
        key="lldp_table",
        command="show lldp table",
        aliases=("lldpshow", "sudo lldpshow"),
        fills=(Fill(Neighbour, Layer.APPLIED, ("system", "port_description")),),
        parser=Parser.TEXT,
        normalise=tables.lldp_table,
        anchor=(r"^LocalPort\s+RemoteDevice\s+RemotePortID\b", r"^Total entries displayed:\s+\d"),
        fallback_for="lldpctl",
        proof={"neighbour": r"^{0}\s.*{1}"},
        proven_by="capture sonic/ut_two_macs; sonic-utilities scripts/lldpshow",
    ),
)  # fmt: skip
