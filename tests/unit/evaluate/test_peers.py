"""What a device tells its peers, and what the census makes of it."""

from dataclasses import replace
from datetime import UTC, datetime

from auditor.address import Address, Layer
from auditor.evaluate import attributes
from auditor.evaluate.peers import Census
from auditor.facts import Buffer, DscpMap, Firmware, NcclEnv, Queue, RdmaPort, Row, System
from auditor.model import (
    Device,
    DeviceOutcome,
    Finding,
    Gap,
    GapReason,
    Origin,
    PeerFact,
    Result,
    Severity,
    Spot,
    State,
    Status,
    Verdict,
)

AT = datetime(2026, 4, 2, 3, 0, tzinfo=UTC)
MODEL = "QX-64"


def state(device: str, *rows: Row, gaps: tuple[Gap, ...] = ()) -> State:
    tables: dict = {}
    origins: dict = {}
    for row in rows:
        tables.setdefault((type(row), Layer.APPLIED), {})[row.key] = row
        for name in type(row).__dataclass_fields__:
            origins[type(row), Layer.APPLIED, name] = (Origin("source", "d" * 64, "sonic"),)
    return State(device, AT, tables, origins, gaps)


def tell(device: str, *rows: Row, results: tuple[Result, ...] = (), gaps: tuple[Gap, ...] = (), **groups: set[str]) -> tuple:
    found = state(device, *rows, gaps=gaps)
    named = {name: frozenset(ports) for name, ports in groups.items()}
    return attributes.emit(found, "leaf", MODEL, named, results, ((),))


def said(facts: tuple[PeerFact, ...]) -> dict[str, str | None]:
    return {fact.address: fact.value for fact in facts if fact.address}


def outcome(device: str, *rows: Row, reached: bool = True, **more: object) -> DeviceOutcome:
    facts = tell(device, *rows, **more) if reached else ()  # type: ignore[arg-type]
    return DeviceOutcome(device, AT, reached=reached, hardware_model=MODEL, peers=facts)


def devices(*names: str) -> list[Device]:
    return [Device(name, ("sonic",), role="leaf", hardware_model=MODEL) for name in names]


def census(*outcomes: DeviceOutcome) -> Census:
    found = Census()
    for each in outcomes:
        found.add(each)
    return found


def model(word: str) -> Buffer:
    return Buffer(model=word)


def leaves(*words: str) -> list[DeviceOutcome]:
    return [outcome(f"leaf-{at:02}", model(word)) for at, word in enumerate(words, 1)]


def results(found: Census, inventory: list[Device], only: tuple[str, ...] = ()) -> dict[str, Result]:
    return {result.rule: result for result in found.judge(inventory, (), only).results}


# Attributes


def test_ports_of_a_group_are_one_attribute_and_ports_without_a_part_in_the_plan_are_none() -> None:
    rows = [Queue(port=port, queue="3", ecn_min_bytes=size) for port, size in (("E0", 1), ("E4", 1), ("E8", 9))]
    facts = said(tell("leaf-01", *rows, compute={"E0", "E4"}, host_facing={"E0", "E4"}, in_use={"E0", "E4"}))
    assert facts["queue[@compute+host_facing,3].ecn_min_bytes"] == "1"
    assert not any("E8" in address for address in facts)


def test_the_value_of_an_attribute_is_the_set_of_its_rows_values() -> None:
    rows = [Queue(port=port, queue="3", weight=weight) for port, weight in (("E0", 15), ("E4", 20), ("E8", 15))]
    facts = tell("leaf-01", *rows, compute={"E0", "E4", "E8"})
    found = next(fact for fact in facts if fact.column == "queue.weight")
    assert found.value == "15, 20"
    assert [cell.address.key[0] for cell in found.cells] == ["E0", "E4"]


def test_adapters_are_compared_among_those_with_the_same_psid() -> None:
    nics = [("nic.0000:1a:00.0", "MT_0000000838"), ("nic.0000:3c:00.0", "SM_0000000007")]
    rows = [Firmware(component=name, version=f"28.{at}", psid=psid) for at, (name, psid) in enumerate(nics)]
    assert said(tell("gpu-01", *rows)) == {
        "firmware[nic.*,MT_0000000838].version": "28.0",
        "firmware[nic.*,SM_0000000007].version": "28.1",
    }


