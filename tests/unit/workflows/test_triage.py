"""`auditor explain SYMPTOM`: the right cause first, what could not be judged, and no word where nothing is amiss."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditor.checks import rules
from auditor.cli import app
from auditor.collect.capture import CaptureCollector
from auditor.errors import SetupError
from auditor.lab.fabric import Size
from auditor.lab.project import generate
from auditor.workflows.audit import audit
from auditor.workflows.project import load_project, open_project_store
from auditor.workflows.request import Request
from auditor.workflows.triage import symptoms, triage

SIZE = Size(hosts=4, nics=2, leaves=2, spines=2)
JUMBO = (("mtu", "leaf-01", "Ethernet256"),)
"""Seed case 3: jumbo frames forgotten on one link between leaf and spine."""
OFF_RAILS = (("rotated_cables", "gpu-03", ""), ("rotated_cables", "gpu-04", ""), ("nic_firmware", "gpu-01", ""))
"""Seed case 5: new servers cabled one rail further on; beside it, an old firmware on a server that is cabled well."""
RAILS = Size(hosts=4, nics=4, leaves=4, spines=2)


def audited(folder: Path, faults: tuple[tuple[str, str, str], ...], *devices: str, size: Size = SIZE) -> Path:
    generate(folder, size, {"now": faults})
    project = load_project(folder)
    chosen = tuple(device for name, device in project.devices.items() if not devices or name in devices)
    with closing(open_project_store(project.settings)) as store:
        request = Request(chosen, "all", "capture now", everything=True)
        audit(request, project, CaptureCollector(folder / "captures" / "now"), store, store)
    return folder


@pytest.fixture(scope="module")
def pods(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Projects whose store holds one run: nothing wrong, a small MTU on an uplink, and a pod of which one leaf was not asked."""
    faults = {"clean": (), "jumbo": JUMBO, "partly": ()}
    devices = {"partly": ("gpu-01", "gpu-02", "leaf-01", "spine-01", "spine-02")}
    return {name: audited(tmp_path_factory.mktemp(name), items, *devices.get(name, ())) for name, items in faults.items()}


Call = Callable[..., Result]


@pytest.fixture
def explain(pods: dict[str, Path]) -> Call:
    def call(pod: str, *words: str) -> Result:
        return CliRunner().invoke(app, ["-C", str(pods[pod]), "explain", *words])

    return call


def test_every_pattern_of_the_table_fits_a_rule_or_the_family_of_baseline_lines() -> None:
    known = set(rules())
    for name, symptom in symptoms().items():
        for look in symptom.looks:
            for pattern in look.rules:
                assert any(fnmatchcase(rule, pattern) for rule in known), f"{name}: {pattern} fits no rule"


@pytest.mark.parametrize("name", list(symptoms()))
def test_a_healthy_pod_has_nothing_to_say_to_any_symptom(explain: Call, name: str) -> None:
    done = explain("clean", name)
    assert done.exit_code == 0, done.output
    assert "No open cause explains it" in done.output
    assert "Looked at and as it should be" in done.output


def test_a_forgotten_mtu_on_an_uplink_comes_first_with_its_line(explain: Call) -> None:
    done = explain("jumbo", "low-bandwidth", "--device", "gpu-01", "--device", "gpu-02")
    assert done.exit_code == 1
    first = done.output.partition("\n1. ")[2].partition("\n2. ")[0]
    assert "leaf-01 Ethernet256 lets IP packets of 1500 bytes through" in first
    assert '"mtu": "1500"' in first
    assert "remedy" in first


def test_a_batch_of_servers_off_their_rails_comes_first_and_is_one_cause(tmp_path: Path) -> None:
    project = str(audited(tmp_path, OFF_RAILS, size=RAILS))
    shown = CliRunner().invoke(app, ["-C", project, "explain", "low-bandwidth"])
    assert shown.exit_code == 1
    assert "2 open causes explain it" in shown.output
    head, _, rest = shown.output.partition("\n1. ")
    first = rest.partition("\n2. ")[0]
    assert head and "hosts off their rails" in first.splitlines()[0]
    assert "cabling.wrong_peer" in first and "gpu-03" in first and "gpu-04" in first
    assert "gpu-01" not in first, "the old firmware is another cause"


