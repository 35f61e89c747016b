"""Device rules: expectation lines and function rules over one State, each isolated from the others' crashes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from auditor.address import READ_ORDER, Address
from auditor.canonical import printable
from auditor.checks import expectation as expectations
from auditor.checks import rules
from auditor.evaluate import causes, findings
from auditor.facts import TABLES, schema
from auditor.model import (
    Baseline,
    Deviation,
    DocumentOrigin,
    Expectation,
    Fabric,
    Finding,
    Gap,
    GapReason,
    Judgement,
    Result,
    Rule,
    RuleContext,
    RuleKind,
    Severity,
    State,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a device is judged by."""

    device: str
    role: str
    hardware_model: str
    host: bool
    baselines: tuple[Baseline, ...]
    fabric: Fabric
    groups: Mapping[str, frozenset[str]]
    only: tuple[str, ...] = ()


@dataclass(slots=True)
class Judged:
    """What came of it. `failed_cells` are cells (as text, without layer) that a baseline line failed."""

    results: list[Result] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    failed_cells: set[str] = field(default_factory=set)


def selected(rule: str, only: Sequence[str]) -> bool:
    """Whether `--only` leaves this rule in."""
    return not only or any(fnmatchcase(rule, pattern) for pattern in only)


def lines(baselines: Iterable[Baseline]) -> list[Expectation]:
    """The expectation lines of several baselines; of two with one id the later baseline's stands."""
    merged: dict[str, Expectation] = {}
    for baseline in baselines:
        merged.update({line.id: line for line in baseline.expectations})
    return list(merged.values())


def judge(state: State, subject: Subject) -> Judged:
    """Run every selected device rule over one State."""
    judged = Judged()
    params: dict[str, object] = {}
    origins: dict[str, DocumentOrigin] = {}
    for baseline in subject.baselines:
        params.update(baseline.params)
        origins.update(baseline.params_origin)
    for line in lines(subject.baselines):
        if selected(line.id, subject.only):
            _judge_line(line, state, subject, judged)
    for rule in rules().values():
        if rule.kind is RuleKind.DEVICE and selected(rule.id, subject.only):
            _judge_rule(rule, state, subject, params.get(rule.id), judged, origins.get(rule.id))
    judged.findings = causes.fold_device(judged.findings, judged.results, subject.device, subject.host)
    judged.gaps = list(dict.fromkeys(judged.gaps))
    return judged


def _judge_line(line: Expectation, state: State, subject: Subject, judged: Judged) -> None:
    try:
        judgements = expectations.judge(line, state, subject.groups)
    except Exception as error:
        judged.results.append(crash(line.id, subject.device, (subject.device,), error))
        return
    for judgement in judgements:
        if judgement.verdict is Verdict.FAIL and judgement.deviation is not None:
            judged.failed_cells.update(spot.cell for spot in judgement.deviation.spots)
    _record(line.id, line.severity, judgements, state, subject, judged, origin=line.origin)


def _judge_rule(
    rule: Rule, state: State, subject: Subject, params: object, judged: Judged, origin: DocumentOrigin | None
) -> None:
    if rule.needs_params and params is None:
        judged.results.append(Result(rule.id, subject.device, Verdict.NOT_APPLICABLE, reason="no intent in the baseline"))
        return
    for read in rule.reads:
        table, _, column = read.partition(".")
        if read not in rule.optional and not answered(state, table, column):
            gap = state.gap_at(table, None, (), column)
            _record(rule.id, rule.severity, [Judgement(Address(table), Verdict.NOT_EVALUATED, gap=gap)], state, subject, judged)
            return
    context = RuleContext(params, subject.fabric, subject.groups, subject.role, subject.hardware_model)
    try:
        judgements = list(rule.function(state, context))
    except Exception as error:
        judged.results.append(crash(rule.id, subject.device, (subject.device,), error))
        return
    _record(rule.id, rule.severity, judgements, state, subject, judged, remedy=rule.remedy, origin=origin, whole=rule.reads)


