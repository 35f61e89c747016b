"""Wiring plans as commands: lint in a project, import and export, generate with its sums, compare two plans as movements."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pytest

from auditor.plan.formats import formats
from tests.e2e.conftest import Auditor, Pod


def plan_of(pod: Pod) -> Path:
    return pod.folder / "plan" / "plan.csv"


def replaced(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_the_plan_of_a_sound_project_has_no_errors_and_its_sums_are_shown(auditor: Auditor, pod: Pod) -> None:
    answer = auditor("-C", str(pod.folder), "plan", "lint")
    assert answer.code == 0
    assert "tier 1: leaf-01, leaf-02, leaf-03, leaf-04 and 4 more: 4 x 400G = 1.6T down, 4 x 400G = 1.6T up: 1:1" in answer.out
    assert "0 errors" in answer.out


def test_everything_wrong_is_said_at_once_with_file_line_and_severity(auditor: Auditor, pod: Pod) -> None:
    file = plan_of(pod)
    lines = file.read_text().splitlines()
    lines[1] = lines[1].replace("leaf-01,Ethernet0", "leaf-1,Ethernet0")
    lines[2] = lines[2].replace("gpu-01/mlx5_1", "gpu-01/mlx5_2")
    lines[9] = lines[9].replace("leaf-01,Ethernet4", "leaf-02,Ethernet4")
    file.write_text("\n".join(lines) + "\n")
    answer = auditor("-C", str(pod.folder), "plan", "lint")
    assert answer.code == 2
    assert f"{file}:2: error: device 'leaf-1' is not in the inventory; did you mean 'leaf-01'? [unknown_device]" in answer.err
    assert f"{file}:4: warning: label 'gpu-01/mlx5_2' is on 2 cables" in answer.err
    assert f"{file}:11: error: port leaf-02:Ethernet4 is already used by line 10 [unreadable]" in answer.err
    plain = auditor("-C", str(pod.folder), "plan", "lint", "--format", "json").report
    assert {item["rule"] for item in plain["findings"]} >= {"unknown_device", "label_twice", "unreadable"}
    assert {item["line"] for item in plain["findings"]} >= {2, 4, 11}


def test_ports_that_no_device_has_are_known_from_a_capture_or_from_the_store(auditor: Auditor, pod: Pod) -> None:
    folder, clean = str(pod.folder), pod.capture("clean", 1)
    assert auditor("-C", folder, "plan", "lint", "--from", clean).code == 0
    auditor("-C", folder, "check", "--from", clean)
    assert auditor("-C", folder, "plan", "lint", "--stored").code == 0
    replaced(plan_of(pod), "gpu-01,enp60s0np0,leaf-02,Ethernet0", "gpu-01,enp60s0np0,leaf-02,Ethernet999")
    for words in (("--from", clean), ("--stored",)):
        answer = auditor("-C", folder, "plan", "lint", *words)
        assert answer.code == 2
        assert "error: leaf-02 has no port 'Ethernet999'" in answer.err
    assert "has no port" not in auditor("-C", folder, "plan", "lint").err


def test_a_port_is_not_missing_where_the_answer_that_lists_ports_is(auditor: Auditor, pod: Pod) -> None:
    clean = pod.capture("clean", 1)
    replaced(plan_of(pod), "gpu-01,enp60s0np0,leaf-02,Ethernet0", "gpu-01,enp60s0np0,leaf-02,Ethernet999")
    for output in (Path(clean) / "leaf-02").iterdir():
        if output.name != "device.yaml":
            output.write_text("")
    answer = auditor("-C", str(pod.folder), "plan", "lint", "--from", clean)
    assert "has no port" not in answer.err


def test_outside_a_project_a_plan_can_be_linted_alone(auditor: Auditor, tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text("a_device,a_port,b_device,b_port,plane,rail,speed\n")
    assert auditor("-C", str(tmp_path), "plan", "lint", str(file)).code == 0
    answer = auditor("-C", str(tmp_path), "plan", "lint", str(tmp_path / "none.csv"))
    assert answer.code == 2
    assert "cannot be read" in answer.err
    assert auditor("-C", str(tmp_path), "plan", "lint").code == 2
    assert auditor("-C", str(tmp_path), "plan", "lint", str(file), "--stored").code == 2
    assert auditor("-C", str(tmp_path), "plan", "lint", str(file), "--allow", "compute=half").code == 2


def test_a_generated_plan_lints_clean_and_is_said_to_be_what_it_is(auditor: Auditor, tmp_path: Path) -> None:
    file = str(tmp_path / "plan.csv")
    answer = auditor("plan", "generate", "--hosts", "16", "--rails", "4", "--ports", "16", "-o", file)
    assert answer.code == 0
    assert "links     64 host-leaf + 64 leaf-spine = 128" in answer.out
    checked = auditor("-C", str(tmp_path), "plan", "lint", file)
    assert checked.code == 0
    assert checked.err == ""
    shown = auditor("plan", "generate", "--hosts", "16", "--rails", "4", "--ports", "16")
    assert shown.out == Path(file).read_text()
    assert shown.err == answer.out
    assert auditor("plan", "generate", "--hosts", "16", "--rails", "4", "--ports", "16", "--dry-run").out == answer.out


def test_what_cannot_be_cabled_is_refused_with_the_numbers(auditor: Auditor) -> None:
    answer = auditor("plan", "generate", "--hosts", "128", "--ports", "64", "--leaves", "8", "--leaf-down", "16")
    assert answer.code == 2
    assert answer.out == ""
    assert "8 leaves of 16 host ports reach 128 ports; 128 hosts with 8 NICs have 1,024" in answer.err
    assert "32 leaves (32 host ports, 32 uplinks each) and 16 spines" in answer.err
    assert auditor("plan", "generate", "--hosts", "8", "--speed", "fast").code == 2
    assert auditor("plan", "generate", "--hosts", "8", "--switch-port", "port").code == 2


def test_an_oversubscribed_plan_is_an_error_until_it_is_allowed(auditor: Auditor, tmp_path: Path) -> None:
    file = str(tmp_path / "plan.csv")
    auditor(
        "plan", "generate", "--hosts", "32", "--oversubscription", "2:1", "--speed", "4xNDR", "--switch-port", "1", "-o", file
    )
    answer = auditor("-C", str(tmp_path), "plan", "lint", file)
    assert answer.code == 2
    assert "2:1; 1:1 is the most here [oversubscribed]" in answer.err
    assert auditor("-C", str(tmp_path), "plan", "lint", file, "--allow", "compute=2:1").code == 0


def test_two_plans_differ_by_hand_movements(auditor: Auditor, pod: Pod) -> None:
    old = plan_of(pod)
    new = pod.folder / "plan" / "new.csv"
    text = old.read_text()
    one, other = "gpu-01,enp26s0np0,leaf-01,Ethernet0", "gpu-02,enp26s0np0,leaf-01,Ethernet4"
    swapped = (
        text.replace(one, "X").replace(other, "gpu-02,enp26s0np0,leaf-01,Ethernet0").replace("X", one.replace("net0", "net4"))
    )
    new.write_text(swapped.replace("gpu-03/mlx5_0", "NEW-LABEL"))
    words = ("-C", str(pod.folder), "plan", "diff", str(old))
    assert auditor(*words, str(old)).code == 0
    answer = auditor(*words, str(new))
    assert answer.code == 1
    lines = answer.out.splitlines()
    assert lines[0].endswith("2 go, 2 come, 1 are written differently: 3 hand movements")
    assert lines[1].startswith("1. Take the plug out of ")
    assert lines[3].startswith("3. Put the hanging plug into ")
    assert lines[4] == "gpu-03:enp26s0np0 to leaf-01:Ethernet8: label gpu-03/mlx5_0 -> NEW-LABEL"
    plain = auditor(*words, str(new), "--format", "json").report
    assert (plain["hand_movements"], len(plain["steps"]), len(plain["gone"]), len(plain["new"])) == (3, 3, 2, 2)
    assert "拔出" in auditor(*words, str(new), "--lang", "zh").out


@pytest.mark.parametrize("form", [name for name, found in formats().items() if found.write is not None])
def test_what_is_exported_is_imported_again_in_the_columns_that_the_format_carries(auditor: Auditor, pod: Pod, form: str) -> None:
    folder, file = str(pod.folder), str(pod.folder / "exported")
    written = auditor("-C", folder, "plan", "export", form, "-o", file)
    assert written.code == 0
    back = auditor("-C", folder, "plan", "import", form, file)
    assert back.code == 0
    before, after = (list(csv.DictReader(StringIO(text))) for text in (plan_of(pod).read_text(), back.out))
    ends = lambda rows: {frozenset({(row["a_device"], row["a_port"]), (row["b_device"], row["b_port"])}) for row in rows}  # noqa: E731
    assert ends(before) == ends(after)
    lost = [column for column in ("rail", "label", "a_id") if column not in formats()[form].carries]
    assert all(column in written.err for column in lost)
    assert bool(lost) or written.err == ""


def test_a_dry_run_shows_what_was_understood_and_writes_nothing(auditor: Auditor, pod: Pod) -> None:
    target = pod.folder / "out.csv"
    answer = auditor("plan", "import", "auto", str(plan_of(pod)), "--dry-run", "-o", str(target))
    assert answer.code == 0
    assert answer.out.startswith("native plan (CSV): 64 links between 14 devices\nplane: 64 compute\n")
    assert not target.exists()


def test_errors_of_an_import_name_file_and_line_and_write_nothing(auditor: Auditor, pod: Pod) -> None:
    file, target = pod.folder / "bad.dot", pod.folder / "out.csv"
    file.write_text('graph g {\n  "h1":"p0" -- "l1":"s1"\n  "h2":"p0" -- "h2":"p1"\n}\n')
    answer = auditor("plan", "import", "dot", str(file), "-o", str(target))
    assert answer.code == 2
    assert f"{file}:3: " in answer.err
    assert not target.exists()
    unknown = auditor("plan", "import", "visio", str(file))
    assert unknown.code == 2
    assert "formats: auto, batfish, csv, dot" in unknown.err
    assert auditor("plan", "import", "dot", str(file), "--option", "colour=red").code == 2
    assert auditor("plan", "import", "dot").code == 2
    assert auditor("plan", "import", "dot", "--url", "https://netbox.example").code == 2


def test_netbox_without_a_token_is_one_clear_error(auditor: Auditor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUDITOR_NETBOX_TOKEN", raising=False)
    answer = auditor("plan", "import", "netbox", "--url", "https://netbox.example")
    assert answer.code == 2
    assert "AUDITOR_NETBOX_TOKEN must hold a token" in answer.err


def test_formats_and_their_options_are_listed(auditor: Auditor) -> None:
    answer = auditor("plan", "formats")
    assert answer.code == 0
    for name, found in formats().items():
        assert f"{name}\tread" in answer.out
        assert all(f"--option {key}=" in answer.out for key in found.options)


@pytest.mark.parametrize("name", ["lint", "import", "export", "generate", "diff"])
def test_the_examples_of_the_help_run(auditor: Auditor, pod: Pod, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(pod.folder)
    for file in ("plan/pod-2.csv", "plan-1.csv", "plan-2.csv"):
        (pod.folder / file).write_text(plan_of(pod).read_text())
    auditor("plan", "export", "dot", "-o", "topology.dot")
    shown = auditor("plan", name, "--help").out
    examples = [line.strip() for line in shown.partition("Examples:")[2].partition("Options:")[0].splitlines()]
    runnable = [line for line in examples if line and not {"wiring.xlsx", "--url"} & set(line.split())]
    assert runnable
    for line in runnable:
        assert auditor(*line.split()[1:]).code == 0, line
