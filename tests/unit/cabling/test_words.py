import string
from importlib import resources

import pytest

from auditor import yamldoc
from auditor.cabling.words import LANGUAGES, WorkOrders, catalogue, sentence, steps
from auditor.model import CableCause, CauseKind, Device, Hand, Move, Plan, PlanEnd, PlanLink, Severity

KEYS = sorted(catalogue("en"))
HOST, LEAF, FREE = ("gpu-01", "ens1np0"), ("leaf-01", "Ethernet0"), ("leaf-01", "Ethernet8")
PLAN = Plan("p", (PlanLink(PlanEnd(*HOST, "R12", "18", "", "0000:18:00.0"), PlanEnd(*LEAF, "R20"), "compute", "0", label="C-7"),))
DEVICES = {"leaf-01": Device("leaf-01", ("sonic",), role="leaf", hardware_model="ACS-MSN4700", position="40")}


def fields(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def cause(*moves, kind=CauseKind.MIXED, **params):
    return CableCause(
        "k", kind, Severity.ERROR, ("a:p|b:q",), {"form": kind.value, "cables": "1", "ends": "a p\tb q", **params}, moves
    )


def only_step(move, lang="en"):
    return steps(cause(move), PLAN, DEVICES, lang)[-1]


@pytest.mark.parametrize("key", KEYS)
def test_every_sentence_has_the_same_words_in_every_language(key):
    assert [fields(catalogue(lang)[key]) for lang in LANGUAGES] == [fields(catalogue("en")[key])] * len(LANGUAGES)


@pytest.mark.parametrize("key", KEYS)
def test_every_sentence_is_written_in_its_language(key):
    chinese, english = catalogue("zh")[key], catalogue("en")[key]
    assert english.isascii()
    letters = "".join(text for text, *_ in string.Formatter().parse(chinese))
    assert key == "list.separator" or not letters.strip() or not letters.isascii()


def test_the_catalogue_has_every_language_for_every_key():
    text = resources.files("auditor").joinpath("data", "sentences.yaml").read_text("utf-8")
    assert {tuple(texts) for texts in yamldoc.parse(text, "sentences.yaml").data["sentences"].values()} == {LANGUAGES}


@pytest.mark.parametrize("hand", Hand)
def test_there_is_a_sentence_for_every_hand_movement(hand):
    assert f"move.{hand.value}" in KEYS


@pytest.mark.parametrize("kind", [kind for kind in CauseKind if kind is not CauseKind.NOT_PROVEN])
def test_there_is_a_title_for_every_kind(kind):
    assert any(key.startswith(f"title.{kind.value}") or key.startswith(f"title.{kind.value}.") for key in KEYS)


def test_another_language_is_refused():
    with pytest.raises(ValueError, match="no language 'de': there are en, zh"):
        catalogue("de")


def test_a_move_names_label_rack_position_id_and_cage_of_both_ports():
    move = Move(Hand.MOVE, source=(FREE,), target=(LEAF,), far=(HOST,), label="C-7")
    assert only_step(move) == (
        "Move the plug from leaf-01 Ethernet8 (rack R20, position 40, cage 2, lower row) to leaf-01 Ethernet0 (rack R20, "
        "position 40, cage 1, upper row) (label C-7); its other end is in gpu-01 ens1np0 (rack R12, position 18, 0000:18:00.0)."
    )


def test_the_same_move_in_chinese():
    move = Move(Hand.MOVE, source=(FREE,), target=(LEAF,), far=(HOST,), label="C-7")
    assert only_step(move, "zh") == (
        "把插头从 leaf-01 端口 Ethernet8（机柜 R20，位置 40，面板第 2 口，下排）移到 leaf-01 端口 Ethernet0（机柜 R20，位置 40，"
        "面板第 1 口，上排）（标签 C-7）；另一端在 gpu-01 端口 ens1np0（机柜 R12，位置 18，0000:18:00.0）。"
    )


def test_the_inventory_comes_before_the_plan():
    devices = {"gpu-01": Device("gpu-01", (), rack="R99")}
    assert (
        "gpu-01 ens1np0 (rack R99, position 18, 0000:18:00.0)"
        in steps(cause(Move(Hand.UNPLUG, source=(HOST,), far=(LEAF,))), PLAN, devices, "en")[-1]
    )


def test_a_port_of_unknown_occupancy_is_looked_at_before_the_move():
    said = only_step(Move(Hand.MOVE, source=(FREE,), target=(LEAF,), far=(HOST,), look_first=True))
    assert said.startswith("Look first whether leaf-01 Ethernet0 (")
    assert " Move the plug " in said


def test_right_links_on_the_same_plug_are_named():
    said = only_step(Move(Hand.UNPLUG, source=(LEAF, FREE), far=(HOST,), takes_along=("gpu-02:e0|leaf-01:Ethernet8",)))
    assert "leaf-01 Ethernet0 and Ethernet8" in said
    assert "1 link that are right" not in said
    assert "gpu-02:e0 – leaf-01:Ethernet8" in said


def test_a_plug_whose_other_end_hangs_says_so():
    assert "its other end hangs too" in only_step(Move(Hand.UNPLUG, source=(LEAF,)))


def test_a_title_counts_hosts_and_names_the_first_ones():
    hosts = "\n".join(f"gpu-{number}" for number in range(6))
    found = cause(kind=CauseKind.PORT_ORDER, hosts=hosts, plane="compute")
    assert sentence(found, "en").startswith("6 hosts (gpu-0, gpu-1, gpu-2, gpu-3 and 2 more): wired in port order")
    assert sentence(found, "zh").startswith("6 台主机（gpu-0、gpu-1、gpu-2、gpu-3 等，另有 2 个）：")


def test_text_of_devices_is_escaped_and_shortened():
    long = "x" * 5000
    found = cause(kind=CauseKind.DEGRADED, near_1="a p", far_1="b \x1b[31mq {near_1}", reason=long)
    said = sentence(found, "en")
    assert "\x1b" not in said
    assert "{near_1}" in said
    assert len(said) < 600


def test_one_reader_serves_many_causes():
    orders = WorkOrders(PLAN, DEVICES, "en")
    move = Move(Hand.REMOVE, source=(FREE,), far=(HOST,))
    assert orders.steps(cause(move)) == orders.steps(cause(move)) == steps(cause(move), PLAN, DEVICES, "en")
