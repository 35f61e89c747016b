"""The matrix of `nvidia-smi topo -m`: how near GPUs and network ports are.

Cells stand between tabs, but copies of it have lost them. The matrix itself holds no blanks, so it is read by words; the columns
behind it (`CPU Affinity` …) may be empty or have run together and are not read. Newer drivers call network ports `NIC0` and
name them in a legend at the end, older ones use the names as heads of the columns. The head may be underlined.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_UNDERLINE = re.compile(r"\x1b?\[[0-9;]*m")
_AFFINITY = re.compile(r"\s(?:CPU|NUMA) Affinity\b.*|\sGPU NUMA ID\b.*")
_LEGEND = re.compile(r"^\s*(NIC\d+): (\S+)\s*$", re.MULTILINE)
_GPU = re.compile(r"GPU(\d+)")
_KINDS = ("PIX", "PXB", "PHB", "NODE", "SYS")


@dataclass(frozen=True, slots=True)
class Matrix:
    """Path kinds by number of the GPU and name of the port, and what could not be read. `ports` in printed order."""

    gpus: tuple[str, ...]
    ports: tuple[str, ...]
    kinds: Mapping[tuple[str, str], str]
    unread: tuple[str, ...]


def matrix(body: str) -> Matrix:
    """Read one answer. Raises ValueError when it has no head, or when the legend lacks a port."""
    lines = [_UNDERLINE.sub("", line) for line in body.splitlines()]
    head = next((at for at, line in enumerate(lines) if _GPU.match(line.strip())), None)
    if head is None:
        raise ValueError("no head with GPUs")
    columns = _AFFINITY.sub("", lines[head]).split()
    names = dict(_LEGEND.findall(body))
    missing = [column for column in columns if re.fullmatch(r"NIC\d+", column) and column not in names]
    if missing:
        raise ValueError(f"the legend does not name {', '.join(missing[:8])}")
    gpus = tuple(found.group(1) for column in columns if (found := _GPU.fullmatch(column)))
    rows = {words[0]: words[1:] for line in lines[head + 1 :] if (words := line.split()) and words[0] in columns}
    kinds: dict[tuple[str, str], str] = {}
    unread = []
    for number in gpus:
        cells = rows.get(f"GPU{number}", [])
        for at, column in enumerate(columns):
            if _GPU.fullmatch(column):
                continue
            if at < len(cells) and cells[at] in _KINDS:
                kinds[number, names.get(column, column)] = cells[at]
            else:
                unread.append(f"GPU{number} {names.get(column, column)}: {cells[at][:20] if at < len(cells) else 'nothing'!r}")
    ports = tuple(names.get(column, column) for column in columns if not _GPU.fullmatch(column))
    return Matrix(gpus, ports, kinds, tuple(unread))
