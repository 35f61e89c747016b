"""The report for people: causes worst first, each with the line of output that proves it, then what could not be seen.

Whatever a device said is made printable first. A run with nothing to say takes three lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from auditor.canonical import printable
from auditor.model import Change, Evidence, Finding, Gap, GapReason, LinkVerdict, Remedy, Run, Severity, Verdict
from auditor.report import Format, Options, outline
from auditor.report.page import Page

DEVICES_SHOWN = 8
GROUPS_SHOWN = 5
OBJECTS_SHOWN = 8
EVIDENCE_SHOWN = 4
DETAILS_SHOWN = 3
CHANGES_SHOWN = 20
NOTES_SHOWN = 10
COMMANDS_SHOWN = 3
COMMAND_LIMIT = 120
"""Characters of a command beside its evidence; a longer one loses its middle."""

STYLES = {Severity.CRITICAL: "bold red", Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFORMATION: "cyan"}

REASONS = {
    GapReason.NOT_COLLECTED: "was not collected",
    GapReason.UNSUPPORTED: "is not supported by the platform",
    GapReason.REJECTED: "the device rejected the command",
    GapReason.PERMISSION: "the login may not run the command",
    GapReason.TIMEOUT: "no answer within the deadline",
    GapReason.AUTH: "the login was refused",
    GapReason.UNREACHABLE: "unreachable",
    GapReason.TRUNCATED: "the answer is cut off",
    GapReason.UNPARSED: "the answer could not be read",
    GapReason.CONFLICT: "two answers contradict each other",
    GapReason.STALE: "the answer is too old",
}


def render(run: Run, options: Options) -> str:
    """The whole report, with a newline at its end."""
    page = Page(options)
    found = outline.cases(run)
    open_, waived = [case for case in found if not case.cause.waived], [case for case in found if case.cause.waived]
    _summary(page, run, open_)
    for case in open_:
        tell(page, case)
    _waived(page, waived, outline.blind(outline.accepted(run)))
    _blind(page, run)
    _unverified(page, run.unverified)
    _resolved(page, run.resolved)
    tell_changes(page, run.changes)
    _notes(page, run.notes)
    if open_ or not _healthy(run):
        page.line()
        _coverage(page, run)
    return page.text()


def _healthy(run: Run) -> bool:
    return not (outline.blocking(run) or run.unverified or outline.crashed(run) or not run.coverage.results.get(Verdict.PASS))


def _summary(page: Page, run: Run, open_: Sequence[outline.Case]) -> None:
    if open_:
        count = f"{len(open_)} cause" + ("s" if len(open_) > 1 else "")
        page.line(f"{count}: {outline.tally(case.cause.severity for case in open_)}", STYLES[open_[0].cause.severity])
    elif _healthy(run):
        page.line("No cause found: everything that was judged is as the baseline says.", "green")
        _coverage(page, run)
    elif run.coverage.results.get(Verdict.PASS):
        page.line("No cause found in what was seen, but the run is incomplete: see below.", "yellow")
    else:
        page.line("Nothing was judged: no rule had anything to examine. This says nothing about the devices.", "yellow")


def _coverage(page: Page, run: Run) -> None:
    devices, results, links = run.coverage.devices, run.coverage.results, run.coverage.links
    seen = f"{devices.get('reached', 0)} of {devices.get('planned', 0)} devices reached"
    for word in ("partial", "unreachable"):
        if devices.get(word):
            seen += f", {devices[word]} {word}"
    verdicts = (*(verdict for verdict in Verdict if verdict is not Verdict.NOT_APPLICABLE), "unsupported")
    judged = ", ".join(f"{results[word]} {word.replace('_', ' ')}" for word in verdicts if results.get(word))
    page.line(f"Scope: {run.scope or 'everything'} ({run.source}); {seen}.")
    words = ", ".join(f"{links[word]} {word.replace('_', ' ')}" for word in LinkVerdict if links.get(word))
    wiring = f" Links: {links['planned']} planned; {words or 'none judged'}." if links.get("planned") else ""
    page.line(f"Objects: {judged or 'none examined'}.{wiring}")


def tell(page: Page, case: outline.Case) -> None:
    """One cause: what and where it is, the lines that prove it, and what to do."""
    cause = case.cause
    page.line()
    page.line(cause.title, "bold", lead=f"{cause.severity.upper()}  ", lead_style=STYLES[cause.severity])
    if case.devices:
        page.field("on", outline.few(case.devices, DEVICES_SHOWN))
    groups = case.alike
    for at, group in enumerate(groups[:GROUPS_SHOWN]):
        first = group[0]
        if at:
            page.field("seen by", f"{first.rule}: {first.message}")
        elif first.message not in cause.title:
            page.field("because", first.message)
        page.field("expected", first.expected)
        page.field("observed", first.observed + (f"  (layer: {first.layer})" if first.layer else ""))
        if len(group) > 1:
            page.field("objects", f"{len(group)}: {outline.few(_objects(case, group), OBJECTS_SHOWN)}")
        if _origin(first):
            page.field("wanted by", _origin(first))
    if len(groups) > GROUPS_SHOWN:
        page.field("", f"and {sum(map(len, groups[GROUPS_SHOWN:]))} more findings of this cause (--format json lists all)")
    _proof(page, groups)
    for remedy in dict.fromkeys(group[0].remedy for group in groups if group[0].remedy):
        page.field("remedy", remedy)
    typed: dict[tuple[str, str], Remedy] = {}
    for item in (item for group in groups for finding in group for item in finding.commands):
        known = typed.setdefault((item.device, item.source), item)
        if _blank(known) and not _blank(item):
            typed[item.device, item.source] = item
    for item in list(typed.values())[:COMMANDS_SHOWN]:
        page.field("to type", f"on {item.device} ({item.source}):")
        for line in item.lines:
            page.line(line, lead="    > ", lead_style="dim")
    for number, step in enumerate(cause.work_order, start=1):
        page.field("step" if number == 1 else "", f"{number}. {step}")
    page.field("rule", f"{outline.few(case.rules, GROUPS_SHOWN)}   {_history(case)}".rstrip(), "dim")


def _blank(remedy: Remedy) -> bool:
    """Whether a word still stands where a person must put a value."""
    return any(re.search(r"(?:^| )[A-Z]{3,}(?: |$)", line) for line in remedy.lines)


def _objects(case: outline.Case, group: Iterable[Finding]) -> list[str]:
    """What a group is about, in the order of the ports; of a cause on one device without its name, which stands above."""
    device = f"{case.devices[0]}:" if len(case.devices) == 1 else ""
    return sorted((item.object.removeprefix(device) for item in group), key=_natural)


def _natural(text: str) -> list[tuple[str, int]]:
    """A sort key by which Ethernet4 comes before Ethernet12."""
    return [(words, int(digits or 0)) for words, digits in re.findall(r"(\D*)(\d{0,9})", text)]


def _proof(page: Page, groups: Iterable[Sequence[Finding]]) -> None:
    """The outputs that prove the first finding of each group; the others of a group look the same elsewhere."""
    firsts = {(item.device, item.digest, item.locator): item for group in groups for item in group[0].evidence}
    every = {(item.device, item.digest, item.locator) for group in groups for finding in group for item in finding.evidence}
    shown = list(firsts.values())[:EVIDENCE_SHOWN]
    for item in shown:
        page.field("evidence", _whereabouts(item))
        for line in item.excerpt.rstrip("\n").split("\n"):
            page.line(line.rstrip("\r"), lead="    | ", lead_style="dim")
    if len(every) > len(shown):
        page.field("", f"and {len(every) - len(shown)} more places that show it (--format json lists all)")


def _whereabouts(item: Evidence) -> str:
    moment = re.sub(r"(\.\d+)?\+00:00$", "Z", item.collected_at)
    command = item.command or item.source
    if len(command) > COMMAND_LIMIT:  # what stands behind it is the place to look at
        command = f"{command[: COMMAND_LIMIT * 2 // 3]} … {command[-COMMAND_LIMIT // 3 :]}"
    parts = (item.device, command, item.locator, moment)
    return " · ".join(part for part in parts if part)


def _origin(finding: Finding) -> str:
    origin = finding.origin
    profile = f"{origin.profile}@{origin.version}" if origin.profile and origin.version else origin.profile
    file = origin.file + (f":{origin.line}" if origin.file and origin.line is not None else "")
    return "  ".join(part for part in (profile, file) if part)


def _history(case: outline.Case) -> str:
    since = sorted(finding.first_seen for finding in case.findings if finding.first_seen)
    words = [case.cause.status] if case.cause.status != "open" else []
    return ", ".join(words + ([f"first seen {since[0]}"] if since else []))


def _waived(page: Page, cases: Sequence[outline.Case], unseen: Sequence[outline.Blind]) -> None:
    if not cases and not unseen:
        return
    page.heading(f"Waived ({len(cases) + len(unseen)})")
    for case in cases:
        waiver: Any = next((item.waiver for item in case.findings if item.waiver), None) or {}
        terms = ", ".join(f"{key} {value}" for key, value in waiver.items() if value)
        page.line(case.cause.title + (f"  ({terms})" if terms else ""), lead="  ")
    for group in unseen:
        what = outline.few(group.places, DEVICES_SHOWN) or "nothing of it was seen"
        page.line(f"{group.device}: {REASONS[group.reason]}: {what}", lead="  ")


def _blind(page: Page, run: Run) -> None:
    groups, crashes, declared = outline.blind(outline.blocking(run)), outline.crashed(run), outline.unsupported(run)
    if groups or crashes:
        page.heading("Could not be seen; nothing is said about it")
    for group in groups:
        what = outline.few(group.places, DEVICES_SHOWN) or "nothing of it was seen"
        page.line(f"{REASONS[group.reason]}: {what}", lead=f"  {printable(group.device)}  ", lead_style="bold")
        for detail in group.details[:DETAILS_SHOWN]:
            page.line(detail, "dim", lead="    ")
        if len(group.details) > DETAILS_SHOWN:
            page.line(f"and {len(group.details) - DETAILS_SHOWN} more reasons (--format json lists all)", "dim", lead="    ")
    for result in crashes:
        page.line(f"the rule failed by itself: {result.reason}", lead=f"  {result.rule} on {printable(result.scope)}  ")
    if declared and (groups or crashes):
        page.line(_declared(declared), "dim", lead="  ")


def _declared(gaps: Sequence[Gap]) -> str:
    tables = sorted({gap.table for gap in gaps})
    return f"not supported, as the platforms declare: {outline.few(tables, DEVICES_SHOWN)}"


def _unverified(page: Page, findings: Sequence[Finding]) -> None:
    if findings:
        page.heading(f"Open from earlier runs and not examined this time ({len(findings)})")
    _list(page, findings)


def _resolved(page: Page, findings: Sequence[Finding]) -> None:
    if findings:
        page.heading(f"Resolved ({len(findings)})")
    _list(page, findings)


def _list(page: Page, findings: Sequence[Finding]) -> None:
    shown = sorted(findings, key=outline.order)
    for finding in shown[:CHANGES_SHOWN]:
        page.line(f"{finding.rule} on {finding.object}: {finding.message}", lead="  ")
    if len(shown) > CHANGES_SHOWN:
        page.line(f"and {len(shown) - CHANGES_SHOWN} more", lead="  ")


def tell_changes(page: Page, changes: Sequence[Change]) -> None:
    """What changed, under a heading of its own; nothing where nothing did."""
    if not changes:
        return
    page.heading(f"Changed since it was last seen ({len(changes)})")
    for change in sorted(changes, key=lambda item: (item.device, item.address, item.layer))[:CHANGES_SHOWN]:
        layer = f"@{change.layer}" if change.layer and "@" not in change.address else ""
        page.line(
            f"{change.address}{layer}: {_cell(change.before)} -> {_cell(change.after)}", lead=f"  {printable(change.device)}  "
        )
    if len(changes) > CHANGES_SHOWN:
        page.line(f"and {len(changes) - CHANGES_SHOWN} more (--format json lists all)", lead="  ")


def _notes(page: Page, notes: Sequence[str]) -> None:
    if notes:
        page.heading("Note" if len(notes) == 1 else f"Notes ({len(notes)})")
    for note in notes[:NOTES_SHOWN]:
        page.line(note, lead="  ")
    if len(notes) > NOTES_SHOWN:
        page.line(f"and {len(notes) - NOTES_SHOWN} more", lead="  ")


def _cell(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_cell(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ",".join(_cell(part) for part in value) or "empty"
    return str(value)


FORMAT = Format("text", ".txt", render)
