"""`firmware.pair_not_allowed` and `firmware.far_end_not_allowed`: versions that only go together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from pydantic import BaseModel, ConfigDict, Field

from auditor.address import Address
from auditor.baseline.version import version_key
from auditor.checks.firmware.allowed import why_unknown
from auditor.checks.firmware.versions import Versions, nothing_seen
from auditor.facts import Firmware, Gpu, Pci, System
from auditor.model import (
    Cell,
    Deviation,
    Fact,
    Gap,
    GapReason,
    Judgement,
    Link,
    LinkEnd,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    State,
    check,
    failed,
    passed,
    unseen,
)
from auditor.model.device import is_host

_GPU_DRIVER, _MANAGER = "driver.gpu", "fabric_manager"
_NVIDIA, _BRIDGE = 0x10DE, 0x0680
"""Vendor and PCI class of an NVSwitch."""


class Pair(BaseModel):
    """One line of `params`: where a component runs one of these versions, another must run one of those.

    Several lines for the same components are alternatives: one that holds is enough.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: Versions = Field(alias="if", description="The component, its part and the versions that ask for something")
    then: Versions = Field(description="The other component and its good versions")
    severity: Severity = Field(default=Severity.ERROR, description="Severity where they do not go together")
    why: str = Field(min_length=1, description="Who tested or demands the pair")


class FarPair(BaseModel):
    """One line of `params`: with these versions of a host's adapter its switch must run one of those systems."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: Versions = Field(alias="if", description="The adapter, its part and the versions that ask for something")
    then: Versions = Field(description="`component: os` and the good versions of the switch's operating system")
    severity: Severity = Field(default=Severity.ERROR, description="Severity where they do not go together")
    why: str = Field(min_length=1, description="Who tested or demands the pair")


@check(
    family="firmware",
    reads=(
        "firmware.version", "firmware.part_number", "firmware.psid", "gpu.fabric_state", "pci.vendor_id", "pci.class_code",
    ),
    optional=(  # the version too, so that peers still compare what runs
        "firmware.version", "firmware.part_number", "firmware.psid", "gpu.fabric_state", "pci.vendor_id", "pci.class_code",
    ),
    severity=Severity.ERROR,
    params_type=list[Pair],
    remedy="Bring the two to versions that were tested together: as a rule the one that an update left behind. The fabric "
    "manager comes from the same release as the GPU driver.",
)  # fmt: skip
def pair_not_allowed(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Components that only work together run versions that go together.

    Which ones is for the baseline to say (`params`: NIC firmware and driver, for example). One pair needs no baseline: on a host
    with NVSwitches the fabric manager is of the very version of the GPU driver (NVIDIA's fabric manager user guide; it refuses to
    start otherwise, and CUDA answers with error 802). Hosts without NVSwitches need no fabric manager, whatever package lies
    there.

    Why it matters: an update that reaches the driver and not its partner leaves a host that boots, answers and fails the first
    job.
    """
    yield from nothing_seen(state)
    yield from _manager(state)
    pairs: list[Pair] = context.params or []
    for key in state.keys(Firmware, "version"):
        lines = [pair for pair in pairs if fnmatchcase(key[0], pair.when.component)]
        if lines:
            yield from _judge(state, key[0], lines)


def _manager(state: State) -> Iterator[Judgement]:
    row = Address(Firmware.TABLE, (_MANAGER,))
    manager, driver = (state.cell(Address(Firmware.TABLE, (name,), "version")) for name in (_MANAGER, _GPU_DRIVER))
    if not manager.present or not driver.present:
        return
    if version_key(str(manager.value)) == version_key(str(driver.value)):
        yield passed(row)
        return
    switched = _has_switches(state)
    if switched is None:
        words = f"fabric manager {manager.value} beside driver {driver.value}; whether there are NVSwitches was not seen"
        yield unseen(row, Gap(state.device, Firmware.TABLE, "", GapReason.UNSUPPORTED, words, manager.layer, row.key))
    elif switched:
        message = f"the fabric manager is of version {manager.value}, the GPU driver of {driver.value}; they must be the same"
        spots = tuple(Spot(state.device, replace(cell.address, layer=cell.layer)) for cell in (manager, driver))
        yield failed(row, Deviation(str(driver.value), str(manager.value), message, spots, severity=Severity.CRITICAL))


def _has_switches(state: State) -> bool | None:
    """Whether the host has NVSwitches: as a PCI bridge of NVIDIA's, or by GPUs that speak of an NVLink fabric."""
    fabric = [state.cell(Address(Gpu.TABLE, key, "fabric_state")) for key in state.keys(Gpu)]
    functions = state.rows(Pci).values()
    if any(row.vendor_id == _NVIDIA and row.class_code == _BRIDGE for row in functions) or any(cell.present for cell in fabric):
        return True
    if any(row.class_code is not None for row in functions) or (fabric and all(cell.known for cell in fabric)):
        return False
    return None


@dataclass(frozen=True, slots=True)
class _Fault:
    """One partner that does not fit, or of which that is not known (`gap`)."""

    pairs: list[Pair]
    partner: Cell
    gap: Gap | None = None


def _judge(state: State, component: str, lines: list[Pair]) -> Iterator[Judgement]:
    """One component against every partner that lines name for the version it runs."""
    row = Address(Firmware.TABLE, (component,))
    version, part, psid = (state.cell(replace(row, column=column)) for column in ("version", "part_number", "psid"))
    if not version.present:
        yield unseen(row, why_unknown(state, version))
        return
    asked = [line for line in lines if line.when.allows(str(version.value))]
    doubt = next((word for line in asked if isinstance(word := line.when.speaks_of(part, psid), Cell)), None)
    asked = [line for line in asked if line.when.speaks_of(part, psid) is True]
    faults = list(_faults(state, component, asked))
    wrong = [fault for fault in faults if fault.gap is None]
    if wrong:
        yield failed(row, _deviation(state, version, wrong))
    elif faults and faults[0].gap is not None:
        yield unseen(row, faults[0].gap)
    elif asked:
        yield passed(row)
    elif doubt is not None:
        yield unseen(row, why_unknown(state, doubt))


