"""Runs and the life of findings as stored, on both engines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from auditor.errors import StoreError
from auditor.model import DeviceOutcome, Document, DocumentOrigin, Evidence, Finding, Result, Severity, Verdict, digest
from auditor.store import FinishReport, Store, verdicts
from auditor.store.database import Database

DAY = timedelta(days=1)
START = datetime(2026, 3, 1, 2, tzinfo=UTC)
RULES = frozenset({"mtu.compute", "lossless.watchdog_missing"})
E0, E4 = "leaf-01:interface[Ethernet0].mtu", "leaf-01:interface[Ethernet4].mtu"


def finding(object_: str = E0, rule: str = "mtu.compute", **more: object) -> Finding:
    device = object_.partition(":")[0]
    evidence = (Evidence(device, "interfaces", "show interfaces status", "e" * 64, "lines 3-3", "Ethernet0 1500"),)
    values = {
        "origin": DocumentOrigin("leaf", "1.0.0", "leaf.yaml", 7),
        "root": ("port", object_),
        "evidence": evidence,
        "message": "MTU is 1500",
    } | more
    address = object_.partition(":")[2]
    return Finding(
        digest(f"{rule} {object_}"), rule, object_, Severity.ERROR, (device,), address, "9100", "1500", **values  # type: ignore[arg-type]
    )  # fmt: skip


def result(*, passed: tuple[str, ...] = (), failed: tuple[str, ...] = (), device: str = "leaf-01", **more: object) -> Result:
    verdict = Verdict.FAIL if failed else Verdict.PASS if passed else Verdict.NOT_EVALUATED
    return Result("mtu.compute", device, verdict, passed, failed, devices=(device,), **more)  # type: ignore[arg-type]


def night(
    store: Store, day: float, *results: Result, findings: tuple[Finding, ...] = (), reached: bool = True, **more: object
) -> FinishReport:
    """One whole run over leaf-01."""
    run, at = f"run-{day}-{len(store.runs())}", START + day * DAY
    store.begin_run(run, at, "all", "0.1", "live")
    store.save_outcome(run, DeviceOutcome("leaf-01", at, reached=reached))
    values = {"scope_devices": None, "rules": RULES, "only": ()} | more
    return store.finish_run(run, at + timedelta(minutes=1), results, findings, **values)  # type: ignore[arg-type]


def test_a_new_finding_is_open_and_first_seen_when_its_device_was_looked_at(store: Store) -> None:
    report = night(store, 0, result(failed=(E0,)), findings=(finding(),))
    (found,) = report.findings
    assert (found.status, found.first_seen) == ("open", "2026-03-01T02:00:00Z")
    assert store.findings() == [found]
    assert (report.resolved, report.unverified, report.withdrawn) == ((), (), ())


def test_running_twice_gives_the_same_findings(store: Store) -> None:
    first = night(store, 0, result(failed=(E0,)), findings=(finding(),))
    assert night(store, 1, result(failed=(E0,)), findings=(finding(),)) == first
    assert [event.to_state for event in store.events(finding().fingerprint)] == ["open"]


def test_a_repaired_fault_resolves_and_a_second_break_regresses(store: Store) -> None:
    night(store, 0, result(failed=(E0,)), findings=(finding(),))
    (gone,) = night(store, 1, result(passed=(E0,))).resolved
    assert (gone.object, gone.status) == (E0, "resolved")
    assert store.findings() == []
    (back,) = night(store, 2, result(failed=(E0,)), findings=(finding(),)).findings
    assert (back.status, back.first_seen) == ("regressed", "2026-03-01T02:00:00Z")
    steps = [(event.from_state, event.to_state) for event in store.events(back.fingerprint)]
    assert steps == [("", "open"), ("open", "resolved"), ("resolved", "regressed")]


def test_a_fault_that_comes_and_goes_is_flapping(store: Store) -> None:
    for day in range(5):
        failing = day % 2 == 0
        report = night(
            store, day, result(failed=(E0,)) if failing else result(passed=(E0,)), findings=(finding(),) if failing else ()
        )
    assert [item.status for item in report.findings] == ["flapping"]


def test_a_resolved_finding_is_not_resolved_again(store: Store) -> None:
    night(store, 0, result(failed=(E0,)), findings=(finding(),))
    night(store, 1, result(passed=(E0,)))
    assert night(store, 2, result(passed=(E0,))) == FinishReport(())


def test_a_device_that_is_down_leaves_its_findings_unverified_until_it_answers(store: Store) -> None:
    night(store, 0, result(failed=(E0,)), findings=(finding(),))
    for day in (1, 2):
        (unseen,) = night(store, day, reached=False).unverified
        assert (unseen.status, unseen.object) == ("unverified", E0)
    assert [item.status for item in store.findings()] == ["unverified"]
    (seen,) = night(store, 3, result(failed=(E0,)), findings=(finding(),)).findings
    assert (seen.status, seen.first_seen) == ("open", "2026-03-01T02:00:00Z")


def test_a_scoped_run_and_one_narrowed_by_rule_touch_nothing_else(store: Store) -> None:
    both = (finding(), finding("leaf-01:queue[Ethernet0,3]", "lossless.watchdog_missing"))
    night(store, 0, result(failed=(E0,)), findings=both)
    assert night(store, 1, scope_devices=frozenset({"leaf-02"})) == FinishReport(())
    report = night(store, 2, result(passed=(E0,)), only=("mtu.*",), rules=frozenset({"mtu.compute"}))
    assert [item.rule for item in report.resolved] == ["mtu.compute"]
    assert [item.status for item in store.findings()] == ["open"]


def test_an_old_capture_resolves_and_opens_nothing(store: Store) -> None:
    night(store, 5, result(failed=(E0,)), findings=(finding(),))
    report = night(store, 0, result(passed=(E0,), failed=(E4,)), findings=(finding(E4),))
    assert (report.resolved, report.unverified) == ((), ())
    assert [item.first_seen for item in report.findings] == ["2026-03-01T02:00:00Z"]
    assert [(item.object, item.status) for item in store.findings()] == [(E0, "open")]


def test_an_old_capture_that_saw_the_same_finding_tells_its_time_and_stores_nothing(store: Store) -> None:
    night(store, 5, result(failed=(E0,)), findings=(finding(),))
    (old,) = night(store, 0, result(failed=(E0,)), findings=(finding(),)).findings
    assert old.first_seen == "2026-03-01T02:00:00Z"
    assert store.findings()[0].first_seen == "2026-03-06T02:00:00Z"


def test_a_waived_finding_stays_visible_as_waived(store: Store) -> None:
    waiver = {"owner": "ops", "reason": "spare", "expires": "2026-06-01"}
    (found,) = night(store, 0, result(failed=(E0,)), findings=(finding(waiver=waiver),)).findings
    assert found.status == "waived"
    assert store.findings(["waived"])[0].waiver == waiver


def test_findings_of_what_is_gone_are_withdrawn(store: Store) -> None:
    night(store, 0, result(failed=(E0,)), findings=(finding(),))
    (gone,) = night(store, 1, reached=False, inventory=frozenset({"leaf-02"})).withdrawn
    assert gone.status == "withdrawn"
    assert store.findings() == []
    assert [item.object for item in store.findings(["withdrawn"])] == [E0]


def test_a_finding_comes_back_from_the_store_as_it_went_in(store: Store) -> None:
    given = finding("leaf-01:interface[a\0\udcff\x1b[31m]", message="MTU \ud800 \0", waiver=None)
    night(store, 0, findings=(given,))
    (got,) = store.findings()
    assert (got.object, got.message, got.evidence, got.origin) == (given.object, given.message, given.evidence, given.origin)
    (again,) = night(store, 1, findings=(given,)).findings
    assert again.first_seen == got.first_seen


def test_raw_outputs_are_cited_while_a_finding_is_unresolved(store: Store) -> None:
    def cited() -> int:
        return store.info().rows["raw_references"]

    night(store, 0, result(failed=(E0, E4)), findings=(finding(), finding(E4)))
    assert cited() == 2
    night(store, 1, reached=False)
    assert cited() == 2
    night(store, 2, result(passed=(E0,), failed=(E4,)), findings=(finding(E4),))
    assert cited() == 1


def test_many_findings_are_brought_up_to_date_in_one_go(store: Store) -> None:
    objects = tuple(f"leaf-01:interface[Ethernet{at}].mtu" for at in range(1200))
    some = tuple(finding(name) for name in objects)
    assert len(night(store, 0, result(failed=objects), findings=some).findings) == 1200
    report = night(store, 1, result(passed=objects[:600], failed=objects[600:]), findings=some[600:])
    assert (len(report.resolved), len(report.findings), len(store.findings())) == (600, 600, 600)


# Runs


def test_a_run_is_open_until_it_ends(store: Store) -> None:
    store.begin_run("one", START, "all", "0.1", "live")
    store.begin_run("one", START, "all", "0.1", "live")
    assert [(run.id, run.status, run.finished_at) for run in store.runs()] == [("one", "open", None)]
    store.finish_run("one", START + DAY, (), (), None, RULES, only=())
    (run,) = store.runs()
    assert (run.status, run.started_at, run.finished_at) == ("finished", START, START + DAY)


def test_a_run_that_has_ended_takes_nothing_more(store: Store) -> None:
    store.begin_run("one", START, "all", "0.1", "live")
    store.fail_run("one", START)
    assert store.runs()[0].status == "failed"
    with pytest.raises(StoreError, match="failed"):
        store.begin_run("one", START, "all", "0.1", "live")
    with pytest.raises(StoreError, match="failed"):
        store.finish_run("one", START, (), (), None, RULES, only=())
    with pytest.raises(StoreError, match="failed"):
        store.save_outcome("one", DeviceOutcome("leaf-01", START))


def test_a_run_that_cannot_be_finished_leaves_no_trace(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.begin_run("one", START, "all", "0.1", "live")

    def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(verdicts, "_write", fail)
    with pytest.raises(StoreError, match="disk"):
        store.finish_run("one", START, (result(failed=(E0,)),), (finding(E4),), None, RULES, only=())
    assert store.runs()[0].status == "open"
    assert (store.findings(), store.info().rows["result_intervals"]) == ([], 0)


def test_documents_are_kept_once_with_their_text(store: Store) -> None:
    plan = Document("plan", "pod", "p" * 64, "plan/pod.csv", "a_device,a_port\n\0")
    leaf = Document("baseline", "leaf", "b" * 64, "leaf.yaml", "profile: leaf\n", "leaf", "1.0.0")
    for day in (0, 1):
        night(store, day, documents=(plan, leaf, leaf))
    assert store.info().rows["inputs"] == 2
    assert [(item.kind, item.name, item.version) for item in store.runs()[0].inputs] == [
        ("baseline", "leaf", "1.0.0"),
        ("plan", "pod", ""),
    ]
    assert store.document("p" * 64) == plan.text
    assert store.document("x" * 64) is None


def test_results_are_written_when_they_change_and_only_then(store: Store) -> None:
    def intervals() -> int:
        return store.info().rows["result_intervals"]

    for day in (0, 1):
        night(store, day, result(failed=(E0,)), Result("mtu.compute", "link[a:1|b:1]", Verdict.PASS, ("link[a:1|b:1]",)))
        assert intervals() == 2
    night(store, 2, result(passed=(E0,)))
    assert intervals() == 3


def test_results_of_a_scope_come_back_as_of_any_time(store: Store) -> None:
    said = (result(failed=(E0, E4), whole=("interface",), unseen=("leaf-01:queue",), reason="\udcff"), result(passed=(E0,)))
    link = Result("mtu.link_ends_differ", "link[a:1|b:1]", Verdict.PASS, ("link[a:1|b:1]",), devices=("a", "b"))
    for day, one in enumerate(said):
        night(store, day, one, link)
    assert [store.results_at("leaf-01", START + day * DAY) for day in (-1, 0, 0.5, 1)] == [[], [said[0]], [said[0]], [said[1]]]
    assert store.results_at("link[a:1|b:1]", START + 5 * DAY) == [link]
    for day, wanted in ((0, said[0]), (1, said[1])):
        standing = {(item.scope, item.rule): item for item in store.standing(START + (day + 0.5) * DAY)}
        assert standing[wanted.scope, wanted.rule].verdict is wanted.verdict
        assert standing[wanted.scope, wanted.rule].unseen == wanted.unseen
        assert standing[link.scope, link.rule].devices == ("a", "b")
    assert list(store.standing(START - DAY)) == []


def test_devices_of_which_rules_say_the_same_share_one_content(store: Store) -> None:
    store.begin_run("one", START, "all", "0.1", "live")
    said = [result(passed=(f"leaf-{at}:interface[Ethernet0].mtu",), device=f"leaf-{at}") for at in range(5)]
    store.finish_run("one", START, said, (), None, RULES, only=())
    rows = store.info().rows
    assert (rows["result_intervals"], rows["result_contents"]) == (5, 1)


def test_every_time_is_utc_whatever_the_zone_it_came_in(store: Store) -> None:
    from zoneinfo import ZoneInfo

    store.begin_run("one", datetime(2026, 3, 1, 10, tzinfo=ZoneInfo("Asia/Shanghai")), "all", "0.1", "live")
    assert store.runs()[0].started_at == START
    assert store.runs()[0].started_at.tzinfo is UTC


def test_the_columns_of_a_finding_can_be_read_by_plain_sql(store: Database) -> None:
    night(store, 0, result(failed=(E0,)), findings=(finding(cause="c1"),))
    with store.engine.connect() as connection:
        row = connection.execute(text("SELECT rule, object, family, severity, state, times_seen, cause FROM findings")).one()
    assert tuple(row) == ("mtu.compute", E0, "mtu", "error", "open", 1, "c1")
