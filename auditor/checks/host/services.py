"""`host.service_unexpected`: units that every start of a host brings up, or must not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from auditor.address import Address
from auditor.checks.lifecycle import layer as layers
from auditor.checks.lifecycle.owner import RUNTIME, STARTED, UNTOLD
from auditor.facts import Service
from auditor.model import (
    ABSENT,
    Deviation,
    Gap,
    GapReason,
    Judgement,
    RuleContext,
    Severity,
    State,
    check,
    failed,
    passed,
    unseen,
)


class Unit(BaseModel):
    """One line of `params`: what a unit must be. One that is not installed is as good as disabled."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    unit: str = Field(pattern=r"^[A-Za-z0-9:_.@\\-]+\.service$", description="Unit with its suffix")
    state: Literal["enabled", "disabled", "masked"] = Field(description="Whether a start of the machine brings it up")
    severity: Severity = Field(default=Severity.WARNING, description="Severity of another state")
    why: str = Field(min_length=1, description="Why the site wants it so")


@check(
    family="host",
    reads=("service.enabled",),
    severity=Severity.WARNING,
    needs_params=True,
    params_type=list[Unit],
    remedy="Bring the unit to the wanted state (systemctl enable, disable or mask UNIT) in the image or playbook that sets up "
    "the hosts, or the next repair brings the old state back.",
)
def service_unexpected(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Every unit that the baseline names is enabled, disabled or masked as it says.

    Judged is what the next start of the machine does, not whether the unit runs now. A unit that another one brings up
    (static, indirect, alias) does not tell by its own state, and is not evaluated.

    Why it matters: a balancer of interrupts or a power daemon that an update has enabled again costs a share of every
    job, and a fabric manager that no start brings up costs the host after its next reboot. Nothing of it raises an alarm.
    """
    lines: list[Unit] = context.params
    for line in {line.unit: line for line in lines}.values():
        row = Address(Service.TABLE, (line.unit,))
        cell = state.cell(replace(row, column="enabled"))
        word = "not installed" if cell.value is ABSENT else str(cell.value)
        if not cell.known:
            yield unseen(row, layers.gap_of(state, cell))
        elif word in UNTOLD and line.state != "masked":
            detail = f"{line.unit} is {word}: another unit brings it up or does not, which its own state does not tell"
            yield unseen(row, Gap(state.device, Service.TABLE, "", GapReason.UNSUPPORTED, detail, cell.layer, (line.unit,)))
        elif _fits(line, word):
            yield passed(row)
        else:
            message = f"{line.unit} is {layers.words(word)}, not {line.state} ({line.why})"
            yield failed(row, Deviation(line.state, word, message, (layers.spot(state, cell),), severity=line.severity))


def _fits(line: Unit, word: str) -> bool:
    if line.state == "enabled":
        return word in STARTED
    if line.state == "masked":
        return word in ("masked", "not installed")
    return word not in (*STARTED, RUNTIME)
