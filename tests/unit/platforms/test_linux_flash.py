"""Firmware that runs and firmware that waits, beside what `ethtool` says of the same adapter; recorded answers by hand."""

import pytest

from auditor.model import ABSENT, GapReason
from auditor.platforms.linux import PLATFORM
from tests.unit.platforms.linux_host import SHARED, cell, parsed, read, reason, recorded, state

HOST = SHARED / "captures" / "host"
captures = pytest.mark.skipif(not HOST.is_dir(), reason="no collection of captures beside the checkout")
ETHTOOL = (
    "driver: mlx5_core\nversion: 24.10-1.1.4\nfirmware-version: {version} (MT_0000000838)\nexpansion-rom-version: \n"
    "bus-info: 0000:1a:00.0\nsupports-statistics: yes\nsupports-priv-flags: yes\n"
)


def test_driver_and_ethtool_agree_on_what_runs():
    seen = state(
        ("devlink dev info", recorded("devlink_dev_info", "waiting_and_other_drivers")),
        ("ethtool -i ens1np0", ETHTOOL.format(version="28.41.1000")),
    )
    assert cell(seen, "firmware[nic.0000:1a:00.0].version").value == "28.41.1000"
    assert cell(seen, "firmware[nic.0000:1a:00.0].pending_version").value == "28.43.1014"
    assert seen.port_of("firmware", ("nic.0000:1a:00.0",)) == "ens1np0"


def test_two_answers_that_disagree_are_a_conflict():
    seen = state(
        ("devlink dev info", recorded("devlink_dev_info", "waiting_and_other_drivers")),
        ("ethtool -i ens1np0", ETHTOOL.format(version="28.39.1002")),
    )
    assert reason(seen, "firmware[nic.0000:1a:00.0].version") is GapReason.CONFLICT


def test_what_the_driver_does_not_speak_of_is_unknown_not_absent():
    seen = state(
        ("devlink dev info", recorded("devlink_dev_info", "waiting_and_other_drivers")),
        ("cat /sys/class/dmi/id/bios_version", "2.4.1\n"),
    )
    assert cell(seen, "firmware[nic.0000:4b:00.0].pending_version").value is not ABSENT
    assert cell(seen, "firmware[bios].pending_version").value is not ABSENT
    assert reason(seen, "firmware[nic.0000:1a:00.1].pending_version") is GapReason.UNSUPPORTED


@pytest.mark.parametrize(
    "answer",
    ["sh: 1: devlink: not found", "bash: line 1: devlink: command not found", "Failed to connect to devlink Netlink"],
)
def test_a_host_without_devlink_is_no_gap_that_counts(answer):
    _, gaps = parsed(answer, "devlink_dev_info")
    assert [gap.reason for gap in gaps] == [GapReason.UNSUPPORTED]


def test_only_what_needs_no_root_is_sent():
    assert PLATFORM.source("devlink_dev_info").privilege == "none"
    assert not any(PLATFORM.source(key).sent for key in ("mstflint", "mlxfwmanager", "mlxfwmanager_xml", "mlxlink"))


def test_the_part_number_comes_with_the_options():
    seen = state(("mlxconfig -d 0000:1a:00.0 -e q", recorded("mlxconfig", "pending")))
    assert cell(seen, "firmware[nic.0000:1a:00.0].part_number").value == "MCX623106AC-CDA_Ax"


def test_flint_asked_by_a_device_node_does_not_say_which_adapter_it_is():
    rows, gaps = parsed(recorded("mstflint", "another_version_runs"), "mstflint", pci="mt4129_pciconf0")
    assert not rows
    assert "no PCI address" in gaps[0].detail