def _faults(state: State, component: str, asked: list[Pair]) -> Iterator[_Fault]:
    for pattern in dict.fromkeys(line.then.component for line in asked):
        lines = [line for line in asked if line.then.component == pattern]
        seen = [key[0] for key in state.keys(Firmware, "version") if fnmatchcase(key[0], pattern) and key[0] != component]
        for name in seen or ([pattern] if lines[0].then.explicit else []):
            row = Address(Firmware.TABLE, (name,))
            cell, part, psid = (state.cell(replace(row, column=column)) for column in ("version", "part_number", "psid"))
            meant = [line for line in lines if line.then.speaks_of(part, psid) is True]
            if not meant:
                continue
            if not cell.present:
                yield _Fault(meant, cell, why_unknown(state, cell))
            elif not any(line.then.allows(str(cell.value)) for line in meant):
                yield _Fault(meant, cell)


def _deviation(state: State, version: Cell, faults: list[_Fault]) -> Deviation:
    parts = []
    for fault in faults:
        wanted = " or ".join(dict.fromkeys(line.then.words for line in fault.pairs))
        why = "; ".join(dict.fromkeys(line.why for line in fault.pairs))
        parts.append((fault.partner.address.key[0], wanted, str(fault.partner.value), why))
    said = "; ".join(f"{name} runs {value}, with it goes {wanted} ({why})" for name, wanted, value, why in parts)
    cells = (*(fault.partner for fault in faults), version)
    return Deviation(
        expected=", ".join(f"{name} {wanted}" for name, wanted, _, _ in parts),
        observed=", ".join(f"{name} {value}" for name, _, value, _ in parts),
        message=f"{version.address.key[0]} runs version {version.value}; {said}",
        spots=tuple(Spot(state.device, replace(cell.address, layer=cell.layer)) for cell in cells),
        severity=min((line.severity for fault in faults for line in fault.pairs), key=lambda severity: severity.rank),
    )


@check(
    family="firmware",
    reads=(),
    optional=("firmware.version", "firmware.part_number", "firmware.psid", "system.os_version"),
    severity=Severity.ERROR,
    kind=RuleKind.LINK,
    params_type=list[FarPair],
    remedy="Bring the adapter or the switch to versions that were tested together; the smaller step is as a rule the host's.",
)
def far_end_not_allowed(link: Link, context: RuleContext) -> Iterator[Judgement]:
    """A host's adapter and the switch at the other end of its cable run versions that go together.

    Which ones is for the baseline to say. Lines for one part are alternatives; an adapter that no line asks anything of is not
    judged.

    Why it matters: adapters and switches agree on speed, error correction and congestion marks in firmware. A pair that nobody
    tested trains slower, flaps or pauses for ever, and each end alone looks as it should.
    """
    lines: list[FarPair] = context.params or []
    hosts = [end for end in link.ends if is_host(end.role)]
    if not lines or len(hosts) != 1:
        return
    host = hosts[0]
    switch = next(end for end in link.ends if end is not host)
    version = host.fact("firmware.version")
    part, psid = (_cell(host.fact(f"firmware.{column}")) for column in ("part_number", "psid"))
    meant = [line for line in lines if fnmatchcase(_component(version), line.when.component)]
    meant = [line for line in meant if line.when.speaks_of(part, psid) is not False]
    if not meant:
        return
    if not isinstance(version.value, str):
        yield unseen(link.name, version.gap or _no_version(host, "the adapter's firmware"))
        return
    asked = [line for line in meant if line.when.allows(version.value)]
    if not asked:
        return
    system = switch.fact("system.os_version")
    if not isinstance(system.value, str):
        yield unseen(link.name, system.gap or _no_version(switch, "its operating system"))
    elif any(line.then.allows(system.value) for line in asked):
        yield passed(link.name)
    elif any(line.when.speaks_of(part, psid) is not True for line in asked):
        yield unseen(link.name, _no_version(host, "the adapter's part"))
    else:
        wanted = " or ".join(dict.fromkeys(line.then.words for line in asked))
        why = "; ".join(dict.fromkeys(line.why for line in asked))
        yield failed(
            link.name,
            Deviation(
                expected=f"{switch.device} {wanted}",
                observed=f"{switch.device} {system.value}",
                message=f"{host.device} {host.port} runs firmware {version.value}; with it goes {wanted} ({why}), and "
                f"{switch.device} runs {system.value}",
                spots=(_spot(switch, system), _spot(host, version)),
                shared=Address(System.TABLE),
                severity=min((line.severity for line in asked), key=lambda severity: severity.rank),
            ),
        )


def _component(version: Fact) -> str:
    """The component of the port's adapter; of one that was not seen the family of names."""
    return version.address.key[0] if version.address.key and version.address.key[0].startswith("nic.") else "nic."


def _cell(fact: Fact) -> Cell:
    return Cell(fact.address, fact.value, fact.layer, gap=fact.gap)


def _no_version(end: LinkEnd, what: str) -> Gap:
    return Gap(end.device, Firmware.TABLE, "", GapReason.UNSUPPORTED, f"{end.device} does not tell {what}")


def _spot(end: LinkEnd, fact: Fact) -> Spot:
    return Spot(end.device, replace(fact.address, layer=fact.layer))