def test_what_lies_beside_the_way_of_the_hosts_is_told_apart(pods: dict[str, Path]) -> None:
    leaf_alone = triage(str(pods["jumbo"]), "low-bandwidth", ["leaf-02"])
    assert [suspect.on_way for suspect in leaf_alone.suspects] == [False]
    assert leaf_alone.exit_code != 1
    assert triage(str(pods["jumbo"]), "low-bandwidth", ["gpu-0[12]"]).suspects[0].on_way


def test_what_was_not_seen_is_said_and_ends_with_3(explain: Call) -> None:
    done = explain("partly", "low-bandwidth")
    assert done.exit_code == 3, done.output
    assert "Could not be judged" in done.output
    assert "mtu.link_ends_differ" in done.output


def test_changes_of_the_last_days_stand_beside_the_causes(tmp_path: Path) -> None:
    generate(tmp_path, SIZE, {"before": (), "now": JUMBO})
    project = load_project(tmp_path)
    with closing(open_project_store(project.settings)) as store:
        for capture in ("before", "now"):
            request = Request(tuple(project.devices.values()), "all", f"capture {capture}", everything=True)
            audit(request, project, CaptureCollector(tmp_path / "captures" / capture), store, store)
        (seen, *_) = [item.first_seen for item in store.changes(["leaf-01"])]
    day_after, month_after = (triage(str(tmp_path), "low-bandwidth", now=seen + timedelta(days=days)) for days in (1, 30))
    assert ("leaf-01", "interface[Ethernet256].mtu") in {(item.change.device, item.change.address) for item in day_after.changes}
    assert month_after.changes == ()
    assert [suspect.cause.id for suspect in month_after.suspects] == [suspect.cause.id for suspect in day_after.suspects]


def test_a_store_without_a_run_says_nothing_about_the_devices(tmp_path: Path) -> None:
    generate(tmp_path, SIZE, {"now": ()})
    with closing(open_project_store(load_project(tmp_path).settings)):
        pass
    done = CliRunner().invoke(app, ["-C", str(tmp_path), "explain", "hang"])
    assert done.exit_code == 3
    assert "There is no finished run" in done.output


def test_json_has_the_same_in_the_same_order(explain: Call) -> None:
    document = json.loads(explain("jumbo", "low-bandwidth", "--format", "json").output)
    assert document["schema"] == "auditor.explain.symptom/1"
    assert document["suspects"][0]["findings"][0]["evidence"]
    assert document["way"] is None
    assert "nccl.cross_rail_traffic" in document["only_a_log_tells"]


def test_a_word_that_means_nothing_is_an_error_with_a_hint(explain: Call, pods: dict[str, Path]) -> None:
    done = explain("clean", "mtu.link_end_differ")
    assert isinstance(done.exception, SetupError)
    assert "did you mean 'mtu.link_ends_differ'" in str(done.exception)
    with pytest.raises(SetupError, match="did you mean 'pfc-storm'"):
        triage(str(pods["clean"]), "pfc-strom")


def test_rules_columns_tables_and_lines_of_baselines_are_explained(explain: Call) -> None:
    rule, column, table, line = (
        explain("clean", word).output for word in ("lossless.no_headroom", "interface.mtu", "interface", "mtu.compute")
    )
    assert "severity critical; judges each device alone" in rule
    assert "sonic: `show interfaces status` (applied)" in column
    assert "mtu.link_ends_differ" in column
    assert "mtu: Largest IP packet" in table
    assert "interface[@compute].mtu" in line
    assert "ethernet-fabric@" in line
