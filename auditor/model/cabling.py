"""Causes of wrong cables and the hand movements that mend them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from auditor.model.plan import Link, LinkEnd, Place
from auditor.model.verdict import Severity


class Hand(StrEnum):
    """One hand movement.

    unplug: take a plug out and let it hang · plug: put the hanging plug in · move: out of one port and into another at
    once · remove: take a cable away that no plan has · lay: a cable is missing, bring one · look: see what is there first.
    """

    UNPLUG = "unplug"
    PLUG = "plug"
    MOVE = "move"
    REMOVE = "remove"
    LAY = "lay"
    LOOK = "look"


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a work order. A plug fills one place, or the lanes of a breakout (several places of one device).

    `source` and `target` are the places the plug leaves and fills; empty where it hangs before or after. `far` is where the
    other end of the same cable is. `label` is what the plan writes on the cable that belongs into `target`. `look_first`:
    what is in `target` now was not seen. `takes_along`: names of right links that are open for a moment since they share
    the plug.
    """

    hand: Hand
    source: tuple[Place, ...] = ()
    target: tuple[Place, ...] = ()
    far: tuple[Place, ...] = ()
    label: str = ""
    look_first: bool = False
    takes_along: tuple[str, ...] = ()


class CauseKind(StrEnum):
    """What a person did, or what else explains links that are not as planned."""

    SWAPPED = "swapped"
    CYCLE = "cycle"
    WRONG_PORT = "wrong_port"
    SHIFTED = "shifted"
    NIC_ORDER = "nic_order"
    PORT_ORDER = "port_order"
    HOSTS_EXCHANGED = "hosts_exchanged"
    SWITCH_NAMES_EXCHANGED = "switch_names_exchanged"
    RENUMBERED = "renumbered"
    CABLES_OR_NUMBERING = "cables_or_numbering"
    PLAN_WRONG = "plan_wrong"
    MISSING = "missing"
    DEGRADED = "degraded"
    UNPLANNED = "unplanned"
    NOT_PROVEN = "not_proven"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class CableCause:
    """Links that are wrong for one reason, and what to do about it. `key` names it the same way in every run that sees it.

    `links` are names of planned links, `params` the words of its sentence (device names, counts), `moves` the work order:
    empty where no hand should touch a cable.
    """

    key: str
    kind: CauseKind
    severity: Severity
    links: tuple[str, ...]
    params: Mapping[str, str] = field(default_factory=dict)
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Wiring:
    """What the evidence says of all cables: every planned link with its verdict, pairs that no plan has, and the causes.

    `observed` maps each place to the one across its cable, both ways round, where that is known. `unjudged`: ports that the
    rail rule could say nothing of, where it stands in for a plan.
    """

    links: tuple[Link, ...] = ()
    unplanned: tuple[Link, ...] = ()
    observed: Mapping[Place, Place] = field(default_factory=dict)
    ends: Mapping[Place, LinkEnd] = field(default_factory=dict)
    causes: tuple[CableCause, ...] = ()
    unjudged: int = 0

    def cause_of(self) -> dict[str, CableCause]:
        """The cause of each link that has one, by the link's name."""
        return {name: cause for cause in self.causes for name in cause.links}
