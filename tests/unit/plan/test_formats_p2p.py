"""Point-to-point spreadsheets: each quirk of real sheets, and what cannot be read as one."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import AuditorError, PlanError, SetupError
from auditor.plan.formats import Imported, formats
from auditor.plan.formats.p2p import read, sniff
from auditor.plan.formats.sheet import MAX_CELLS, MAX_UNPACKED

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "plans" / "p2p"

CVT = ("Rack", "U", "Name", "HCA/Port", "Rack", "Name", "Name", "Port")
"""The header row of NVIDIA's own example: two sides with the same words, and the second U is called Name."""

PLAIN = ("Device", "Port", "Device", "Port")


def workbook(**sheets: Sequence[Sequence[Any]]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    return book


def stored(book: openpyxl.Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def links(done: Imported) -> list[tuple[str, str]]:
    return [(str(link.a), str(link.b)) for link in done.links]


def sheet(*rows: Sequence[Any], **options: str) -> Imported:
    return read(stored(workbook(Compute=rows)), "wiring.xlsx", options)


def refused(*rows: Sequence[Any], **options: str) -> str:
    with pytest.raises(AuditorError) as caught:
        sheet(*rows, **options)
    return str(caught.value)


# which column is what


def test_columns_are_told_by_place_and_content_where_the_headers_repeat_and_one_is_wrong() -> None:
    done = sheet(
        CVT, ("PXH", 28, "gpu-031", 1, "PXX", 30, "ib-leaf-7", "1/3"), (316, 24, "gpu-032", 3, "PXX", 30, "ib-leaf-7", "1/4")
    )
    assert links(done) == [("gpu-031:mlx5_0", "ib-leaf-7:1/3"), ("gpu-032:mlx5_2", "ib-leaf-7:1/4")]
    end = done.links[1].b
    assert (done.links[1].a.rack, done.links[1].a.position, end.rack, end.position) == ("316", "24", "PXX", "30")


def test_the_notes_show_what_each_column_was_understood_as_with_its_first_values() -> None:
    notes = sheet(
        CVT, ("A1", 28, "gpu-031", 1, "A9", 30, "ib-leaf-7", "sw1p1"), ("A1", 26, "gpu-032", 1, "A9", 30, "ib-leaf-7", "sw1p2")
    ).notes
    assert "wiring.xlsx: sheet 'Compute': rows 2-3, headers in row 1" in notes
    assert "wiring.xlsx: sheet 'Compute': column F 'Name' is b_position: 30, 30" in notes
    assert "wiring.xlsx: sheet 'Compute': column H 'Port' is b_port: sw1p1, sw1p2" in notes


def test_headers_may_be_misspelt_and_name_their_side() -> None:
    head = (
        "Source Rakc",
        "Source Devise",
        "Source Prot",
        "Destination Rack",
        "Destination Device",
        "Destination Port",
        "Cable Lenght (m)",
    )
    link = sheet(head, ("R1", "gpu-1", "ens1np0", "R9", "leaf-1", "Ethernet8", 3)).links[0]
    assert (str(link.a), str(link.b), link.a.rack, link.b.rack, link.length_m) == (
        "gpu-1:ens1np0",
        "leaf-1:Ethernet8",
        "R1",
        "R9",
        3,
    )


def test_types_of_the_nodes_become_roles() -> None:
    head = ("A-Node Name", "A-Type", "A-Port", "Z-Node Name", "Z-Type", "Z-Port")
    done = sheet(
        head,
        ("gpu-1", "Host", "enp3s0np0", "leaf-1", "Switch", "swp1s0"),
        ("leaf-1", "Switch", "swp33", "spine-1", "Switch", "swp1"),
    )
    assert links(done) == [("gpu-1:enp3s0np0", "leaf-1:swp1s0"), ("leaf-1:swp33", "spine-1:swp1")]
    assert {device.name: device.role for device in done.devices} == {"gpu-1": "host", "leaf-1": "switch", "spine-1": "switch"}


def test_a_header_alone_does_not_make_a_column_what_its_content_is_not() -> None:
    done = sheet(("Port", "Name", "Name", "Port"), ("gpu-1", "ens1np0", "leaf-1", "swp1"), ("gpu-2", "ens2np0", "leaf-1", "swp2"))
    assert links(done)[0] == ("gpu-1:ens1np0", "leaf-1:swp1")


def test_a_sheet_without_headers_is_told_by_order_and_content() -> None:
    done = sheet(
        ("R1", 22, "gpu-1", "mlx5_0", "R9", 40, "leaf-1", "1/1"), ("R1", 24, "gpu-2", "mlx5_0", "R9", 40, "leaf-1", "1/2")
    )
    assert (done.links[0].a.position, done.links[0].b.rack, done.links[0].b.port) == ("22", "R9", "1/1")


def test_two_readings_of_the_columns_are_an_error_that_shows_both() -> None:
    message = refused((1, "gpu-1", 1, 2, "leaf-1", 1), (1, "gpu-2", 1, 2, "leaf-1", 2))
    assert "two readings" in message and "a_rack=A" in message and "a_position=A" in message and "columns=" in message


def test_columns_can_be_named() -> None:
    told = "a_rack=A,a_device=B,a_port=C,b_position=D,b_device=E,b_port=F"
    done = sheet((1, "gpu-1", 1, 2, "leaf-1", 1), columns=told)
    assert (done.links[0].a.rack, done.links[0].b.position, done.links[0].a.port) == ("1", "2", "1")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("a_device=A,a_port=B,b_device=C", "b_port is missing"),
        ("a_devise=A", "'a_devise' is none of"),
        ("a_device=A,a_port=A,b_device=C,b_port=D", "stands twice"),
        ("a_device=7,a_port=B,b_device=C,b_port=D", "is no column"),
        ("a_device=ZZ,a_port=B,b_device=C,b_port=D", "only the first 64"),
    ],
)
def test_columns_that_are_named_wrongly_are_refused(told: str, words: str) -> None:
    assert words in refused(PLAIN, ("a", 1, "b", 2), columns=told)


