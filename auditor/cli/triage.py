"""How `auditor explain SYMPTOM` is told on a screen."""

from __future__ import annotations

from auditor.report import Options, text
from auditor.report.outline import Case, few
from auditor.report.page import Page
from auditor.workflows.triage import Suspect, Triage

SUSPECTS_SHOWN = 5
"""Causes told in full; more than these are listed by a line each."""
NAMES_SHOWN = 8


def render(done: Triage, columns: int | None, *, in_colour: bool) -> str:
    """The whole explanation, with a newline at its end."""
    page = Page(Options(colour=in_colour, width=columns))
    _headline(page, done)
    near = [suspect for suspect in done.suspects if suspect.on_way]
    for number, suspect in enumerate(near[:SUSPECTS_SHOWN], start=1):
        _suspect(page, number, suspect)
    _rest(page, "Also open, less likely", near[SUSPECTS_SHOWN:])
    _rest(page, "Open elsewhere: not on the way of these hosts", [suspect for suspect in done.suspects if not suspect.on_way])
    text.tell_changes(page, [item.change for item in done.changes])
    if done.blind:
        page.heading("Could not be judged; nothing is said about it")
        for item in done.blind:
            places = f"{item.places} place{'s' if item.places > 1 else ''}"
            page.line(f"{places}{f': {item.reason}' if item.reason else ''}", lead=f"  {item.rule}  ", lead_style="bold")
    if done.clear:
        page.heading("Looked at and as it should be")
        page.line(", ".join(done.clear), lead="  ")
    if done.ask_log:
        page.heading("Only the log of the job tells (--job LOG)")
        page.line(", ".join(done.ask_log), lead="  ")
    for note in done.notes:
        page.line()
        page.line(f"Note: {note}")
    return page.text()


def _headline(page: Page, done: Triage) -> None:
    page.line(f"{done.name}: {done.symptom.title}", "bold")
    if done.last_run is None:
        page.line("There is no finished run to look at: `auditor scan` makes one. This says nothing about the devices.", "yellow")
        return
    where = f"the way of {few(done.hosts, NAMES_SHOWN)} ({len(done.way)} devices)" if done.way is not None else "the whole fabric"
    page.line(f"As of the run that ended {done.last_run:%Y-%m-%d %H:%M}Z, over {where}.")
    near = sum(suspect.on_way for suspect in done.suspects)
    if near:
        page.line(f"{near} open cause{'s explain' if near > 1 else ' explains'} it, the most likely first.")
    elif done.blind:
        page.line("No open cause explains it in what was seen, but not all was: see below.", "yellow")
    else:
        page.line("No open cause explains it: what the rules look at is as it should be.", "green")
    if done.beside:
        page.line(f"{done.beside} more open, of kinds that do not show this way: auditor findings list")


def _suspect(page: Page, number: int, suspect: Suspect) -> None:
    page.line()
    page.line(f"{number}. {suspect.look.why}" + (" (waived)" if suspect.cause.waived else ""), "italic")
    text.tell(page, Case(suspect.cause, suspect.findings))


def _rest(page: Page, heading: str, suspects: list[Suspect]) -> None:
    if suspects:
        page.heading(f"{heading} ({len(suspects)})")
    for suspect in suspects:
        page.line(suspect.cause.title, lead=f"  {suspect.cause.severity}  ")
