from __future__ import annotations

import json

import pytest

from auditor.collect.redaction import REDACTED, redact


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("username ops password 7 0822455D0A16 role x", "0822455D0A16"),
        ("enable secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0", "$1$mERr$hx5rVt7rPNoS4wqbXKX7m0"),
        ("password: s3cr3t!", "s3cr3t!"),
        ("passkey=s3cr3t", "s3cr3t"),
        ("snmp-server community s3cr3t ro", "s3cr3t"),
        ("root:$6$abcdefgh$0123456789abcdef:19000:0:", "$6$abcdefgh$0123456789abcdef"),
        ("tacacs-server shared-key 0 s3cr3t", "s3cr3t"),
        ('{"description": "password=s3cr3t"}', "s3cr3t"),
    ],
)
def test_a_secret_is_replaced_and_the_words_around_it_stay(text: str, secret: str) -> None:
    assert redact(text) == text.replace(secret, REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        "sudo: a password is required",
        "Ethernet0  400G  9100  rs  up",
        "description link to password-vault",
        "authentication: none\n  keepalive 10",
        '{"interface": {"eth0": {"mtu": 9100, "token_bucket": 3}}}',
        "os_version: 4.4.2",
    ],
)
def test_what_is_no_secret_stays_byte_for_byte(text: str) -> None:
    assert redact(text) == text


def test_json_stays_json_with_the_same_lines() -> None:
    text = json.dumps(
        {
            "TACPLUS": {"global": {"passkey": 'a"b\\c', "auth_type": "pap"}},
            "SNMP_COMMUNITY": {"readers": {"TYPE": "RO"}, "wri}{ters": {"TYPE": "RW"}},
            "SNMP_USER": {"u": {"SNMP_USER_AUTH_PASSWORD": "hunter2hunter2"}},
            "PORT": {"Ethernet0": {"mtu": "9100"}},
        },
        indent=2,
    )
    out = redact(text)
    assert out.count("\n") == text.count("\n")
    for secret in ("a\\", "readers", "wri", "hunter2"):
        assert secret not in out
    document = json.loads(out)
    assert document["PORT"] == {"Ethernet0": {"mtu": "9100"}}
    assert document["TACPLUS"]["global"] == {"passkey": REDACTED, "auth_type": "pap"}


def test_a_private_key_is_replaced_line_for_line() -> None:
    text = "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\naC1rZXkt\n-----END OPENSSH PRIVATE KEY-----\nz\n"
    out = redact(text)
    assert "b3BlbnNz" not in out
    assert out.splitlines()[-1] == "z"
    assert out.count("\n") == text.count("\n")


def test_a_private_key_that_was_cut_is_replaced_to_the_end() -> None:
    assert "b3Blbn" not in redact("-----BEGIN PRIVATE KEY-----\nb3BlbnNz\n")


def test_a_platform_adds_patterns_of_its_own() -> None:
    assert redact("community s3cr3t\nx community y", (r"^community (\S+)",)) == f"community {REDACTED}\nx community y"


def test_a_platform_pattern_that_spans_lines_keeps_their_number() -> None:
    assert redact("key\nab\ncd\nend", (r"key\n((?:.*\n)+)end",)).count("\n") == 3


@pytest.mark.parametrize(
    "evil",
    [
        '"' * 200_000,
        "password " * 40_000,
        '"SNMP_COMMUNITY": {' * 5_000,
        "-----BEGIN PRIVATE KEY-----" * 8_000,
        "secret" * 60_000,
    ],
)
@pytest.mark.timeout(10)
def test_hostile_text_costs_little_time(evil: str) -> None:
    redact(evil)
