"""What lldpd heard on the ports of a Cumulus switch, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from auditor.dialects import lldpctl, lldpctl_text
from auditor.facts import Neighbour
from auditor.model import GapReason, Normalised, Unread


def document(found: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`lldpctl -f json`, and `net show lldp json` of Cumulus 3, which is the same."""
    for entry in lldpctl.neighbours(found):
        yield entry.row()


def text(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`lldpcli show neighbors`."""
    for item in lldpctl_text.neighbours(body):
        yield Unread(Neighbour, reason=GapReason.TRUNCATED, detail=item) if isinstance(item, str) else item.row()
