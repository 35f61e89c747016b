"""Logs that others published: what they say, read by hand; skipped where the collection is not beside the checkout."""

import os
from pathlib import Path

import pytest

from auditor.checks.nccl.log_seen import gaps
from auditor.dialects.nccl_job import Log
from auditor.dialects.nccl_log import Reader
from auditor.workflows.nccl import check

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
FOLDER = SHARED / "captures" / "host" / "nccl-info-log"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the collection of captures is not here")

FILES = sorted(FOLDER.glob("*.txt"))


def read(name: str) -> Log:
    reader = Reader()
    with (FOLDER / name).open("rb") as stream:
        reader.read(stream, name)
    return reader.finish()


def reasons(log: Log) -> str:
    return "\n".join(f"{gap.device}: {gap.detail}" for gap in gaps(log))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_is_read_or_a_gap_with_its_reason(file: Path) -> None:
    done = check([str(file)])
    assert done.log.files[0].entries > 1
    assert done.code in (1, 3), "none of them is the whole log of a job"
    assert all(gap.detail for gap in done.run.gaps)
    assert not [result for result in done.run.results if result.verdict == "error"]


def test_two_hosts_with_a_gpu_each_of_which_one_is_there() -> None:
    log = read("a100pcie-1gpu-2node-mixed-roce-ib-2.16.5-graph.txt")
    host = log.hosts["n013"]
    nics = host.processes[101855].nics
    assert {at: (nic.name, nic.link) for at, nic in nics.items()} == {0: ("mlx5_0", "RoCE"), 1: ("mlx5_2", "IB")}
    assert list(log.versions) == ["NCCL 2.16.5+cuda11.8"]
    assert host.value("NCCL_NET_GDR_LEVEL") == "SYS"
    assert {(end.sends, end.network, end.index, end.direct, end.count) for end in log.ends} == {
        (True, "IB", 1, True, 2),
        (False, "IB", 1, True, 2),
    }
    assert log.ends[0].nic is nics[1], "the index is not the number in the name"
    assert not host.slow, "a slow adapter behind no bridge is its own affair"
    assert "1 of 2 ranks are in these logs; missing: 1" in reasons(log)


def test_efa_behind_the_prefix_of_mpirun_cut_in_a_head() -> None:
    log = read("efa-p4d-16rank-mpirun-prefix-2.8.3-cut.txt")
    assert {host.name: len(host.processes) for host in log.hosts.values()} == {
        "nccl-tests-efa-worker-0": 8,
        "nccl-tests-efa-worker-1": 8,
    }
    assert all(list(host.networks) == ["AWS Libfabric"] for host in log.hosts.values())
    assert all(not host.found for host in log.hosts.values()), "this version does not count adapters"
    assert sorted((end.host.name[-1], end.sends, end.gpu, end.network, end.index) for end in log.ends) == [
        ("0", False, 6, "AWS Libfabric", 3),
        ("0", True, 1, "AWS Libfabric", 0),
        ("1", False, 6, "AWS Libfabric", 3),
    ]
    assert log.files[0].cut
    assert not any(host.topology_files for host in log.hosts.values()), "the plug-in set it"


def test_one_of_two_hosts_of_sixteen_gpus_while_they_begin() -> None:
    log = read("h200-16rank-roce-2.27-interleaved-init.txt")
    host = log.hosts["gpu-node0008"]
    names = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_5", "mlx5_6", "mlx5_7", "mlx5_8", "mlx5_11"]
    assert all([nic.name for nic in process.nics.values()] in (names, []) for process in host.processes.values())
    assert host.value("NCCL_IB_HCA") == ",".join(names)
    assert host.value("NCCL_IB_DISABLE") == "0"
    group = log.communicators["0xde4443395863ef4a"]
    assert group.size == 16
    assert {rank.number: rank.bus for rank in group.ranks.values()}[11] == "5d000"
    assert sorted(group.ranks) == list(range(8, 16))
    assert "missing: 0, 1, 2, 3, 4, 5, 6, 7" in reasons(log)
    assert "rank 8, 9, 10, 11, 12, 13, 14, 15 began and said no more" in reasons(log)


