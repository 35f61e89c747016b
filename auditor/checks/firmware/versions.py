"""What params say of versions: a component, which part of it is meant, and the versions that are good."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auditor.address import Address
from auditor.baseline import operators
from auditor.facts import Firmware
from auditor.model import Cell, GapReason, Judgement, State, unseen

_REVISION = re.compile(r"_[A-Z][0-9x](?:[-_][A-Z][0-9x])*$")
"""What NVIDIA's firmware tools put behind a part number: the revisions of the board that the firmware is for."""


class Versions(BaseModel):
    """Good versions of a component, given as a range or one by one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    component: str = Field(min_length=1, description="Component, or a glob over components: `nic.*`")
    part: str | None = Field(
        default=None, description="Only components with this vendor part number, or a glob: `MCX75310AAS-NEA*`"
    )
    psid: list[str] = Field(default_factory=list, description="Only adapters with one of these parameter-set ids")
    version: str | None = Field(default=None, description="Allowed range, as the operator `version` reads it: `>=28.39,<28.43`")
    among: list[str] | None = Field(default=None, alias="in", min_length=1, description="Allowed versions, one by one")

    @model_validator(mode="after")
    def _one_set(self) -> Versions:
        if (self.version is None) == (self.among is None):
            raise ValueError("give either `version` (a range) or `in` (a list of versions)")
        if self.version is not None and (problem := operators.check_value("version", self.version, "str")):
            raise ValueError(f"`version` {problem}")
        return self

    @property
    def explicit(self) -> bool:
        """Whether it names one component that must be there."""
        return not set("*?[") & set(self.component)

    @property
    def words(self) -> str:
        """The good values as a person says them."""
        values = self.version if self.version is not None else " or ".join(self.among or ())
        part = f" on {self.part}" if self.part else ""
        return values + part + (f" (PSID {', '.join(self.psid)})" if self.psid else "")

    def allows(self, version: str) -> bool:
        """Whether this version is good."""
        if self.among is not None:
            return version in self.among
        return operators.holds("version", version, self.version)

    def speaks_of(self, part: Cell, psid: Cell) -> bool | Cell:
        """Whether this component is meant, or the cell that leaves it open. A matching PSID settles the part."""
        if self.part is not None and part.present and not same_part(self.part, str(part.value)):
            return False
        if self.psid:
            return psid.value in self.psid if psid.known else psid
        if self.part is None or part.present:
            return True
        return part if part.value is None else False


def same_part(wanted: str, seen: str) -> bool:
    """Whether a part number is the wanted one, or fits its glob.

    Firmware tools name a board by what all brackets of it share, with its revisions behind: `MCX75310AAS-NEA_Ax` is the board
    that is ordered as MCX75310AAS-NEAT. So with revisions on one side the beginning counts.
    """
    if fnmatchcase(seen, wanted):
        return True
    board, ordered = _REVISION.sub("", seen), _REVISION.sub("", wanted)
    return (board != seen and ordered.startswith(board)) or (ordered != wanted and board.startswith(ordered))


def nothing_seen(state: State) -> Iterator[Judgement]:
    """The one judgement of a rule that has no version to look at, where that is for a gap and not for want of firmware."""
    gap = state.gap_at(Firmware.TABLE, None, (), "version")
    if not state.keys(Firmware, "version") and gap in state.gaps and gap.reason is not GapReason.UNSUPPORTED:
        yield unseen(Address(Firmware.TABLE), gap)
