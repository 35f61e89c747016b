"""What the comparison with ntc-templates and NAPALM's getters rests on, on answers of our own."""

from __future__ import annotations

from pathlib import Path

from auditor import yamldoc
from auditor.platforms import platforms
from bench import side_by_side

ROOT = Path(__file__).resolve().parents[2]

JUNOS = """<rpc-reply xmlns:junos="http://xml.juniper.net/junos/22.4R1/junos">
<interface-information xmlns="http://xml.juniper.net/junos/22.4R1/junos-interface" junos:style="normal">
<physical-interface><name>et-0/0/7</name><admin-status>up</admin-status><oper-status>up</oper-status><mtu>9192</mtu>
<speed>400Gbps</speed></physical-interface></interface-information></rpc-reply>"""


def answer(source: str, case: str) -> tuple[str, str]:
    """Command and body of a fixture of Arista EOS."""
    folder = ROOT / "fixtures" / "arista_eos" / source / case
    (output,) = folder.glob("output.*")
    return yamldoc.read(folder / "facts.yaml").data["command"], output.read_text()


def first(source: str) -> tuple[str, str]:
    return answer(source, sorted(path.name for path in (ROOT / "fixtures" / "arista_eos" / source).iterdir())[0])


def test_the_getter_loses_what_kind_of_name_a_neighbour_sent() -> None:
    command, body = first("lldp_detail_json")
    kinds = {"neighbour.port_kind", "neighbour.chassis_kind"}
    assert "neighbour.port_id" in side_by_side.by_getter("eos", command, body)
    assert not kinds & side_by_side.by_getter("eos", command, body)
    assert kinds <= side_by_side.by_auditor(platforms()["arista_eos"], command, body)


def test_the_template_loses_it_too() -> None:
    command, body = first("lldp_detail")
    assert "neighbour.port_id" in side_by_side.by_template("eos", command, body)
    assert "neighbour.port_kind" not in side_by_side.by_template("eos", command, body)
    assert "neighbour.port_kind" in side_by_side.by_auditor(platforms()["arista_eos"], command, body)


def test_the_driver_of_junos_reads_a_canned_reply() -> None:
    seen = side_by_side.by_getter("junos", "show interfaces | display xml", JUNOS)
    assert {"interface.enabled", "interface.up", "interface.speed", "interface.mtu_shown"} <= seen


def test_a_getter_that_cannot_read_an_answer_sees_nothing_in_it() -> None:
    assert side_by_side.by_getter("eos", "show interfaces | json", '{"interfaces": {"Ethernet1": {}}}') == set()