def test_ecn_bits_of_a_traffic_class_do_not_count() -> None:
    one, other = (
        said(tell("gpu", NcclEnv(source="/etc/nccl.conf", variable="NCCL_IB_TC", value=value))) for value in ("104", "0x6a")
    )
    assert one == other == {"nccl_env[/etc/nccl.conf,NCCL_IB_TC].value": "DSCP 26"}


def test_variables_that_name_the_host_are_not_compared() -> None:
    assert not said(tell("gpu-01", NcclEnv(source="/etc/nccl.conf", variable="NCCL_HOSTID", value="17")))


def test_without_a_plan_rdma_ports_of_one_rate_are_alike_and_a_port_that_is_down_says_nothing() -> None:
    up = RdmaPort(name="mlx5_0", port="1", state="active", rate=400_000_000_000, active_mtu=4096)
    down = RdmaPort(name="mlx5_1", port="1", state="down")
    facts = said(tell("gpu-01", up, down))
    assert facts["rdma_port[400000000000 bit/s].active_mtu"] == "4096"
    assert "absent" not in {value for address, value in facts.items() if "active_mtu" in address}


def test_what_a_rule_judged_is_left_to_it() -> None:
    judged = Result("firmware.not_allowed", "leaf-01", Verdict.PASS, passed=("leaf-01:firmware[bios]",))
    assert not said(tell("leaf-01", Firmware(component="bios", version="1"), results=(judged,)))


def test_rules_that_compare_layers_judge_no_value() -> None:
    judged = Result("lifecycle.unapplied", "leaf-01", Verdict.PASS, passed=("leaf-01:buffer",))
    assert said(tell("leaf-01", model("static"), results=(judged,)))["buffer.model"] == "static"


def test_a_column_behind_a_gap_is_unknown_and_an_unsupported_one_says_nothing() -> None:
    cut = Gap("leaf-01", "buffer", "source", GapReason.TRUNCATED)
    unsupported = replace(cut, reason=GapReason.UNSUPPORTED)
    hidden = [fact for fact in tell("leaf-01", model("static"), gaps=(cut,)) if fact.column == "buffer.model"]
    assert [(fact.address, fact.value) for fact in hidden] == [("", None)]
    assert hidden[0].cells[0].gap == cut
    assert said(tell("leaf-01", model("static"), gaps=(unsupported,)))["buffer.model"] == "static"


def test_a_long_value_travels_as_its_beginning_and_a_digest() -> None:
    one, other = (NcclEnv(source="f", variable="NCCL_X", value="a" * 5000 + end) for end in "xy")
    a, b = said(tell("gpu-01", one)).popitem()[1], said(tell("gpu-02", other)).popitem()[1]
    assert a is not None
    assert b is not None
    assert len(a) < 200
    assert a != b


# The census


def test_the_odd_one_is_one_finding_with_the_counts_and_its_cell() -> None:
    found = census(*leaves("static", "static", "static", "dynamic"))
    judged = found.judge(devices("leaf-01", "leaf-02", "leaf-03", "leaf-04"), ())
    (finding,) = judged.findings
    assert (finding.rule, finding.object) == ("fabric.inconsistent", "group[leaf/QX-64:buffer.model]")
    assert finding.devices == ("leaf-04",)
    assert "static on 3 of 4 devices" in finding.message
    (spot,) = finding.spots
    fact = found.fact(spot)
    assert fact is not None
    assert fact.value == "dynamic"


def test_a_device_counts_once_however_often_its_outcome_arrives() -> None:
    several = leaves("static", "static", "dynamic")
    assert len(census(*several, several[2], several[2]).judge(devices("leaf-01", "leaf-02", "leaf-03"), ()).findings) == 1


def test_half_and_half_is_information_about_both() -> None:
    names = [f"leaf-{at:02}" for at in range(1, 5)]
    (finding,) = census(*leaves("static", "static", "dynamic", "dynamic")).judge(devices(*names), ()).findings
    assert finding.severity is Severity.INFORMATION
    assert finding.devices == ("leaf-03", "leaf-04", "leaf-01", "leaf-02")


def test_attributes_in_which_the_same_devices_are_odd_are_one_cause() -> None:
    rows = [(Buffer(model=word, ingress_pools=pools), DscpMap(name="M", dscp="1", traffic_class=pools)) for word, pools in
            (("static", 1), ("static", 1), ("static", 1), ("dynamic", 2))]  # fmt: skip
    some = [outcome(f"leaf-{at:02}", *pair) for at, pair in enumerate(rows, 1)]
    judged = census(*some).judge(devices(*(each.device for each in some)), ())
    assert len(judged.findings) == 3
    assert len({finding.root for finding in judged.findings}) == 1


