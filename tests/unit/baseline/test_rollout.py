from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from auditor.baseline.document import Use
from auditor.baseline.rollout import SOAK, check, read_rollouts, release_of, versions_of
from auditor.errors import ErrorList
from auditor.model import Device

FIRST = Device("leaf-01", ("sonic",), role="leaf", rack="R12")
RACK = Device("leaf-02", ("sonic",), role="leaf", rack="R12")
LATER = Device("leaf-09", ("sonic",), role="leaf", rack="R20")
OLD, NEW, SITE = Use("leaf", "1.0.0"), Use("leaf", "1.1.0"), Use("site", "2.0.0")
TEXT = """\
assignments: []
rollouts:
  - name: leaf-1.1
    from: leaf@1.0.0
    to: leaf@1.1.0
    window: 4h
    waves:
      - {select: {name: leaf-01}, start: 2030-05-06T22:00:00Z}
      - {select: {rack: R12}, start: 2030-05-10T22:00:00+00:00, window: 90min, soak: 24h}
      - {select: {role: leaf}}
"""


def read(tmp_path: Path, text: str = TEXT):
    file = tmp_path / "assignments.yaml"
    file.write_text(text)
    return read_rollouts(file)


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2030, 5, day, hour, minute, tzinfo=UTC)


def names(device: Device, uses: tuple[Use, ...], rollouts: object, time: datetime) -> list[list[str]]:
    return [[f"{use.profile}@{use.version}" for use in some] for some in versions_of(device, uses, rollouts, time)]


@pytest.mark.parametrize(
    ("time", "wanted"),
    [
        (at(6, 21, 59), [["leaf@1.0.0"]]),
        (at(6, 22), [["leaf@1.0.0"], ["leaf@1.1.0"]]),
        (at(7, 1, 59), [["leaf@1.0.0"], ["leaf@1.1.0"]]),
        (at(7, 2), [["leaf@1.1.0"]]),
        (at(30, 0), [["leaf@1.1.0"]]),
    ],
)
def test_old_before_either_inside_new_after_the_window(tmp_path: Path, time: datetime, wanted: list[list[str]]) -> None:
    assert names(FIRST, (OLD,), read(tmp_path), time) == wanted


def test_a_device_belongs_to_the_first_wave_that_selects_it(tmp_path: Path) -> None:
    (rollout,) = read(tmp_path)
    assert [rollout.wave_of(device) for device in (FIRST, RACK, LATER, Device("gpu-1", ("linux",)))] == [0, 1, 2, None]
    assert names(RACK, (OLD,), (rollout,), at(9, 0)) == [["leaf@1.0.0"]]
    assert names(RACK, (OLD,), (rollout,), at(10, 23)) == [["leaf@1.0.0"], ["leaf@1.1.0"]]
    assert names(LATER, (OLD,), (rollout,), at(30, 0)) == [["leaf@1.0.0"]]


def test_a_rollout_keeps_the_place_of_the_version_and_leaves_the_others(tmp_path: Path) -> None:
    assert names(FIRST, (SITE, OLD), read(tmp_path), at(8, 0)) == [["site@2.0.0", "leaf@1.1.0"]]
    assert names(FIRST, (SITE,), read(tmp_path), at(6, 23)) == [["site@2.0.0"]]
    assert names(FIRST, (NEW,), read(tmp_path), at(1, 0)) == [["leaf@1.1.0"]]


def test_a_second_rollout_goes_on_from_where_the_first_led(tmp_path: Path) -> None:
    text = (
        TEXT
        + """\
  - name: leaf-1.2
    from: leaf@1.1.0
    to: leaf@1.2.0
    waves: [{select: {name: leaf-01}, start: 2030-05-07T01:00:00Z, window: 2h}]
"""
    )
    found = read(tmp_path, text)
    assert names(FIRST, (OLD,), found, at(7, 0)) == [["leaf@1.0.0"], ["leaf@1.1.0"]]
    assert names(FIRST, (OLD,), found, at(7, 1, 30)) == [["leaf@1.0.0"], ["leaf@1.1.0"], ["leaf@1.2.0"]]
    assert names(FIRST, (OLD,), found, at(7, 2, 30)) == [["leaf@1.1.0"], ["leaf@1.2.0"]]
    assert names(FIRST, (OLD,), found, at(7, 4)) == [["leaf@1.2.0"]]


