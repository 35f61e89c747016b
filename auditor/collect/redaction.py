"""Takes secrets out of what a device printed, before anything else sees it.

Lines keep their numbers and JSON stays JSON: only the secret itself is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from auditor.model import REDACTED

_WORD = r"(?:password|passwd|passphrase|passkey|secret|shared[_-]?key|auth[_-]?key|private[_-]?key|api[_-]?key|auth[_-]?token)"
_PROSE = r"(?:is|was|has|for|to|of|on|or|and|must|not|with|from|required|expired|authentication|encryption|prompt)"

GENERIC = (
    # "auth_password": "…", also with a prefix or suffix such as SNMP_USER_AUTH_PASSWORD
    rf'(?i)"[\w.-]{{0,40}}{_WORD}[\w.-]{{0,20}}"[ \t]*:[ \t]*"((?:[^"\\\n]|\\.)+)"',
    # password 7 0822455D0A16 · secret: hunter2 · passkey=hunter2, but not "a password is required"
    rf"(?i)(?<!\w){_WORD}[ \t]*(?:[:=][ \t]*|[ \t]+(?:\d{{1,2}}[ \t]+)?)(?!\d{{1,2}}[ \t]|{_PROSE}\b)([^\s\"',;{{}}]+)",
    r"(?i)\bsnmp-server[ \t]+community[ \t]+(\S+)",
    # crypt(3) hashes wherever they stand
    r"(\$(?:1|2[abxy]|5|6|7|8|9|y|gy|argon2id?|sha512)\$[^\s:\"',]{8,})",
)
"""Patterns for every platform; the first group is the secret. Each is linear in the length of a line."""

_KEY_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY)-----(.*?)(?:-----END \1-----|\Z)", re.DOTALL)
_COMMUNITIES = re.compile(r'"SNMP_COMMUNITY"\s*:\s*\{((?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*)')
"""SONiC keeps the community as the key of a row: `"SNMP_COMMUNITY": {"public": {"TYPE": "RO"}}`."""
_ROW_KEY = re.compile(r'"((?:[^"\\\n]|\\.)+)"(?=\s*:\s*\{)')


def redact(body: str, patterns: Iterable[str] = ()) -> str:
    """`body` with every secret replaced by `<redacted>`; `patterns` are the platform's own, first group = secret."""
    for pattern in (*GENERIC, *patterns):
        body = _compiled(pattern).sub(_blank, body)
    if "PRIVATE KEY-----" in body:
        body = _KEY_BLOCK.sub(_blank_block, body)
    if "SNMP_COMMUNITY" in body:
        body = _COMMUNITIES.sub(_blank_keys, body)
    return body


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _blank(found: re.Match[str]) -> str:
    group = 1 if found.re.groups else 0
    secret = found.group(group)
    if secret is None:
        return found.group()
    start, end = (place - found.start() for place in found.span(group))
    whole = found.group()
    return whole[:start] + REDACTED + "\n" * secret.count("\n") + whole[end:]


def _blank_keys(found: re.Match[str]) -> str:
    start = found.start(1) - found.start()
    return found.group()[:start] + _ROW_KEY.sub(_blank, found.group(1))


def _blank_block(found: re.Match[str]) -> str:
    """The lines of a PEM block; inside JSON its line breaks are written `\\n` and vanish with it."""
    start, end = (place - found.start() for place in found.span(2))
    whole = found.group()
    return whole[:start] + REDACTED + "\n" * found.group(2).count("\n") + whole[end:]
