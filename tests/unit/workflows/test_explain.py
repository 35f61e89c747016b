"""`auditor explain lossless`: the chain of one path from stored facts, as a table, as JSON, and as an exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditor.cli import app
from auditor.collect.capture import CaptureCollector
from auditor.errors import SetupError, StoreError
from auditor.lab.fabric import Size
from auditor.lab.project import generate
from auditor.workflows.audit import audit
from auditor.workflows.explain import Word, explain_path
from auditor.workflows.project import load_project, open_project_store
from auditor.workflows.request import Request

SIZE = Size(hosts=2, nics=2, leaves=2, spines=2)
FAULTS = (("dscp_class", "leaf-02", ""), ("no_watchdog", "spine-01", "Ethernet0"))
PATH = ("gpu-01/mlx5_0", "gpu-02/mlx5_1")


def audited(folder: Path, capture: str, *devices: str) -> None:
    project = load_project(folder)
    chosen = tuple(device for name, device in project.devices.items() if not devices or name in devices)
    request = Request(chosen, "all", f"capture {capture}", everything=True)
    with closing(open_project_store(project.settings)) as store:
        audit(request, project, CaptureCollector(folder / "captures" / capture), store, store)


@pytest.fixture(scope="module")
def pods(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A project per state of its store: `clean`, `faulty`, `partly` (one leaf was never looked at)."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("clean", "faulty", "partly")}
    for name, folder in folders.items():
        generate(folder, SIZE, {"now": FAULTS if name == "faulty" else ()})
        audited(folder, "now", *(("gpu-01", "gpu-02", "leaf-01", "spine-01", "spine-02") if name == "partly" else ()))
    return folders


Call = Callable[..., Result]


@pytest.fixture
def explain(pods: dict[str, Path]) -> Call:
    def call(pod: str, *words: str) -> Result:
        return CliRunner().invoke(app, ["-C", str(pods[pod]), "explain", "lossless", "--path", *words])

    return call


def test_a_whole_chain_is_told_hop_by_hop_and_ends_with_0(explain: Call) -> None:
    done = explain("clean", *PATH)
    assert done.exit_code == 0, done.output
    hops = [line.split("  ")[0] for line in done.output.splitlines() if " trust " in line or " tc_to_queue " in line]
    assert hops == [
        "gpu-01 enp26s0np0 send",
        "leaf-01 Ethernet0 ingress",
        "leaf-01 Ethernet256 egress",
        "spine-01 Ethernet0 ingress",
        "spine-01 Ethernet4 egress",
        "leaf-02 Ethernet256 ingress",
        "leaf-02 Ethernet4 egress",
        "gpu-02 enp60s0np0 receive",
    ]
    assert "2 equal-cost routes, the first one below; --all shows every hop" in done.output
    assert "configured; applied unsupported  config_db" in done.output


def test_the_broken_cell_is_marked_and_named_and_ends_with_1(explain: Call) -> None:
    done = explain("faulty", *PATH)
    assert done.exit_code == 1
    broken = [line for line in done.output.splitlines() if "broken" in line]
    assert len(broken) == 2, "the headline and the cell"
    assert broken[0].startswith(
        "class roce (DSCP 26, priority 3): broken at leaf-02 Ethernet256 ingress: DSCP 26 is traffic class 0 and priority group 0"
    )
    assert "dscp_map" in broken[1]


def test_all_routes_show_what_the_first_one_misses(pods: dict[str, Path]) -> None:
    way = ("gpu-01/mlx5_1", "gpu-02/mlx5_0")
    one, every = (explain_path(str(pods["faulty"]), *way, every=flag) for flag in (False, True))
    assert (one.routes, every.routes) == (2, 2)
    assert {step.end.device for step in one.chains[0].steps} == {"gpu-01", "leaf-02", "spine-01", "leaf-01", "gpu-02"}
    assert {step.end.device for step in every.chains[0].steps} >= {"spine-01", "spine-02"}
    missed = [step.name for step, cell in every.chains[0].cells() if cell.name == "watchdog" and cell.ok is False]
    assert missed == ["spine-01 Ethernet0 egress"]


def test_a_path_within_one_leaf_has_one_route(explain: Call) -> None:
    done = explain("faulty", "gpu-01/mlx5_0", "gpu-02/mlx5_0")
    assert done.exit_code == 0
    assert "one route" in done.output


def test_a_hop_that_was_never_looked_at_is_unknown_and_ends_with_3(explain: Call) -> None:
    done = explain("partly", *PATH)
    assert done.exit_code == 3
    line = next(line for line in done.output.splitlines() if line.startswith("leaf-02 Ethernet256 ingress"))
    assert "unknown" in line
    assert "check the device first" in line


def test_json_holds_every_cell_with_layer_source_and_digest(explain: Call) -> None:
    done = explain("faulty", *PATH, "--format", "json")
    assert done.exit_code == 1
    document = json.loads(done.output)
    assert document["schema"] == "auditor.explain.lossless/1"
    (chain,) = document["classes"]
    assert chain["first_break"] == {"hop": "leaf-02 Ethernet256 ingress", "cell": "dscp_map"}
    (cell,) = [cell for hop in chain["hops"] for cell in hop["cells"] if cell["verdict"] == "broken"]
    assert cell["address"] == "dscp_map[AZURE,26].traffic_class@configured"
    assert (cell["layer"], cell["source"], len(cell["digest"])) == ("configured", "config_db", 64)
    assert all(hop["seen_at"] for hop in chain["hops"])


@pytest.mark.parametrize("port", ["enp26s0np0", "mlx5_0", "mlx5_0/1", "0000:1a:00.0", "MLX5_0"])
def test_a_port_may_be_named_by_any_name_that_is_known_of_it(pods: dict[str, Path], port: str) -> None:
    assert explain_path(str(pods["clean"]), f"gpu-01/{port}", "gpu-02/mlx5_0").a.port == "enp26s0np0"


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (("gpu-1/mlx5_0", "gpu-02/mlx5_0"), "no device 'gpu-1' (did you mean 'gpu-01'?)"),
        (("gpu-01/mlx5_7", "gpu-02/mlx5_0"), "no planned port is called 'mlx5_7' (did you mean 'mlx5_"),
        (("gpu-01", "gpu-02/mlx5_0"), "names no port: write it as gpu-01/PORT"),
        (("leaf-01/Ethernet0", "gpu-02/mlx5_0"), "leaf-01 is no host"),
        (("gpu-01/mlx5_0", "gpu-01/enp26s0np0"), "are the same port"),
        (("", "gpu-02/mlx5_0"), "no device ''"),
    ],
)
def test_what_is_not_in_the_plan_is_one_clear_error(pods: dict[str, Path], ends: tuple[str, str], words: str) -> None:
    with pytest.raises(SetupError) as error:
        explain_path(str(pods["clean"]), *ends)
    assert words in str(error.value)


def test_without_a_store_or_a_class_there_is_nothing_to_explain(tmp_path: Path) -> None:
    generate(tmp_path, SIZE)
    with pytest.raises(StoreError, match="no store yet"):
        explain_path(str(tmp_path), *PATH)
    audited(tmp_path, "clean")
    (tmp_path / "fabric.yaml").write_text("planes: {compute: {}}\n", encoding="utf-8")
    with pytest.raises(SetupError, match="no lossless class in plane 'compute'"):
        explain_path(str(tmp_path), *PATH)


def test_an_intent_that_changed_since_is_said(tmp_path: Path) -> None:
    generate(tmp_path, SIZE)
    audited(tmp_path, "clean")
    fabric = tmp_path / "fabric.yaml"
    assert explain_path(str(tmp_path), *PATH).notes == ()
    fabric.write_text(fabric.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    (note,) = explain_path(str(tmp_path), *PATH).notes
    assert "fabric.yaml has changed since the last run" in note


def test_what_a_platform_cannot_show_does_not_make_the_answer_incomplete(pods: dict[str, Path]) -> None:
    found = explain_path(str(pods["clean"]), *PATH)
    (chain,) = found.chains
    assert chain.word in (Word.OK, Word.UNSUPPORTED)
    assert found.exit_code == 0
    assert replace(found, chains=()).exit_code == 0
