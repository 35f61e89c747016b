"""Where a port sits on the front of a device: cage number and row by hardware model, from `data/faceplates.yaml`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources

from auditor import yamldoc


@dataclass(frozen=True, slots=True)
class Cage:
    """One opening of a faceplate. `row` is `upper` or `lower`, empty where no document proves it."""

    number: int
    row: str = ""


@dataclass(frozen=True, slots=True)
class PortName:
    """How a port's name gives its cage: see the data file."""

    pattern: re.Pattern[str]
    per_cage: int | None = None

    def cage(self, port: str) -> int | None:
        """The number of the port's cage; None when the name has another form."""
        found = self.pattern.fullmatch(port)
        if found is None:
            return None
        number = int(found.group(1))
        return number if self.per_cage is None else number // self.per_cage + 1


@dataclass(frozen=True, slots=True)
class Faceplate:
    """The layout of one or several hardware models."""

    models: tuple[str, ...]
    cages: int
    ports: tuple[PortName, ...]
    rows: str = ""

    def cage(self, port: str) -> Cage | None:
        """Where the port sits; None when its name fits no pattern or there is no such cage."""
        numbers = [number for name in self.ports if (number := name.cage(port)) is not None]
        if not numbers or not 1 <= numbers[0] <= self.cages:
            return None
        row = ("upper" if numbers[0] % 2 else "lower") if self.rows == "odd_over_even" else ""
        return Cage(numbers[0], row)


def find_cage(hardware_model: str, port: str) -> Cage | None:
    """Where a port of this hardware model sits, as far as that is proven."""
    faceplate = _faceplate(hardware_model.strip().lower())
    return None if faceplate is None else faceplate.cage(port)


@cache
def _faceplate(hardware_model: str) -> Faceplate | None:
    return next(
        (plate for plate in faceplates() if any(fnmatchcase(hardware_model, model.lower()) for model in plate.models)), None
    )


@cache
def faceplates() -> Sequence[Faceplate]:
    """Every layout that is known."""
    name = "faceplates.yaml"
    text = resources.files("auditor").joinpath("data", name).read_text("utf-8")
    return tuple(
        Faceplate(
            models=tuple(item["models"]),
            cages=item["cages"],
            ports=tuple(PortName(re.compile(port["pattern"]), port.get("per_cage")) for port in item["ports"]),
            rows=item.get("rows", ""),
        )
        for item in yamldoc.parse(text, name).data["faceplates"]
    )