def test_a_run_that_saw_half_a_group_compares_nothing_and_says_why() -> None:
    result = results(census(*leaves("static", "static", "dynamic")), devices("leaf-01", "leaf-02", "leaf-03", "leaf-04"))[
        "fabric.inconsistent"
    ]
    assert result.verdict is Verdict.NOT_APPLICABLE
    assert "3 devices" in result.reason
    assert "1 were not" in result.reason


def test_devices_that_are_not_built_yet_are_not_missed() -> None:
    planned = replace(devices("leaf-04")[0], status=Status.PLANNED)
    judged = results(census(*leaves("static", "static", "static")), [*devices("leaf-01", "leaf-02", "leaf-03"), planned])
    assert judged["fabric.inconsistent"].verdict is Verdict.PASS


def test_agreement_without_an_unreachable_device_is_no_agreement() -> None:
    found = census(*leaves("static", "static", "static"), outcome("leaf-04", reached=False))
    result = results(found, devices("leaf-01", "leaf-02", "leaf-03", "leaf-04"))["fabric.inconsistent"]
    assert result.verdict is Verdict.NOT_EVALUATED
    assert "group[leaf/QX-64:buffer.model]" in result.unseen
    assert result.passed == ()
    assert result.whole == ()


def test_a_cell_that_another_rule_blames_is_not_odd_a_second_time() -> None:
    spot = Spot("leaf-04", Address("buffer", (), "model", Layer.APPLIED))
    told = Finding("f", "lossless.buffer_mode", "leaf-04:buffer", Severity.ERROR, ("leaf-04",), "", "", "", "", spots=(spot,))
    found = census(*leaves("static", "static", "static", "dynamic"))
    assert not found.judge(devices("leaf-01", "leaf-02", "leaf-03", "leaf-04"), (told,)).findings


def test_only_the_selected_rules_run() -> None:
    found = census(*leaves("static", "static", "dynamic"))
    assert not found.judge(devices("leaf-01", "leaf-02", "leaf-03"), (), ("mtu.*",)).results


def test_names_of_groups_hold_nothing_that_a_device_could_forge() -> None:
    wild = attributes.emit(state("leaf-01", model("static")), "leaf", "x]:y[\x1b\n", {}, (), ((),))
    assert {str(fact.group) for fact in wild} <= {"leaf/x_y_", "x_y_"}


def judged_in_rollout(releases: dict[str, str | None], *words: str) -> list[Finding]:
    found = Census(releases)
    for each in leaves(*words):
        found.add(each)
    return found.judge(devices(*[each.device for each in leaves(*words)]), ()).findings


def test_what_a_release_brings_along_is_not_odd_on_the_device_that_a_rollout_moved_first() -> None:
    first = leaves("a")[0].device
    assert judged_in_rollout({}, "a", "b", "b", "b")
    assert judged_in_rollout({first: "site-leaf@1.1.0"}, "a", "b", "b", "b") == []


def test_in_the_window_of_a_change_a_device_is_nobodys_peer() -> None:
    names = [each.device for each in leaves("a", "a", "b", "b", "c", "c", "c")]
    assert judged_in_rollout(dict.fromkeys(names[:4]), "a", "a", "b", "b", "c", "c", "c") == []


def test_the_odd_one_of_those_that_a_rollout_has_moved_is_found_among_them() -> None:
    names = [each.device for each in leaves(*"aabccc")]
    (finding,) = judged_in_rollout(dict.fromkeys(names[:3], "site-leaf@1.1.0"), *"aabccc")
    assert finding.devices == (names[2],)
    assert "+site-leaf@1.1.0" in finding.object


def test_a_kernel_is_compared_among_devices_with_the_same_system() -> None:
    def one(name: str, version: str, kernel: str) -> DeviceOutcome:
        return outcome(name, System(os_version=version, kernel=kernel))

    versions = [("4.4", "6.1"), ("4.4", "6.1"), ("4.4", "6.1"), ("4.5", "6.6"), ("4.4", "6.2")]
    found = census(*(one(f"leaf-{at}", *each) for at, each in enumerate(versions)))
    told = found.judge(devices(*(f"leaf-{at}" for at in range(5))), ()).findings
    assert [finding.devices for finding in told if "kernel" in finding.object] == [("leaf-4",)]