def test_rows_and_sheets_can_be_chosen() -> None:
    book = workbook(
        Storage=[PLAIN, ("a", "swp1", "b", "swp1")], Compute=[PLAIN, ("c", "swp1", "d", "swp1"), ("c", "swp2", "d", "swp2")]
    )
    assert links(read(stored(book), "w.xlsx", {"sheets": "Compute", "rows": "3-3"})) == [("c:swp2", "d:swp2")]
    with pytest.raises(PlanError, match="has no sheet 'Other'; it has Storage, Compute"):
        read(stored(book), "w.xlsx", {"sheets": "Other"})
    with pytest.raises(SetupError, match="is not like 3-258"):
        read(stored(book), "w.xlsx", {"rows": "first"})


def test_links_of_several_sheets_say_which_they_are_of() -> None:
    book = workbook(
        Storage=[PLAIN, ("a", "swp1", "b", "swp1")], Compute=[PLAIN, ("c", "swp1", "d", "swp1")], Notes=[("Revision 3",)]
    )
    done = read(stored(book), "w.xlsx", {})
    assert [link.tags for link in done.links] == [{"sheet": "Storage"}, {"sheet": "Compute"}]
    assert "w.xlsx: sheet 'Notes' holds no links and was left out" in done.notes


def test_hidden_sheets_are_left_out_and_said() -> None:
    book = workbook(Old=[PLAIN, ("a", "swp9", "b", "swp9")], New=[PLAIN, ("a", "swp1", "b", "swp1")])
    book["Old"].sheet_state = "hidden"
    done = read(stored(book), "w.xlsx", {})
    assert links(done) == [("a:swp1", "b:swp1")]
    assert any("sheet 'Old' is hidden and was left out" in note for note in done.notes)
    assert links(read(stored(book), "w.xlsx", {"sheets": "Old"})) == [("a:swp9", "b:swp9")]


# what stands in the cells


def test_a_rack_that_stands_in_the_first_row_of_a_block_holds_for_the_block() -> None:
    head = ("Rack", "U", "Name", "Port", "Rack", "U", "Name", "Port")
    done = sheet(
        head,
        ("R1", 22, "gpu-1", "ens1np0", "R9", 40, "leaf-1", "swp1"),
        (None, 24, "gpu-2", "ens1np0", None, None, "leaf-1", "swp2"),
        (),
        (None, 26, "gpu-3", "ens1np0", None, None, "leaf-2", "swp1"),
    )
    assert [(link.a.rack, link.b.rack, link.b.position) for link in done.links] == [
        ("R1", "R9", "40"),
        ("R1", "R9", "40"),
        ("", "", ""),
    ]
    assert any("taken from the row above: sheet 'Compute'!A3" in note for note in done.notes)


