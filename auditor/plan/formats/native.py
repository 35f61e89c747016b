"""The plan's own form: CSV with every column. Written in one order whatever the plan's, so that two exports can be compared."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from io import StringIO

from auditor.model import Plan
from auditor.plan.document import COLUMNS, REQUIRED, guard, parse_plan
from auditor.plan.formats import TAGS, Imported, PlanFormat, columns_of, decode, devices_of, in_order


def sniff(raw: bytes, _name: str) -> bool:
    """Whether the first line with anything in it names the columns that a plan must have."""
    first = raw[:65536].removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0].decode("utf-8", "replace")
    names = {cell.strip().strip('"') for cell in first.split(",")}
    return names.issuperset(REQUIRED)


def read(raw: bytes, name: str, _options: Mapping[str, str]) -> Imported:
    """A native plan, as it is."""
    links = parse_plan(decode(raw, name), name).links
    return Imported(links, (), tuple(devices_of(links).values()))


def write(plan: Plan) -> tuple[str, tuple[str, ...]]:
    """Every known column, then the further ones by name; links by device and port."""
    rows = [columns_of(link) for link in in_order(plan.links)]
    header = [*COLUMNS, *sorted({column for row in rows for column in row} - set(COLUMNS))]
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([guard(row.get(column, "")) for column in header] for row in rows)
    return out.getvalue(), ()


FORMAT = PlanFormat(
    name="csv",
    title="native plan (CSV)",
    suffixes=(".csv",),
    sniff=sniff,
    read=read,
    write=write,
    carries=frozenset({*COLUMNS, TAGS}),
    note="The plan's own form: one line for each cable, every column.",
)
