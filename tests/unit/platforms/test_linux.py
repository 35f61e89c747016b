"""What every source of a Linux host must keep: the guard, refusals, junk, names of recorded files, a line that proves."""

import pytest

from auditor.collect.commands import Recogniser
from auditor.collect.guard import commands_for
from auditor.model import GapReason, RawOutput, Transport, digest
from auditor.platforms import platforms
from auditor.platforms.linux import PLATFORM
from auditor.workflows.parse import find_source
from tests.unit.platforms.linux_host import NOW, cell, recorded, state


def test_the_platform_registers_itself_and_uses_one_exec_channel():
    assert platforms()["linux"] is PLATFORM
    assert PLATFORM.transport is Transport.EXEC


@pytest.mark.parametrize("source", [source for source in PLATFORM.sources if source.sent], ids=lambda source: source.key)
def test_every_command_passes_the_read_only_guard(source):
    parameters = {} if source.parameter is None else {source.parameter.name: "ens1f0np0"}
    assert commands_for(PLATFORM, source, parameters)


@pytest.mark.parametrize("source", PLATFORM.sources, ids=lambda source: source.key)
def test_every_alias_has_the_parameter_of_its_command(source):
    for alias in source.aliases:
        assert ("{" in alias) == (source.parameter is not None)
        assert source.parameter is None or "{" + source.parameter.name + "}" in alias


def test_only_lldp_firmware_options_access_control_and_the_fallback_for_the_bios_need_sudo():
    assert {source.key for source in PLATFORM.sources if source.privilege == "sudo"} == {
        "lldpctl", "lldpctl_text", "dmidecode", "mlxconfig", "mstconfig", "lspci_bridges",
    }  # fmt: skip


def test_what_only_captures_hold_is_never_sent():
    assert {source.key for source in PLATFORM.sources if not source.sent} == {
        "rdma_tclass_all", "cma_roce_tos", "nccl_env", "nccl_env_named", "lldpctl_keyvalue", "ip_link_brief", "bonding",
        "nvidia_smi_text", "nvidia_smi_table", "nvidia_smi_by_number", "amd_firmware", "amd_topology", "sysctl_all", "lsmod",
        "lscpu_json", "nvidia_smi_query", "nccl_topo", "nccl_graph", "lspci", "lspci_list", "lspci_tree", "lstopo",
        "mstflint", "mlxfwmanager", "mlxfwmanager_xml", "mlxlink", "show_gids", "ibstat", "ibstatus", "ibdev2netdev",
        "rdma_qos", "niccli_list", "niccli_qos", "nicctl_qos", "nicctl_dcqcn", "nicctl_port", "nicctl_lif",
    }  # fmt: skip


REFUSALS = [
    ("bash: line 1: mlnx_qos: command not found", GapReason.REJECTED),
    ("sh: 1: ibv_devinfo: not found", GapReason.REJECTED),
    ("sudo: lldpctl: command not found", GapReason.REJECTED),
    ("sudo: a password is required", GapReason.PERMISSION),
    ("audit is not in the sudoers file.", GapReason.PERMISSION),
    ("Sorry, user audit is not allowed to execute '/usr/sbin/lldpctl -f json' as root on gpu-1.", GapReason.PERMISSION),
    ("Error: cannot open /dev/infiniband/uverbs0: Permission denied", GapReason.PERMISSION),
    ("netlink error: Operation not permitted", GapReason.PERMISSION),
    ("netlink error: Operation not supported", GapReason.UNSUPPORTED),
    ("ETS features are not supported on your system", GapReason.UNSUPPORTED),
    ("Cannot get driver information: No such device", GapReason.REJECTED),
    ('Device "eth9" does not exist.', GapReason.REJECTED),
    ("No IB devices found", GapReason.REJECTED),
    ("Failed to open NETLINK_RDMA socket", GapReason.REJECTED),
    ("2026-03-01T10:00:00 [WARN/lldpctl] unable to connect to socket /run/lldpd.socket", GapReason.REJECTED),
    ("ssh: connect to host gpu-1 port 22: Connection timed out", GapReason.UNREACHABLE),
    ("Traceback (most recent call last):\n  File \"mlnx_qos\", line 1\nKeyError: 14", GapReason.REJECTED),
]  # fmt: skip


COMMANDS = [
    "mlnx_qos -i eth2",
    "ibv_devinfo -v",
    "rdma link",
    "lldpctl -f json",
    "lldpctl",
    "lldpctl -f keyvalue",
    "ip -br link",
    "ip neigh",
    "ethtool --show-priv-flags eth2",
    "cat /proc/net/bonding/bond0",
    "ethtool -i eth2",
    "ip -d link",
    "cat /etc/os-release",
]