def test_a_rack_in_a_spare_row_holds_below_it_and_a_title_begins_a_new_block() -> None:
    head = ("Rack", "Name", "Port", "Rack", "Name", "Port")
    done = sheet(
        head,
        ("R1", "gpu-0", "TBD", "R9", "leaf-1", "swp9"),
        (None, "gpu-1", "ens1np0", None, "leaf-1", "swp1"),
        ("Storage",),
        (None, "gpu-2", "ens1np0", None, "leaf-2", "swp2"),
    )
    assert [(link.a.rack, link.b.rack) for link in done.links] == [("R1", "R9"), ("", "")]


def test_merged_cells_hold_for_all_of_their_rows() -> None:
    book = workbook(
        Compute=[
            ("Rack", "Name", "Port", "Rack", "Name", "Port"),
            ("R1", "gpu-1", "ens1np0", "R9", "leaf-1", "swp1"),
            (None, None, "ens2np0", None, "leaf-2", "swp1"),
            (None, None, "ens3np0", None, "leaf-3", "swp1"),
        ]
    )
    for area in ("A2:A4", "B2:B4", "D2:D4"):
        book["Compute"].merge_cells(area)
    done = read(stored(book), "w.xlsx", {})
    assert [(str(link.a), link.a.rack, link.b.rack) for link in done.links] == [
        ("gpu-1:ens1np0", "R1", "R9"), ("gpu-1:ens2np0", "R1", "R9"), ("gpu-1:ens3np0", "R1", "R9"),
    ]  # fmt: skip


def test_a_rack_with_its_unit_is_taken_apart() -> None:
    head = ("Rack", "Name", "Port", "Rack", "U", "Name", "Port")
    link = sheet(head, ("R1.U22", "gpu-1", "ens1np0", "R9", "U40", "leaf-1", "swp1")).links[0]
    assert (link.a.rack, link.a.position, link.b.rack, link.b.position) == ("R1", "22", "R9", "40")
    head = ("Rack", "U", "Name", "Port", "Rack", "U", "Name", "Port")
    assert "sheet 'Compute'!B2: a_rack says U22, a_position says 23" in refused(
        head, ("R1.U22", 23, "gpu-1", "ens1np0", "R9", 40, "leaf-1", "swp1")
    )


def test_blanks_and_long_dashes_do_not_count() -> None:
    done = sheet(PLAIN, (" gpu–1\u00a0", "ens1np0 ", "leaf‑1", "swp\u200b1"))
    assert links(done) == [("gpu-1:ens1np0", "leaf-1:swp1")]
    assert any(
        "a long dash was read as -: sheet 'Compute'!A2 (gpu-1), sheet 'Compute'!C2 (leaf-1)" in note for note in done.notes
    )


def test_another_spelling_counts_only_against_known_devices() -> None:
    rows = (PLAIN, ("gpu-1", "ens1np0", "Leaf-01", "swp1"), ("gpu-1", "ens2np0", "leaf01", "swp2"))
    apart = sheet(*rows)
    assert {link.b.device for link in apart.links} == {"Leaf-01", "leaf01"}
    assert any("Leaf-01 and leaf01 are taken as different devices" in note for note in apart.notes)
    known = sheet(*rows, devices="gpu-1, leaf01")
    assert {link.b.device for link in known.links} == {"leaf01"}
    assert any("Leaf-01 was read as leaf01: sheet 'Compute'!C2" in note for note in known.notes)
    assert "sheet 'Compute'!C2: 'Leaf-01' could be leaf-01 or leaf01" in refused(*rows, devices="gpu-1 leaf01 leaf-01")
    assert any("not among the known devices: gpu-1" in note for note in sheet(*rows, devices="leaf01").notes)


def dated(value: date, form: str) -> bytes:
    book = workbook(Compute=[PLAIN, ("gpu-1", "ens1np0", "leaf-1", "1/1"), ("gpu-2", "ens1np0", "leaf-1", "x")])
    cell = book["Compute"]["D3"]
    cell.value, cell.number_format = value, form
    return stored(book)