def test_the_same_host_while_rings_are_laid_cut_in_a_connection() -> None:
    log = read("h200-16rank-roce-2.27-interleaved-rings-cut.txt")
    host = log.hosts["gpu-node0008"]
    assert host.value("NCCL_CROSS_NIC") == "1"
    assert len(host.gpus) == 8
    assert not any(gpu.domain for gpu in host.gpus.values())
    group = log.communicators[""]
    assert (group.size, group.nodes, {rank.local_ranks for rank in group.ranks.values()}) == (16, 2, {8})
    assert group.trees == 16
    sends = sorted((end.gpu, end.index, end.count) for end in log.ends if end.sends)
    assert sends == [(gpu, gpu, 2) for gpu in range(1, 8)]
    receives = sorted((end.gpu, end.index, end.count) for end in log.ends if not end.sends)
    assert receives == [(gpu, gpu, 2) for gpu in range(8)]
    assert all(end.direct for end in log.ends)
    assert log.files[0].cut
    assert host.damaged == 1


def test_devices_one_by_one_with_their_pci_address() -> None:
    log = read("h200-roce-2.27.5-provider-pcipath-lines.txt")
    (nic,) = {nic for process in log.hosts["gpu-node0007"].processes.values() for at, nic in process.nics.items() if at == 2}
    assert (nic.name, nic.port, nic.link, nic.speed, nic.pci) == ("mlx5_2", "1", "RoCE", 400000, "0000:3b:00.0")
    assert log.files[0].cut


def test_switches_of_a_virtual_machine_that_claim_one_lane() -> None:
    done = check([str(FOLDER / "h200-vm-emulated-switch-0.2GBps-cross-rail.txt")])
    slow = done.log.hosts["node_2"].slow
    assert len(slow) == 8
    assert {link.bandwidth for link in slow.values()} == {0.2}
    assert slow["PCI/0-65000"].below == {"NIC/0-67000": 48.0, "GPU/0-68000": 48.0}
    (finding,) = done.run.findings
    assert finding.rule == "nccl.slow_pci_link"
    assert finding.devices == ("node_2",)
    assert done.verdict == "rejected"
    assert {(end.gpu, end.index) for end in done.log.ends} == {(7, 11), (2, 14)}


def test_merged_ports_take_their_own_index() -> None:
    log = read("modelled-dual-port-merged-virtual-devices.txt")
    assert [(end.index, end.nic and end.nic.name, end.nic and end.nic.members) for end in log.ends] == [
        (4, "mlx5_0+mlx5_1", ("mlx5_0", "mlx5_1")),
        (5, "mlx5_2+mlx5_3", ("mlx5_2", "mlx5_3")),
    ]


def test_one_gpu_outside_the_nvlink_domain() -> None:
    done = check([str(FOLDER / "modelled-gb200-mnnvl-one-gpu-outside-clique.txt")])
    (finding,) = done.run.findings
    assert (finding.rule, finding.devices) == ("nccl.nvlink_domain_differs", ("gb200-02",))
    assert "1801000" in finding.message
    assert finding.evidence[0].locator == "line 11"
    assert done.offending == ("gb200-02",)


def test_a_lost_adapter_is_one_cause_of_three_findings() -> None:
    done = check([str(FOLDER / "modelled-one-host-lost-a-nic-pxn.txt")])
    assert {finding.rule for finding in done.run.findings} == {
        "nccl.cross_rail_traffic",
        "nccl.gdr_off",
        "nccl.network_devices_differ",
    }
    (cause,) = done.run.causes
    assert len(cause.members) == 3
    assert done.offending == ("node-b",)
    # by index ten of the connections would differ, by name the two of rank 3 and rank 11
    assert (done.share.judged, done.share.crossing) == (16, 2)


def test_sockets_on_a_single_host_are_no_fault_and_a_pinned_file_is() -> None:
    done = check([str(FOLDER / "rccl-2.30-4gpu-socket-fallback-dev-nodes-multiline-version.txt")])
    host = done.log.hosts["macpro2019-01"]
    assert list(host.networks) == ["Socket"]
    assert host.no_device is not None
    assert list(host.versions) == ["RCCL 2.30.4-HEAD:2b22ab0"]
    assert [nic for process in host.processes.values() for nic in process.nics] == []
    assert {(finding.rule, str(finding.severity)) for finding in done.run.findings} == {
        ("nccl.pinned_topology_file", "warning"),
        ("nccl.warned", "warning"),
    }
    assert done.verdict == "incomplete"
    assert not host.slow


def test_two_jobs_in_one_log_stay_apart() -> None:
    log = read("two-single-rank-jobs-interleaved-roce-net-missing.txt")
    assert {key: group.size for key, group in log.communicators.items()} == {
        "0x428d7c9b55223c50": 1,
        "0x401fd347a370a800": 1,
    }
    assert len(log.communicators["0x428d7c9b55223c50"].rings) == 32
    assert [nic.name for nic in log.hosts["a4df80236412"].processes[808].nics.values()] == ["roce0"]
    assert not log.ends