@captures
@pytest.mark.parametrize(
    ("file", "version", "psid"),
    [
        ("cx5-mt0000000012-amd64-only", "16.31.2006", "MT_0000000012"),
        ("cx6dx-mt0000000359", "22.27.1016", "MT_0000000359"),
        ("cx6lx-mt0000000575-secure-fw", "26.33.1048", "MT_0000000575"),
    ],
)
def test_recorded_flash(file, version, psid):
    rows, gaps = read(HOST / f"flint-query/{file}.txt", "mstflint", pci="0000:3b:00.0")
    assert rows == {("firmware", "nic.0000:3b:00.0"): {"version": version, "pending_version": version, "psid": psid}}
    assert not gaps


@captures
@pytest.mark.parametrize(
    ("file", "pci", "part", "psid", "version"),
    [
        ("bluefield-nvme-line", "0000:02:00.0", "MBF1M332A-ASCA_Ax", "MT_0000000230", "18.26.4012"),
        ("cx3-port1-port2-mac", "0000:0b:00.0", "MCX354A-FCB_A2-A5", "MT_1090120019", "2.40.7000"),
        ("cx6lx-update-required", "0002:01:00.0", "MCX631102AS-ADA_Ax", "MT_0000000575", "26.33.1048"),
    ],
)
def test_recorded_managers(file, pci, part, psid, version):
    rows, gaps = read(HOST / f"mlxfwmanager/{file}.txt", "mlxfwmanager")
    assert rows == {
        ("firmware", f"nic.{pci}"): {"version": version, "pending_version": version, "part_number": part, "psid": psid}
    }
    assert not gaps


@captures
def test_recorded_xml_that_was_cut_gives_nothing_and_says_where():
    rows, gaps = read(HOST / "mlxfwmanager/cx6lx-query-xml-cut.xml", "mlxfwmanager_xml")
    assert not rows
    assert [(gap.reason, gap.detail) for gap in gaps] == [(GapReason.TRUNCATED, "line 8: the document is cut off")]


@captures
@pytest.mark.parametrize(
    ("file", "rate", "version"),
    [
        ("eth-100g-bluefield3-module-cut", 100_000_000_000, "32.43.2402"),
        ("ib-edr-cx-bluefield-trailing-space", 100_000_000_000, "32.47.1088"),
        ("modelled-polling-cable-unplugged", None, "28.39.1002"),
    ],
)
def test_recorded_links(file, rate, version):
    rows, gaps = read(HOST / f"mlxlink/{file}.txt", "mlxlink", device="mlx5_0")
    assert rows == {("rdma_port", "mlx5_0", "1"): {} if rate is None else {"rate": rate}}
    assert not gaps
    rows, gaps = read(HOST / f"mlxlink/{file}.txt", "mlxlink", device="0000:03:00.0")
    assert rows == {("firmware", "nic.0000:03:00.0"): {"version": version}}
    assert not gaps


@captures
def test_recorded_nvlink_is_no_adapter():
    rows, gaps = read(HOST / "mlxlink/nvlink-xdr-gpu-b200.txt", "mlxlink", device="0000:1b:00.0")
    assert not rows
    assert {(gap.reason, gap.detail) for gap in gaps} == {(GapReason.UNSUPPORTED, "an NVLink of a GPU or a switch, no adapter")}


@captures
def test_recorded_devlink_of_an_ionic_adapter():
    rows, gaps = read(HOST / "devlink-dev-info/ionic-elba.txt", "devlink_dev_info")
    assert rows == {("firmware", "nic.0000:19:00.0"): {"version": "1.46.0-E-28"}}
    assert not gaps


@captures
@pytest.mark.parametrize(
    ("folder", "source"),
    [
        ("flint-query", "mstflint"),
        ("mlxfwmanager", "mlxfwmanager"),
        ("mlxlink", "mlxlink"),
        ("devlink-dev-info", "devlink_dev_info"),
    ],
)
def test_every_recorded_answer_gives_rows_or_says_why_not(folder, source):
    files = sorted((HOST / folder).iterdir())
    assert files
    for file in files:
        key = f"{source}_xml" if file.suffix == ".xml" else source
        rows, gaps = read(file, key, pci="0000:3b:00.0", device="mlx5_0")
        assert rows or (gaps and all(gap.detail for gap in gaps)), file.name