@pytest.mark.parametrize(
    ("value", "form", "port"),
    [
        (date(2031, 1, 2), "m/d", "1/2"),
        (date(2031, 2, 1), "d/m", "1/2"),
        (date(1933, 1, 1), "mmm-yy", "1/33"),
        (date(2031, 3, 3), "d-mmm", "3/3"),
        (datetime(2031, 1, 2), "[$-409]m/d;@", "1/2"),
    ],
)
def test_a_port_that_excel_took_for_a_date_is_recovered_where_the_format_proves_it(value: date, form: str, port: str) -> None:
    done = read(dated(value, form), "w.xlsx", {})
    assert done.links[1].b.port == port
    assert any("Excel had made a date of it: sheet 'Compute'!D3" in note for note in done.notes)


def test_a_date_that_could_be_two_ports_is_an_error_and_can_be_decided() -> None:
    raw = dated(date(2031, 1, 2), "d-mmm")
    with pytest.raises(PlanError, match=r"sheet 'Compute'!D3: b_port is a date: it was 2/1 .* or 1/2 .*does not tell which"):
        read(raw, "w.xlsx", {})
    assert read(raw, "w.xlsx", {"dates": "month-first"}).links[1].b.port == "1/2"
    assert read(raw, "w.xlsx", {"dates": "day-first"}).links[1].b.port == "2/1"
    with pytest.raises(SetupError, match="is none of day-first, month-first"):
        read(raw, "w.xlsx", {"dates": "us"})


def test_any_other_date_in_a_port_is_an_error() -> None:
    with pytest.raises(PlanError, match="D3: b_port is the date 2031-01-02"):
        read(dated(date(2031, 1, 2), "yyyy-mm-dd"), "w.xlsx", {})


@pytest.mark.parametrize("text", ["2-Jan", "Jan-02", "02.01.2031"])
def test_a_date_in_a_csv_cannot_be_recovered(text: str) -> None:
    with pytest.raises(PlanError, match=r"w.csv:2: D2: b_port is a date"):
        read(
            f"Device,Port,Device,Port\ngpu-1,swp1,leaf-1,{text}\ngpu-2,swp1,leaf-1,1/1\n".encode(), "w.csv", {"columns": COLUMNS}
        )


COLUMNS = "a_device=A,a_port=B,b_device=C,b_port=D"


def test_dates_in_columns_that_nobody_needs_do_no_harm() -> None:
    done = sheet((*PLAIN, "Ordered"), ("gpu-1", "ens1np0", "leaf-1", "swp1", date(2031, 1, 2)))
    assert len(done.links) == 1
    assert any("not used: column E" in note for note in done.notes)


@pytest.mark.parametrize(
    ("head", "written", "metres"),
    [
        ("Length (m)", 3, 3.0), ("Length", "2.5m", 2.5), ("Length", "10 ft", 3.048), ("Cable Length [ft]", 10, 3.048),
        ("Length in feet", 1, 0.305), ("Length", "10'", 3.048), ("Length", "150 cm", 1.5), ("Length (ft)", "3m", 3.0),
    ],
)  # fmt: skip
def test_lengths_are_metres_whatever_they_were(head: str, written: object, metres: float) -> None:
    assert sheet((*PLAIN, head), ("gpu-1", "ens1np0", "leaf-1", "swp1", written)).links[0].length_m == metres


def test_a_length_without_a_unit_is_an_error_until_it_is_given_one() -> None:
    rows = ((*PLAIN, "Length"), ("gpu-1", "ens1np0", "leaf-1", "swp1", 3))
    assert "sheet 'Compute'!E2: the length 3 has no unit" in refused(*rows)
    assert [sheet(*rows, length=unit).links[0].length_m for unit in ("m", "ft", "ignore")] == [3.0, 0.914, None]
    assert "sheet 'Compute'!E2: 'long' is no length" in refused(
        (*PLAIN, "Length"), ("gpu-1", "ens1np0", "leaf-1", "swp1", "long")
    )


def test_what_a_link_has_beside_its_ends() -> None:
    head = ("Cable ID", *PLAIN, "Speed", "Cable Type", "Rail", "Plane")
    link = sheet(head, ("C-001", "gpu-1", "ens1np0", "leaf-1", "swp1", "400GbE", "AOC", 3, "compute")).links[0]
    assert (link.label, link.speed, link.type, link.rail, link.plane) == ("C-001", 400 * 10**9, "AOC", "3", "compute")
    link = sheet(head, ("C-001", "gpu-1", "ens1np0", "leaf-1", "swp1", "NDR", None, None, None), plane="ib").links[0]
    assert (link.speed, link.tags, link.plane) == (None, {"rate": "NDR"}, "ib")


