from __future__ import annotations

import pytest

from auditor.errors import PlanError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.document import COLUMNS
from auditor.plan.formats import TAGS, columns_of, decode, devices_of, formats, in_order, lost, recognise, write_speed
from auditor.plan.formats.collector import from_other_end

LINK = PlanLink(
    PlanEnd("n-1", "nic0", rack="R1", position="12", lane="", id="0000:3b:00.0"),
    PlanEnd("lf-1", "swp1", rack="R2"),
    plane="compute",
    speed=400_000_000_000,
    length_m=2.5,
    tags={"tray": "T7", "b_model": "SN5600"},
)
OURS = ("batfish", "csv", "dot", "ibnetdiscover", "intent", "topo")
WRITABLE = [name for name in OURS if formats()[name].write is not None]


def test_formats_are_found_by_presence() -> None:
    assert set(OURS) <= set(formats())
    assert [formats()[name].name for name in OURS] == list(OURS)


def test_columns_stand_in_the_order_of_the_native_plan_and_tags_last() -> None:
    assert list(columns_of(LINK).items()) == [
        ("a_device", "n-1"), ("a_port", "nic0"), ("b_device", "lf-1"), ("b_port", "swp1"), ("plane", "compute"),
        ("speed", "400G"),
        ("length_m", "2.5"), ("a_rack", "R1"), ("a_position", "12"), ("b_rack", "R2"), ("a_id", "0000:3b:00.0"),
        ("b_model", "SN5600"), ("tray", "T7"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("bits", "text"), [(400 * 10**9, "400G"), (2_500_000_000, "2500M"), (56 * 10**9, "56G"), (9_600, "9.600k"), (1_000, "1k")]
)
def test_speeds_are_written_in_whole_numbers(bits: int, text: str) -> None:
    assert write_speed(bits) == text


def test_what_a_format_does_not_hold_is_told_in_the_order_of_the_plan() -> None:
    plan = Plan("x", (LINK,))
    assert lost(plan, frozenset({"a_device", "a_port", "b_device", "b_port", "b_model"})) == (
        "plane", "speed", "length_m", "a_rack", "a_position", "b_rack", "a_id", "tray",
    )  # fmt: skip
    assert lost(plan, frozenset({*COLUMNS, TAGS})) == ()


def test_devices_come_with_what_any_of_their_links_says() -> None:
    other = PlanLink(PlanEnd("n-1", "nic1"), PlanEnd("lf-1", "swp2", position="3"), tags={"a_role": "gpu_host"})
    found = devices_of([LINK, other])
    assert (found["n-1"].rack, found["n-1"].role) == ("R1", "gpu_host")
    assert (found["lf-1"].rack, found["lf-1"].position, found["lf-1"].hardware_model) == ("R2", "3", "SN5600")


def test_links_are_put_in_order_by_number() -> None:
    links = [PlanLink(PlanEnd("lf", f"swp{n}"), PlanEnd(f"n-{n}", "e0")) for n in (10, 2, 1, 100)]
    assert [link.a.port for link in in_order(links)] == ["swp1", "swp2", "swp10", "swp100"]


@pytest.mark.parametrize("raw", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_nothing_is_no_document(raw: bytes) -> None:
    with pytest.raises(PlanError, match="x: is empty"):
        decode(raw, "x")


@pytest.mark.parametrize(
    ("raw", "line"), [(b"a\nb\x00c", 2), (b"graph {\n\xff\xfe}", 2), (b"\x89PNG\r\n\x1a\n\x00", 3), (b"PK\x03\x04\x00", 1)]
)
def test_what_is_no_text_is_told_with_its_line(raw: bytes, line: int) -> None:
    with pytest.raises(PlanError) as caught:
        decode(raw, "x")
    assert caught.value.line == line


@pytest.mark.parametrize("raw", [b"hello\nworld\n", b"{}", b"[1, 2]", b"a,b,c\n1,2,3\n", b"\x00" * 100, b"<xml/>", b"---\n- a\n"])
def test_what_no_format_knows_is_said_with_the_formats_there_are(raw: bytes) -> None:
    with pytest.raises(PlanError, match=r"x\.bin: is in no format that is known here \(.*dot.*topo"):
        recognise(raw, "x.bin")


def test_the_plan_is_not_empty_when_recognised() -> None:
    with pytest.raises(PlanError, match="is empty"):
        recognise(b"\n", "x")


@pytest.mark.parametrize("name", WRITABLE)
def test_what_is_written_is_recognised_and_the_same_for_any_order(name: str) -> None:
    links = [PlanLink(PlanEnd(f"lf-{n}", "swp1"), PlanEnd(f"n-{n}", "mlx5_0"), speed=400 * 10**9) for n in range(12)]
    write = formats()[name].write
    assert write is not None
    text, _ = write(Plan("pod", tuple(links)))
    assert text == write(Plan("pod", tuple(reversed(links))))[0]
    assert recognise(text.encode(), "anything").name == name


@pytest.mark.parametrize("name", WRITABLE)
def test_columns_that_cannot_be_carried_are_the_ones_that_do_not_come_back(name: str) -> None:
    link = PlanLink(
        PlanEnd("n-1", "mlx5_0", "R1", "12", "", "0000:3b:00.0"),
        PlanEnd("lf-1", "7", "R2", "40", "", "02:00:5e:00:00:01"),
        "compute", "r0", 400 * 10**9, "C-1", "AOC", 12.5, "W-1", "pp-1:3", {"a_model": "M1", "b_role": "leaf", "tray": "T7"},
    )  # fmt: skip
    format_ = formats()[name]
    assert format_.write is not None
    text, gone = format_.write(Plan("pod", (link,)))
    (back,) = format_.read(text.encode(), "x", {}).links
    found, kept = columns_of(back), {key: value for key, value in columns_of(link).items() if key not in gone}
    assert kept in (found, from_other_end(found))
    never = {key for key in columns_of(link) if key not in format_.carries and (key in COLUMNS or TAGS not in format_.carries)}
    assert never <= set(gone) and set(gone) - never <= {"a_id"}, "an identity that is no MAC is carried by some only"


@pytest.mark.parametrize("name", [name for name in WRITABLE if name not in ("csv", "dot")])
def test_lanes_that_share_the_name_of_a_port_are_refused_where_there_are_no_lanes(name: str) -> None:
    links = [PlanLink(PlanEnd("lf-1", "7", lane=str(n)), PlanEnd(f"n-{n}", "e0"), cable_id="B-1", line=n) for n in (1, 2)]
    write = formats()[name].write
    assert write is not None
    with pytest.raises(PlanError, match=r"pod:2: lf-1:P?7 has several cables"):
        write(Plan("pod", tuple(links)))


@pytest.mark.parametrize("name", [name for name in OURS if name != "csv"])
@pytest.mark.parametrize("other", OURS)
def test_another_formats_document_is_one_clear_error(name: str, other: str) -> None:
    if name == other:
        pytest.skip("its own format")
    documents = {
        "batfish": b'{"edges": [{"node1": {"hostname": "a", "interfaceName": "b"}}]}',
        "csv": b"a_device,a_port,b_device,b_port\na,b,c,d\n",
        "dot": b"graph G {\n a:b -- c:d\n}\n",
        "ibnetdiscover": b'Switch\t1 "S-0000000000000001"\t\t# "x" base port 0 lid 1 lmc 0\n',
        "intent": b"schema: turnup.intent/v1\ncables: []\n",
        "topo": b"T a\n  P1 -> T b P2\n",
    }
    with pytest.raises(PlanError, match=r"^x(:\d+)?: "):
        formats()[name].read(documents[other], "x", {})
