"""Topology dumps through the command: hosts alike and not, a shape frozen and left, and dumps that nobody can read."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Auditor
from tests.topologies import Host, Style, healthy

MODELS = {"gx": "GX-8", "mx": "MX-4"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "inventory").mkdir()
    (tmp_path / "auditor.yaml").write_text("")
    names = [*(f"gx-{at}" for at in range(1, 5)), "mx-1"]
    (tmp_path / "inventory" / "hosts.yaml").write_text(
        "".join(
            f"{name}: {{hostname: 192.0.2.{at}, platform: linux, data: {{role: gpu_host, hardware_model: {MODELS[name[:2]]}}}}}\n"
            for at, name in enumerate(names, 1)
        )
    )
    return tmp_path


def capture(project: Path, name: str, **changed: Host | str) -> str:
    """A capture of all five hosts, each dump in another order and by another version; some of them changed, or any text."""
    good: dict[str, Host | str] = {f"gx_{at}": healthy() for at in range(1, 5)} | {"mx_1": healthy(4, 1)}
    for at, (host, dump) in enumerate((good | changed).items()):
        folder = project / name / host.replace("_", "-")
        folder.mkdir(parents=True)
        (folder / "device.yaml").write_text(f"platforms: [linux]\nrole: gpu_host\nhardware_model: {MODELS[host[:2]]}\n")
        style = Style(seed=at, shuffle=True, addresses=4 * at, vendors=at % 2 == 0, extras=at == 3, ranks=8 * at, host_hash=True)
        (folder / "nccl_topo.xml").write_text(dump if isinstance(dump, str) else dump.dump(style))
    return str(project / name)


def told(auditor: Auditor, project: Path, source: str) -> list[tuple[str, list[str], str]]:
    answer = auditor("-C", str(project), "check", "--from", source, "--only", "nccl.*", "--format", "json")
    found = [item for item in answer.report["findings"] if item["severity"] != "information"]
    assert answer.code == (1 if found else 0)
    return sorted((item["rule"], item["devices"], item["observed"]) for item in found)


def freeze(auditor: Auditor, project: Path, device: str, to: str) -> str:
    answer = auditor("-C", str(project), "baseline", "promote", device, "--table", "nccl_*", "--to", to)
    assert answer.code == 0, answer.err
    review = project / "baselines" / to.split("@")[0] / f"{to.split('@')[1]}.yaml.review"
    review.rename(review.with_suffix(""))
    assign = f"assignments:\n  - {{select: {{role: gpu_host}}, use: [{to}]}}\n"
    (project / "baselines" / "assignments.yaml").write_text(assign)
    lint = auditor("-C", str(project), "baseline", "lint")
    assert lint.code == 0, lint.out + lint.err
    return review.with_suffix("").read_text()


def test_hosts_that_are_alike_are_clean_and_an_odd_one_is_told_in_words(auditor: Auditor, project: Path) -> None:
    assert told(auditor, project, capture(project, "good")) == []
    odd = capture(project, "odd", gx_3=healthy().change(3, nic_width=8))
    assert told(auditor, project, odd) == [("nccl.topology_outlier", ["gx-3"], "gx-3: mlx5_3: width 8 instead of 16")]


def test_a_frozen_shape_sees_what_changed_on_all_hosts_at_once(auditor: Auditor, project: Path) -> None:
    assert told(auditor, project, capture(project, "good")) == []
    text = freeze(auditor, project, "gx-1", "tuned@1.0.0")
    assert "nccl.topology_changed" in text
    assert "GX-8" in text
    assert told(auditor, project, capture(project, "again")) == []
    moved = healthy().change(5, numa=0)
    found = told(auditor, project, capture(project, "moved", **{f"gx_{at}": moved for at in range(1, 5)}))
    assert [(rule, devices) for rule, devices, _ in found] == [("nccl.topology_changed", [f"gx-{at}"]) for at in range(1, 5)]
    assert all("GPU 5 and mlx5_5 hang under NUMA 0 instead of 1" in observed for _, _, observed in found)


def test_each_hardware_model_has_a_frozen_shape_of_its_own(auditor: Auditor, project: Path) -> None:
    told(auditor, project, capture(project, "good"))
    freeze(auditor, project, "gx-1", "tuned@1.0.0")
    text = freeze(auditor, project, "mx-1", "tuned@1.1.0")
    assert "GX-8" in text
    assert "MX-4" in text
    changed = capture(project, "changed", mx_1=healthy(4, 1).change(2, gpu_width=4))
    ((rule, devices, observed),) = told(auditor, project, changed)
    assert (rule, devices) == ("nccl.topology_changed", ["mx-1"])
    assert "GPU 2: width 4 instead of 16" in observed


def test_a_shape_that_is_frozen_already_is_nothing_to_promote(auditor: Auditor, project: Path) -> None:
    told(auditor, project, capture(project, "good"))
    freeze(auditor, project, "gx-1", "tuned@1.0.0")
    answer = auditor("-C", str(project), "baseline", "promote", "gx-2", "--table", "nccl_topology", "--to", "tuned@1.1.0")
    assert answer.code == 2
    assert "nothing to promote" in answer.err


@pytest.mark.parametrize(
    ("dump", "reason", "words"),
    [
        ('<system version="1"><cpu numaid="0">' + '<pci busid="0000:01:00.0">' * 10_000, "unparsed", "nested deeper"),
        ('<!DOCTYPE system [<!ENTITY a "x">]><system><cpu numaid="&a;"/></system>', "unparsed", "declares entities"),
        (f'<system><cpu affinity="{"f" * 1_000_000}"/></system>', "unparsed", "attribute longer"),
        (healthy().dump()[:3000], "truncated", "the document is cut off"),
    ],
    ids=["nesting", "entities", "attribute", "cut"],
)
def test_a_dump_that_cannot_be_read_is_a_gap_with_its_reason_and_the_rest_goes_on(
    auditor: Auditor, project: Path, dump: str, reason: str, words: str
) -> None:
    bad = capture(project, "bad", gx_2=dump, mx_1=healthy(4, 1).change(0, nic_width=1))
    answer = auditor("-C", str(project), "check", "--from", bad, "--only", "nccl.*", "--format", "json")
    assert answer.code == 3
    gaps = [gap for gap in answer.report["gaps"] if gap["device"] == "gx-2" and gap["table"] == "nccl_topology"]
    assert [gap["reason"] for gap in gaps] == [reason]
    assert words in gaps[0]["detail"]
    assert answer.report["coverage"]["results"]["pass"] >= 4, "GPUDirect on the hosts that can be read"
