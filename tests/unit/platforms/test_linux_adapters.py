"""Adapters of a Linux host: firmware, drivers, error correction, options, private flags."""

import json

import pytest

from auditor.address import Address
from auditor.collect.output import Answer, Request, raw_output
from auditor.model import ABSENT, Device, GapReason, RawOutput, digest
from auditor.platforms.linux import PLATFORM
from auditor.platforms.linux.adapters import pci_netdevs
from auditor.platforms.linux.rdma import nvidia_functions
from tests.unit.platforms.linux_host import NOW, cell, reason, recorded, state


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


def test_firmware_options_are_asked_of_the_functions_that_may_be_nvidias():
    assert nvidia_functions(recorded("rdma_pci", "bond_software_and_renamed")) == ["0000:1a:00.0", "0007:01:00.0", "0000:3a:00.1"]
    assert nvidia_functions("total 0\n") == []


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


def test_a_file_name_that_lost_its_dots_still_gives_the_bus_address():
    source = PLATFORM.source("mlxconfig")
    body = recorded("mlxconfig", "pending").replace(
        "Device:             0000:1a:00.0", "Device:             /dev/mst/mt4125_pciconf0"
    )
    raw = RawOutput("gpu-1", "linux", "mlxconfig", source.command, body, digest(body), NOW, {"pci": "0000_1a_00_0"})
    assert cell(state(raw), "nic_option[0000:1a:00.0,NUM_OF_VFS].value").value == "8"


# Private flags


def test_a_flag_that_the_driver_does_not_list_is_absent_and_another_device_is_unknown():
    seen = state(("ethtool --show-priv-flags ens15f0", recorded("ethtool_private_flags", "ice")))
    assert cell(seen, "nic_flag[ens15f0,fw-lldp-agent].value").value is True
    assert cell(seen, "nic_flag[ens15f0,disable-fw-lldp].value").value is ABSENT
    assert reason(seen, "nic_flag[ens16,fw-lldp-agent].value") is GapReason.NOT_COLLECTED
    assert seen.port_of("nic_flag", ("ens15f0", "fw-lldp-agent")) == "ens15f0"


@pytest.mark.parametrize("case", ["driver_without_flags", "old_tool_without_flags"])
def test_a_driver_without_flags_cannot_tell_and_that_is_no_failure(case):
    device, source = Device("gpu-1", ("linux",)), PLATFORM.source("ethtool_private_flags")
    request = Request(PLATFORM, source, "ethtool --show-priv-flags eno3", {"netdev": "eno3"})
    answer = Answer(b"", recorded("ethtool_private_flags", case).encode(), 1)
    seen = state(raw_output(device, request, answer, NOW))
    assert reason(seen, "nic_flag[eno3,fw-lldp-agent].value") is GapReason.UNSUPPORTED


def test_flags_are_asked_of_the_ethernet_functions_on_pci():
    links = [
        {"ifname": "lo", "link_type": "loopback"},
        {"ifname": "eno1", "link_type": "ether", "parentbus": "pci", "parentdev": "0000:02:00.0"},
        {"ifname": "usb0", "link_type": "ether", "parentbus": "usb", "parentdev": "1-2:1.0"},
        {"ifname": "ibp1s0", "link_type": "infiniband", "parentbus": "pci", "parentdev": "0000:9a:00.0"},
        {"ifname": "bond0", "link_type": "ether", "linkinfo": {"info_kind": "bond"}},
        {"ifname": "ens9np0", "link_type": "ether", "parentbus": "pci", "phys_port_name": "p0"},
        {"ifname": "ens9r1", "link_type": "ether", "parentbus": "pci", "phys_port_name": "pf0vf1"},
    ]
    assert pci_netdevs(json.dumps(links)) == ["eno1", "ens9np0"]
    assert pci_netdevs("[]") == []


def test_before_the_bus_was_printed_devices_without_a_kind_are_asked():
    links = [
        {"ifname": "eno1", "link_type": "ether", "linkinfo": {"info_slave_kind": "bond"}},
        {"ifname": "bond0", "link_type": "ether", "linkinfo": {"info_kind": "bond"}},
        {"ifname": "ens9", "link_type": "ether"},
    ]
    assert pci_netdevs(json.dumps(links)) == ["eno1", "ens9"]
