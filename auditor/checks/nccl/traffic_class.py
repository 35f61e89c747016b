"""`nccl.traffic_class_not_lossless`: the DSCP that a collective library really sends, beside the one that is lossless."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from auditor.address import Address
from auditor.canonical import printable
from auditor.checks.nccl.libraries import Knob, Library, libraries, lists, number
from auditor.facts import NcclEnv, RdmaPort
from auditor.model import (
    ABSENT,
    Cell,
    Deviation,
    Gap,
    GapReason,
    Judgement,
    Plane,
    RuleContext,
    Severity,
    Spot,
    State,
    TrafficClass,
    check,
    failed,
    passed,
    unseen,
)
from auditor.model.device import is_host

_READS = (
    "nccl_env.value", "rdma_port.global_tclass", "rdma_port.netdev", "rdma_port.link_layer", "host_dscp.priority",
    "qos_port.pfc_priorities",
)  # fmt: skip
_OBJECT = Address(NcclEnv.TABLE)
_SHOWN = 8


@check(
    family="nccl",
    reads=_READS,
    optional=_READS,
    severity=Severity.ERROR,
    remedy="Set the library's traffic class to four times the DSCP of the lossless class, on every host of the job and in its "
    "template: NCCL_IB_TC, and NCCL_GIN_IB_TC only where it has to differ. The driver's override (tclass in sysfs) does not "
    "reach queue pairs that GPUs make by themselves, so it is a net and no substitute.",
)
def traffic_class_not_lossless(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Every queue pair of the collective library marks its packets with a DSCP of a lossless class of its plane.

    The DSCP is the traffic class divided by 4; the two ECN bits below do not count, so 104 and 106 are the same. Ordinary queue
    pairs take the mlx5 override where the driver has one, else NCCL_IB_TC, else 0; those that the GPU makes by itself (DevX)
    NCCL_GIN_IB_TC, else NCCL_IB_TC, else 0. A value that lands outside is an error; none at all is a warning, since the override
    keeps ordinary traffic lossless. Either is critical where the driver has no override, and so is an override that is itself
    outside. RDMA-CM, which has a default of its own, is not what the library uses and is not looked at.

    Lossless are the DSCPs that `fabric.yaml` gives to the lossless classes of the planes whose NICs the library uses (those in
    NCCL_IB_HCA, else all planned ones); whether NIC and hops treat them so is judged by other rules. One finding for each host. A
    host on which no environment of the library was seen is not evaluated: it may well come with the job.

    Why it matters: the fabric pauses one class alone. All others drop under incast, and RoCE pays for each drop with everything
    that was in flight: retries, then queue pairs in error, and a job of a thousand hosts that hangs.
    """
    planes = _planes(context)
    known = any(row_type in (NcclEnv, RdmaPort) for row_type, _, _ in state.origins)
    if not planes or not (is_host(context.role) or known):
        return
    found = [_Host(state, context, planes, library).judge() for library in _evident(state)]
    faults = [fault for part in found if isinstance(part, list) for fault in part]
    if faults:
        yield failed(_OBJECT, _deviation(faults))
        return
    hidden = next((part for part in found if isinstance(part, Gap)), None)
    if hidden is not None:
        yield unseen(_OBJECT, hidden)
    elif found:
        yield passed(_OBJECT)


def _planes(context: RuleContext) -> dict[str, Plane]:
    """The planes with a lossless class that the device has planned ports in."""
    planes = context.fabric.planes if context.fabric is not None else {}
    return {name: plane for name, plane in planes.items() if context.groups.get(name) and _lossless(plane)}


def _lossless(plane: Plane) -> list[TrafficClass]:
    return [item for item in plane.classes if item.lossless]


def _dscps(plane: Plane) -> frozenset[int]:
    return frozenset(dscp for item in _lossless(plane) for dscp in item.dscp)


