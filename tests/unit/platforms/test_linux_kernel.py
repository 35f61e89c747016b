"""The kernel of one host: parameters, settings, modules; its processors and memory nodes."""

import pytest

from auditor.address import Address
from auditor.collect.redaction import redact
from auditor.facts import KernelModule, KernelParameter, Numa, Sysctl
from auditor.model import ABSENT, GapReason
from auditor.platforms.linux import PLATFORM
from auditor.platforms.linux.kernel import KEYS
from tests.unit.platforms.answers import told
from tests.unit.platforms.linux_host import cell, reason, recorded, state

LINE = "cat /proc/cmdline"
ASKED = f"sysctl -e {' '.join(KEYS)}"


def test_a_parameter_that_is_not_given_is_absent():
    seen = state((LINE, recorded("cmdline", "duplicates_quotes_and_an_own_disk")))
    assert cell(seen, "kernel_parameter[iommu].value").value == "pt"
    assert cell(seen, "kernel_parameter[pcie_acs_override].value").value is ABSENT
    assert cell(seen, "kernel_parameter[nokaslr].value").value == ""


def test_what_names_this_machine_is_known_to_be_there_and_not_compared():
    seen = state((LINE, "BOOT_IMAGE=/vmlinuz root=UUID=1c6f2a1e ro BOOTIF=01-02-00-5e-10-00-01 rd.luks.uuid=7a quiet\n"))
    assert set(seen.rows(KernelParameter)) == {("ro",), ("quiet",)}
    for name in ("BOOT_IMAGE", "root", "BOOTIF", "rd.luks.uuid"):
        assert reason(seen, f"kernel_parameter[{name}].value") is GapReason.UNSUPPORTED


def test_two_hosts_that_differ_in_their_disks_alone_have_the_same_rows():
    one, other = (state((LINE, f"root=UUID={disk} iommu=pt\n")) for disk in ("1a", "2b"))
    assert one.rows(KernelParameter) == other.rows(KernelParameter)


@pytest.mark.parametrize(
    "line",
    [
        "ro rd.iscsi.password=hunter2 quiet",
        "ro join_token=hunter2 quiet",
        "ro ipxe.api_key=hunter2 quiet",
        "ro wifi.passphrase=hunter2 quiet",
    ],
)
def test_a_secret_on_the_command_line_is_blanked(line):
    body = redact(line + "\n", PLATFORM.secrets)
    assert "hunter2" not in body
    assert body.startswith("ro ")
    assert body.endswith(" quiet\n")
    assert reason(state((LINE, body)), f"kernel_parameter[{line.split()[1].partition('=')[0]}].value") is GapReason.UNPARSED


@pytest.mark.parametrize("line", ["ro iommu.passthrough=1 keyboard=us", "ro random.trust_cpu=1"])
def test_what_is_no_secret_stays(line):
    assert redact(line, PLATFORM.secrets) == line


@pytest.mark.parametrize("name", ["net.ipv6.conf.eth0.stable_secret", "net.ipv4.tcp_fastopen_key"])
def test_keys_of_the_network_are_blanked(name):
    body = redact(f"{name} = 00c0ffee\nvm.swappiness = 10\n", PLATFORM.secrets)
    assert "00c0ffee" not in body
    assert "vm.swappiness = 10" in body


def test_settings_asked_for_are_plain_names_and_readable_by_anybody():
    assert len(set(KEYS)) == len(KEYS)
    assert not [key for key in KEYS if "secret" in key or "key" in key]
    assert PLATFORM.source("sysctl").command == ASKED


def test_a_setting_that_the_kernel_does_not_have_is_unsupported_and_others_were_not_asked_for():
    seen = state((ASKED, recorded("sysctl", "asked_for")))
    assert cell(seen, "sysctl[net.ipv4.tcp_rmem].value").value == "4096 131072 6291456"
    assert reason(seen, "sysctl[vm.compaction_proactiveness].value") is GapReason.UNSUPPORTED
    assert reason(seen, "sysctl[vm.dirty_ratio].value") is GapReason.NOT_COLLECTED


def test_a_cut_answer_says_nothing_about_the_settings_behind_the_cut():
    assert reason(state((ASKED, recorded("sysctl", "cut"))), "sysctl[net.core.rmem_max].value") is GapReason.TRUNCATED


def test_of_all_settings_those_that_change_by_themselves_are_left_out():
    seen = state(("sysctl -a", recorded("sysctl_all", "own_names_and_counters_left_out")))
    assert {key[0] for key in seen.rows(Sysctl)} == {
        "kernel.numa_balancing", "net.ipv4.conf.all.rp_filter", "net.ipv4.tcp_rmem", "vm.swappiness",
    }  # fmt: skip
    assert cell(seen, "sysctl[kernel.hostname].value").value is None


def test_a_module_that_is_not_loaded_is_absent_and_names_have_underscores():
    seen = state(
        ("ls /sys/module /sys/module/kernel", "/sys/module:\nnvidia-peermem\nmlx5_core\n\n/sys/module/kernel:\nparameters\n")
    )
    assert set(seen.rows(KernelModule)) == {("nvidia_peermem",), ("mlx5_core",)}
    assert cell(seen, "kernel_module[nouveau].loaded").value is ABSENT


def test_a_folder_of_modules_that_was_cut_proves_no_absence():
    seen = state(("ls /sys/module /sys/module/kernel", recorded("modules", "cut")))
    assert reason(seen, "kernel_module[nvidia_peermem].loaded") is GapReason.TRUNCATED


def test_memory_comes_from_one_tool_and_cpus_from_both():
    seen = state(
        (
            "lscpu",
            "Architecture: x86_64\nOn-line CPU(s) list: 0-3\nNUMA node(s): 2\nNUMA node0 CPU(s): 0,2\nNUMA node1 CPU(s): 1,3\n",
        ),
        (
            "numactl -H",
            "available: 2 nodes (0-1)\nnode 0 cpus: 0 2\nnode 0 size: 1 MB\n"
            "node 1 cpus: 1 3\nnode 1 size: 2 MB\nnode distances:\n",
        ),
    )
    assert {key[0]: (row.cpus, row.memory_bytes) for key, row in seen.rows(Numa).items()} == {
        "0": ("0,2", 1 << 20), "1": ("1,3", 2 << 20),
    }  # fmt: skip
    assert cell(seen, "cpu.online").value == 4
    assert seen.has_row(Address("numa", ("2",))) is False


def test_a_host_without_numactl_still_has_its_nodes():
    seen = state(
        ("lscpu", "Architecture: x86_64\nOn-line CPU(s) list: 0-3\nNUMA node(s): 1\nNUMA node0 CPU(s): 0-3\n"),
        ("numactl -H", "timeout: failed to run command 'numactl': No such file or directory\n"),
    )
    assert cell(seen, "numa[0].cpus").value == "0-3"
    assert reason(seen, "numa[0].memory_bytes") is GapReason.UNSUPPORTED


BROKEN = {
    "cmdline": ("duplicates_quotes_and_an_own_disk", True),
    "sysctl": ("asked_for", False),
    "modules": ("folder", False),
    "lscpu": ("a_node_of_memory_alone", True),
    "numactl": ("three_nodes_one_without_cpus", True),
}
"""Recorded answers, and whether nothing that is read ends the text."""


@pytest.mark.parametrize("source", BROKEN)
def test_a_broken_answer_tells_no_lie(source):
    case, endless = BROKEN[source]
    assert told("linux", source, recorded(source, case), endless=endless) == []
