"""What may be concluded from a Linux host's answers: values, absence, and what stays unknown."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.collect.commands import Recogniser
from auditor.collect.guard import PARAMETER, commands_for
from auditor.collect.output import Answer, Request, raw_output
from auditor.model import ABSENT, Device, GapReason, RawOutput, Transport, digest
from auditor.parse import parse_device
from auditor.platforms import platforms
from auditor.platforms.linux import PLATFORM
from auditor.platforms.linux.rdma import ethernet_netdevs, nvidia_functions, qos_netdevs, rdma_netdevs, roce_devices
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


def test_a_list_of_links_without_a_device_that_verbs_open_was_cut():
    seen = state(
        ("rdma link", "link mlx5_7/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0 \n"),
        ("ibv_devinfo", recorded("ibv_devinfo", "short_two_ports")),
    )
    assert seen.has_row(Address.parse("rdma_port[mlx5_9,1]")) is None
    assert cell(seen, "rdma_port[mlx5_7,1].netdev").value == "ens1f0np0"


def test_a_host_without_any_interface_is_no_answer():
    assert reason(state(("ip -j -d link", "[]")), "interface[eth0].mtu") is GapReason.UNPARSED


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


# The environment of the collective library


def test_a_missing_file_of_the_library_sets_nothing_and_says_nothing_of_a_jobs_file():
    for body in ("", "cat: /etc/nccl.conf: No such file or directory\n"):
        seen = state(("cat /etc/nccl.conf", body))
        assert cell(seen, "nccl_env[/etc/nccl.conf,NCCL_IB_TC].value").value is ABSENT
        assert reason(seen, "nccl_env[nccl_env,NCCL_IB_TC].value") is GapReason.NOT_COLLECTED
        assert seen.has_row(Address.parse("nccl_env[nccl_env,NCCL_IB_TC]")) is None


def test_a_missing_file_is_an_answer_over_a_connection_too():
    device, source = Device("gpu-1", ("linux",)), PLATFORM.source("nccl_conf")
    request = Request(PLATFORM, source, source.command)
    gone = Answer(b"", b"cat: /etc/nccl.conf: No such file or directory\n", 1)
    assert cell(state(raw_output(device, request, gone, NOW)), "nccl_env[/etc/nccl.conf,NCCL_IB_TC].value").value is ABSENT
    locked = Answer(b"", b"cat: /etc/nccl.conf: Permission denied\n", 1)
    seen = state(raw_output(device, request, locked, NOW))
    assert reason(seen, "nccl_env[/etc/nccl.conf,NCCL_IB_TC].value") is GapReason.PERMISSION
    assert reason(seen, "nccl_env[nccl_env,NCCL_IB_TC].value") is GapReason.NOT_COLLECTED


def test_a_variable_that_a_jobs_file_does_not_set_is_absent_there_and_unknown_in_another():
    seen = state(("nccl_env", "NCCL_DEBUG=WARN\n"), ("nccl_env train", "NCCL_IB_TC=98\n"))
    assert cell(seen, "nccl_env[nccl_env,NCCL_IB_TC].value").value is ABSENT
    assert cell(seen, "nccl_env[train,NCCL_IB_TC].value").value == "98"
    assert cell(seen, "nccl_env[train,NCCL_DEBUG].value").value is ABSENT
    assert reason(seen, "nccl_env[eval,NCCL_DEBUG].value") is GapReason.NOT_COLLECTED


def test_after_a_line_that_may_set_anything_nothing_is_absent():
    seen = state(("nccl_env", "NCCL_DEBUG=WARN\nmodule load hpcx\n"))
    assert cell(seen, "nccl_env[nccl_env,NCCL_DEBUG].value").value == "WARN"
    assert reason(seen, "nccl_env[nccl_env,NCCL_IB_TC].value") is GapReason.UNPARSED


@pytest.mark.parametrize(
    "line", ["WANDB_API_KEY=s3cr3t", "export HF_TOKEN='s3cr3t'", "DB_PASSWORD=s3cr3t", "AWS_SECRET_ACCESS_KEY = s3cr3t"]
)
def test_secrets_of_a_jobs_file_are_redacted_before_anything_is_kept(line):
    source = PLATFORM.source("nccl_env")
    answer = Answer(f"NCCL_IB_TC=98\n{line}\nNCCL_DEBUG=WARN\n".encode(), status=0)
    kept = raw_output(Device("gpu-1", ("linux",)), Request(PLATFORM, source, source.command), answer, NOW)
    assert "s3cr3t" not in kept.body
    assert cell(state(kept), "nccl_env[nccl_env,NCCL_DEBUG].value").value == "WARN"


# Traffic class, bus, firmware options


def test_an_empty_traffic_class_is_known_to_be_none_and_only_for_its_device():
    seen = state(
        (
            "rdma link",
            "".join(f"link mlx5_{n}/1 state ACTIVE physical_state LINK_UP netdev e{n} \n" for n in (0, 1)),
        ),
        ("cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class", ""),
    )
    assert cell(seen, "rdma_port[mlx5_0,1].global_tclass").value is ABSENT
    assert reason(seen, "rdma_port[mlx5_1,1].global_tclass") is GapReason.NOT_COLLECTED


def test_a_driver_that_knows_no_traffic_class_sets_none():
    device, source = Device("gpu-1", ("linux",)), PLATFORM.source("rdma_tclass")
    command = "cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class"
    request = Request(PLATFORM, source, command, {"rdma": "mlx5_0"})
    words = "cat: /sys/class/infiniband/mlx5_0/tc/1/traffic_class: {}\n"
    for answer in (Answer(b"", words.format("No such file or directory").encode(), 1), Answer(b"", b"", 0)):
        seen = state(raw_output(device, request, answer, NOW))
        assert cell(seen, "rdma_port[mlx5_0,1].global_tclass").value is ABSENT
    assert cell(state((command, words.format("No such file or directory"))), "rdma_port[mlx5_0,1].global_tclass").value is ABSENT
    locked = Answer(b"", words.format("Permission denied").encode(), 1)
    seen = state(raw_output(device, request, locked, NOW))
    assert reason(seen, "rdma_port[mlx5_0,1].global_tclass") is GapReason.PERMISSION


def test_the_two_forms_of_the_traffic_class_agree_and_make_one_cell():
    seen = state(
        ("cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=98\n"),
        ("rdma_traffic_class", "infiniband/mlx5_0/tc/1/traffic_class:Global tclass=98\n"),
    )
    assert cell(seen, "rdma_port[mlx5_0,1].global_tclass").value == 98


def test_only_devices_with_one_port_on_ethernet_are_asked_for_their_traffic_class():
    line = "link {} state ACTIVE physical_state LINK_UP netdev x \n"
    body = "".join(line.format(name) for name in ("mlx5_0/1", "mlx5_1/1", "mlx5_1/2", "bnxt_re0/1", "rxe0/1", "mlx5_bond_0/1"))
    body += "link mlx5_9/1 subnet_prefix fe80:0000:0000:0000 lid 4 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP \n"
    assert roce_devices(body) == ["mlx5_0", "mlx5_bond_0"]


def test_firmware_options_are_asked_of_the_functions_that_may_be_nvidias():
    assert nvidia_functions(recorded("rdma_pci", "bond_software_and_renamed")) == ["0000:1a:00.0", "0007:01:00.0", "0000:3a:00.1"]
    assert nvidia_functions("total 0\n") == []


def test_the_bus_address_joins_the_other_answers_about_a_port():
    seen = state(
        ("ls -l /sys/class/infiniband", recorded("rdma_pci", "bond_software_and_renamed")),
        ("rdma link", "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens15f0np0 \n"),
    )
    assert cell(seen, "rdma_port[mlx5_0,1].pci").value == "0000:1a:00.0"
    assert cell(seen, "rdma_port[mlx5_0,1].netdev").value == "ens15f0np0"


def test_an_option_is_known_at_both_layers_and_absent_where_a_whole_answer_lacks_it():
    seen = state(("mlxconfig -d 0000:1a:00.0 -e q", recorded("mlxconfig", "pending")))
    assert cell(seen, "nic_option[0000:1a:00.0,NUM_OF_VFS].value").value == "8"
    assert cell(seen, "nic_option[0000:1a:00.0,NUM_OF_VFS].value@next_boot").value == "16"
    assert cell(seen, "nic_option[0000:1a:00.0,SRIOV_EN].value").value is ABSENT
    assert reason(seen, "nic_option[0000:1a:00.0,ESWITCH_HAIRPIN_DESCRIPTORS].value@next_boot") is GapReason.UNSUPPORTED
    assert reason(seen, "nic_option[0000:5e:00.0,NUM_OF_VFS].value") is GapReason.NOT_COLLECTED


def test_without_the_current_column_what_runs_is_unknown_and_never_taken_from_the_next_boot():
    seen = state(("mlxconfig -d 1a:00.1 q", recorded("mlxconfig", "next_boot_only")))
    assert reason(seen, "nic_option[0000:1a:00.1,NUM_OF_VFS].value") is GapReason.NOT_COLLECTED
    assert cell(seen, "nic_option[0000:1a:00.1,NUM_OF_VFS].value@next_boot").value == "16"
    assert reason(seen, "nic_option[0000:1a:00.1,SRIOV_EN].value@next_boot") is GapReason.TRUNCATED


def test_the_open_tool_is_asked_where_the_makers_own_is_missing():
    assert PLATFORM.source("mstconfig").fallback_for == "mlxconfig"
    seen = state(
        ("mlxconfig -d 0000:5e:00.0 -e q", "sudo: mlxconfig: command not found\n"),
        ("mstconfig -d 0000:5e:00.0 -e q", recorded("mlxconfig", "pending")),
    )
    assert cell(seen, "nic_option[0000:5e:00.0,NUM_OF_VFS].value").value == "8"


@pytest.mark.parametrize(
    "stem,key,parameters",
    [
        ("cat_sys_class_infiniband_mlx5_0_tc_1_traffic_class", "rdma_tclass", {"rdma": "mlx5_0"}),
        ("grep_r_sys_class_net_ens15f0np0_ecn", "ecn", {"netdev": "ens15f0np0"}),
        ("ethtool_a_ens15f0np0", "ethtool_pause", {"netdev": "ens15f0np0"}),
        ("mlxconfig_d_0000_1a_00_0_e_q", "mlxconfig", {"pci": "0000_1a_00_0"}),
        ("rdma_traffic_class", "rdma_tclass_all", {}),
        ("nccl_env", "nccl_env", {}),
        ("nccl_env_train", "nccl_env_named", {"name": "train"}),
        ("cat_etc_nccl_conf", "nccl_conf", {}),
    ],
)
def test_a_capture_without_a_list_is_recognised_by_its_file_names(stem, key, parameters):
    (found,) = Recogniser([PLATFORM]).by_stem(stem)
    assert (found.source.key, dict(found.parameters)) == (key, parameters)


def test_a_file_name_that_lost_its_dots_still_gives_the_bus_address():
    source = PLATFORM.source("mlxconfig")
    body = recorded("mlxconfig", "pending").replace(
        "Device:             0000:1a:00.0", "Device:             /dev/mst/mt4125_pciconf0"
    )
    raw = RawOutput("gpu-1", "linux", "mlxconfig", source.command, body, digest(body), NOW, {"pci": "0000_1a_00_0"})
    assert cell(state(raw), "nic_option[0000:1a:00.0,NUM_OF_VFS].value").value == "8"


# Pause, congestion control, units


def test_pause_and_trust_of_one_port_make_one_row():
    seen = state(
        ("mlnx_qos -i ens15f0np0", recorded("mlnx_qos", "dscp_pfc_with_default_priority")),
        ("ethtool -a ens15f0np0", recorded("ethtool_pause", "off")),
    )
    assert cell(seen, "qos_port[ens15f0np0].trust").value == ("dscp",)
    assert cell(seen, "qos_port[ens15f0np0].global_pause_rx").value is False


def test_what_is_offered_is_neither_on_nor_off():
    seen = state(("ethtool -a eno3", recorded("ethtool_pause", "result_not_printed")))
    assert reason(seen, "qos_port[eno3].global_pause_rx") is GapReason.UNSUPPORTED


def test_congestion_control_that_no_driver_shows_is_unsupported_not_off():
    seen = state(("grep -r . /sys/class/net/ens17np0/ecn", recorded("ecn", "inbox_driver")))
    assert reason(seen, "host_qos[ens17np0].ecn_rp") is GapReason.UNSUPPORTED


def test_the_owner_stands_beside_congestion_control():
    seen = state(
        ("mlnx_qos -i ens15f0np0", recorded("mlnx_qos", "dscp_pfc_with_default_priority")),
        ("grep -r . /sys/class/net/ens15f0np0/ecn", recorded("ecn", "two_priorities")),
    )
    assert cell(seen, "host_qos[ens15f0np0].dcbx_owner").value == "os"
    assert cell(seen, "host_qos[ens15f0np0].ecn_np").value == (3, 4)


def test_a_unit_that_is_not_listed_is_absent_unless_the_list_was_cut():
    listed = state(("systemctl list-unit-files --type=service", recorded("unit_files", "two_columns")))
    assert cell(listed, "service[lldpad.service].enabled").value == "disabled"
    assert cell(listed, "service[openibd.service].enabled").value is ABSENT
    cut = state(("systemctl list-unit-files --type=service --no-legend --no-pager", recorded("unit_files", "cut")))
    assert reason(cut, "service[openibd.service].enabled") is GapReason.TRUNCATED