def answered(state: State, table: str, column: str) -> bool:
    """Whether any source of a readable layer declares this column."""
    return any(state.origins.get((TABLES[table], layer, column)) for layer in READ_ORDER)


def crash(rule: str, scope: str, devices: tuple[str, ...], error: Exception) -> Result:
    """The result of a rule that raised: the run goes on and is incomplete."""
    reason = f"{type(error).__name__}: {printable(str(error), 200)}"
    return Result(rule, scope, Verdict.ERROR, reason=reason, devices=devices)


def _record(
    rule: str,
    severity: Severity,
    judgements: Sequence[Judgement],
    state: State,
    subject: Subject,
    judged: Judged,
    *,
    remedy: str = "",
    origin: DocumentOrigin | None = None,
    whole: Sequence[str] = (),
) -> None:
    passed, failed, unseen, unsupported = [], [], [], 0
    tables = {read.partition(".")[0] for read in whole}
    for judgement in judgements:
        text = findings.object_text(subject.device, judgement.object)
        if isinstance(judgement.object, Address):
            tables.add(judgement.object.table)
        if judgement.verdict is Verdict.PASS:
            passed.append(text)
        elif judgement.verdict is Verdict.FAIL and judgement.deviation is not None:
            failed.append(text)
            root = _root(judgement, judgement.deviation, state, subject.device)
            found = findings.make(rule, text, (subject.device,), judgement.deviation, severity, root, remedy, origin)
            judged.findings.append(found)
        elif judgement.verdict is Verdict.NOT_EVALUATED:
            unseen.append(text)
            if judgement.gap is not None:
                judged.gaps.append(judgement.gap)
                unsupported += judgement.gap.reason is GapReason.UNSUPPORTED
    verdict = Verdict.FAIL if failed else Verdict.NOT_EVALUATED if unseen else Verdict.PASS if passed else Verdict.NOT_APPLICABLE
    read_whole = tuple(sorted(table for table in tables if _whole(state, table)))
    judged.results.append(
        Result(
            rule,
            subject.device,
            verdict,
            tuple(sorted(set(passed) - set(failed))),
            tuple(sorted(set(failed))),
            tuple(sorted(set(unseen) - set(failed))),
            unsupported,
            read_whole,
            devices=(subject.device,),
        )
    )


def _whole(state: State, table: str) -> bool:
    """Whether all rows of a table were seen: some answer lists every key, and nothing hides a row."""
    if any(
        not (gap.key and gap.columns) and gap.table in ("*", table) and gap.reason is not GapReason.UNSUPPORTED
        for gap in state.gaps
    ):
        return False
    return any(
        origin.whole
        for (row_type, layer, _), origins in state.origins.items()
        if table == row_type.TABLE and layer in READ_ORDER
        for origin in origins
    )


def _root(judgement: Judgement, deviation: Deviation, state: State, device: str) -> tuple[str, str]:
    """What a person would mend: a shared object, a breakout parent, the port the row is joined to, else the row itself."""
    if deviation.shared is not None:
        return ("shared", f"{device}:{deviation.shared.row}")
    address = judgement.object
    if not isinstance(address, Address):
        return ("object", str(address))
    if deviation.parent:
        return ("breakout", f"{device}:{Address('interface', (deviation.parent,))}")
    port = state.port_of(address.table, address.key) or _member(address)
    if port is not None:
        return ("port", f"{device}:{Address('interface', (port,))}")
    return ("object", f"{device}:{address.row}")


def _member(address: Address) -> str | None:
    """The port of a group member without a row: it is named by the port alone where the table has a longer key of its own."""
    shape = schema(TABLES[address.table])
    member = shape.port_key is None and shape.port_column and 0 < len(address.key) < len(shape.keys)
    return address.key[0] if member else None
