"""What is learned from devices, what is left open, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from auditor.address import Layer
from auditor.baseline.document import Vocabulary, parse_document
from auditor.baseline.learn import Member, learn
from auditor.baseline.lesson import Lesson, Terms, write
from auditor.facts import Buffer, Firmware, Interface, NcclEnv, PriorityGroup, Queue, RdmaPort, Row, System
from auditor.model import Origin, State

AT = datetime(2026, 4, 2, 3, 0, tzinfo=UTC)
TERMS = Terms(date="2026-04-02")


def member(name: str, *rows: Row, model: str = "QX-64", faulty: dict[str, str] | None = None, **groups: set[str]) -> Member:
    tables: dict = {}
    origins: dict = {}
    for row in rows:
        tables.setdefault((type(row), Layer.APPLIED), {})[row.key] = row
        for column in type(row).__dataclass_fields__:
            origins[type(row), Layer.APPLIED, column] = (Origin("source", "d" * 64, "sonic"),)
    named = {group: frozenset(ports) for group, ports in groups.items()}
    return Member(name, "leaf", "sonic", model, State(name, AT, tables, origins), named, faulty or {})


def fleet(*rows: Row, count: int = 10, odd: tuple[Row, ...] = (), odds: int = 0, **more: object) -> list[Member]:
    return [member(f"leaf-{at:02}", *(odd if at <= odds else rows), **more) for at in range(1, count + 1)]  # type: ignore[arg-type]


def lines(lesson: Lesson) -> dict[str, object]:
    return {line.at: line.value for line in lesson.lines}


def test_what_all_agree_on_is_a_line_with_the_count_as_its_why() -> None:
    lesson = learn(fleet(Buffer(model="static")), TERMS)
    (line,) = lesson.lines
    assert (line.id, line.at, line.operator, line.value) == ("lossless.buffer_model", "buffer.model", "eq", "static")
    assert line.why == "10 of 10 leaf devices of model QX-64 had it on 2026-04-02"


def test_one_in_ten_may_differ_and_is_named() -> None:
    (line,) = learn(fleet(Buffer(model="static"), odd=(Buffer(model="dynamic"),), odds=1), TERMS).lines
    assert line.value == "static"
    assert "not leaf-01:buffer (dynamic)" in line.note


def test_two_in_ten_are_a_doubt_and_nothing_is_proposed() -> None:
    lesson = learn(fleet(Buffer(model="static"), odd=(Buffer(model="dynamic"),), odds=2), TERMS)
    assert not lesson.lines
    assert lesson.open == ["buffer.model: static on 8; dynamic on 2 (leaf-01, leaf-02); of 10 objects of 10 devices"]


def test_fewer_devices_than_needed_teach_nothing() -> None:
    lesson = learn(fleet(Buffer(model="static"), count=2), TERMS)
    assert (lesson.lines, lesson.members) == ([], 0)
    assert "fewer than 3" in lesson.small[0]


def test_identity_and_the_moment_are_never_learned() -> None:
    row = Interface(name="E0", mac="02:00:00:00:00:01", alias="etp1", description="to x", up=True, mtu_shown="9100", lanes="0,1")
    assert not learn(fleet(row, System(hostname="x", serial="S1", image_id="abc")), TERMS).lines


def test_a_value_that_a_rule_calls_faulty_is_refused_though_all_have_it() -> None:
    lesson = learn(fleet(Buffer(model="static"), faulty={"buffer.model": "lossless.some_rule"}), TERMS)
    assert not lesson.lines
    assert lesson.refused == ["buffer.model: static on 10 of 10 objects of 10 devices, and lossless.some_rule calls it faulty"]


def test_ports_are_learned_by_plane_and_where_its_ports_differ_by_direction() -> None:
    ports = {"compute": {"E0", "E4"}, "host_facing": {"E0"}, "fabric_facing": {"E4"}, "in_use": {"E0", "E4"}}
    rows = [Interface(name="E0", mtu=9000, speed=100), Interface(name="E4", mtu=9100, speed=100), Interface(name="E8", mtu=1500)]
    assert lines(learn(fleet(*rows, **ports), TERMS)) == {
        "interface[@compute].speed": 100,
        "interface[@host_facing].mtu": 9000,
        "interface[@fabric_facing].mtu": 9100,
    }


def test_queues_that_agree_share_a_line_and_defaults_are_left_out() -> None:
    rows = [Queue(port="E0", queue=str(at), scheduler="dwrr", ecn_enabled=at == 3) for at in range(4)]
    lesson = learn(fleet(*rows, compute={"E0"}), TERMS)
    assert lines(lesson) == {"queue[@compute,*].scheduler": "dwrr", "queue[@compute,3].ecn_enabled": True}
    assert lesson.quiet == ["queue[@compute].ecn_enabled: nothing, or the default, on 0, 1, 2"]


def test_adapters_are_learned_by_parameter_set_as_params() -> None:
    rows = [
        Firmware(component="nic.0000:1a:00.0", psid="MT_1", version="28.43"),
        Firmware(component="nic.0000:3c:00.0", psid="SM_2", version="28.40"),
        Firmware(component="bmc", version="1.2"),
    ]
    lesson = learn(fleet(*rows), TERMS)
    assert lines(lesson) == {"firmware[bmc].version": "1.2"}
    assert [(line["psid"], line["in"]) for line in lesson.psids] == [(["MT_1"], ["28.43"]), (["SM_2"], ["28.40"])]


def test_a_component_that_one_device_lost_makes_it_the_dissenter() -> None:
    some = fleet(Firmware(component="bmc", version="1.2"), Firmware(component="bios", version="3"), count=9)
    some.append(member("leaf-10", Firmware(component="bios", version="3")))
    by_place = {line.at: line for line in learn(some, TERMS).lines}
    assert "not leaf-10:firmware[bmc] (absent)" in by_place["firmware[bmc].version"].note


def test_a_traffic_class_is_learned_with_any_ecn_bits() -> None:
    def host(at: int) -> Member:
        port = RdmaPort(name="mlx5_0", port="1", netdev="e0", state="active", global_tclass=104 + at % 3)
        return member(f"gpu-{at}", port, NcclEnv(source="f", variable="NCCL_IB_TC", value=str(104 + at % 3)), compute={"e0"})

    found = {line.at: (line.operator, line.value) for line in learn([host(at) for at in range(6)], TERMS).lines}
    assert found["rdma_port[@compute,*].global_tclass"] == ("between", (104, 107))
    assert found["nccl_env[f,NCCL_IB_TC].value"] == ("in", ("104", "105", "106", "107"))


def test_what_differs_between_hardware_models_is_left_open() -> None:
    rows = {"QX-64": System(os_version="1", kernel="k"), "QX-128": System(os_version="2", kernel="k")}
    some = [member(f"{model}-{at}", row, model=model) for model, row in rows.items() for at in range(3)]
    lesson = learn(some, TERMS)
    assert lines(lesson) == {"system.kernel": "k"}
    assert lesson.open[0].startswith("system.os_version: differs by kind")


def test_what_only_one_hardware_model_has_is_no_line_for_the_other() -> None:
    some = [member(f"a-{at}", System(kernel="k"), Firmware(component="onie", version="1")) for at in range(3)]
    some += [member(f"b-{at}", System(kernel="k"), model="QX-128") for at in range(3)]
    lesson = learn(some, TERMS)
    assert lines(lesson) == {"system.kernel": "k"}
    assert "but only in" in lesson.open[0]


def test_an_id_that_a_rule_has_is_not_taken() -> None:
    (line,) = learn(fleet(Buffer(mode="lossless")), Terms(taken=frozenset({"lossless.buffer_mode"}))).lines
    assert line.id == "lossless.buffer_mode_value"


@pytest.mark.parametrize("text", ["x\n- {id: evil}", 'a"b: c', "\x1b[31m", "# no", "a" * 3000])
def test_what_a_device_says_cannot_break_out_of_the_file(text: str) -> None:
    rows = (System(os_version=text), PriorityGroup(port="E0", pg="3", pool=text), NcclEnv(source=text, variable=text, value=text))
    lesson = learn(fleet(*rows, odd=(System(os_version="other" + text),), odds=1, compute={"E0"}), TERMS)
    written = write("site-leaf", "1.0.0", lesson, TERMS, "10 devices")
    read = parse_document(written, "site-leaf", "1.0.0", Vocabulary())
    assert {line.id for line in read.expectations} == {line.id for line in lesson.lines}
    assert "\x1b" not in written