def test_both_directions_are_one_link() -> None:
    done = sheet(
        PLAIN, ("leaf-1", "swp1", "spine-1", "swp9"), ("spine-1", "swp9", "leaf-1", "swp1"), ("leaf-1", "swp1", "spine-1", "swp9")
    )
    assert links(done) == [("leaf-1:swp1", "spine-1:swp9")]
    assert any("stands twice, once from each end: sheet 'Compute'!A3 and sheet 'Compute'!A2" in note for note in done.notes)


def test_a_port_with_two_cables_is_an_error_that_names_both_cells() -> None:
    message = refused(PLAIN, ("gpu-1", "ens1np0", "leaf-1", "swp1"), ("gpu-2", "ens1np0", "leaf-1", "swp1"))
    assert "sheet 'Compute'!D3: port leaf-1:swp1 is already used at sheet 'Compute'!D2, to gpu-1:ens1np0" in message


def test_spare_rows_and_undecided_ones_are_left_out_and_said() -> None:
    done = sheet(
        PLAIN,
        ("gpu-1", "ens1np0", "leaf-1", "swp1"),
        ("gpu-2", "TBD", "leaf-1", "swp2"),
        (None, None, "leaf-1", "swp3"),
        ("spare", None, "leaf-1", "swp4"),
        ("SU 2",),
        PLAIN,
        ("gpu-3", "ens1np0", "leaf-1", "swp5"),
    )
    assert [link.b.port for link in done.links] == ["swp1", "swp5"]
    said = "\n".join(done.notes)
    assert "nothing decided yet, left out: sheet 'Compute'!B3 (TBD), sheet 'Compute'!A5 (spare)" in said
    assert "no far end, left out: sheet 'Compute'!A4" in said
    assert "no cable in this row, left out: sheet 'Compute'!A6" in said


def test_a_row_that_is_half_filled_in_is_an_error() -> None:
    assert "sheet 'Compute'!B2: a_port is blank" in refused(
        PLAIN, ("gpu-1", None, "leaf-1", "swp1"), ("gpu-2", "ens1np0", "leaf-1", "swp2")
    )


def test_a_device_in_two_racks_is_an_error_that_names_both_cells() -> None:
    head = ("Rack", "Name", "Port", "Rack", "Name", "Port")
    message = refused(
        head, ("R1", "gpu-1", "ens1np0", "R9", "leaf-1", "swp1"), ("R2", "gpu-1", "ens2np0", "R9", "leaf-1", "swp2")
    )
    assert "sheet 'Compute'!A3: gpu-1: rack R2 here, R1 at sheet 'Compute'!A2" in message


def test_errors_of_excel_and_formulas_without_a_value_are_errors_where_they_are_needed() -> None:
    assert "sheet 'Compute'!D2: b_port holds Excel's error #REF!" in refused(PLAIN, ("gpu-1", "ens1np0", "leaf-1", "#REF!"))
    message = refused(PLAIN, ("gpu-1", "ens1np0", "leaf-1", '="swp"&1'), ("gpu-2", "ens1np0", "leaf-1", "swp2"))
    assert "sheet 'Compute'!D2: b_port holds a formula whose value was not stored" in message


def test_formulas_are_not_evaluated_their_stored_values_count() -> None:
    raw = (FIXTURES / "formulas.xlsx").read_bytes()
    assert links(read(raw, "formulas.xlsx", {})) == [("gpu-1:ens1np0", "leaf-1:swp1"), ("gpu-2:ens1np0", "leaf-1:swp2")]


# ports


def test_bare_numbers_of_hosts_are_hcas_by_the_header_the_type_or_an_option() -> None:
    assert sheet(("Name", "HCA/Port", "Name", "Port"), ("gpu-1", 8, "ib-1", "9/2")).links[0].a.port == "mlx5_7"
    typed = ("Name", "Type", "Port", "Name", "Type", "Port")
    assert sheet(typed, ("gpu-1", "Host", 2, "ib-1", "Switch", 7)).links[0].a.port == "mlx5_1"
    done = sheet(PLAIN, ("gpu-1", 2, "ib-1", 7), ("gpu-2", 2, "ib-1", 8), hosts="gpu-*")
    assert [(link.a.port, link.b.port) for link in done.links] == [("mlx5_1", "7"), ("mlx5_1", "8")]
    plain = sheet(PLAIN, ("gpu-1", 2, "ib-1", 7), ("gpu-2", 2, "ib-1", 8))
    assert plain.links[0].a.port == "2"
    assert any("bare port numbers stay as written" in note for note in plain.notes)


