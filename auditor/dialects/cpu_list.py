"""Lists of CPUs as the kernel and its tools print them, in the one form that facts hold: `0-31,64-95`."""

from __future__ import annotations

from collections.abc import Iterable

from auditor.canonical import number_list


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as sorted ranges; empty without any."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def folded(text: str) -> str:
    """`0,1,2,8-9` as `0-2,8-9`. Raises ValueError for what is no list."""
    return ranges(number_list(text))
