"""Rules about how the kernel of a host was started: its parameters, its IOMMU, its modules."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auditor.address import Address
from auditor.checks.lifecycle import layer as layers
from auditor.dialects.cmdline import alike
from auditor.facts import KernelModule, KernelParameter
from auditor.model import (
    Cell,
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


class Wanted(BaseModel):
    """One line of `params`: what a parameter of the kernel's command line must be. Exactly one of the five."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, description="Name before the equals sign; dashes and underscores are alike")
    eq: str | None = Field(default=None, description="The value; empty for a bare word")
    among: list[str] | None = Field(default=None, alias="in", min_length=1, description="Good values, one by one")
    contains: str | None = Field(default=None, description="A member that its comma list must have: `pci=…,realloc=off`")
    present: bool = Field(default=False, description="It must be there, with whatever value")
    absent: bool = Field(default=False, description="It must not be there")
    severity: Severity = Field(default=Severity.ERROR, description="Severity of something else")
    why: str = Field(min_length=1, description="Why the site wants it so")

    @model_validator(mode="after")
    def _one_wish(self) -> Wanted:
        if sum((self.eq is not None, self.among is not None, self.contains is not None, self.present, self.absent)) != 1:
            raise ValueError("give exactly one of `eq`, `in`, `contains`, `present` and `absent`")
        return self

    @property
    def words(self) -> str:
        """The wish as a person says it."""
        if self.absent:
            return f"no {self.name}"
        if self.present:
            return f"{self.name} with any value"
        if self.contains is not None:
            return f"{self.name} with {self.contains}"
        return " or ".join(_assigned(self.name, value) for value in (self.among or [self.eq or ""]))

    def holds(self, value: str | None) -> bool:
        """Whether a value is as wanted; None: the parameter is not there."""
        if value is None or self.absent:
            return value is None and self.absent
        if self.contains is not None:
            return self.contains in value.split(",")
        return self.present or value == self.eq or value in (self.among or ())