def test_the_hca_map_overrides() -> None:
    head = ("Name", "HCA/Port", "Name", "Port")
    done = sheet(head, ("gpu-1", 1, "ib-1", "1/1"), ("gpu-1", 2, "ib-2", "1/1"), hca_map="port,hca-name\n1,mlx5_4\n2, mlx5_0\n")
    assert [link.a.port for link in done.links] == ["mlx5_4", "mlx5_0"]
    assert "sheet 'Compute'!B2: gpu-1: which HCA is 9?" in refused(head, ("gpu-1", 9, "ib-1", "1/1"))
    assert "stands twice" in refused(head, ("gpu-1", 1, "ib-1", "1/1"), hca_map="1,mlx5_0\n2,mlx5_0\n")
    assert "line 1 is not a port and an HCA name" in refused(head, ("gpu-1", 1, "ib-1", "1/1"), hca_map="1;mlx5_0")


def test_a_device_that_is_host_here_and_switch_there_is_an_error() -> None:
    head = ("Name", "HCA/Port", "Name", "Port")
    message = refused(head, ("gpu-1", 1, "ib-1", "5"), ("ib-1", 3, "spine-1", "7"))
    assert "ib-1 is read as a host at sheet 'Compute'!B3 and as a switch at sheet 'Compute'!D2" in message
    done = sheet(head, ("gpu-1", 1, "ib-1", "5"), ("ib-1", 3, "spine-1", "7"), switches="ib-*,spine-*")
    assert done.links[1].a.port == "3"


@pytest.mark.parametrize("port", ["1/2", "sw1p1", "swp1s0", "swp33", "33", "Ethernet1/1", "P12"])
def test_ports_of_switches_stay_as_written(port: str) -> None:
    done = sheet(("Name", "HCA/Port", "Name", "Port"), ("gpu-1", 1, "leaf-1", port), ("gpu-2", 1, "leaf-1", "swp99"))
    assert done.links[0].b.port == port


def test_an_hca_with_its_port_is_written_as_the_plan_does() -> None:
    assert sheet(("Name", "HCA/Port", "Name", "Port"), ("gpu-1", "mlx5_3 P1", "ib-1", "1/1")).links[0].a.port == "mlx5_3/1"


# CSV


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_tables_in_text_files(delimiter: str, encoding: str) -> None:
    text = "\r\n".join(delimiter.join(row) for row in (("Name", "HCA/Port", "Name", "Port"), ("gpu-é", "1", "leaf-1", "1/2")))
    assert links(read(text.encode(encoding), "w.csv", {})) == [("gpu-é:mlx5_0", "leaf-1:1/2")]


def test_errors_in_text_files_name_the_line() -> None:
    with pytest.raises(PlanError, match=r"w.csv:3: B3: a_port is blank"):
        read(b"Name,Port,Name,Port\ngpu-1,swp1,leaf-1,swp1\ngpu-2,,leaf-1,swp2\n", "w.csv", {})


def test_the_fixture_with_every_quirk() -> None:
    done = read((FIXTURES / "rails.xlsx").read_bytes(), "rails.xlsx", {"devices": "leaf-r0 leaf-r1 gpu-01 gpu-02 gpu-03"})
    assert links(done) == [
        ("gpu-01:mlx5_0", "leaf-r0:1/1"), ("gpu-01:mlx5_1", "leaf-r1:1/1"), ("gpu-02:mlx5_0", "leaf-r0:1/2"),
        ("gpu-02:mlx5_1", "leaf-r1:1/2"), ("gpu-03:mlx5_0", "leaf-r0:2/2"),
    ]  # fmt: skip
    assert {device.name: (device.rack, device.position) for device in done.devices} == {
        "gpu-01": ("R1", "22"), "gpu-02": ("R1", "26"), "gpu-03": ("R2", "22"), "leaf-r0": ("R9", "40"), "leaf-r1": ("R9", "41"),
    }  # fmt: skip
    assert [link.length_m for link in done.links] == [3.0, 3.048, 3.0, 3.0, 5.0]


