"""The packet buffer as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from auditor.address import Address
from auditor.checks.lossless.ports import gap, planned, spot
from auditor.model import ABSENT, Deviation, Judgement, RuleContext, Severity, State, check, failed, passed, unseen
from auditor.model.device import is_host


class BufferIntent(BaseModel):
    """`params` of `buffer_mode`: what the packet buffer must be. What is left out is not judged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["lossless", "lossy"] | None = Field(default=None, description="lossless or lossy")
    model: Literal["static", "dynamic"] | None = Field(default=None, description="static or dynamic buffer model")
    why: str = Field(default="", description="Why the site wants it so")


@check(
    reads=("buffer.mode", "buffer.model"),
    optional=("buffer.mode", "buffer.model", "buffer.vendor_word"),
    severity=Severity.ERROR,
    params_type=BufferIntent,
    remedy="Bring the buffer back to the wanted mode and model. On most switches a change of model needs a reload of the QoS "
    "configuration or a restart before the ASIC follows: look at the applied buffers afterwards.",
    family="lossless",
)
def buffer_mode(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The packet buffer is lossless where the plan needs it, and of the model (static or dynamic) that the baseline names.

    Without `params`, a switch with planned ports in a plane that has a lossless class must have a lossless buffer; the model is
    then not judged. The buffer daemon may go on in the former model until it is restarted.

    Why it matters: a database migration at an upgrade, or a QoS reload, has switched the model without a word. Headroom is
    then computed another way or not at all, and the first congestion drops packets in a class that everybody takes for lossless.
    """
    intent = context.params if isinstance(context.params, BufferIntent) else BufferIntent()
    needs = not is_host(context.role) and bool(planned(context, lambda item: item.lossless))
    wanted = {"mode": intent.mode or ("lossless" if needs else None), "model": intent.model}
    cells = {name: state.cell(Address("buffer", (), name)) for name, value in wanted.items() if value is not None}
    row = Address("buffer")
    wrong = {name: cell for name, cell in cells.items() if cell.known and cell.value != wanted[name]}
    hidden = next((cell for cell in cells.values() if not cell.known), None)
    if wrong:
        seen = {name: "absent" if cell.value is ABSENT else str(cell.value) for name, cell in wrong.items()}
        word = state.cell(Address("buffer", (), "vendor_word"))
        asides = [f"the device says {word.value}"] if word.present and word.value not in seen.values() else []
        asides += [intent.why] if intent.why else []
        deviation = Deviation(
            expected=", ".join(f"{name} {wanted[name]}" for name in wrong),
            observed=", ".join(f"{name} {value}" for name, value in seen.items()),
            message="; ".join([*(f"buffer {name} is {value}, wanted {wanted[name]}" for name, value in seen.items()), *asides]),
            spots=tuple(spot(state, cell) for cell in wrong.values()),
        )
        yield failed(row, deviation)
    elif hidden is not None:
        yield unseen(row, gap(state, hidden))
    elif cells:
        yield passed(row)
