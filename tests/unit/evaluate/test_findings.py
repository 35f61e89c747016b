"""Waivers cover what they name until the day they end, and nothing else."""

from datetime import date

import pytest

from auditor.address import Address
from auditor.evaluate.findings import counts_as_incomplete, gap_waived, make, waive
from auditor.model import Deviation, Finding, Gap, GapReason, Severity, Spot, Waiver

TODAY = date(2026, 3, 1)


def finding() -> Finding:
    spot = Spot("leaf-01", Address("interface", ("Ethernet0",), "mtu"))
    return make(
        "mtu.compute",
        "leaf-01:interface[Ethernet0]",
        ("leaf-01",),
        Deviation("a", "b", "c", (spot,)),
        Severity.ERROR,
        ("port", "x"),
    )


def waiver(**more: str) -> Waiver:
    return Waiver("me", "because", date.fromisoformat(more.pop("expires", "2026-03-01")), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "covered"),
    [
        (waiver(rule="mtu.*", object="leaf-01:interface[*]"), True),
        (waiver(rule="mtu.*", object="leaf-01:interface[Ethernet0]"), True),
        (waiver(rule="mtu.*", object="leaf-02:*"), False),
        (waiver(rule="lossless.*"), False),
        (waiver(fingerprint=finding().fingerprint), True),
        (waiver(fingerprint="0" * 16), False),
        (waiver(rule="mtu.*", expires="2026-02-28"), False),
        (waiver(gap="leaf-01:*"), False),
    ],
)
def test_a_waiver_covers_what_it_names(given: Waiver, covered: bool) -> None:
    (found,) = waive([finding()], [given], TODAY)
    assert (found.waiver is not None) is covered


def test_a_gap_is_waived_by_device_and_table() -> None:
    gap = Gap("gpu-01", "firmware", "ethtool", GapReason.PERMISSION)
    assert gap_waived(gap, [waiver(gap="gpu-0*:firmware")], TODAY)
    assert not gap_waived(gap, [waiver(gap="gpu-0*:nic")], TODAY)
    assert not gap_waived(gap, [waiver(gap="gpu-0*:firmware", expires="2026-02-01")], TODAY)


def test_only_unsupported_gaps_leave_a_run_complete() -> None:
    assert not counts_as_incomplete(Gap("d", "queue", "p", GapReason.UNSUPPORTED))
    assert counts_as_incomplete(Gap("d", "queue", "p", GapReason.UNSUPPORTED), strict=True)
    assert all(counts_as_incomplete(Gap("d", "t", "s", reason)) for reason in GapReason if reason is not GapReason.UNSUPPORTED)