def _evident(state: State) -> list[Library]:
    """The libraries whose variables the host sets, and else the assumed one."""
    variables = [key[1] for key in state.keys(NcclEnv)]
    found = [library for library in libraries() if any(name.startswith(library.prefix) for name in variables)]
    return found or [library for library in libraries() if library.assumed]


@dataclass(frozen=True, slots=True)
class _Fault:
    """What is wrong with one environment of one library."""

    severity: Severity
    expected: str
    observed: str
    wrong: tuple[str, ...]
    beside: tuple[str, ...]
    spots: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class _Class:
    """The traffic class that a knob comes to; `text` is empty where no variable is set. `valid`: the text is one."""

    variable: str
    number: int
    cell: Cell
    text: str = ""
    valid: bool = True

    @property
    def dscp(self) -> int:
        return self.number // 4


@dataclass(frozen=True, slots=True)
class _Nic:
    """An Ethernet port that the library may use."""

    name: str
    port: str
    planes: frozenset[str]
    override: Cell


class _Host:
    """The environments of one library on one host."""

    def __init__(self, state: State, context: RuleContext, planes: dict[str, Plane], library: Library) -> None:
        self.state, self.context, self.planes, self.library = state, context, planes, library
        self.nics = list(self._nics())
        self.keys = [key for key in state.keys(NcclEnv) if key[1].startswith(library.prefix)]

    def judge(self) -> list[_Fault] | Gap | None:
        """The faults of all environments, a gap where nothing can be said, or None where all is well."""
        jobs = sorted({key[0] for key in self.keys} - {self.library.site_file})
        site = [self.library.site_file] if any(key[0] == self.library.site_file for key in self.keys) else []
        faults, hidden = [], None
        for source in jobs or site or [""]:
            said = _Environment(self, source).judge()
            if isinstance(said, _Fault):
                faults.append(said)
            hidden = hidden or (said if isinstance(said, Gap) else None)
        return faults or hidden

    def _nics(self) -> Iterator[_Nic]:
        for key in self.state.keys(RdmaPort):
            row = Address(RdmaPort.TABLE, key)
            if self.state.cell(replace(row, column="link_layer")).value == "infiniband":
                continue
            netdev = self.state.cell(replace(row, column="netdev")).value
            planes = frozenset(name for name in self.planes if netdev in self.context.groups.get(name, ()))
            yield _Nic(key[0], key[1], planes, self.state.cell(replace(row, column="global_tclass")))

    def lookup(self, variable: str, source: str) -> Cell:
        """The cell of a variable in one environment: the job's own, else the library's file."""
        cells = [
            self.state.cell(Address(NcclEnv.TABLE, (place, variable), "value"))
            for place in dict.fromkeys((source, self.library.site_file))
            if place
        ]
        return next((cell for cell in cells if cell.present or self._open(cell)), cells[0])

    def _open(self, cell: Cell) -> Gap | None:
        """A gap that hides this very cell and that no platform declared."""
        gap = cell.gap
        return gap if gap is not None and gap in self.state.gaps and gap.reason is not GapReason.UNSUPPORTED else None

    def hidden(self, cells: Iterable[Cell]) -> Gap | None:
        """The first gap behind these cells that leaves the answer open."""
        return next((gap for cell in cells if (gap := self._open(cell)) is not None), None)


