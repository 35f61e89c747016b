"""Field cases about cables through the command: each is a project of its own, judged from the devices' own words alone."""

import csv
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Answer, Auditor, auditor

__all__ = ["auditor"]  # a fixture

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CASES = SHARED / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the field cases are not beside the checkout")

Judge = Callable[..., Answer]


@pytest.fixture
def judge(tmp_path: Path, auditor: Auditor) -> Judge:
    """Runs `cabling check` over a case: the plan's rows, the platform of each device, the folders that are captures."""

    def run(case: str, rows: Iterable[Mapping[str, str]], platforms: Mapping[str, str], *words: str) -> Answer:
        rows = list(rows)
        with (tmp_path / "plan.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, sorted({name for row in rows for name in row}))
            writer.writeheader()
            writer.writerows(rows)
        (tmp_path / "auditor.yaml").write_text("plan: plan.csv\n")
        hosts = []
        (tmp_path / "inventory").mkdir()
        for number, (name, platform) in enumerate(platforms.items(), start=1):
            role = "gpu_host" if name.startswith("gpu") else "leaf"
            hosts.append(f"{name}: {{hostname: 192.0.2.{number}, platform: {platform}, data: {{role: {role}}}}}\n")
            folder = tmp_path / "capture" / name
            if (CASES / case / name).is_dir():
                shutil.copytree(CASES / case / name, folder)
                (folder / "device.yaml").write_text(f"platforms: [{platform}]\nrole: {role}\n")
        (tmp_path / "inventory" / "hosts.yaml").write_text("".join(hosts))
        return auditor("-C", str(tmp_path), "cabling", "check", "--from", str(tmp_path / "capture"), "--format", "json", *words)

    return run


def rows_of(case: str, file: str = "wiring_plan.csv") -> list[dict[str, str]]:
    with (CASES / case / file).open(newline="") as stream:
        return list(csv.DictReader(stream))


def ethernet(rows: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    return [
        {
            "a_device": row["host"],
            "a_port": row["nic"],
            "b_device": row["leaf"],
            "b_port": row["leaf_port"],
            "plane": "compute",
            "rail": row.get("rail", ""),
        }
        for row in rows
    ]


def serious(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Causes above information."""
    return [cause for cause in report["causes"] if cause["severity"] != "information"]


def findings_of(report: Mapping[str, Any], cause: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in report["findings"] if finding["fingerprint"] in cause["members"]]


def test_port_ids_that_are_macs(judge: Judge) -> None:
    case = "07-lldp-port-id-is-a-mac"
    devices = {"leaf-07": "arista_eos"} | {f"gpu-0{number}": "linux" for number in range(21, 28)}
    answer = judge(case, ethernet(rows_of(case)), devices)
    report = answer.report
    assert answer.code == 1
    (cause,) = serious(report)
    assert cause["severity"] == "error"
    (finding,) = findings_of(report, cause)
    assert finding["rule"] == "cabling.wrong_peer"
    assert finding["devices"] == ["gpu-024", "leaf-07"]
    assert "ens108np0" in finding["expected"]
    assert "ens110np0" in finding["observed"]
    proofs = {(proof["device"], proof["excerpt"]) for proof in finding["evidence"]}
    assert any(device == "leaf-07" and "ens110np0" in text for device, text in proofs), "the port description"
    assert any(device == "gpu-024" and "b8:3f:d2:11:02:41" in text for device, text in proofs), "the MAC of the host's port"
    assert report["coverage"]["links"]["unknown"] == 1, "gpu-026 cannot be named: neither wrong nor missing"
    assert report["coverage"]["links"]["missing"] == 0
    assert report["coverage"]["links"]["proven_one_end"] == 5


def test_hosts_whose_firmware_eats_the_frames(judge: Judge) -> None:
    case = "08-lldp-eaten-by-nic-firmware"
    devices = {"leaf-11": "sonic"} | {f"gpu-{number}": "linux" for number in range(31, 35)}
    answer = judge(case, ethernet(rows_of(case)), devices)
    report = answer.report
    assert answer.code == 1
    by_severity = {
        severity: [cause for cause in serious(report) if cause["severity"] == severity] for severity in ("error", "warning")
    }
    (wrong,) = by_severity["error"]
    (finding,) = findings_of(report, wrong)
    assert finding["rule"] == "cabling.wrong_peer"
    assert "gpu-34" in finding["devices"]
    assert "Ethernet40" in finding["observed"]
    assert "Ethernet32" in finding["message"]
    hidden = [findings_of(report, cause) for cause in by_severity["warning"]]
    assert {found[0]["devices"][0]: len(found) for found in hidden} == {"gpu-31": 2, "gpu-34": 1}
    assert all(finding["rule"] == "cabling.neighbour_hidden" for found in hidden for finding in found)
    assert "fw-lldp-agent: on" in hidden[0][0]["message"] + hidden[1][0]["message"]
    assert "disable-fw-lldp: off" in hidden[0][0]["message"] + hidden[1][0]["message"]
    assert report["coverage"]["links"]["link_only"] == 1, "gpu-33: up at both ends, nobody named"


def test_a_crossed_pair_and_a_neighbouring_port(judge: Judge) -> None:
    case = "09-two-nics-swapped-between-rails"
    rows = rows_of(case)
    devices = dict.fromkeys(sorted({row["leaf"] for row in rows}), "sonic") | {
        f"gpu-10{number}": "linux" for number in range(1, 5)
    }
    answer = judge(case, ethernet(rows), devices)
    report = answer.report
    assert answer.code == 1
    pair, port = sorted(serious(report), key=lambda cause: -len(cause["members"]))
    assert (len(pair["members"]), pair["kind"], pair["severity"]) == (2, "swapped", "error")
    for word in ("gpu-103", "ens114np0", "ens116np0", "leaf-r3", "leaf-r4"):
        assert word in pair["title"]
    assert len(pair["work_order"]) == 3
    assert (len(port["members"]), port["kind"], port["severity"]) == (1, "wrong_port", "error")
    assert "rail" in port["title"]
    (finding,) = findings_of(report, port)
    assert "Ethernet24" in finding["expected"]
    assert "Ethernet32" in finding["observed"] or "etp5" in finding["observed"]


def test_an_infiniband_fabric_with_crossed_cables_and_a_nameless_node(judge: Judge, tmp_path: Path) -> None:
    case = "19-ibnetdiscover-crossed-and-nameless"
    guids = {
        (folder.name, row["device"]): row["node_guid"]
        for folder in (CASES / case).iterdir()
        if (folder / "hca_guid.csv").exists()
        for row in rows_of(f"{case}/{folder.name}", "hca_guid.csv")
    }
    rows = [
        {
            "a_device": row["a_node"],
            "a_port": row["a_port"],
            "b_device": row["b_node"],
            "b_port": row["b_port"],
            "plane": "compute",
            "speed": row["rate"],
            "a_id": guids.get((row["a_node"], row["a_port"]), ""),
        }
        for row in rows_of(case, "ib_wiring_plan.csv")
    ]
    switches = dict.fromkeys(("ib-leaf-0", "ib-leaf-1", "ib-spine-0"), "infiniband")
    folder = tmp_path / "capture" / "fm-01"
    folder.mkdir(parents=True)
    shutil.copy(CASES / case / "ibnetdiscover.txt", folder)
    (folder / "device.yaml").write_text("platforms: [infiniband]\nrole: fabric_manager\n")
    answer = judge(case, rows, {"fm-01": "infiniband"} | dict.fromkeys(sorted({name for name, _ in guids}), "linux") | switches)
    report = answer.report
    assert answer.code == 1
    told = {(cause["kind"], cause["severity"]): cause for cause in serious(report)}
    assert set(told) == {("swapped", "error"), ("degraded", "error"), ("swapped", "warning"), ("device", "warning")}
    assert len(serious(report)) == 4
    for word in ("gpu-302", "mlx5_0", "mlx5_1"):
        assert word in told["swapped", "error"]["title"]
    assert len(told["swapped", "error"]["members"]) == 2
    assert len(told["swapped", "warning"]["members"]) == 2
    (slow,) = findings_of(report, told["degraded", "error"])
    assert "gpu-304" in slow["devices"]
    assert "2xNDR" in slow["observed"] + slow["message"] or "200" in slow["observed"]
    (nameless,) = findings_of(report, told["device", "warning"])
    assert nameless["rule"] == "cabling.factory_description"
    assert "gpu-303" in nameless["devices"]
    assert report["coverage"]["links"]["unplanned"] == 0, "the aggregation nodes inside the switches are no hosts"
    assert report["coverage"]["links"]["proven"] + report["coverage"]["links"]["proven_one_end"] == 7
