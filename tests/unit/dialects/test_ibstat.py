from __future__ import annotations

from pathlib import Path

from auditor.dialects import ibstat

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "infiniband" / "ibstat"
THREE = (FIXTURES / "infiniband_ethernet_and_down" / "output.txt").read_text("utf-8")
CUT = (FIXTURES / "two_ports_cut_in_the_second" / "output.txt").read_text("utf-8")


def test_adapters_and_their_ports() -> None:
    first, _, third = ibstat.adapters(THREE)
    assert (first.name, first.fields["Node GUID"], first.whole) == ("mlx5_0", "0x946dae03007c1000", True)
    assert (first.ports[0].number, first.ports[0].fields["Rate"], first.ports[0].infiniband) == ("1", "400", True)
    assert (third.name, third.ports[0].infiniband, third.ports[0].active) == ("mlx5_2", False, True)


def test_blanks_indent_as_well_as_tabs_and_a_cut_adapter_is_not_whole() -> None:
    (adapter,) = ibstat.adapters(CUT)
    assert [port.number for port in adapter.ports] == ["1", "2"]
    assert not adapter.whole


def test_only_adapters_with_an_active_port_on_a_fabric_are_asked() -> None:
    assert ibstat.fabric_adapters(THREE) == ["mlx5_0"]


def test_where_no_port_is_active_all_that_could_be_are_asked() -> None:
    assert ibstat.fabric_adapters(THREE.replace("State: Active", "State: Down")) == ["mlx5_0", "mlx5_1"]


def test_a_host_without_infiniband_has_nobody_to_ask() -> None:
    assert ibstat.fabric_adapters(THREE.replace("InfiniBand", "Ethernet")) == []
