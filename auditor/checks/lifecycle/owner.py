"""`lifecycle.second_owner`: who sets the QoS of a host's NICs, and whether somebody else does too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auditor.address import Address
from auditor.checks.lifecycle import layer as layers
from auditor.facts import HostQos, Nic, NicOption, Service
from auditor.model import (
    ABSENT,
    Cell,
    Deviation,
    Gap,
    GapReason,
    Judgement,
    RuleContext,
    Severity,
    Spot,
    State,
    check,
    failed,
    passed,
    unseen,
)

STARTED = frozenset({"enabled", "generated"})
"""Unit file states (systemctl, is-enabled) of a unit that every start of the machine brings up."""
UNTOLD = frozenset({"static", "indirect", "alias"})
"""States of a unit that is brought up when another one is: its own state does not tell."""
RUNTIME = "enabled-runtime"
"""Up until the next start only: not enough for the owner, too much for the others."""

AGENT = re.compile(r"LLDP_NB_DCBX(?:_P\d)?")
"""Firmware options that let the NIC's own agent speak DCBX (mlxconfig: LLDP_NB_DCBX_P1)."""

_UNIT = r"^[A-Za-z0-9:_.@\\-]+\.[a-z]+$"


class Ownership(BaseModel):
    """`params`: who owns the QoS settings of the NICs. What is left out is not judged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    owner: str | None = Field(default=None, pattern=_UNIT, description="Unit that sets them after each start, with its suffix")
    others: tuple[Annotated[str, Field(pattern=_UNIT)], ...] = Field(default=(), description="Units that must not set them too")
    dcbx: Literal["os"] | None = Field(default=None, description="os: no NIC takes over what its switch offers by DCBX")
    why: str = Field(default="", description="Why the site wants it so")

    @model_validator(mode="after")
    def _says_something(self) -> Ownership:
        if self.owner is None and not self.others and self.dcbx is None:
            raise ValueError("give `owner`, `others` or `dcbx`: without any of them nothing is judged")
        if self.owner in self.others:
            raise ValueError(f"{self.owner} cannot be the owner and one of the others")
        return self


_READS = ("service.enabled", "host_qos.dcbx_owner", "nic_option.value", "nic.netdev")


@check(
    family="lifecycle",
    reads=_READS,
    optional=_READS,
    severity=Severity.WARNING,
    needs_params=True,
    params_type=Ownership,
    remedy="Leave one owner. Enable the unit that sets QoS and disable the others; where DCBX is to stay out of it, give its "
    "control to the operating system (mlnx_qos -i NETDEV -d os, in that very unit) or switch off the agent in the firmware.",
)
def second_owner(state: State, context: RuleContext) -> Iterator[Judgement]:
    """One agent alone sets the QoS of a host's NICs: the unit that the baseline names, which every start brings up.

    `params` say who: `owner` (a unit that must be enabled, or its settings are gone after the next start), `others` (units that
    must not be enabled) and `dcbx: os`. What a unit does is not interpreted. Without `params` nothing is judged: many sites let
    DCBX or another tool own these settings on purpose.

    Firmware control of DCBX is the factory state of healthy NICs, and harmless while the firmware's own agent is off. So it is
    judged only where the baseline says `dcbx: os`, on planned ports of planes with a lossless class, and passes where
    the NIC's firmware options show the agent off (LLDP_NB_DCBX). A NIC that does not know DCBX is not judged.

    Why it matters: of two owners the last one wins, in an order that changes with every start. The NIC runs well until the
    switch offers other priorities, or until the host comes back from a repair with its factory trust and without PFC.
    """
    intent: Ownership = context.params
    if intent.owner is not None:
        yield _unit(state, intent.owner, intent, owns=True)
    for name in intent.others:
        yield _unit(state, name, intent, owns=False)
    if intent.dcbx is not None:
        for port in _ports(context):
            yield from _dcbx(state, port, intent)


def _unit(state: State, name: str, intent: Ownership, *, owns: bool) -> Judgement:
    row = Address(Service.TABLE, (name,))
    cell = state.cell(replace(row, column="enabled"))
    if not cell.known:
        return unseen(row, layers.gap_of(state, cell))
    word = "not installed" if cell.value is ABSENT else str(cell.value)
    if word in UNTOLD:
        detail = f"{name} is {word}: another unit brings it up or does not, which its own state does not tell"
        return unseen(row, Gap(state.device, Service.TABLE, "", GapReason.UNSUPPORTED, detail, cell.layer, (name,)))
    if owns and word not in STARTED:
        said = f"{name}, which sets the QoS of the NICs, is {word}: the settings are gone after the next start"
    elif not owns and word in (*STARTED, RUNTIME):
        said = f"{name} is {word} and may set the QoS of the NICs" + (f" beside {intent.owner}" if intent.owner else "")
    else:
        return passed(row)
    return failed(row, _deviation("enabled" if owns else "disabled", word, said, intent, (layers.spot(state, cell),)))


def _dcbx(state: State, port: str, intent: Ownership) -> Iterator[Judgement]:
    row = Address(HostQos.TABLE, (port,))
    owner = state.cell(replace(row, column="dcbx_owner"))
    if not owner.known:
        yield unseen(row, layers.gap_of(state, owner))
    elif owner.present:
        agent = _agent(state, port)
        on = [cell for cell in agent if str(cell.value).lower() in ("true", "1")]
        if owner.value == "os" or (agent and not on):
            yield passed(row)
            return
        told = f"its agent is on ({on[0].address.key[1]} {on[0].value})" if on else "whether its agent is on was not read"
        said = f"{owner.value} controls DCBX on {port}, not the operating system, and {told}: the switch may override the host"
        spots = tuple(layers.spot(state, cell) for cell in (owner, *on[:1]))
        yield failed(row, _deviation("os", str(owner.value), said, intent, spots))


def _agent(state: State, port: str) -> list[Cell]:
    """The cells that switch the DCBX agent in the firmware of a port's NIC."""
    cards = {key[0] for key, row in state.rows(Nic).items() if row.netdev == port}
    keys = [key for key in state.keys(NicOption, "value") if key[0] in cards and AGENT.fullmatch(key[1])]
    return [cell for key in keys if (cell := state.cell(Address(NicOption.TABLE, key, "value"))).present]


def _ports(context: RuleContext) -> list[str]:
    """Planned ports of every plane with a lossless class, sorted."""
    planes = context.fabric.planes if context.fabric is not None else {}
    lossless = [name for name, plane in planes.items() if any(item.lossless for item in plane.classes)]
    return sorted({port for name in lossless for port in context.groups.get(name, ())})


def _deviation(expected: str, observed: str, message: str, intent: Ownership, spots: tuple[Spot, ...]) -> Deviation:
    return Deviation(expected, observed, f"{message} ({intent.why})" if intent.why else message, spots)
