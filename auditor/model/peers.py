"""What devices that should be alike say of one attribute: emitted per device, compared where all of them come together."""

from __future__ import annotations

import re
from dataclasses import dataclass

from auditor.model.plan import Fact


@dataclass(frozen=True, slots=True, order=True)
class PeerGroup:
    """Devices that should be alike. `kind` as `Column.peer` says: `model` (of one hardware model), `role` (of one role and
    hardware model), `fleet` (all). `release` are the versions that a rollout has moved its devices to, which make a group of
    their own. Part of the names of findings, so a device's own words are cut to plain characters."""

    kind: str
    role: str = ""
    model: str = ""
    release: str = ""

    def __str__(self) -> str:
        parts = {"model": (self.model,), "role": (self.role, self.model)}.get(self.kind, ("fleet",))
        name = "/".join(re.sub(r"[^A-Za-z0-9._+-]+", "_", part)[:80] for part in parts if part)
        return f"{name}+{self.release}" if self.release else name

    def may_hold(self, role: str, model: str) -> bool:
        """Whether a device belongs, or (its model is not known) could belong, to the group."""
        return (self.kind != "role" or role == self.role) and (self.kind == "fleet" or model in ("", self.model))


@dataclass(frozen=True, slots=True)
class PeerFact:
    """What one device says of one attribute. `address` stands for the rows it was taken from, which are pooled:
    `queue[@compute+host_facing,3].ecn_min_bytes`; `column` is its `table.column`.

    `value` is the canonical text of all their values, a digest where that is long; None: not all of them are known, and an
    empty `address` then means every attribute of the column. `cells`: for each distinct value one row that has it, at most
    five; of an unknown one a cell with its gap. `words`: what the value stands for, in sentences, where it is a hash.
    """

    group: PeerGroup
    address: str
    column: str
    value: str | None
    cells: tuple[Fact, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PeerValue:
    """One value of an attribute: the devices that have it, the cells of the first few of them, and its `words`."""

    value: str
    devices: tuple[str, ...]
    cells: tuple[tuple[str, tuple[Fact, ...]], ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Peers:
    """The histogram of one attribute over a group, the commonest value first. `unseen`: devices whose value is not known,
    each with the cell that says why, if there is one."""

    group: PeerGroup
    address: str
    column: str
    values: tuple[PeerValue, ...] = ()
    unseen: tuple[tuple[str, Fact | None], ...] = ()

    @property
    def name(self) -> str:
        """`leaf/MODEL:buffer.model`: how judgements name it; findings write `group[…]` around it."""
        return f"{self.group}:{self.address}"
