"""`show_gids`, `niccli` and `nicctl`: rows in tabs and in blanks, both generations of lists, blocks with and without indent."""

import pytest

from auditor.dialects import ibv_devinfo, niccli, nicctl, show_gids


def test_addresses_with_and_without_ipv4():
    text = (
        "mlx5_0\t1\t1\tfe80:0000:0000:0000:966d:aeff:fe77:1030\t\t\tv2\tens1np0\n"
        "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:FFFF:c000:0203\t192.0.2.3  \tv2\tens1np0\n"
        "mlx5_2\t1\t0\tfe80:0000:0000:0000:946d:ae03:0077:2040\t\t\tv1\n"
        "n_gids_found=3\n"
    )
    first, second, third = show_gids.entries(text)
    assert (first.index, first.version, first.netdev) == (1, "v2", "ens1np0")
    assert (second.address, second.version) == ("0000:0000:0000:0000:0000:ffff:c000:0203", "v2")
    assert (third.device, third.version, third.netdev) == ("mlx5_2", "v1", "")
    assert show_gids.counted(text) == 3
    assert show_gids.entries(text.replace("\t", "   ")) == [first, second, third]


def test_a_table_without_its_end_counts_nothing():
    assert show_gids.counted("DEV PORT INDEX\n") is None
    assert show_gids.entries("mlx5_0\t1\t1\tfe80:0000:0000\n") == []


def test_short_and_long_forms_are_one_address():
    assert show_gids.long_form("::ffff:192.0.2.3") == show_gids.long_form("0000:0000:0000:0000:0000:ffff:c000:0203")
    with pytest.raises(ValueError, match="192"):
        show_gids.long_form("192.0.2.3")


def test_kinds_of_addresses_stand_behind_them():
    text = (
        "hca_id:\tmlx5_0\n\t\tport:\t1\n\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:966d:aeff:fe77:1030, RoCE v1\n"
        "\t\t\tGID[  3]:\t\t::ffff:192.0.2.3, RoCE v2\n\t\tport:\t2\n\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:946d:ae03:0077:2040\n"
    )
    (device,) = ibv_devinfo.devices(text)
    first, second = device.ports
    assert first.gids == {0: "fe80:0000:0000:0000:966d:aeff:fe77:1030", 3: "::ffff:192.0.2.3"}
    assert first.gid_kinds == {0: "RoCE v1", 3: "RoCE v2"}
    assert second.gid_kinds == {0: ""}


def test_broadcoms_lists_of_both_generations():
    new = (
        "2 ) Broadcom BCM57608 (Adp#1 Port#1)\n     Device Interface Name     : ens1np0\n"
        "     MAC Address               : 5C:6F:69:00:12:30\n     PCI Address               : 0000:E6:00.1\n"
    )
    old = "  1) BCM57504    5C:6F:69:00:13:50  226.0.145.0  01:3b:1f:01  NIC    PCI\n"
    assert niccli.adapters(new) == [niccli.Adapter("0000:e6:00.1", "5c:6f:69:00:12:30", "ens1np0")]
    assert niccli.adapters(old) == [niccli.Adapter("0001:3b:1f.1", "5c:6f:69:00:13:50", "", "226.0.145.0")]
    with pytest.raises(ValueError, match="without its addresses"):
        niccli.adapters(new.splitlines()[0])


@pytest.mark.parametrize(
    ("line", "priorities"),
    [("         PFC enabled: 3\n", (3,)), ("PFC enabled: 5,3\n", (3, 5)), ("PFC enabled: none\n", ()), ("", None)],
)
def test_broadcoms_pfc_lists_priorities(line, priorities):
    assert niccli.pfc(line) == priorities


def test_broadcoms_entries_of_other_kinds_are_no_code_points():
    text = "APP#0:\n  Priority: 3\n  Sel: 5\n  DSCP: 26\n\nAPP#1:\n  Priority: 3\n  Sel: 3\n  UDP or DCCP: 4791\n"
    assert niccli.dscp_map(text) == {26: 3}


BLOCK = """NIC  : 42424650-4c32-3533-3330-303030303031 (0000:06:00.0)

Port : 0490814a-0010-4242-4242-000011010000 (eth1/1)
  Spec:
    speed                                    : 400G
    FEC type                                 : RS
  Status:
    speed                                    : 200G
    MAC address                              : 04:90:81:4a:00:10
"""


def test_what_amds_tool_was_told_and_what_is():
    (nic,) = nicctl.nics(BLOCK)
    assert nic.pci == "0000:06:00.0"
    assert (nic.spec["speed"], nic.status["speed"]) == ("400G", "200G")
    assert nic.status["MAC address"] == "04:90:81:4a:00:10"
    assert nic.dscp is None


def test_amds_blocks_without_indent_read_the_same():
    flat = "\n".join(line.strip() for line in BLOCK.splitlines())
    assert list(nicctl.nics(flat)) == list(nicctl.nics(BLOCK))


def test_amds_lists_of_code_points():
    text = BLOCK + "DSCP bitmap : 0xffff ==> priority : 7\nDSCP : 0-23, 25 ==> priority : 0\nDSCP : 24 ==> priority : 3\n"
    (nic,) = nicctl.nics(text)
    assert nic.dscp == {**dict.fromkeys([*range(24), 25], 0), 24: 3}


def test_amds_adapters_do_not_leak_into_each_other():
    other = BLOCK.replace("06:00", "16:00").replace("    MAC address                              : 04:90:81:4a:00:10\n", "")
    first, second = nicctl.nics(BLOCK + "\n" + other)
    assert "MAC address" in first.status
    assert "MAC address" not in second.status
    assert list(nicctl.nics("no adapter here\nspeed : 400G\n")) == []
