"""What another set of baselines would say of a device as it was last seen. Pure; a runner maps it over the fleet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from auditor.baseline.diff import line_meaning
from auditor.checks import rules
from auditor.evaluate import stored
from auditor.evaluate.device import Judged, Subject, judge, lines
from auditor.model import Baseline, Device, Fabric, Finding, PlanSlice, RowSet, is_host
from auditor.plan import groups as plan_groups


@dataclass(frozen=True, slots=True)
class Case:
    """One device to judge: what was stored of it, what it must be today, and what it would have to be."""

    device: Device
    collected_at: datetime
    sets: tuple[RowSet, ...]
    today: tuple[Baseline, ...]
    then: tuple[Baseline, ...]
    plan: PlanSlice
    fabric: Fabric


@dataclass(frozen=True, slots=True)
class Impact:
    """What would change for one device. `unjudged` counts objects by rule that the stored facts cannot answer for."""

    device: str
    collected_at: datetime
    new: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    staying: tuple[Finding, ...] = ()
    unjudged: dict[str, int] = field(default_factory=dict)
    judged: int = 0
    error: str = ""


def judge_case(case: Case) -> Impact:
    """Judge a stored device by both sets of baselines. Raises nothing: what goes wrong is said in `error`."""
    try:
        return _judge(case)
    except Exception as error:
        return Impact(case.device.name, case.collected_at, error=f"{type(error).__name__}: {error}")


def judge_cases(cases: Sequence[Case]) -> list[Impact]:
    """A portion of the fleet, for one worker."""
    return [judge_case(case) for case in cases]


def _judge(case: Case) -> Impact:
    state = stored.state(case.device, case.collected_at, case.sets)
    groups = plan_groups.groups(case.plan, state)
    alike = shared(case.today, case.then)

    def judged(baselines: tuple[Baseline, ...], names: tuple[str, ...]) -> Judged:
        subject = Subject(
            device=case.device.name,
            role=case.device.role,
            hardware_model=case.device.hardware_model or _model(case.sets),
            host=is_host(case.device.role),
            baselines=baselines,
            fabric=case.fabric,
            groups=groups,
            only=names,
        )
        return judge(state, subject) if names else Judged()

    then = judged(case.then, governed(case.then))
    today = judged(case.today, tuple(rule for rule in governed(case.today) if rule not in alike))
    today.findings += [finding for finding in then.findings if finding.rule in alike]
    before = {finding.fingerprint: finding for finding in today.findings}
    after = {finding.fingerprint: finding for finding in then.findings}
    return Impact(
        case.device.name,
        case.collected_at,
        new=tuple(finding for name, finding in after.items() if name not in before),
        fixed=tuple(finding for name, finding in before.items() if name not in after and _answered(finding, then)),
        staying=tuple(finding for name, finding in after.items() if name in before),
        unjudged={result.rule: len(result.unseen) for result in then.results if result.unseen},
        judged=sum(len(result.passed) + len(result.failed) for result in then.results),
    )


def governed(baselines: Iterable[Baseline]) -> tuple[str, ...]:
    """The rules that baselines decide about: their lines, and the function rules they give params to."""
    several = tuple(baselines)
    return tuple(dict.fromkeys([line.id for line in lines(several)] + [rule for one in several for rule in one.params]))


def tables_read(several: Iterable[Sequence[Baseline]]) -> frozenset[str]:
    """The tables that judging these baselines looks at, with those that join rows to ports."""
    reads = {"system.hardware_model", *plan_groups.READS}
    for baselines in several:
        reads.update(f"{line.at.table}." for line in lines(baselines))
        for rule in filter(None, (rules().get(name) for one in baselines for name in one.params)):
            reads.update(rule.reads, rule.optional)
    return frozenset(read.partition(".")[0] for read in reads)


def shared(today: Sequence[Baseline], then: Sequence[Baseline]) -> frozenset[str]:
    """The rules of which both sets of baselines want the same: judged once, they have said it for both."""
    ours, theirs = ({line.id: line_meaning(line) for line in lines(several)} for several in (today, then))
    params = [{rule: value for one in several for rule, value in one.params.items()} for several in (today, then)]
    same = [id_ for id_, line in ours.items() if theirs.get(id_) == line]
    return frozenset(same + [rule for rule, value in params[0].items() if rule in params[1] and params[1][rule] == value])


def _answered(finding: Finding, judged: Judged) -> bool:
    """Whether a failure is gone because it was judged good, or because nothing speaks of it any more; not for being unseen."""
    return not any(result.rule == finding.rule and finding.object in result.unseen for result in judged.results)


def _model(sets: Iterable[RowSet]) -> str:
    rows = (row for found in sets if found.key.table == "system" for row in found.rows)
    return next((str(row["hardware_model"]) for row in rows if row.get("hardware_model")), "")
