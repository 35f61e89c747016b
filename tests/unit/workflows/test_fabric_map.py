"""`auditor topology`: what the store knows of the plan's cables, as a picture."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from auditor.cli import app
from auditor.collect.capture import CaptureCollector
from auditor.errors import SetupError
from auditor.lab.fabric import Size
from auditor.lab.project import generate
from auditor.report.fabric_map import Shade
from auditor.workflows.audit import audit
from auditor.workflows.fabric_map import draw
from auditor.workflows.project import load_project, open_project_store
from auditor.workflows.request import Request

SIZE = Size(hosts=4, nics=2, leaves=2, spines=2)


def made(folder: Path, *devices: str, fault: tuple[str, str, str] | None = None) -> Path:
    generate(folder, SIZE, {"now": () if fault is None else (fault,)})
    project = load_project(folder)
    chosen = tuple(device for name, device in project.devices.items() if not devices or name in devices)
    with closing(open_project_store(project.settings)) as store:
        request = Request(chosen, "all", "capture now", everything=True)
        audit(request, project, CaptureCollector(folder / "captures" / "now"), store, store)
    return folder


def shades(folder: Path, grid: int) -> dict[tuple[str, str], Shade]:
    found = draw(str(folder)).grids[grid]
    return {(found.columns[x].name, found.rows[y].name): cell.shade for (x, y), cell in found.cells.items()}


def test_a_clean_pod_is_green_all_over_with_rails_as_rows(tmp_path: Path) -> None:
    drawn = draw(str(made(tmp_path)))
    hosts, leaves = drawn.grids
    assert [row.group for row in hosts.rows] == ["rail 0", "rail 1"]
    assert [column.name for column in hosts.columns] == ["gpu-01", "gpu-02", "gpu-03", "gpu-04"]
    assert {cell.shade for grid in drawn.grids for cell in grid.cells.values()} == {Shade.FINE}
    assert [row.name for row in leaves.rows] == ["spine-01", "spine-02"]
    assert drawn.causes == ()
    assert drawn.tiers["gpu-01"] == 0
    assert drawn.tiers["spine-02"] == 2


def test_a_fault_of_a_port_colours_its_cable_alone(tmp_path: Path) -> None:
    found = shades(made(tmp_path, fault=("no_headroom", "leaf-01", "Ethernet0")), 0)
    assert {place for place, shade in found.items() if shade is not Shade.FINE} == {("gpu-01", "leaf-01")}
    assert found["gpu-01", "leaf-01"] is Shade.FAULT
    assert draw(str(tmp_path)).causes[0].devices[0] == "leaf-01"


def test_what_nobody_looked_at_is_unknown_never_green(tmp_path: Path) -> None:
    folder = made(tmp_path, "leaf-01", "spine-01")
    hosts, spines = shades(folder, 0), shades(folder, 1)
    assert (hosts["gpu-01", "leaf-02"], spines["leaf-02", "spine-02"]) == (Shade.UNKNOWN, Shade.UNKNOWN)
    assert spines["leaf-01", "spine-01"] is Shade.FINE
    assert hosts["gpu-01", "leaf-01"] is not Shade.FINE, "the leaf alone saw it"
    assert "cables are unknown" in draw(str(tmp_path)).notes[0]


def test_before_the_first_run_it_is_the_plan_alone(tmp_path: Path) -> None:
    generate(tmp_path, SIZE, {"now": ()})
    drawn = draw(str(tmp_path))
    assert "nothing was ever looked at" in drawn.seen
    assert {cell.shade for grid in drawn.grids for cell in grid.cells.values()} == {Shade.UNKNOWN}


def test_a_rack_shows_its_own_cables_and_a_wrong_name_is_an_error(tmp_path: Path) -> None:
    folder = str(made(tmp_path))
    rack = load_project(folder).devices["gpu-01"].rack
    drawn = draw(folder, racks=[rack])
    assert all(grid.columns[0].group == rack for grid in drawn.grids[:1])
    assert len(drawn.edges) < len(draw(folder).edges)
    with pytest.raises(SetupError, match="no pod 'nowhere'"):
        draw(folder, pods=["nowhere"])


@pytest.mark.parametrize(("form", "start"), [("html", "<!DOCTYPE html>"), ("svg", "<svg "), ("dot", "graph ")])
def test_the_command_writes_each_form(tmp_path: Path, form: str, start: str) -> None:
    made(tmp_path)
    done = CliRunner().invoke(app, ["-C", str(tmp_path), "topology", "--format", form, "-o", str(tmp_path / "picture")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "picture").read_text("utf-8").startswith(start)