# telling it from other files


def test_it_is_told_from_other_formats() -> None:
    assert sniff(stored(workbook(A=[PLAIN, ("a", "swp1", "b", "swp1")])), "w.xlsx")
    assert sniff(b"Name,Port,Name,Port\ngpu-1,swp1,leaf-1,swp1\n", "w.csv")
    assert not sniff(b"a_device,a_port,b_device,b_port\ngpu-1,swp1,leaf-1,swp1\n", "plan.csv")
    assert not sniff(b'graph x { "a":"b" -- "c":"d" }', "topology.dot")
    assert not sniff(b"\xff\xfe\x00", "x.csv")
    assert formats()["p2p"].read is read


# hostile files


def archive(**parts: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, body in parts.items():
            target.writestr(name.replace("__", "/").replace("_xml", ".xml"), body)
    return out.getvalue()


def rebuilt(part: str, change: Any) -> bytes:
    """A sound workbook with one part changed."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(stored(workbook(A=[PLAIN, ("a", "swp1", "b", "swp1")])))) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for item in source.infolist():
            body = source.read(item)
            target.writestr(item.filename, change(body) if item.filename == part else body)
    return out.getvalue()


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "is empty"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100, "old Excel file"),
        (b"PK\x03\x04 not a zip", "is no whole workbook"),
        (archive(readme=b"x"), "no Excel workbook"),
        (archive(xl__workbook_xml=b"\0" * (MAX_UNPACKED + 1)), "once unpacked"),
        (archive(xl__workbook_xml=b"<workbook/>"), "cannot be read as a workbook"),
        (rebuilt(SHEET, lambda body: b'<!DOCTYPE x [<!ENTITY a "b">]>' + body), "is no plain XML"),
        (rebuilt(SHEET, lambda body: b"<?xml version='1.0' encoding='UTF-16'?>" + body), "cannot be read as a workbook"),
        (rebuilt(SHEET, lambda body: body.replace(b"<sheetData>", b"<sheetData>" + b"<c/>" * (MAX_CELLS + 1))), "cells or"),
        (rebuilt(SHEET, lambda body: body[:200]), "cannot be read as a workbook"),
        (b"a,b\0c\n", "zero bytes"),
        (b"caf\xe9,1,2,3\n", "is not UTF-8 text"),
        (b'Name,Port,Name,Port\na,"b,c,d\n', "is no CSV"),
        (b"Name,Port,Name,Port\na,swp\x1b[31m1,b,swp2\nc,swp1,d,swp2\ne,swp1,f,swp2\n", "control character"),
    ],
)  # fmt: skip
def test_hostile_files_are_one_clear_error(raw: bytes, words: str) -> None:
    options = {} if raw[:2] == b"PK" else {"columns": COLUMNS}
    with pytest.raises(PlanError, match=words):
        read(raw, "w.csv", options)


def test_a_dimension_that_lies_and_a_far_away_cell_cost_nothing() -> None:
    raw = rebuilt(
        SHEET,
        lambda body: body.replace(b'<dimension ref="A1:D2"', b'<dimension ref="A1:XFD1048576"').replace(
            b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
        ),
    )
    assert links(read(raw, "w.xlsx", {})) == [("a:swp1", "b:swp1")]


@given(st.binary(max_size=400), st.sampled_from(["w.csv", "w.xlsx"]))
def test_any_bytes_give_links_or_an_error(raw: bytes, name: str) -> None:
    sniff(raw, name)
    try:
        read(raw, name, {})
    except AuditorError as error:
        assert str(error)


WORDS = ["Rack", "U", "Name", "Port", "gpu-1", "leaf-1", "swp1", "1/2", "TBD", "R1.U3", "3m"]


@given(st.lists(st.lists(st.one_of(st.none(), st.integers(0, 70), st.sampled_from(WORDS)), max_size=9), max_size=8))
def test_any_table_gives_a_plan_or_errors_that_name_a_place(rows: list[list[object]]) -> None:
    text = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in rows)
    try:
        done = read(text.encode(), "w.csv", {})
    except AuditorError as error:
        assert "w.csv" in str(error)
    else:
        places = [end.place for link in done.links for end in (link.a, link.b)]
        assert len(places) == len(set(places)) and all(map(all, places))
