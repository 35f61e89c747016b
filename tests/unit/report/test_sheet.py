"""Sheets: what a device is called is neither a formula nor markup."""

from auditor.report.sheet import HEADER, SheetLine, as_csv, as_html


def line(**cells: str) -> SheetLine:
    given = dict.fromkeys(SheetLine.__slots__, "") | {"device": "gpu-01", "port": "ens1"} | cells
    return SheetLine(**given)


def test_a_formula_stays_text_in_csv() -> None:
    text = as_csv([line(label='=HYPERLINK("http://x")', to_device="-2+3", via="@x")])
    assert "\"'=HYPERLINK" in text
    assert "'-2+3" in text
    assert "'@x" in text


def test_markup_and_escapes_stay_text_in_html() -> None:
    page = as_html([line(label="<script>x</script>", to_device="a\x1b[31mb")], "<Rack>")
    assert "<script>" not in page
    assert "<Rack>" not in page
    assert "\x1b" not in page


def test_each_rack_has_its_page_and_each_line_its_box() -> None:
    page = as_html([line(rack="R01"), line(rack="R01"), line(rack="R02")], "Cables")
    assert page.count("<section>") == 2
    assert page.count("&#9744;") == 3


def test_header_and_cells_go_together() -> None:
    assert len(HEADER) == len(line().cells) + 1
