from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditor.cli import app
from auditor.errors import SetupError
from auditor.lab.faults import FAULTS

SMALL = ("--hosts", "2", "--nics", "2", "--leaves", "2", "--spines", "1")


def generate(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(
        app, ["lab", "generate", str(folder), *SMALL, *words], catch_exceptions=False, standalone_mode=False
    )


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_folder_without_faults_holds_the_clean_capture_alone(tmp_path: Path) -> None:
    generate(tmp_path / "pod")
    assert {entry.name for entry in (tmp_path / "pod").iterdir()} == {
        "auditor.yaml", "fabric.yaml", "inventory", "baselines", "plan", "captures",
    }  # fmt: skip
    assert [entry.name for entry in (tmp_path / "pod" / "captures").iterdir()] == ["clean"]


def test_faults_show_on_their_devices_and_the_plan_knows_nothing_of_them(tmp_path: Path) -> None:
    generate(tmp_path / "healthy")
    generate(tmp_path / "pod", "--fault", "mtu:leaf-02:Ethernet0", "--fault", "nic_firmware:gpu-01")
    healthy, pod = files(tmp_path / "healthy"), files(tmp_path / "pod")
    assert {name: body for name, body in pod.items() if not name.startswith("captures/faulty/")} == healthy
    status = "show_interfaces_status.txt"
    changed = {
        name
        for name in ("leaf-01", "leaf-02")
        if pod[f"captures/faulty/{name}/{status}"] != pod[f"captures/clean/{name}/{status}"]
    }
    assert changed == {"leaf-02"}
    assert b"28.39.3560" in pod["captures/faulty/gpu-01/ethtool_i_enp26s0np0.txt"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--fault", "gremlins:leaf-01"), "no fault 'gremlins'; there are: dscp_class"),
        (("--fault", "mtu"), "wanted KIND:DEVICE"),
        (("--fault", "mtu:leaf-09:Ethernet0"), "no switch 'leaf-09'"),
        (("--leaves", "3"), "3 leaves cannot be shared by 2 rails"),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_is_written(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(SetupError, match=message):
        generate(tmp_path / "pod", *words)
    assert not (tmp_path / "pod").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "auditor.yaml").write_text("plan: mine.csv\n")
    with pytest.raises(SetupError, match="is not empty"):
        generate(tmp_path)
    assert files(tmp_path) == {"auditor.yaml": b"plan: mine.csv\n"}


def test_the_help_names_every_fault_with_what_it_does() -> None:
    shown = CliRunner().invoke(app, ["lab", "generate", "--help"]).output
    assert all(f"  {name} " in shown and str(fault.__doc__).strip() in shown for name, fault in FAULTS.items())
    assert "Examples:" in shown
