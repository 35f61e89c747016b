"""Address tables of RDMA ports: kinds, absence, and answers that prove none."""

import pytest

from auditor.address import Address
from auditor.model import ABSENT, GapReason
from tests.unit.platforms.linux_host import SHARED, cell, read, reason, recorded, state

HOST = SHARED / "captures" / "host"
captures = pytest.mark.skipif(not HOST.is_dir(), reason="no collection of captures beside the checkout")


def test_an_entry_that_a_whole_table_does_not_show_is_absent():
    seen = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")))
    assert cell(seen, "gid[mlx5_bond_0,1,1].kind").value == "v2"
    assert cell(seen, "gid[mlx5_bond_0,1,3].kind").value is ABSENT
    assert cell(seen, "gid[mlx5_0,1,0].kind").value == "ib"


def test_a_table_without_the_line_behind_its_end_proves_no_absence():
    seen = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells").rstrip("\n") + "\n"))
    assert seen.has_row(Address("gid", ("mlx5_9", "2", "3"))) is None
    assert reason(seen, "gid[mlx5_9,2,3].kind") is GapReason.TRUNCATED
    assert cell(seen, "gid[mlx5_bond_0,1,3].kind").value is ABSENT


def test_the_short_form_has_no_addresses_and_says_so():
    seen = state(("ibv_devinfo", recorded("ibv_devinfo", "short_two_ports")))
    assert reason(seen, "gid[mlx5_0,1,3].kind") is GapReason.NOT_COLLECTED


def test_an_older_tool_prints_no_kind():
    seen = state(("ibv_devinfo -v", recorded("ibv_devinfo", "roce_before_kinds")))
    assert reason(seen, "gid[mlx5_bond_0,1,1].kind") is GapReason.UNSUPPORTED
    assert cell(seen, "gid[mlx5_bond_0,1,1].address").value == "fe80:0000:0000:0000:966d:aeff:fe77:2050"


def test_the_script_adds_network_devices_to_what_the_library_prints():
    verbs = recorded("ibv_devinfo", "infiniband_bond_and_bad_cells").replace("mlx5_bond_0", "mlx5_7")
    row = "mlx5_7\t1\t{n}\tfe80:0000:0000:0000:966d:aeff:fe77:2050\t\t\tv{v}\tens1np0\n"
    head = recorded("show_gids", "ethernet_and_infiniband").splitlines(keepends=True)[:2]
    script = "".join(head) + row.format(n=0, v=1) + row.format(n=1, v=2) + "n_gids_found=2\n"
    seen = state(("ibv_devinfo -v", verbs), ("show_gids", script))
    assert cell(seen, "gid[mlx5_7,1,1].kind").value == "v2"
    assert cell(seen, "gid[mlx5_7,1,1].netdev").value == "ens1np0"
    assert not [gap for gap in seen.gaps if gap.reason is GapReason.CONFLICT]


def test_fewer_rows_than_the_script_counts_prove_no_absence():
    body = recorded("show_gids", "ethernet_and_infiniband").replace("n_gids_found=4", "n_gids_found=5")
    seen = state(("show_gids", body))
    assert cell(seen, "gid[mlx5_0,1,3].kind").value == "v2"
    assert reason(seen, "gid[mlx5_0,1,2].kind") is GapReason.UNPARSED


@captures
def test_recorded_table_of_one_port():
    rows, gaps = read(HOST / "show_gids/cx6-one-port-4gids.txt", "show_gids")
    own, ipv4 = "fe80:0000:0000:0000:0ac0:ebff:fe21:03da", "0000:0000:0000:0000:0000:ffff:c0a8:d3f2"
    assert rows == {
        ("gid", "mlx5_0", "1", "0"): {"address": own, "kind": "v1", "netdev": "rdma0"},
        ("gid", "mlx5_0", "1", "1"): {"address": own, "kind": "v2", "netdev": "rdma0"},
        ("gid", "mlx5_0", "1", "2"): {"address": ipv4, "kind": "v1", "netdev": "rdma0"},
        ("gid", "mlx5_0", "1", "3"): {"address": ipv4, "kind": "v2", "netdev": "rdma0"},
    }
    assert not gaps
