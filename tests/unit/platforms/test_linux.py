"""What may be concluded from a Linux host's answers: values, absence, and what stays unknown."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.collect.guard import PARAMETER, commands_for
from auditor.model import ABSENT, GapReason, RawOutput, Transport, digest
from auditor.parse import parse_device
from auditor.platforms import platforms
from auditor.platforms.linux import PLATFORM
from auditor.platforms.linux.rdma import ethernet_netdevs, qos_netdevs, rdma_netdevs
from auditor.workflows.parse import find_source

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "linux"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def recorded(slug, case):
    return next((FIXTURES / slug / case).glob("output.*")).read_text("utf-8")


def output(command, body, **more):
    source, parameters = find_source(PLATFORM, command)
    return RawOutput("gpu-1", "linux", source.key, command, body, digest(body), NOW, parameters, **more)


def state(*answers):
    outputs = [answer if isinstance(answer, RawOutput) else output(*answer) for answer in answers]
    return parse_device("gpu-1", outputs, {"linux": PLATFORM}, names=("linux",))


def cell(seen, address):
    return seen.cell(Address.parse(address))


def reason(seen, address):
    found = cell(seen, address)
    assert found.value is None, f"{address} is {found.value!r}, not unknown"
    return found.gap.reason


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


def test_only_lldp_firmware_options_and_the_fallback_for_the_bios_need_sudo():
    assert {source.key for source in PLATFORM.sources if source.privilege == "sudo"} == {
        "lldpctl", "dmidecode", "mlxconfig", "mstconfig",
    }  # fmt: skip


def test_what_only_captures_hold_is_never_sent():
    assert {source.key for source in PLATFORM.sources if not source.sent} == {
        "rdma_tclass_all", "cma_roce_tos", "nccl_env", "nccl_env_named",
    }  # fmt: skip


# RDMA ports


def test_a_port_that_is_down_has_no_rate_and_no_active_mtu_and_that_is_known():
    seen = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")))
    assert cell(seen, "rdma_port[mlx5_3,1].rate").value is ABSENT
    assert cell(seen, "rdma_port[mlx5_3,1].active_mtu").value is ABSENT


def test_an_unreadable_rate_is_unknown_and_the_other_cells_of_the_port_stand():
    seen = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")))
    assert reason(seen, "rdma_port[mlx5_9,1].rate") is GapReason.UNPARSED
    assert cell(seen, "rdma_port[mlx5_9,1].active_mtu").value == 4096


def test_without_v_the_rate_is_not_collected():
    seen = state(("ibv_devinfo", recorded("ibv_devinfo", "short_two_ports")))
    assert reason(seen, "rdma_port[mlx4_0,1].rate") is GapReason.NOT_COLLECTED
    assert cell(seen, "rdma_port[mlx4_0,1].active_mtu").value == 2048


def test_the_guid_of_an_ethernet_port_is_unsupported_not_absent():
    seen = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")))
    assert reason(seen, "rdma_port[mlx5_bond_0,1].port_guid") is GapReason.UNSUPPORTED


def test_nothing_is_absent_from_a_cut_list_of_devices():
    whole = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")))
    cut = state(("ibv_devinfo -v", recorded("ibv_devinfo", "cut_in_a_port")))
    row = Address.parse("rdma_port[mlx5_7,1]")
    assert whole.has_row(row) is False
    assert cut.has_row(row) is None
    assert reason(cut, "rdma_port[mlx5_bond_0,1].rate") is GapReason.TRUNCATED


@pytest.mark.parametrize("label", ["max_msg_sz", "active_width", "active_speed"])
def test_a_verbose_answer_that_stops_inside_its_last_port_is_not_whole(label):
    body = recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")
    seen = state(("ibv_devinfo -v", body[: body.rindex(f"\t\t\t{label}")]))
    assert seen.has_row(Address.parse("rdma_port[mlx5_7,1]")) is None


def test_a_device_that_counts_two_ports_and_shows_one_leaves_the_other_unknown():
    body = recorded("ibv_devinfo", "short_two_ports")
    first, second = body.index("\t\tport:\t2"), body.index("hca_id:\tsiw0")
    seen = state(("ibv_devinfo", body[:first] + body[second:]))
    assert seen.has_row(Address.parse("rdma_port[mlx4_0,2]")) is None


def test_both_answers_about_a_port_make_one_row():
    seen = state(
        ("rdma link", "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0 \n"),
        ("ibv_devinfo", recorded("ibv_devinfo", "short_two_ports").replace("siw0", "mlx5_0")),
    )
    assert cell(seen, "rdma_port[mlx5_0,1].netdev").value == "ens1f0np0"
    assert cell(seen, "rdma_port[mlx5_0,1].active_mtu").value == 1024
    assert seen.port_of("rdma_port", ("mlx5_0", "1")) == "ens1f0np0"


def test_a_port_without_network_device_says_so_unless_its_line_was_cut():
    seen = state(("rdma link", "link mlx5_0/1 state ACTIVE physical_state LINK_UP \nlink mlx5_1/1 state ACT"))
    assert cell(seen, "rdma_port[mlx5_0,1].netdev").value is ABSENT
    assert reason(seen, "rdma_port[mlx5_1,1].netdev") is GapReason.TRUNCATED
    assert reason(seen, "rdma_port[mlx5_1,1].state") is GapReason.UNPARSED


def test_no_output_of_rdma_link_is_a_host_without_rdma_ports():
    assert state(("rdma link", "")).has_row(Address.parse("rdma_port[mlx5_0,1]")) is False


# Which network devices are asked


def test_network_devices_come_from_rdma_ports_without_software_and_repeats():
    body = (
        recorded("rdma_link", "infiniband_software_and_none") + "link mlx5_5/1 state DOWN physical_state POLLING netdev bond1 \n"
    )
    assert rdma_netdevs(body) == ["ibp154s0", "ens15f0np0", "bond1", "enp7s0"]
    assert ethernet_netdevs(body) == ["ens15f0np0", "bond1", "enp7s0"]


def test_mlnx_qos_is_not_asked_about_other_makers_adapters():
    body = (
        "link ionic_2/1 state ACTIVE physical_state LINK_UP netdev enp33s0 \n"
        "link bnxt_re0/1 state ACTIVE physical_state LINK_UP netdev ens3 \n"
        "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens9np0 \n"
    )
    assert qos_netdevs(body) == ["ens9np0"]
    assert rdma_netdevs(body) == ["enp33s0", "ens3", "ens9np0"]


def test_network_devices_are_found_in_the_form_of_old_releases():
    assert rdma_netdevs(recorded("rdma_link", "old_release")) == ["ens1f0"]


@pytest.mark.parametrize("body", ["", "Failed to open NETLINK_RDMA socket\n", "link \nlink a\n\0\n", "link mlx5_0/1 netdev"])
def test_no_network_devices_come_from_what_is_no_answer(body):
    assert rdma_netdevs(body) == []


def test_a_hostile_name_is_refused_before_it_could_be_sent():
    (name,) = rdma_netdevs("link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev $(reboot);x\n")
    assert not PARAMETER.fullmatch(name)


def test_nothing_is_asked_about_one_interface_because_the_list_holds_it():
    assert list(PLATFORM.source("ip_link_one").parameter.names(recorded("rdma_link", "infiniband_software_and_none"))) == []


# Host QoS


def test_with_trust_pcp_the_dscp_map_is_unknown_and_trust_is_known():
    seen = state(("mlnx_qos -i ens16np0", recorded("mlnx_qos", "trust_pcp_pfc_off")))
    assert cell(seen, "qos_port[ens16np0].trust").value == ("pcp",)
    assert reason(seen, "host_dscp[ens16np0,26].priority") is GapReason.UNSUPPORTED
    assert seen.has_row(Address.parse("host_dscp[ens16np0,26]")) is None


def test_pfc_off_on_every_priority_is_a_value():
    seen = state(("mlnx_qos -i ens16np0", recorded("mlnx_qos", "trust_pcp_pfc_off")))
    assert cell(seen, "qos_port[ens16np0].pfc_priorities").value == ()


def test_an_answer_cut_behind_the_map_leaves_pfc_unknown_and_the_map_in_use():
    body = recorded("mlnx_qos", "dscp_pfc_with_default_priority")
    seen = state(("mlnx_qos -i ens15f0np0", body[: body.index("default priority")]))
    assert cell(seen, "host_dscp[ens15f0np0,26].priority").value == 3
    assert cell(seen, "qos_port[ens15f0np0].trust").value == ("dscp",)
    assert reason(seen, "qos_port[ens15f0np0].pfc_priorities") is GapReason.TRUNCATED


def test_a_pfc_row_cut_in_the_middle_is_not_read():
    body = recorded("mlnx_qos", "dscp_pfc_with_default_priority")
    at = body.index("enabled")
    seen = state(("mlnx_qos -i ens15f0np0", body[: at + 26]))
    assert body[at : at + 26].split() == ["enabled", "0", "0", "0", "1"]
    assert reason(seen, "qos_port[ens15f0np0].pfc_priorities") is GapReason.TRUNCATED


def test_a_virtual_function_without_trust_state_does_not_count_as_another_trust():
    seen = state(("mlnx_qos -i ens15f0v3", recorded("mlnx_qos", "trust_not_supported")))
    assert reason(seen, "qos_port[ens15f0v3].trust") is GapReason.UNSUPPORTED
    assert cell(seen, "qos_port[ens15f0v3].pfc_priorities").value == (3,)


def test_trust_dscp_without_a_map_leaves_the_map_unknown():
    body = recorded("mlnx_qos", "trust_pcp_pfc_off").replace("state: pcp", "state: dscp")
    seen = state(("mlnx_qos -i ens16np0", body))
    assert reason(seen, "host_dscp[ens16np0,26].priority") is GapReason.UNPARSED


def test_a_trust_word_that_nobody_knows_is_unknown():
    body = recorded("mlnx_qos", "trust_pcp_pfc_off").replace("state: pcp", "state: both?")
    assert reason(state(("mlnx_qos -i ens16np0", body)), "qos_port[ens16np0].trust") is GapReason.UNPARSED


def test_one_network_device_that_refuses_hides_nothing_of_another():
    seen = state(
        ("mlnx_qos -i eth3", recorded("mlnx_qos", "traceback")),
        ("mlnx_qos -i ens16np0", recorded("mlnx_qos", "trust_pcp_pfc_off")),
    )
    assert reason(seen, "qos_port[eth3].trust") is GapReason.PERMISSION
    assert cell(seen, "qos_port[ens16np0].trust").value == ("pcp",)


# Interfaces


def test_the_text_form_stands_in_for_json_that_an_old_release_lacks():
    seen = state(
        ("ip -j -d link", 'Option "-j" is unknown, try "ip -help".\n'),
        ("ip -d link", recorded("ip_link_text", "details")),
    )
    assert cell(seen, "interface[ens15f0np0].mtu").value == 4200
    assert not [gap for gap in seen.gaps if gap.source == "ip_link"]


def test_json_and_text_of_the_same_host_give_the_same_rows():
    document = [
        {
            "ifname": "ens3f0", "flags": ["NO-CARRIER", "BROADCAST", "SLAVE", "UP"], "mtu": 9000, "operstate": "DOWN",
            "link_type": "ether", "address": "3c:ec:ef:9b:00:10", "permaddr": "3c:ec:ef:9b:00:11", "master": "bond1",
            "parentbus": "pci", "parentdev": "0000:31:00.1",
        },
        {
            "ifname": "bond1", "flags": ["BROADCAST", "MULTICAST", "MASTER", "UP", "LOWER_UP"], "mtu": 9000, "operstate": "UP",
            "link_type": "ether", "address": "3c:ec:ef:9b:00:10",
        },
    ]  # fmt: skip
    json_form = state(("ip -j -d link", json.dumps(document)))
    text_form = state(("ip -d link", recorded("ip_link_text", "details")))
    for address in ("interface[ens3f0]", "interface[bond1]", "nic[0000:31:00.1]"):
        for column in ("enabled", "up", "mtu", "mac", "lag", "netdev"):
            if (column == "netdev") != address.startswith("nic") and column != "mac":
                continue
            assert cell(json_form, f"{address}.{column}").value == cell(text_form, f"{address}.{column}").value


def test_an_interface_that_is_not_in_the_whole_list_is_absent():
    seen = state(("ip -j -d link", recorded("ip_link", "bond_vlan_infiniband")))
    assert seen.has_row(Address.parse("interface[ens99]")) is False


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_no_interface_is_absent_from_a_list_that_stops_behind_a_header(keep):
    lines = recorded("ip_link_text", "details").splitlines(keepends=True)
    headers = [at for at, line in enumerate(lines) if not line.startswith(" ")]
    seen = state(("ip -d link", "".join(lines[: headers[keep] + 1])))
    assert seen.has_row(Address.parse("interface[ens99]")) is None


def test_one_interface_alone_proves_nothing_about_the_others():
    seen = state(("ip link show ens19np0", recorded("ip_link_one", "port_down")))
    assert cell(seen, "interface[ens19np0].mtu").value == 1500
    assert cell(seen, "interface[ens19np0].lag").value is ABSENT
    assert seen.has_row(Address.parse("interface[ens20np0]")) is None


@pytest.mark.parametrize("body", ["{}", '[1, "x"]', '[{"mtu": 1500}]', '"text"', "[[]]"])
def test_json_of_another_shape_is_refused(body):
    seen = state(("ip -j -d link", body))
    assert seen.has_row(Address.parse("interface[eth0]")) is None
    assert {gap.reason for gap in seen.gaps if gap.source == "ip_link"} == {GapReason.UNPARSED}


def test_cut_json_is_refused_as_cut():
    seen = state(("ip -j -d link", recorded("ip_link", "bond_vlan_infiniband")[:900]))
    assert reason(seen, "interface[lo].mtu") is GapReason.TRUNCATED


def test_a_state_word_that_nobody_knows_leaves_the_other_cells():
    seen = state(("ip -j -d link", recorded("ip_link", "bad_cells_and_representor")))
    assert reason(seen, "interface[ens21f0np0].up") is GapReason.UNPARSED
    assert cell(seen, "interface[ens21f0np0].enabled").value is True


def test_fec_of_one_port_does_not_make_a_list_of_ports():
    seen = state(("ethtool --show-fec ens15f0np0", recorded("ethtool_show_fec", "rs")))
    assert cell(seen, "interface[ens15f0np0].fec").value == "rs"
    assert seen.has_row(Address.parse("interface[ens16np0]")) is None


@pytest.mark.parametrize("word,wanted", [("BaseR", "fc"), ("RS", "rs"), ("Off", "none")])
def test_fec_words_become_neutral_ones(word, wanted):
    body = f"FEC parameters for eth0:\nConfigured FEC encodings: {word}\nActive FEC encoding: {word}\n"
    assert cell(state(("ethtool --show-fec eth0", body)), "interface[eth0].fec").value == wanted


def test_a_fec_mode_that_nobody_knows_is_unknown():
    body = "FEC parameters for eth0:\nConfigured FEC encodings: LLRS\nActive FEC encoding: LLRS\n"
    assert reason(state(("ethtool --show-fec eth0", body)), "interface[eth0].fec") is GapReason.UNPARSED


# Firmware and adapters


def test_firmware_of_an_adapter_belongs_to_its_port():
    seen = state(("ethtool -i ibp154s0", recorded("ethtool_i", "mlx5_ipoib")))
    assert seen.port_of("firmware", ("nic.0000:9a:00.0",)) == "ibp154s0"


def test_two_drivers_on_one_host_do_not_contradict_each_other():
    seen = state(
        ("ethtool -i ibp154s0", recorded("ethtool_i", "mlx5_ipoib")),
        ("ethtool -i enp25s0", recorded("ethtool_i", "other_maker_and_empty_firmware")),
    )
    assert cell(seen, "firmware[driver.nic].version").value == "24.10-1.1.4"
    assert cell(seen, "firmware[driver.nic.ionic].version").value == "6.8.0-48-generic"
    assert not [gap for gap in seen.gaps if gap.reason is GapReason.CONFLICT]


def test_adapters_that_were_not_asked_are_not_absent():
    seen = state(("ethtool -i ibp154s0", recorded("ethtool_i", "mlx5_ipoib")))
    assert seen.has_row(Address.parse("nic[0000:0c:00.0]")) is None


@pytest.mark.parametrize("bus", ["virtio2", "", "vmbus", "usb-0000:00:14.0-2"])
def test_a_device_on_another_bus_is_no_adapter(bus):
    body = recorded("ethtool_i", "bond").replace("bus-info: ", f"bus-info: {bus}")
    seen = state(("ethtool -i eth9", body))
    assert not [row for _, row in seen.all_rows()]


@pytest.mark.parametrize("text", ["Default string", "To Be Filled By O.E.M.", "Not Specified"])
def test_what_a_maker_left_unfilled_is_no_model(text):
    assert cell(state(("cat /sys/class/dmi/id/product_name", text + "\n")), "system.hardware_model").value is ABSENT


def test_the_bios_comes_from_dmidecode_where_the_kernel_has_no_file():
    seen = state(
        ("cat /sys/class/dmi/id/bios_version", recorded("bios_version", "no_file")),
        ("dmidecode -t bios -t system", recorded("dmidecode", "bios_and_system")),
    )
    assert cell(seen, "firmware[bios].version").value == "2.3.5"


@pytest.mark.parametrize(
    "command", ["uname -n", "uname -r", "cat /sys/class/dmi/id/bios_version", "cat /sys/class/dmi/id/sys_vendor"]
)
def test_more_than_one_line_is_no_one_line_answer(command):
    seen = state((command, "6.8.0\nLast login: Mon\n"))
    assert not [row for _, row in seen.all_rows()]
    assert {gap.reason for gap in seen.gaps if gap.source == find_source(PLATFORM, command)[0].key} == {GapReason.UNPARSED}


# What is no answer

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
