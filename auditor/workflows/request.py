"""What a run was asked for, and what its device jobs have given so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from auditor.evaluate.peers import Census
from auditor.facts import Neighbour
from auditor.model import Change, Device, DeviceOutcome, FabricPort, LinkEnd, Place


@dataclass(frozen=True, slots=True)
class Request:
    """What to audit. `devices` are judged; `everything` collects all sources instead of those the rules read.

    `witnesses` are devices outside the scope at the far ends of its links, of which outputs are at hand: read for their
    ends, not judged, not stored. `known`: ends of an earlier look, for far ends that this one does not ask. `rails`: the wiring
    is judged by what most hosts show, not by the plan. `lang`: the language of work orders.
    """

    devices: tuple[Device, ...]
    scope: str
    source: str
    only: tuple[str, ...] = ()
    everything: bool = False
    processes: int = 0
    whole_fleet: bool = False
    notes: tuple[str, ...] = ()
    witnesses: tuple[Device, ...] = ()
    known: Mapping[Place, LinkEnd] = field(default_factory=dict)
    rails: bool = False
    lang: str = "en"


@dataclass(slots=True)
class Gathered:
    """What the device jobs gave, before the links are judged."""

    outcomes: dict[str, DeviceOutcome] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    ends: dict[Place, LinkEnd] = field(default_factory=dict)
    census: Census = field(default_factory=Census)
    fabric_ports: list[FabricPort] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    heard: set[str] = field(default_factory=set)

    def witness(self, outcomes: Iterable[DeviceOutcome]) -> None:
        """Keep what devices show of cables, judged or not."""
        for outcome in outcomes:
            self.ends.update({(end.device, end.port): end for end in outcome.ends})
            self.fabric_ports.extend(outcome.fabric_ports)
            self.models[outcome.device] = outcome.hardware_model
            if any(key.table == Neighbour.TABLE for key in outcome.seen):
                self.heard.add(outcome.device)
