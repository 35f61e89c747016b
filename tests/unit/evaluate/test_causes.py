"""One cause, one line: what folds together and what stays apart."""

from dataclasses import replace

from auditor.address import Address
from auditor.evaluate import causes
from auditor.evaluate.findings import fingerprint, make, object_text
from auditor.model import Deviation, DocumentOrigin, Finding, Link, LinkEnd, LinkVerdict, Result, Severity, Spot, Verdict


def finding(
    device: str, port: str, rule: str = "mtu.compute", observed: str = "1500", severity: Severity = Severity.ERROR
) -> Finding:
    address = Address("interface", (port,), "mtu")
    deviation = Deviation("= 9100", observed, f"{device} {port} is {observed}", (Spot(device, address),))
    text = object_text(device, address)
    return make(rule, text, (device,), deviation, severity, ("port", f"{device}:interface[{port}]"))


def result(rule: str, *objects: str, failed: int = 0) -> Result:
    return Result(rule, "d", Verdict.FAIL, passed=objects[failed:], failed=objects[:failed])


def test_two_rules_of_one_concern_on_one_port_are_one_cause() -> None:
    found, grouped = causes.gather([finding("leaf", "e0"), finding("leaf", "e0", "mtu.link_ends_differ")])
    assert len(grouped) == 1
    assert set(grouped[0].members) == {item.fingerprint for item in found}
    assert {item.cause for item in found} == {grouped[0].id}


def test_two_concerns_on_one_port_are_two_causes() -> None:
    _, grouped = causes.gather([finding("leaf", "e0"), finding("leaf", "e0", "lossless.trust")])
    assert len(grouped) == 2


def test_one_deviation_on_several_nics_is_the_hosts() -> None:
    found = causes.fold_device([finding("gpu", "eth0"), finding("gpu", "eth1")], [], "gpu", host=True)
    _, grouped = causes.gather(found)
    assert [cause.root for cause in grouped] == ["gpu"]
    assert "1 more" in grouped[0].title


def test_different_deviations_on_a_host_stay_apart() -> None:
    found = causes.fold_device([finding("gpu", "eth0"), finding("gpu", "eth1", observed="4200")], [], "gpu", host=True)
    assert len(causes.gather(found)[1]) == 2


def test_a_single_nic_is_its_own_port() -> None:
    found = causes.fold_device([finding("gpu", "eth0")], [], "gpu", host=True)
    assert found[0].root == ("port", "gpu:interface[eth0]")


def test_a_switch_folds_only_when_every_port_it_judged_fails_alike() -> None:
    ports = [finding("leaf", f"e{number}") for number in range(4)]
    objects = [item.object for item in ports]
    all_of_them = causes.fold_device(ports, [result("mtu.compute", *objects, failed=4)], "leaf", host=False)
    assert {item.root for item in all_of_them} == {("device", "leaf")}
    some = causes.fold_device(ports, [result("mtu.compute", *objects, "leaf:interface[e9]", failed=4)], "leaf", host=False)
    assert len({item.root for item in some}) == 4


def test_a_link_finding_takes_the_root_of_the_cell_that_a_line_already_failed() -> None:
    port = finding("leaf", "e0")
    failed = {"leaf:interface[e0].mtu": port.root}
    link = Link(LinkEnd("leaf", "e0", "e0"), LinkEnd("gpu", "eth0", "eth0"), LinkVerdict.PROVEN)
    assert causes.link_root(link, port, failed) == port.root
    assert causes.link_root(link, port, {}) == ("link", "link[gpu:eth0|leaf:e0]")


def test_the_cause_takes_its_worst_member_and_a_waived_member_does_not_raise_it() -> None:
    from dataclasses import replace

    waived = replace(finding("leaf", "e0", severity=Severity.CRITICAL), waiver={"owner": "x", "reason": "y", "expires": "z"})
    other = finding("leaf", "e0", "mtu.other", severity=Severity.WARNING)
    _, grouped = causes.gather([waived, other])
    assert grouped[0].severity is Severity.WARNING
    assert not grouped[0].waived
    assert causes.gather([waived])[1][0].waived


def test_a_fingerprint_is_of_rule_and_object_alone() -> None:
    one, other = finding("leaf", "e0"), finding("leaf", "e0", observed="9000", severity=Severity.WARNING)
    assert one.fingerprint == other.fingerprint == fingerprint("mtu.compute", "leaf:interface[e0]")
    assert finding("leaf", "e1").fingerprint != one.fingerprint


# A line that every device of a kind fails


def wrong(device: str, observed: str = "1500", rule: str = "mtu.compute") -> Finding:
    return replace(finding(device, "e0", rule, observed), origin=DocumentOrigin("roce-leaf", "1.0.0", "f.yaml", 6))


def judged(device: str, rule: str = "mtu.compute") -> Result:
    return Result(rule, device, Verdict.FAIL, failed=(f"{device}:interface[e0]",), devices=(device,))


LEAVES = [f"leaf-0{number}" for number in range(1, 5)]
KINDS = dict.fromkeys(LEAVES, ("leaf", "QX-64"))


def test_what_every_device_of_a_kind_fails_alike_is_one_question_about_the_baseline() -> None:
    found = causes.question([wrong(leaf) for leaf in LEAVES], [judged(leaf) for leaf in LEAVES], KINDS)
    _, (cause,) = causes.gather(found)
    assert cause.kind == "baseline_question"
    assert "Is the baseline right" in cause.title
    assert "all 4 of them show 1500" in cause.title
    assert cause.severity is Severity.ERROR


def test_what_a_link_shows_of_the_same_fault_goes_along() -> None:
    seen = replace(finding("leaf-01", "e0", "mtu.link_ends_differ"), object="link[a:p|leaf-01:e0]")
    found = causes.question([*map(wrong, LEAVES), seen], map(judged, LEAVES), KINDS)
    assert len(causes.gather(found)[1]) == 1


def test_one_device_that_is_right_answers_the_question() -> None:
    right = Result("mtu.compute", "leaf-05", Verdict.PASS, passed=("leaf-05:interface[e0]",), devices=("leaf-05",))
    kinds = {**KINDS, "leaf-05": ("leaf", "QX-64")}
    found = causes.question([wrong(leaf) for leaf in LEAVES], [*map(judged, LEAVES), right], kinds)
    assert len(causes.gather(found)[1]) == 4


def test_different_values_or_too_few_devices_are_no_question() -> None:
    mixed = [wrong(leaf, observed) for leaf, observed in zip(LEAVES, ("1500", "1500", "1500", "9000"), strict=True)]
    assert len(causes.gather(causes.question(mixed, map(judged, LEAVES), KINDS))[1]) == 4
    assert len(causes.gather(causes.question([wrong(leaf) for leaf in LEAVES[:3]], map(judged, LEAVES[:3]), KINDS))[1]) == 3


def test_a_rule_without_a_baseline_behind_it_asks_nothing() -> None:
    found = causes.question([finding(leaf, "e0") for leaf in LEAVES], map(judged, LEAVES), KINDS)
    assert len(causes.gather(found)[1]) == 4


def test_a_title_names_the_device_whatever_the_message_says() -> None:
    silent = replace(finding("leaf-07", "e0"), message="buffer model is dynamic")
    _, (cause,) = causes.gather([silent])
    assert cause.title == "leaf-07: buffer model is dynamic"
    _, (cause,) = causes.gather([finding("leaf-07", "e0")])
    assert cause.title == "leaf-07 e0 is 1500"
