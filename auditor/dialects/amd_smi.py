"""Grammar of `amd-smi`: firmware of each GPU, and the tables of its topology, each with the bus addresses above it."""

from __future__ import annotations

import re


def firmware(text: str) -> dict[int, dict[str, str]]:
    """Versions by firmware name, by the number of the GPU (`amd-smi firmware`)."""
    out: dict[int, dict[str, str]] = {}
    versions: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        label, colon, value = (part.strip() for part in line.partition(":"))
        if label == "GPU" and re.fullmatch(r"\d{1,3}", value):
            versions = out.setdefault(int(value), {})
        elif label == "FW_ID":
            name = value
        elif label == "FW_VERSION" and colon and name:
            versions[name] = value
            name = ""
    return out


def topology(text: str) -> dict[str, dict[str, dict[str, str]]]:
    """Cells by column address, by row address, by the name of the table without its last word (`amd-smi topology`).

    Raises ValueError for a row that has not as many cells as the table has columns.
    """
    out: dict[str, dict[str, dict[str, str]]] = {}
    columns: list[str] = []
    rows: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        title = re.fullmatch(r"([A-Z][A-Z -]*) TABLE:\s*", line)
        if title is not None:
            rows, columns = out.setdefault(title.group(1), {}), []
            continue
        words = line.split()
        if not words or not re.fullmatch(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]", words[0]):
            continue
        if not columns:
            columns = words
        elif len(words) != len(columns) + 1:
            raise ValueError(f"the row of {words[0]} has {len(words) - 1} cells under {len(columns)} addresses")
        else:
            rows[words[0]] = dict(zip(columns, words[1:], strict=True))
    return out
