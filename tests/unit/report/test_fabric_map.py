"""The picture of the fabric: whatever devices are called, and however many there are, it stays a picture."""

from __future__ import annotations

import re

from auditor.report.fabric_map import COLOURS, Cell, Edge, FabricMap, Grid, Head, Shade, as_dot, as_html, as_svg, worst
from auditor.xmldoc import parse

EVIL = '</title><script>alert(1)</script>"\x1b[31m'


def drawn(name: str = "gpu-01", hosts: int = 2, shade: Shade = Shade.FINE) -> FabricMap:
    columns = tuple(Head(name if at == 0 else f"gpu-{at:03}", f"R{at // 8}") for at in range(hosts))
    rows = tuple(Head(f"leaf-{at}", f"rail {at}") for at in range(8))
    cells = {(column, row): Cell(Shade.FINE, 1, ("proven",)) for column in range(hosts) for row in range(8)}
    cells[0, 0] = Cell(shade, 1, (f"{name}: {shade}",))
    return FabricMap(
        "pod", "as seen", (Grid("compute", columns, rows, cells),), (Edge(name, "nic0", "leaf-0", "Ethernet0", shade, False),),
        {name: 0, "leaf-0": 1}, (f"{name} to leaf-0",), (), (),
    )  # fmt: skip


def test_every_shade_has_its_colour_and_a_bad_one_a_letter_too() -> None:
    for shade in Shade:
        svg = as_svg(drawn(shade=shade))
        assert svg.count(f'fill="{COLOURS[shade]}"') >= 1
    assert ">×</text>" in as_svg(drawn(shade=Shade.FAULT))
    assert ">?</text>" in as_svg(drawn(shade=Shade.UNKNOWN))


def test_the_worst_of_several_cables_is_shown() -> None:
    assert worst([Shade.FINE, Shade.UNKNOWN, Shade.WARNING]) is Shade.WARNING
    assert worst([]) is Shade.FINE


def test_names_that_are_markup_stay_text() -> None:
    for text in (as_svg(drawn(EVIL)), as_html(drawn(EVIL))):
        assert "<script" not in text
        assert "\x1b" not in text
    parse(as_svg(drawn(EVIL)))  # still well-formed
    dot = as_dot(drawn('a"; evil [label="'))
    assert re.search(r'(?<!\\)"a\\"; evil \[label=\\"" -- "leaf-0"', dot)


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    text = as_html(drawn())
    assert re.findall(r"(?:src|href|url)\s*[=(]", text) == []
    assert "<script" not in text


def test_a_pod_of_1024_gpus_fits_a_screen_in_width() -> None:
    svg = as_svg(drawn(hosts=128))
    width, height = (int(re.search(rf'{name}="(\d+)"', svg).group(1)) for name in ("width", "height"))  # type: ignore[union-attr]
    assert width < 1920
    assert height < 400
    assert svg.count("<rect") == 128 * 8 + 16


def test_an_unplanned_cable_is_dashed_in_dot() -> None:
    assert "style=dashed" in as_dot(drawn())