class _Environment:
    """One environment: that of a job with the library's own file behind it, or that file alone. `source` empty: none was seen."""

    def __init__(self, host: _Host, source: str) -> None:
        self.host, self.source, self.library = host, source, host.library
        chosen = self._chosen()
        self.nics = chosen or [nic for nic in host.nics if nic.planes] or host.nics
        names = {name for nic in chosen for name in nic.planes} or set(host.planes)
        self.planes = {name: plane for name, plane in host.planes.items() if name in names}
        sets = [_dscps(plane) for plane in self.planes.values()]
        # Without a list of devices nobody knows which plane the library takes where a host has several.
        common = frozenset.intersection(*sets) if chosen else frozenset()
        self.lossless = common or frozenset().union(*sets)

    def judge(self) -> _Fault | Gap | None:
        """What is wrong with it, why that is not known, or None."""
        knobs = [knob for knob in (self.library.ordinary, self.library.gpu_initiated) if knob is not None and self.source]
        found = [self._class(knob) for knob in knobs]
        gap = next((item for item in found if isinstance(item, Gap)), None)
        bad = [item for item in found if isinstance(item, _Class) and item.dscp not in self.lossless]
        bare = [nic for nic in self.nics if nic.override.value is ABSENT] if found and found[0] in bad else []
        if self._strays() or bare:
            return self._fault(Severity.CRITICAL, bad, bare)
        if any(item.text for item in bad):
            return self._fault(Severity.ERROR, bad, bare)
        if gap is not None:
            return gap
        if bad:
            return self._fault(Severity.WARNING, bad, bare)
        if not self.source:
            return self._nothing_seen()
        return self.host.hidden(nic.override for nic in self.nics)

    def _chosen(self) -> list[_Nic]:
        """The NICs that the library's list of devices names; empty without a list, or when it names none that is known."""
        if not self.library.devices or not self.source:
            return []
        text = self.host.lookup(self.library.devices, self.source).value
        return [nic for nic in self.host.nics if lists(text, nic.name, nic.port)] if isinstance(text, str) and text else []

    def _class(self, knob: Knob) -> _Class | Gap:
        """The traffic class that a knob comes to here, or the gap that hides a variable which would decide."""
        for variable in knob.variables:
            cell = self.host.lookup(variable, self.source)
            gap = self.host.hidden([cell])
            if gap is not None:
                return gap
            text = str(cell.value).strip() if cell.present else ""
            if text and text not in self.library.unset:
                value = number(text)
                return _Class(variable, knob.default if value is None else value, cell, text, value is not None)
        variable = knob.variables[-1]
        return _Class(variable, knob.default, self.host.lookup(variable, self.source))

    def _strays(self) -> list[_Nic]:
        """NICs whose override is outside the lossless classes of their own plane."""
        return [nic for nic in self.nics if nic.override.present and _dscp(nic) not in self._own(nic)]

    def _own(self, nic: _Nic) -> frozenset[int]:
        return frozenset().union(*(_dscps(self.host.planes[name]) for name in nic.planes)) or self.lossless

    def _nothing_seen(self) -> Gap:
        state = self.host.state
        lost = (gap for gap in state.gaps if gap.table in ("*", NcclEnv.TABLE) and gap.reason is not GapReason.UNSUPPORTED)
        words = f"no environment of {self.library.name} was seen; it may come with the job"
        return next(lost, None) or Gap(state.device, NcclEnv.TABLE, "", GapReason.UNSUPPORTED, words)

    def _fault(self, severity: Severity, bad: list[_Class], bare: list[_Nic]) -> _Fault:
        strays = self._strays()
        known = {(item.variable if item.text else "", item.number): item for item in reversed(bad)}
        distinct = [item for item in bad if item in known.values()]
        dscp = bad[0].dscp if bad else _dscp(strays[0])
        landing = self._landing(dscp)
        cells = [item.cell for item in distinct]
        cells += [landing] if landing is not None else []
        cells += [nic.override for nic in (*strays, *bare, *self.nics)][:1]
        return _Fault(
            severity,
            "DSCP " + " or ".join(map(str, sorted(self.lossless))),
            f"DSCP {dscp}",
            (*map(self._words, distinct), *map(self._stray, strays[:1])),
            (f"lossless is {self._classes()}", *self._override(strays, bare)),
            tuple(Spot(self.host.state.device, replace(cell.address, layer=cell.layer)) for cell in cells),
        )

    def _words(self, item: _Class) -> str:
        """What a variable, or the lack of one, comes to."""
        lands = f"DSCP {item.dscp}{self._lands(item.dscp)}"
        if not item.text:
            knob = self.library.gpu_initiated or self.library.ordinary
            whose = "queue pairs that GPUs make" if self.library.gpu_initiated is not None else "queue pairs"
            names = " and ".join(knob.variables)
            verb = "are" if len(knob.variables) > 1 else "is"
            return f"{names} {verb} not set in {printable(self.source, 60)}: {whose} take class {item.number}, {lands}"
        place = f"{item.variable}={printable(item.text, 40)} ({printable(item.cell.address.key[0], 60)})"
        if not item.valid:
            return f"{place} is no traffic class, so the library takes {item.number}: {lands}"
        meant = f"; {item.number} is the DSCP itself, {item.number * 4} was meant" if item.number in self.lossless else ""
        return f"{place} means {lands}{meant}"

    def _landing(self, dscp: int) -> Cell | None:
        """The priority of a DSCP on the first planned port that tells."""
        ports = sorted({port for name in self.planes for port in self.host.context.groups.get(name, ())})
        cells = (self.host.state.cell(Address("host_dscp", (port, str(dscp)), "priority")) for port in ports)
        return next((cell for cell in cells if cell.present), None)

    def _lands(self, dscp: int) -> str:
        cell = self._landing(dscp)
        if cell is None:
            return ""
        port = cell.address.key[0]
        pfc = self.host.state.cell(Address("qos_port", (port,), "pfc_priorities")).value
        lossy = isinstance(pfc, tuple) and cell.value not in pfc
        return f", which {port} maps to priority {cell.value}" + (" without PFC" if lossy else "")

    def _classes(self) -> str:
        """`DSCP 46 (traffic class 184, priority 5)` for each lossless DSCP."""
        known = {(dscp, item.priority) for plane in self.planes.values() for item in _lossless(plane) for dscp in item.dscp}
        told = [pair for pair in sorted(known) if pair[0] in self.lossless]
        return " or ".join(f"DSCP {dscp} (traffic class {dscp * 4}, priority {priority})" for dscp, priority in told)

    def _stray(self, nic: _Nic) -> str:
        lands = f"DSCP {_dscp(nic)}{self._lands(_dscp(nic))}"
        return f"the mlx5 override of {nic.name} (tclass {nic.override.value}) puts ordinary queue pairs into {lands}"

    def _override(self, strays: list[_Nic], bare: list[_Nic]) -> list[str]:
        """What is known of the override, when it is not the fault itself."""
        if strays:
            return []
        if bare:
            return [f"no mlx5 override on {_listed(bare)}: ordinary queue pairs are lossy too"]
        seen = [nic for nic in self.nics if nic.override.present]
        if not seen:
            return ["whether the mlx5 override is set was not seen"]
        values = ", ".join(sorted({str(nic.override.value) for nic in seen}))
        more = "" if len(seen) == len(self.nics) else ", on others it was not seen"
        said = f"the mlx5 override was seen (tclass {values} on {_listed(seen)}{more}): it keeps ordinary queue pairs lossless"
        return [said + (" and does not reach those that GPUs make" if self.library.gpu_initiated is not None else "")]


def _deviation(faults: list[_Fault]) -> Deviation:
    worst = min(faults, key=lambda fault: fault.severity.rank)
    wrong = list(dict.fromkeys(clause for fault in (worst, *faults) for clause in fault.wrong))
    more = [f"and {len(wrong) - _SHOWN} more"] if len(wrong) > _SHOWN else []
    beside = dict.fromkeys(clause for fault in faults for clause in fault.beside)
    return Deviation(
        worst.expected,
        worst.observed,
        "; ".join([*wrong[:_SHOWN], *more, *beside]),
        tuple(dict.fromkeys(spot for fault in (worst, *faults) for spot in fault.spots)),
        severity=worst.severity,
    )


def _dscp(nic: _Nic) -> int:
    """The DSCP of a NIC's override."""
    return int(str(nic.override.value)) // 4


def _listed(nics: list[_Nic]) -> str:
    names = list(dict.fromkeys(nic.name for nic in nics))
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
