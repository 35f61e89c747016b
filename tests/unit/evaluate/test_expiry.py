"""An expired waiver is one finding, until it is renewed or taken out."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

from auditor.address import Address
from auditor.evaluate.expiry import RULE, judge
from auditor.evaluate.findings import fingerprint, make
from auditor.model import Deviation, DocumentOrigin, Gap, GapReason, Severity, Spot, Verdict, Waiver

TODAY = date(2026, 3, 1)


def waiver(day: str, **what: str) -> Waiver:
    return Waiver("netops", "CHG-7", date.fromisoformat(day), origin=DocumentOrigin(file="/x/waivers.yaml", line=4), **what)  # type: ignore[arg-type]


def finding():
    spot = Spot("leaf-01", Address("interface", ("Ethernet0",), "mtu"))
    deviation = Deviation("a", "b", "c", (spot,))
    return make("mtu.compute", "leaf-01:interface[Ethernet0]", ("leaf-01",), deviation, Severity.ERROR, ("port", "x"))


def test_an_expired_waiver_is_one_warning_that_names_it_and_its_line() -> None:
    (result,), (found,) = judge([waiver("2026-02-28", rule="mtu.*", object="leaf-01:*"), waiver("2026-03-01", gap="a:b")], TODAY)
    assert (found.rule, found.severity, found.object) == (RULE, Severity.WARNING, "waiver[mtu.* leaf-01:*]")
    assert found.fingerprint == fingerprint(RULE, found.object)
    assert (found.origin.file, found.origin.line) == ("baselines/waivers.yaml", 4)
    assert "netops" in found.message
    assert (result.verdict, result.failed, result.passed) == (Verdict.FAIL, (found.object,), ("waiver[gap a:b]",))


def test_a_day_or_a_reason_does_not_change_which_finding_it_is() -> None:
    made = [judge([waiver(day, fingerprint="0123456789abcdef")], TODAY)[1][0].fingerprint for day in ("2026-01-01", "2026-02-01")]
    assert all(one == other for one, other in pairwise(made))


def test_a_renewed_waiver_leaves_no_finding_behind() -> None:
    (result,), found = judge([waiver("2026-01-01", gap="a:b"), waiver("2026-05-01", gap="a:b")], TODAY)
    assert (found, result.verdict) == ([], Verdict.PASS)
    (_,), found = judge([waiver("2026-01-01", gap="a:b"), waiver("2026-02-01", gap="a:b")], TODAY)
    assert len(found) == 1


def test_a_run_over_some_devices_tells_only_waivers_that_concern_it() -> None:
    waivers = [
        waiver("2026-01-01", rule="mtu.*", object="leaf-01:*"),
        waiver("2026-01-01", gap="leaf-0?:queue"),
        waiver("2026-01-01", rule="x.y"),
    ]
    gap = Gap("leaf-02", "queue", "show", GapReason.TIMEOUT)
    results, found = judge(waivers, TODAY, [finding()], [gap], every=False)
    assert results == []
    assert [one.object for one in found] == ["waiver[gap leaf-0?:queue]", "waiver[mtu.* leaf-01:*]"]
    assert judge(waivers, TODAY, [], [], every=False) == ([], [])


def test_without_waivers_there_is_nothing_to_judge() -> None:
    assert judge([], TODAY) == ([], [])