@check(
    family="host",
    reads=("kernel_parameter.value",),
    severity=Severity.ERROR,
    needs_params=True,
    params_type=list[Wanted],
    remedy="Set it where the boot loader gets the kernel's command line from (GRUB_CMDLINE_LINUX in /etc/default/grub, grubby or "
    "kernelstub, by distribution), in the image of the hosts as well, and start the drained host anew.",
)
def kernel_parameter(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Every parameter that the baseline names stands on the command line of the running kernel as wanted.

    Of a parameter that is given twice the last one counts. What is not on the command line has the default that the kernel
    was built with, which nobody can see from here: it is told as not given, never as a value.

    Why it matters: huge pages, power states, NUMA balancing and the IOMMU are settled at the start. One host whose boot entry was
    rebuilt without them runs the same job slower than all others, and nothing on it looks wrong.
    """
    lines: list[Wanted] = context.params
    for line in {alike(line.name): line for line in lines}.values():
        cell = _parameter(state, line.name)
        row = cell.address.row
        if not cell.known:
            yield unseen(row, layers.gap_of(state, cell))
        elif line.holds(str(cell.value) if cell.present else None):
            yield passed(row)
        else:
            observed = _assigned(line.name, str(cell.value)) if cell.present else "not given"
            message = f"the kernel was started with {observed}, not {line.words} ({line.why})"
            if not cell.present:
                message = f"the kernel was started without {line.words} ({line.why})"
            spots = (layers.spot(state, cell),)
            yield failed(row, Deviation(line.words, observed, message, spots, severity=line.severity))


def _parameter(state: State, name: str) -> Cell:
    """The cell of a parameter, under the name in which the command line has it."""
    keys = state.keys(KernelParameter, "value")
    written = next((key[0] for key in keys if alike(key[0]) == alike(name)), name)
    return state.cell(Address(KernelParameter.TABLE, (written,), "value"))


def _assigned(name: str, value: str) -> str:
    return f"{name}={layers.words(value)}" if value else name


class Module(BaseModel):
    """One line of `params`: a module that must be loaded. Several names: one of them, as drivers rename their modules."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    names: list[str] = Field(min_length=1, description="Names of the module, old and new; one of them is enough")
    severity: Severity = Field(default=Severity.CRITICAL, description="Severity of its absence")
    why: str = Field(min_length=1, description="What does not work without it")


@check(
    family="host",
    reads=("kernel_module.loaded",),
    severity=Severity.CRITICAL,
    needs_params=True,
    params_type=list[Module],
    remedy="Load it (modprobe NAME) and have every start load it (a file in /etc/modules-load.d). Where it is not there for the "
    "running kernel, the driver was not built for it: install the driver again, then load it.",
)
def module_missing(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Every kernel module that the baseline names is loaded, under one of its names.

    Newer drivers reach the memory of GPUs through the kernel itself (DMA-BUF) and need no module for it; so only the
    site can say which ones must be there. A module that is built into the kernel without any parameter does not show: do not
    name such ones.

    Why it matters: without the module that lets the adapter read the memory of the GPU (nvidia_peermem), every message goes
    through the memory of the host. An update of the kernel is enough to lose it, and 180 GB/s become 10 without an error.
    """
    lines: list[Module] = context.params
    for line in lines:
        names = [alike(name) for name in line.names]
        cells = [state.cell(Address(KernelModule.TABLE, (name,), "loaded")) for name in names]
        row = cells[0].address.row
        unknown = next((cell for cell in cells if not cell.known), None)
        if any(cell.value is True for cell in cells):
            yield passed(row)
        elif unknown is not None:
            yield unseen(row, layers.gap_of(state, unknown))
        else:
            wanted = " or ".join(names)
            message = f"the kernel module {wanted} is not loaded ({line.why})"
            spots = (layers.spot(state, cells[0]),)
            yield failed(row, Deviation(f"{wanted} loaded", "not loaded", message, spots, severity=line.severity))


class Iommu(BaseModel):
    """`params`: how DMA of GPUs and adapters may pass the IOMMU."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    passthrough: bool = Field(default=True, description="DMA is not translated: pass-through, or no IOMMU at all")
    built_in: bool | None = Field(
        default=None,
        description="Whether this kernel was built with pass-through as its default (CONFIG_IOMMU_DEFAULT_PASSTHROUGH)",
    )
    why: str = Field(min_length=1, description="Why the site wants it so")


_DRIVERS = {"intel_iommu": "intel", "amd_iommu": "amd"}
"""Parameters of the drivers, by a word that names of the processors hold which they are for."""


@check(
    family="host",
    reads=("kernel_parameter.value", "cpu.model"),
    optional=("cpu.model",),
    severity=Severity.ERROR,
    needs_params=True,
    params_type=Iommu,
    remedy="Add iommu=pt to the kernel's command line (or switch the IOMMU off in the BIOS where nothing needs it), and start "
    "the drained host anew. intel_iommu=on alone switches translation on.",
)
def iommu(state: State, context: RuleContext) -> Iterator[Judgement]:
    """DMA passes the IOMMU untranslated, or there is none (`passthrough: true`); or it is translated, where the site wants that.

    Judged is the command line: iommu=pt or nopt, iommu.passthrough, off for the driver of the machine's own
    processors, and intel_iommu=on, which without one of the others turns translation on. Where none of them speaks, or two of
    them contradict each other, the kernel's built-in default decides, which is invisible: not evaluated, unless `built_in` tells
    it. Without `params` nothing is judged: virtual machines and processors from Arm need translation.

    Why it matters: with translation every transfer between GPU and adapter goes up to the root complex to have its address looked
    up. GPUDirect loses half its bandwidth or hangs, on hosts where each single device works.
    """
    intent: Iommu = context.params
    row = Address(KernelParameter.TABLE, ("iommu",))
    names = ("iommu", "iommu.passthrough", *_DRIVERS)
    cells = {name: _parameter(state, name) for name in names}
    hidden = next((cell for cell in cells.values() if not cell.known), None)
    if hidden is not None:
        yield unseen(row, layers.gap_of(state, hidden))
        return
    words = {name: str(cell.value).split(",") for name, cell in cells.items() if cell.present}
    said = _said(words, str(state.cell(Address("cpu", (), "model")).value or "").lower())
    verdicts = set(said.values())
    if not said and intent.built_in is not None:
        verdicts = {intent.built_in}
    if len(verdicts) != 1:
        told = "nothing on the command line decides it" if not said else f"{' and '.join(said)} contradict each other"
        detail = f"{told}: the kernel's built-in default is invisible"
        yield unseen(row, Gap(state.device, row.table, "", GapReason.UNSUPPORTED, detail, cells["iommu"].layer, row.key))
    elif verdicts == {intent.passthrough}:
        yield passed(row)
    else:
        yield failed(row, _translated(state, intent, cells, list(said)))


def _said(words: dict[str, list[str]], processor: str) -> dict[str, bool]:
    """Which parameters decide, each with True for untranslated DMA. What is off leaves nothing else to decide."""
    for name, maker in _DRIVERS.items():
        if "off" in words.get(name, ()) and maker in processor:
            return {f"{name}=off": True}
    if "off" in words.get("iommu", ()):
        return {"iommu=off": True}
    said = {f"iommu={word}": word == "pt" for word in words.get("iommu", ()) if word in ("pt", "nopt")}
    said |= {f"iommu.passthrough={word}": word in ("1", "y", "on") for word in words.get("iommu.passthrough", ())}
    if not said and "on" in words.get("intel_iommu", ()) and "amd" not in processor:
        said = {"intel_iommu=on": False}
    return said


def _translated(state: State, intent: Iommu, cells: dict[str, Cell], said: list[str]) -> Deviation:
    shown = [cell for name, cell in cells.items() if any(word.startswith(f"{name}=") for word in said)] or [cells["iommu"]]
    observed = " ".join(said) or "the kernel's default"
    wanted = "untranslated DMA (iommu=pt)" if intent.passthrough else "translated DMA (iommu=nopt)"
    does = "translates" if intent.passthrough else "does not translate"
    return Deviation(
        expected=wanted,
        observed=observed,
        message=f"the IOMMU {does} DMA ({observed}), wanted: {wanted} ({intent.why})",
        spots=tuple(layers.spot(state, cell) for cell in shown),
    )
