"""The environments of collective libraries on one host: which there are, what a variable is in each, which ports it may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from auditor.address import Address
from auditor.checks.nccl.libraries import Library, libraries, lists
from auditor.facts import NcclEnv, RdmaPort
from auditor.model import Cell, Gap, GapReason, RuleContext, State
from auditor.plan.groups import BUILT_IN

OBJECT = Address(NcclEnv.TABLE)
"""What a rule names where all environments are as they should be."""

_COMPUTE = "compute"
"""The plane that collective libraries are meant for, where the plan has one of this name."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of a job with the library's own file behind it, or that file alone."""

    state: State
    library: Library
    source: str

    def cell(self, variable: str) -> Cell:
        """What a variable is here: the job's own word, else that of the library's file."""
        places = dict.fromkeys(filter(None, (self.source, self.library.site_file)))
        cells = [self.state.cell(Address(NcclEnv.TABLE, (place, variable), "value")) for place in places]
        return next((cell for cell in cells if cell.present or open_gap(self.state, cell) is not None), cells[0])

    def text(self, variable: str) -> str:
        """Its value without blanks around; empty where it is not set, not known, or set to what means the same as not set."""
        cell = self.cell(variable)
        text = str(cell.value).strip() if variable and cell.present else ""
        return "" if text in self.library.unset else text


def environments(state: State) -> Iterator[Environment]:
    """Every environment that was seen, library by library: those of jobs, else the library's own file."""
    keys = state.keys(NcclEnv)
    for library in libraries():
        sources = sorted({source for source, variable in keys if variable.startswith(library.prefix)})
        jobs = [source for source in sources if source != library.site_file]
        yield from (Environment(state, library, source) for source in jobs or sources)


def open_gap(state: State, cell: Cell) -> Gap | None:
    """A gap that hides this very cell and that no platform declared."""
    gap = cell.gap
    return gap if gap is not None and gap in state.gaps and gap.reason is not GapReason.UNSUPPORTED else None


@dataclass(frozen=True, slots=True)
class Port:
    """A port of an RDMA device. `plane`: the one it is planned in, empty for none; `active` None where that was not seen."""

    name: str
    number: str
    ethernet: bool
    active: bool | None
    plane: str

    @property
    def words(self) -> str:
        """As the library's list names it."""
        return self.name if self.number == "1" else f"{self.name}:{self.number}"


def ports(state: State, context: RuleContext) -> list[Port]:
    """Every port of every RDMA device that was seen."""
    planes = [name for name in context.groups if name not in BUILT_IN]
    if context.fabric is not None:
        planes = [name for name in planes if name not in context.fabric.port_groups]
    found = []
    for name, number in state.keys(RdmaPort):
        row = Address(RdmaPort.TABLE, (name, number))
        netdev, pci, layer, up = (state.cell(replace(row, column=column)) for column in ("netdev", "pci", "link_layer", "state"))
        names = {name, f"{name}/{number}", *(str(cell.value) for cell in (netdev, pci) if cell.present)}
        plane = next((plane for plane in sorted(planes) if not names.isdisjoint(context.groups[plane])), "")
        found.append(Port(name, number, layer.value != "infiniband", up.value == "active" if up.present else None, plane))
    return found


def meant_plane(chosen: list[Port], known: list[Port]) -> str:
    """The plane whose ports the library is meant to use: compute, else that of most chosen ports; empty where that is unclear."""
    if any(port.plane == _COMPUTE for port in known):
        return _COMPUTE
    counts = {plane: sum(port.plane == plane for port in chosen) for plane in {port.plane for port in chosen} - {""}}
    most = [plane for plane, count in counts.items() if count == max(counts.values())]
    return most[0] if len(most) == 1 else ""


def chosen_ports(environment: Environment, known: list[Port]) -> list[Port]:
    """The ports that the library may use: those its list names, else those of the plane that is meant, else all of them."""
    text = environment.text(environment.library.devices)
    if text:
        return [port for port in known if lists(text, port.name, port.number)]
    plane = meant_plane([], known)
    return [port for port in known if port.plane == plane] if plane else known
