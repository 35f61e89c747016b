from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from auditor.baseline.waivers import read_waivers
from auditor.errors import ErrorList


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
