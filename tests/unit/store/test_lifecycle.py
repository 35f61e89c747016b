"""What becomes of a known finding, by what the run looked at."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from auditor.model import Finding, Result, Severity, Verdict
from auditor.store.lifecycle import Examination, Life, Record, meet, part

DAY = timedelta(days=1)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
PORT = "leaf-01:interface[Ethernet0].mtu"
LINK = "link[gpu-01:nic0|leaf-01:Ethernet0]"


def record(object_: str = PORT, rule: str = "mtu.compute", state: Life = Life.OPEN, **more: object) -> Record:
    devices = ("gpu-01", "leaf-01") if object_.startswith("link[") else (object_.partition(":")[0],)
    values = {"mode": Life.OPEN, "first_seen": NOW - 9 * DAY, "last_seen": NOW - DAY} | more
    return Record("fp", rule, object_, devices, state, **values)  # type: ignore[arg-type]


def finding(**more: object) -> Finding:
    return Finding("fp", "mtu.compute", PORT, Severity.ERROR, ("leaf-01",), PORT, "9100", "1500", "wrong", **more)  # type: ignore[arg-type]


def result(verdict: Verdict = Verdict.PASS, rule: str = "mtu.compute", scope: str = "leaf-01", **more: tuple[str, ...]) -> Result:
    return Result(rule, scope, verdict, **more)  # type: ignore[arg-type]


def examination(*results: Result, **more: object) -> Examination:
    values = {
        "rules": frozenset({"mtu.compute", "mtu.link_ends_differ"}),
        "scope": None,
        "reached": frozenset({"leaf-01", "gpu-01"}),
    }
    asked = [record(rule=rule) for rule in ("mtu.compute", "mtu.link_ends_differ", "lossless.watchdog_missing")]
    return Examination(results, asked, **values | more)  # type: ignore[arg-type]


def test_the_same_rule_that_found_the_same_object_right_resolves_it() -> None:
    assert examination(result(passed=(PORT,))).fate(record()) is Life.RESOLVED


def test_another_rule_or_another_object_found_right_resolves_nothing() -> None:
    looked = examination(result(rule="mtu.other", passed=(PORT,)), result(passed=("leaf-01:interface[Ethernet8].mtu",)))
    assert looked.fate(record()) is Life.UNVERIFIED


def test_a_whole_table_without_the_object_resolves_it() -> None:
    assert examination(result(whole=("interface",))).fate(record()) is Life.RESOLVED
    assert examination(result(whole=("queue",))).fate(record()) is Life.UNVERIFIED


def test_a_whole_table_of_another_device_resolves_nothing() -> None:
    looked = examination(result(scope="leaf-02", whole=("interface",)), result(Verdict.NOT_EVALUATED))
    assert looked.fate(record()) is Life.UNVERIFIED


def test_a_whole_table_resolves_nothing_whose_table_or_row_was_not_seen() -> None:
    for hidden in (PORT, "leaf-01:interface[Ethernet0]", "leaf-01:interface"):
        assert (
            examination(result(Verdict.NOT_EVALUATED, unseen=(hidden,), whole=("interface",))).fate(record()) is Life.UNVERIFIED
        )


def test_an_object_that_still_fails_is_left_alone() -> None:
    assert examination(result(Verdict.FAIL, failed=(PORT,), whole=("interface",))).fate(record()) is None


def test_a_crashed_rule_proves_nothing_not_even_what_it_passed_before() -> None:
    assert examination(result(Verdict.ERROR, passed=(PORT,), whole=("interface",))).fate(record()) is Life.UNVERIFIED


def test_a_device_that_did_not_answer_leaves_its_findings_unverified() -> None:
    assert examination(reached=frozenset()).fate(record()) is Life.UNVERIFIED
    assert examination(reached=frozenset(), rules=frozenset()).fate(record()) is Life.UNVERIFIED


def test_what_is_out_of_scope_is_untouched() -> None:
    assert examination(scope=frozenset({"leaf-02"})).fate(record()) is None


def test_a_link_is_in_scope_with_either_end() -> None:
    looked = examination(result(rule="mtu.link_ends_differ", scope=LINK, passed=(LINK,)), scope=frozenset({"gpu-01"}))
    assert looked.fate(record(LINK, "mtu.link_ends_differ")) is Life.RESOLVED


@pytest.mark.parametrize("scope", [LINK, LINK[5:-1]])
def test_a_link_is_found_by_either_spelling_of_its_scope(scope: str) -> None:
    looked = examination(result(Verdict.NOT_APPLICABLE, "mtu.link_ends_differ", scope))
    assert looked.fate(record(LINK, "mtu.link_ends_differ")) is Life.WITHDRAWN


def test_a_link_without_a_result_is_unverified_while_it_is_planned_and_withdrawn_when_not() -> None:
    known = record(LINK, "mtu.link_ends_differ")
    assert examination(links=frozenset({LINK[5:-1]})).fate(known) is Life.UNVERIFIED
    assert examination(links=frozenset()).fate(known) is Life.WITHDRAWN
    assert examination().fate(known) is Life.UNVERIFIED


def test_narrowing_by_rule_touches_only_these_rules() -> None:
    looked = examination(result(passed=(PORT,)), only=("mtu.*",), rules=frozenset({"mtu.compute"}))
    assert looked.fate(record()) is Life.RESOLVED
    assert looked.fate(record(rule="lossless.watchdog_missing")) is None


def test_a_rule_that_is_no_longer_in_force_withdraws_its_findings() -> None:
    assert examination(result(rule="mtu.other"), rules=frozenset({"mtu.other"})).fate(record()) is Life.WITHDRAWN


def test_a_rule_that_no_longer_concerns_the_device_withdraws_its_findings() -> None:
    assert examination(result(rule="mtu.other")).fate(record()) is Life.WITHDRAWN
    assert examination(result(Verdict.NOT_APPLICABLE)).fate(record()) is Life.WITHDRAWN


def test_a_device_whose_job_gave_no_result_at_all_is_unverified() -> None:
    assert examination().fate(record()) is Life.UNVERIFIED


def test_a_device_that_left_the_inventory_takes_its_findings_along_only_in_a_run_over_everything() -> None:
    gone = {"inventory": frozenset({"leaf-02"}), "reached": frozenset()}
    assert examination(**gone).fate(record()) is Life.WITHDRAWN
    assert examination(**gone, scope=frozenset({"leaf-02"})).fate(record()) is None
    assert examination(**gone, scope=frozenset({"leaf-01"})).fate(record()) is Life.UNVERIFIED


def test_a_link_is_gone_with_one_of_its_devices() -> None:
    looked = examination(inventory=frozenset({"leaf-01"}))
    assert looked.fate(record(LINK, "mtu.link_ends_differ")) is Life.WITHDRAWN


def test_an_older_capture_touches_nothing() -> None:
    assert examination(result(passed=(PORT,)), stale=frozenset({"leaf-01"})).fate(record()) is None


def test_a_new_finding_is_open() -> None:
    new = meet(None, finding(), NOW)
    assert (new.state, new.first_seen, new.last_seen, new.times_seen) == (Life.OPEN, NOW, NOW, 1)


def test_a_finding_seen_again_keeps_its_first_time_and_counts() -> None:
    again = meet(record(), finding(), NOW)
    assert (again.state, again.first_seen, again.last_seen, again.times_seen) == (Life.OPEN, NOW - 9 * DAY, NOW, 2)


def test_a_resolved_finding_that_fails_again_is_regressed_and_stays_so() -> None:
    again = meet(record(state=Life.RESOLVED, resolved_at=NOW - DAY, turns=(NOW - DAY,)), finding(), NOW)
    assert (again.state, again.resolved_at) == (Life.REGRESSED, None)
    assert meet(again, finding(), NOW + DAY).state is Life.REGRESSED


def test_two_relapses_within_the_window_are_flapping_and_further_apart_are_not() -> None:
    close = (NOW - 3 * DAY, NOW - 2 * DAY, NOW - DAY)
    assert meet(record(state=Life.RESOLVED, turns=close), finding(), NOW).state is Life.FLAPPING
    apart = (NOW - 30 * DAY, NOW - 29 * DAY, NOW - DAY)
    assert meet(record(state=Life.RESOLVED, turns=apart), finding(), NOW).state is Life.REGRESSED


def test_a_withdrawn_finding_that_comes_back_is_open_as_before() -> None:
    assert meet(record(state=Life.WITHDRAWN), finding(), NOW).state is Life.OPEN


def test_an_unverified_finding_seen_again_fails_as_it_did_before() -> None:
    assert meet(record(state=Life.UNVERIFIED, mode=Life.REGRESSED), finding(), NOW).state is Life.REGRESSED


def test_a_waiver_shows_while_it_is_there() -> None:
    waived = meet(record(mode=Life.REGRESSED, state=Life.REGRESSED), finding(waiver={"owner": "ops"}), NOW)
    assert waived.state is Life.WAIVED
    assert meet(waived, finding(), NOW + DAY).state is Life.REGRESSED


def test_a_waived_finding_that_was_not_seen_stays_waived_and_resolves_like_others() -> None:
    waived = record(state=Life.WAIVED)
    assert part(waived, Life.UNVERIFIED, NOW) == waived
    assert part(waived, Life.RESOLVED, NOW).state is Life.RESOLVED


def test_the_time_of_resolution_is_kept() -> None:
    assert part(record(), Life.RESOLVED, NOW).resolved_at == NOW
    assert part(record(), Life.UNVERIFIED, NOW).resolved_at is None


# Peer groups

ODD = "group[leaf/QX-64:buffer.model]"
GROUP = "group[leaf/QX-64]"


def odd() -> Record:
    return replace(record(ODD, "fabric.inconsistent"), devices=("leaf-01",))


def compared(verdict: Verdict = Verdict.PASS, **more: tuple[str, ...]) -> Result:
    return result(verdict, "fabric.inconsistent", GROUP, **more)


def whole(*results: Result, **more: object) -> Examination:
    values = {"rules": frozenset({"fabric.inconsistent"}), "scope": None, "reached": frozenset({"leaf-01"})} | more
    return Examination(results, [odd()], **values)  # type: ignore[arg-type]


def test_peers_that_agree_again_resolve_the_odd_one() -> None:
    assert whole(compared(passed=(ODD,))).fate(odd()) is Life.RESOLVED


def test_peers_that_were_not_all_seen_leave_the_odd_one_unverified() -> None:
    assert whole(compared(Verdict.NOT_EVALUATED, unseen=(ODD,))).fate(odd()) is Life.UNVERIFIED
    assert whole(compared(passed=("group[leaf/QX-64:buffer.mode]",))).fate(odd()) is Life.UNVERIFIED


def test_a_scoped_run_that_compares_no_peers_touches_nothing() -> None:
    scope = frozenset({"leaf-01"})
    assert whole(compared(Verdict.NOT_APPLICABLE), scope=scope).fate(odd()) is None
    assert whole(scope=scope).fate(odd()) is None


def test_a_scoped_run_over_the_whole_group_resolves() -> None:
    assert whole(compared(passed=(ODD,)), scope=frozenset({"leaf-01", "leaf-02"})).fate(odd()) is Life.RESOLVED


def test_an_attribute_that_another_rule_judges_from_now_on_is_withdrawn_not_resolved() -> None:
    assert whole(compared(passed=("group[leaf/QX-64:system.kernel]",), whole=("buffer", "system"))).fate(odd()) is Life.WITHDRAWN


def test_a_group_that_has_become_too_small_is_withdrawn() -> None:
    assert whole(compared(Verdict.NOT_APPLICABLE)).fate(odd()) is Life.WITHDRAWN