def test_windows_and_soaks_have_their_defaults_and_their_own(tmp_path: Path) -> None:
    (rollout,) = read(tmp_path)
    one, two, three = rollout.waves
    assert (one.window, one.soak) == (timedelta(hours=4), SOAK)
    assert (two.window, two.soak) == (timedelta(minutes=90), timedelta(hours=24))
    assert one.soaked == at(10, 2)
    assert (three.start, three.end, three.soaked) == (None, None, None)


def wave(text: str, *, more: str = "") -> str:
    return f"rollouts:\n  - name: r\n    from: leaf@1.0.0\n    to: leaf@1.1.0\n{more}    waves:\n{text}"


FULL = "{select: {name: a}, start: 2030-05-06T22:00:00Z, window: 1h}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rollouts: {}\n", ":1: 'rollouts' must be a list"),
        ("rollouts:\n- 3\n", ":2: a rollout must be a mapping"),
        ("rollouts:\n- {name: r}\n", ":2: None names no baseline"),
        ("rollouts:\n- {name: r, from: a@1.0.0, to: b@1.0.0, waves: []}\n", ":2: goes from a@1.0.0 to b@1.0.0"),
        ("rollouts:\n- {name: r, from: a@1.0.0, to: a@1.0.0, waves: []}\n", ":2: goes from a@1.0.0 to itself"),
        ("rollouts:\n- {name: r, from: a@1.0.0, to: a@1.1.0, waves: []}\n", ":2: 'waves' must be a list"),
        ("rollouts:\n- {name: 'r r', from: a@1.0.0, to: a@1.1.0, waves: []}\n", ":2: 'name' must be a word"),
        (wave("    - {selct: {name: a}}\n"), ":6: unknown key 'selct' (did you mean 'select'?)"),
        (wave("    - {select: {nam: a}}\n"), ":6: cannot select by 'nam'"),
        (wave("    - 3\n"), ":6: a wave must be a mapping"),
        (wave("    - {select: {name: a}, start: 2030-05-06T22:00:00Z}\n"), ":6: a wave with a start needs a 'window'"),
        (wave("    - {select: {name: a}, start: 2030-05-06T22:00:00, window: 1h}\n"), ":6: 'start' must be a time with its zone"),
        (wave("    - {select: {name: a}, start: 2030-05-06, window: 1h}\n"), ":6: 'start' must be a time with its zone"),
        (wave("    - {select: {name: a}, start: tomorrow, window: 1h}\n"), ":6: 'start' must be a time with its zone"),
        (wave(f"    - {FULL}\n", more="    soak: long\n"), ":5: 'soak': a duration is"),
        (wave("    - {select: {name: a}, window: 3}\n"), ":6: 'window': a duration is"),
        (wave(f"    - {{select: {{name: b}}}}\n    - {FULL}\n"), ":7: starts although the wave before it has no start"),
        (
            wave(f"    - {FULL}\n    - {{select: {{name: b}}, start: 2030-05-09T22:00:00Z, window: 1h}}\n"),
            ":7: starts before the wave before it has soaked, at 2030-05-09T23:00:00+00:00",
        ),
        (wave(f"    - {FULL}\n") + wave(f"    - {FULL}\n")[10:], ":7: rollout 'r' stands twice, first on line 2"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ErrorList) as caught:
        read(tmp_path, text)
    assert any("assignments.yaml" + words in str(error) for error in caught.value.errors), str(caught.value)


def test_a_wave_that_moves_nobody_is_an_error(tmp_path: Path) -> None:
    rollouts = read(tmp_path)
    assigned = {"leaf-01": (OLD,), "leaf-02": (SITE,), "leaf-09": (NEW,)}
    errors = [str(error) for error in check(rollouts, assigned, [FIRST, RACK, LATER])]
    assert len(errors) == 1
    assert ":9: wave 2: none of its devices is assigned leaf@1.0.0 or leaf@1.1.0" in errors[0]
    errors = [str(error) for error in check(rollouts, assigned, [FIRST])]
    assert [":9: wave 2 selects no device" in errors[0], ":10: wave 3 selects no device" in errors[1]] == [True, True]


def test_a_release_is_what_a_device_was_moved_to_and_unknown_inside_the_window() -> None:
    kept, old = Use("common", "1.0.0"), Use("leaf", "1.2.0")
    new = Use("leaf", "1.3.0", "assignments.yaml", 9)
    assert release_of((kept, old), [(kept, old)]) == ""
    assert release_of((kept, old), [(kept, old), (kept, new)]) is None
    assert release_of((kept, old), [(kept, new)]) == "leaf@1.3.0"
