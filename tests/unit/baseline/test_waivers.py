from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from auditor.baseline.waivers import add_waiver, read_waivers
from auditor.errors import ErrorList, SetupError
from auditor.model import Waiver


def read(tmp_path: Path, text: str):
    file = tmp_path / "waivers.yaml"
    file.write_text(text)
    return read_waivers(file)


def one(**fields: object) -> str:
    base: dict[str, object] = {"owner": "netops", "reason": "CHG-7", "expires": "2030-01-31"}
    base.update(fields)
    return "waivers:\n- {" + ", ".join(f"{key}: {value}" for key, value in base.items() if value is not None) + "}\n"


def test_each_kind_of_waiver_is_read(tmp_path: Path) -> None:
    text = one(rule="mtu.*", object='"leaf-01:*"')
    text += one(fingerprint="'0123456789abcdef'").removeprefix("waivers:\n")
    text += one(gap='"gpu-*:firmware:permission"', expires="'2030-02-01'").removeprefix("waivers:\n")
    by_rule, by_fingerprint, by_gap = read(tmp_path, text)
    assert (by_rule.rule, by_rule.object, by_rule.expires) == ("mtu.*", "leaf-01:*", date(2030, 1, 31))
    assert (by_rule.owner, by_rule.reason, by_rule.origin.line) == ("netops", "CHG-7", 2)
    assert by_fingerprint.fingerprint == "0123456789abcdef"
    assert (by_gap.gap, by_gap.expires) == ("gpu-*:firmware:permission", date(2030, 2, 1))


def test_an_expired_waiver_is_read_like_any_other(tmp_path: Path) -> None:
    assert read(tmp_path, one(rule="'*'", object="'*'", expires="2001-01-01"))[0].expires == date(2001, 1, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (one(owner=None, rule="a", object="b"), ":2: 'owner' is missing"),
        (one(reason="''", rule="a", object="b"), ":2: 'reason' must be a text"),
        (one(expires="soon", rule="a", object="b"), ":2: 'expires' must be a day"),
        (one(expires="2030-01-31 10:00:00", rule="a", object="b"), ":2: 'expires' must be a day"),
        (one(), ":2: a waiver has exactly one of"),
        (one(gap="'a:b'", rule="a", object="b"), ":2: a waiver has exactly one of"),
        (one(rule="a"), ":2: 'rule' and 'object' go together"),
        (one(fingerprint="xyz"), "'xyz' is no fingerprint"),
        (one(fingerprint=12345678), ":2: 'fingerprint' must be a text"),
        (one(gap="firmware"), "is no gap; write device:table"),
        (one(rule="a", object="b", expiry=1), "unknown key 'expiry'"),
        ("waiver: []\n", "unknown key 'waiver' (did you mean 'waivers'?)"),
        ("- a\n", "must have 'waivers'"),
        ("waivers: [1]\n", ":1: a waiver must be a mapping"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ErrorList) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)


ADDED = Waiver("netops", 'says "no": #7', date(2030, 1, 31), fingerprint="0123456789abcdef")
ITEM = '{owner: "netops", reason: "says \\"no\\": #7", expires: 2030-01-31, fingerprint: "0123456789abcdef"}'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", f"waivers:\n  - {ITEM}\n"),
        ("# ours\n", f"# ours\nwaivers:\n  - {ITEM}\n"),
        ("waivers: []  # none\n", f"waivers:  # none\n  - {ITEM}\n"),
        ("waivers:", f"waivers:\n  - {ITEM}\n"),
        (
            "waivers:\n- owner: a\n  reason: b\n  expires: 2030-01-01\n  gap: x:y  # why\n\n# end",
            f"waivers:\n- owner: a\n  reason: b\n  expires: 2030-01-01\n  gap: x:y  # why\n\n# end\n- {ITEM}\n",
        ),
        (
            "waivers:\n    - {owner: a, reason: b, expires: 2030-01-01, gap: 'x:y'}\n",
            f"waivers:\n    - {{owner: a, reason: b, expires: 2030-01-01, gap: 'x:y'}}\n    - {ITEM}\n",
        ),
    ],
)
def test_a_waiver_is_added_and_every_line_stays(tmp_path: Path, text: str, wanted: str) -> None:
    file = tmp_path / "waivers.yaml"
    if text:
        file.write_text(text)
    add_waiver(file, ADDED)
    assert file.read_text() == wanted
    assert replace(read_waivers(file)[-1], origin=ADDED.origin) == ADDED
    assert [path.name for path in tmp_path.iterdir()] == ["waivers.yaml"]


def test_a_remark_of_device_words_stays_one_comment_line(tmp_path: Path) -> None:
    file = tmp_path / "waivers.yaml"
    add_waiver(file, ADDED, "mtu.compute on leaf-01:interface[x\n- evil: 1]")
    assert len(file.read_text().splitlines()) == 3
    assert len(read_waivers(file)) == 1


@pytest.mark.parametrize("text", ["waivers: [{owner: a, reason: b, expires: 2030-01-01, gap: 'x:y'}]\n", "waivers:\n...\n"])
def test_a_form_that_cannot_be_added_to_is_refused_and_kept(tmp_path: Path, text: str) -> None:
    file = tmp_path / "waivers.yaml"
    file.write_text(text)
    with pytest.raises(SetupError):
        add_waiver(file, ADDED)
    assert file.read_text() == text
