"""What could not be seen, said as findings of severity information: they never decide the exit code, the gaps do."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.address import Address
from auditor.canonical import printable
from auditor.model import Deviation, Gap, GapReason, Judgement, RuleContext, Severity, State, check, failed, passed

_SILENT = frozenset({GapReason.UNREACHABLE, GapReason.TIMEOUT, GapReason.AUTH})
_DEVICE = Address("system")
_LISTED = 12


@check(
    reads=(),
    severity=Severity.INFORMATION,
    remedy="See whether the device is up and its management address right, and whether the account may log in. Nothing was "
    "concluded about it; its earlier findings stand unverified.",
)
def unreachable(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """The device lets the audit in: it answers, and accepts the account.

    Why it matters: of a device that is down or refuses the password nothing is known, and nothing may be called fine.
    """
    yield _mirror([gap for gap in state.gaps if _shut(gap)], "reachable", "nothing could be seen")


@check(
    reads=(),
    severity=Severity.INFORMATION,
    remedy="Look at the reason beside each table: a missing privilege, a command that this release refuses, a cut answer. "
    "Rules that need these facts were not evaluated.",
)
def partial(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """Every answer that was asked for came whole and could be read; what a platform declares unsupported does not count.

    Why it matters: half an answer looks like a device with half its ports. What is missing from it is unknown, not absent.
    """
    if not any(_shut(gap) for gap in state.gaps):
        beside = (GapReason.UNSUPPORTED, GapReason.STALE)
        yield _mirror(
            [gap for gap in state.gaps if gap.reason not in beside], "every answer whole", "not everything could be seen"
        )


@check(
    reads=(),
    severity=Severity.INFORMATION,
    remedy="Collect the device again; until then the report shows an older state than it seems to.",
)
def stale(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """What is known of the device is recent enough to speak about today.

    Why it matters: an old answer shown as today's state hides the change that was just made.
    """
    yield _mirror([gap for gap in state.gaps if gap.reason is GapReason.STALE], "recent answers", "facts are too old")


def _shut(gap: Gap) -> bool:
    """Whether the gap is that of a device which gave nothing at all."""
    return gap.table == "*" and gap.reason in _SILENT


def _mirror(gaps: list[Gap], expected: str, headline: str) -> Judgement:
    """One judgement for the device: passed without gaps, else one finding that lists them."""
    lines = list(dict.fromkeys(_words(gap) for gap in gaps))
    if not lines:
        return passed(_DEVICE)
    shown = lines[:_LISTED] + ([f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else [])
    reasons = sorted({str(gap.reason) for gap in gaps})
    return failed(_DEVICE, Deviation(expected, ", ".join(reasons), f"{headline}: {'; '.join(shown)}"))


def _words(gap: Gap) -> str:
    """`queue from pfcwd: rejected (…)`: what, from which source, why; device text made safe for a screen."""
    what = "the device" if gap.table == "*" else gap.table + (f"[{','.join(gap.key)}]" if gap.key else "")
    source = f" from {gap.source}" if gap.source else ""
    detail = f" ({printable(gap.detail, 160)})" if gap.detail else ""
    return f"{printable(what, 80)}{source}: {gap.reason}{detail}"
