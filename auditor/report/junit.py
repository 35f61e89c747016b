"""The report for continuous integration: one test case per cause, with names that stay the same from run to run.

A cause at or above `fail_on` is a failure; below it the case passes and carries its text. What could not be seen is an
error, because a green pipeline would say that it is fine; what a platform declares unsupported is skipped. A run
without anything to report is one passing case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree

from auditor.canonical import printable
from auditor.model import Finding, Run, Verdict
from auditor.report import Format, Options, outline

SUITE = "auditor"
LINE_LIMIT = 2000
NAME_LIMIT = 240


def render(run: Run, options: Options) -> str:
    """The XML document, with a newline at its end."""
    suite = ElementTree.Element("testsuite", name=SUITE)
    for case in outline.cases(run):
        _cause(suite, case, options)
    for group in outline.blind(outline.blocking(run)):
        node = _node(suite, "coverage", f"{group.device} {group.reason}")
        what = ", ".join(group.places) or "nothing of it was seen"
        _outcome(node, "error", f"{group.reason}: {what}", group.reason, group.details)
    for result in outline.crashed(run):
        _outcome(
            _node(suite, "coverage", f"{result.scope} {result.rule}"), "error", f"the rule crashed: {result.reason}", "crash"
        )
    for group in outline.blind(outline.accepted(run)):
        node = _node(suite, "coverage", f"{group.device} {group.reason}")
        _outcome(node, "skipped", f"waived: {', '.join(group.places) or 'nothing of it was seen'}")
    declared = outline.unsupported(run)
    if declared:
        tables = sorted({gap.table for gap in declared})
        _outcome(_node(suite, "coverage", "unsupported"), "skipped", f"as the platforms declare: {', '.join(tables)}")
    for finding in sorted(run.unverified, key=outline.order):
        node = _node(suite, finding.family, f"{finding.rule} {finding.object} [{finding.fingerprint[:12]}]")
        _outcome(node, "skipped", f"open from an earlier run and not examined this time: {finding.message}")
    _sound(suite, run)
    kinds = Counter(child.tag for node in suite for child in node)
    suite.set("tests", str(len(suite)))
    for word, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(word, str(kinds[tag]))
    suite.set("time", f"{max(0.0, (run.finished_at - run.started_at).total_seconds()):.3f}")
    suite.set("timestamp", run.started_at.isoformat())
    root = ElementTree.Element("testsuites", dict(suite.attrib))
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _cause(suite: ElementTree.Element, case: outline.Case, options: Options) -> None:
    cause = case.cause
    family = case.findings[0].family if case.findings else cause.kind
    node = _node(suite, family, f"{cause.kind} {cause.root} [{cause.id[:12]}]")
    title = f"{cause.severity}: {cause.title}"
    if cause.waived:
        waiver = next((finding.waiver for finding in case.findings if finding.waiver), None) or {}
        _outcome(node, "skipped", f"waived: {title} " + ", ".join(f"{key} {value}" for key, value in waiver.items()))
    elif cause.severity.rank <= options.fail_on.rank:
        _outcome(node, "failure", title, cause.severity, _lines(case.findings))
    else:
        ElementTree.SubElement(node, "system-out").text = _clean([title, *_lines(case.findings)])


def _lines(findings: Iterable[Finding]) -> Iterable[str]:
    for finding in findings:
        yield f"{finding.rule} on {finding.object}: {finding.message}"
        if finding.devices:
            yield f"  devices: {', '.join(finding.devices)}"
        yield f"  expected: {finding.expected}"
        yield f"  observed: {finding.observed}"
        for item in finding.evidence:
            yield f"  evidence: {item.device} · {item.command or item.source} · {item.locator}"
            yield from (f"    | {line}" for line in item.excerpt.rstrip("\n").split("\n"))
        if finding.remedy:
            yield f"  remedy: {finding.remedy}"


def _sound(suite: ElementTree.Element, run: Run) -> None:
    """The case that passes when nothing is wrong and nothing is unseen; an empty suite would pass for no reason."""
    if any(child.tag != "skipped" for node in suite for child in node):
        return
    node = _node(suite, "coverage", "everything judged is as the baseline says")
    if not run.coverage.results.get(Verdict.PASS):
        _outcome(node, "error", "nothing was judged: no rule had anything to examine", "nothing_judged")


def _node(suite: ElementTree.Element, family: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=f"{SUITE}.{printable(family)}", name=printable(name, NAME_LIMIT))


def _outcome(node: ElementTree.Element, tag: str, message: str, kind: str = "", lines: Iterable[str] = ()) -> None:
    outcome = ElementTree.SubElement(node, tag, message=printable(message, LINE_LIMIT))
    if kind:
        outcome.set("type", str(kind))
    outcome.text = _clean(lines) or None


def _clean(lines: Iterable[str]) -> str:
    """Lines without the characters that XML forbids."""
    return "\n".join(printable(line.rstrip("\r"), LINE_LIMIT) for line in lines)


FORMAT = Format("junit", ".xml", render)