@pytest.mark.parametrize("text,wanted", REFUSALS, ids=[text[:40] for text, _ in REFUSALS])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_refusal_is_a_gap_with_its_reason_and_nothing_is_absent(command, text, wanted):
    source, _ = find_source(PLATFORM, command)
    seen = state((command, text + "\n"))
    assert not [row for _, row in seen.all_rows()]
    assert {gap.reason for gap in seen.gaps if gap.source == source.key} == {wanted}
    assert not [origins for origins in seen.origins.values() if origins]


@pytest.mark.parametrize("words", ["Permission denied", "No such device", "Operation not supported", "command not found"])
def test_a_description_with_the_words_of_a_refusal_refuses_nothing(words):
    for command, case in (("ip -d link", "details"), ("ip -o link", "one_line")):
        body = recorded("ip_link_text", case).replace("compute rail 0, do not unplug", words)
        body = body.replace("\\    altname", f"\\    alias {words}\\    altname")
        assert cell(state((command, body)), "interface[ens15f0np0].description").value == words


def test_notices_that_other_settings_are_not_supported_do_not_refuse_the_answer():
    body = "Rate limit is not supported on your system!\n" + recorded("mlnx_qos", "trust_pcp_pfc_off")
    assert cell(state(("mlnx_qos -i ens16np0", body)), "qos_port[ens16np0].trust").value == ("pcp",)


@pytest.mark.parametrize("source", PLATFORM.sources, ids=lambda source: source.key)
@pytest.mark.parametrize(
    "body",
    [
        "",
        "\0\1\2\xff" * 300,
        "x" * 200_000,
        "\n" * 50_000,
        " " * 100_000 + "?!",
        "\t\t\t\n" * 20_000 + "?!",
        "{" * 5000,
        "[" * 100_000,
    ],
    ids=["empty", "binary", "long line", "blank lines", "blanks", "tabs", "braces", "nested"],
)
def test_junk_gives_no_rows_and_a_gap(source, body):
    parameters = {} if source.parameter is None else {source.parameter.name: "eth0"}
    raw = RawOutput("gpu-1", "linux", source.key, source.command, body, digest(body), NOW, parameters)
    seen = state(raw)
    words = body.strip() == "?!" and source.key in ("bios_version", "sys_vendor", "product_name")  # a maker may write that
    assert words or not [row for _, row in seen.all_rows()]
    assert words or source.empty or [gap for gap in seen.gaps if gap.source == source.key]


@pytest.mark.parametrize(
    "slug,case", [("mlnx_qos", "dscp_pfc_with_default_priority"), ("ibv_devinfo", "infiniband_bond_and_bad_cells")]
)
def test_carriage_returns_change_nothing(slug, case):
    command = {"mlnx_qos": "mlnx_qos -i ens15f0np0", "ibv_devinfo": "ibv_devinfo -v"}[slug]
    body = recorded(slug, case)
    assert list(state((command, body)).all_rows()) == list(state((command, body.replace("\n", "\r\n"))).all_rows())


@pytest.mark.parametrize("source", PLATFORM.sources, ids=lambda source: source.key)
def test_every_table_of_a_source_has_a_line_that_proves_it(source):
    assert {fill.row_type.TABLE for fill in source.fills} <= {key.partition(".")[0] for key in source.proof}


@pytest.mark.parametrize(
    "stem,key,parameters",
    [
        ("cat_sys_class_infiniband_mlx5_0_tc_1_traffic_class", "rdma_tclass", {"rdma": "mlx5_0"}),
        ("grep_r_sys_class_net_ens15f0np0_ecn", "ecn", {"netdev": "ens15f0np0"}),
        ("ethtool_a_ens15f0np0", "ethtool_pause", {"netdev": "ens15f0np0"}),
        ("mlxconfig_d_0000_1a_00_0_e_q", "mlxconfig", {"pci": "0000_1a_00_0"}),
        ("rdma_traffic_class", "rdma_tclass_all", {}),
        ("lldpcli_show_neighbors", "lldpctl_text", {}),
        ("lldpctl_f_keyvalue", "lldpctl_keyvalue", {}),
        ("ip_br_link", "ip_link_brief", {}),
        ("ethtool_show_priv_flags_ens15f0", "ethtool_private_flags", {"netdev": "ens15f0"}),
        ("cat_proc_net_bonding_bond0", "bonding", {"bond": "bond0"}),
        ("nccl_env", "nccl_env", {}),
        ("nccl_env_train", "nccl_env_named", {"name": "train"}),
        ("cat_etc_nccl_conf", "nccl_conf", {}),
    ],
)
def test_a_capture_without_a_list_is_recognised_by_its_file_names(stem, key, parameters):
    (found,) = Recogniser([PLATFORM]).by_stem(stem)
    assert (found.source.key, dict(found.parameters)) == (key, parameters)
