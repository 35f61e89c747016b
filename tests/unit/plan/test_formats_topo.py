from __future__ import annotations

import pytest

from auditor.errors import ErrorList, PlanError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.formats import Imported
from auditor.plan.formats.topo import read, sniff, write

G = 10**9


def imported(text: str) -> Imported:
    return read(text.encode(), "t.topo", {})


def wrong(text: str) -> str:
    with pytest.raises((PlanError, ErrorList)) as caught:
        imported(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("arrow", "speed"),
    [
        ("->", None), ("-4x->", None), ("-4x-100G->", 400 * G), ("-4X-50G->", 200 * G), ("-1x-2.5G->", 2_500_000_000),
        ("-2x-100G->", 200 * G), ("-4x-14->", 56 * G), ("-4x-NDR->", 400 * G), ("-12x-10G->", 120 * G), ("-25G->", 100 * G),
        ("-4x-200G->", 800 * G),
    ],
)  # fmt: skip
def test_the_arrow_says_the_speed_of_one_lane(arrow: str, speed: int | None) -> None:
    found = imported(f"SW a\n\tP1 {arrow} HCA n mlx5_0/P1\n")
    assert [link.speed for link in found.links] == [speed]
    assert found.notes == ()


@pytest.mark.parametrize("arrow", ["-4x-33G->", "-4x-ZDR->", "-3x-NDR->", "-4x-1.2.3G->"])
def test_a_speed_that_is_none_is_left_out_and_said(arrow: str) -> None:
    found = imported(f"SW a\n\tP1 {arrow} HCA n mlx5_0/P1\n")
    assert found.links[0].speed is None and found.notes[0].startswith("t.topo:2: the speed on the arrow")


def test_blocks_need_no_empty_line_between_them() -> None:
    text = "SW a\n  P1 -> SW b P1\n  P2 -> SW b P2\nSW b\n  P1 -> SW a P1\n  P2 -> SW a P2\n"
    assert [f"{link.a} {link.b}" for link in imported(text).links] == ["a:1 b:1", "a:2 b:2"]


def test_an_adapter_with_two_ports_names_its_port() -> None:
    text = "SW a\n P1 -> HCA n mlx5_0/P1\n P2 -> HCA n mlx5_0/P2\n P3 -> HCA n mlx5_1/P1\n P4 -> HCA m mlx5_0/P1\n"
    assert [str(link.b) for link in imported(text).links] == ["n:mlx5_0/1", "n:mlx5_0/2", "n:mlx5_1", "m:mlx5_0"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("SW a\n P1 -> SW b P1\n\n P2 -> SW b P2\n", 4, "no system stands above"),
        ("SW a\n P1 -> SW b P1\nwhat\n", 3, "neither a system nor a cable"),
        ("SW a\n P1 -> SW b P1\n P2 -> SW b\n", 3, "neither a system nor a cable"),
        ("SW a\n P1 -> SW b P1\n P1 -> SW c P1\n", 3, "port a:1 is already used by line 2"),
        ("SW a\n P1 -> SW b P1\n\nSW b\n P1 -> SW a P2\n", 5, "port b:1 is already used by line 2"),
        ("SW a\n P1 -> SW a P2\n", 2, "both ends are on a"),
        ("SW a\nSW b\n", None, "holds no cable"),
        ("SW a\n P1 -> SW \x1b[2Jb P1\n", 2, "control character"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int | None, words: str) -> None:
    message = wrong(text)
    assert f"t.topo:{line}: " in message if line else message.startswith("t.topo: ")
    assert words in message and "\x1b" not in message


def test_a_system_of_two_types_is_said() -> None:
    found = imported("SW a\n P1 -> SW b P1\nXX b\n P2 -> SW a P2\n")
    assert "t.topo:3: b: hardware_model is SW elsewhere and XX here; the first counts" in found.notes


def test_every_cable_is_written_in_both_blocks_with_types_and_panel_names() -> None:
    links = (
        PlanLink(PlanEnd("n-1", "mlx5_0"), PlanEnd("lf-1", "10"), speed=400 * G, tags={"a_model": "HCA_8", "b_model": "MQM9700"}),
        PlanLink(PlanEnd("n-2", "mlx5_0/1"), PlanEnd("lf-1", "2"), speed=200 * G),
    )
    text, gone = write(Plan("x", links))
    assert text == (
        "MQM9700 lf-1\n"
        "   P2 -4x-50G-> UNKNOWN n-2 mlx5_0/P1\n"
        "   P10 -4x-100G-> HCA_8 n-1 mlx5_0/P1\n"
        "\n"
        "HCA_8 n-1\n"
        "   mlx5_0/P1 -4x-100G-> MQM9700 lf-1 P10\n"
        "\n"
        "UNKNOWN n-2\n"
        "   mlx5_0/P1 -4x-50G-> MQM9700 lf-1 P2\n"
    )
    assert gone == () and sniff(text.encode(), "x")


def test_a_type_that_is_not_known_stays_unknown() -> None:
    (link,) = imported(write(Plan("x", (PlanLink(PlanEnd("a", "1"), PlanEnd("b", "2")),)))[0]).links
    assert dict(link.tags) == {}


def test_a_speed_of_no_number_of_lanes_is_not_carried() -> None:
    text, gone = write(Plan("x", (PlanLink(PlanEnd("a", "1"), PlanEnd("b", "2"), speed=123 * G),)))
    assert gone == ("speed",) and "P1 -> UNKNOWN b P2" in text


@pytest.mark.parametrize(
    ("device", "port"), [("a b", "1"), ("a/b", "1"), ("a\tb", "1"), ("a", "Eth 1/1"), ("a", "#1"), ("a\u3000b", "1")]
)
def test_names_that_would_mean_something_else_are_refused(device: str, port: str) -> None:
    with pytest.raises(PlanError, match=r"plan\.csv:9: .* cannot be written"):
        write(Plan("x", (PlanLink(PlanEnd(device, port), PlanEnd("z", "2"), line=9),), file="plan.csv"))


def test_a_type_with_a_blank_is_refused() -> None:
    with pytest.raises(PlanError, match="a type of system holds no blank"):
        write(Plan("x", (PlanLink(PlanEnd("a", "1"), PlanEnd("b", "2"), tags={"a_model": "NVL72 tray"}),)))


def test_two_names_of_one_panel_port_are_refused() -> None:
    links = (PlanLink(PlanEnd("a", "1"), PlanEnd("b", "1")), PlanLink(PlanEnd("a", "P1"), PlanEnd("c", "1")))
    with pytest.raises(PlanError, match="a:P1 has several cables"):
        write(Plan("x", links))
