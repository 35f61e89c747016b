"""Reads lists of NetBox's REST API: paged, bounded, and only from the server that was named.

The token comes from the environment and stands in no message. It is sent to the given host alone: pages and redirects that
name another one (an internal name behind a proxy) are asked for at the given address.
"""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from auditor.canonical import printable
from auditor.errors import SetupError
from auditor.plan.formats.netbox_document import CABLES, DEVICES, FRONT_PORTS, INTERFACES, REAR_PORTS, TERMINATIONS, slim

TOKEN = "AUDITOR_NETBOX_TOKEN"  # noqa: S105 - the name of the variable
"""The environment variable that holds the token."""

FILTERS = ("site", "location", "rack", "role", "tag", "tenant", "status", "platform", "manufacturer")
"""Filters of `dcim/devices` that may be passed on, by their names in NetBox."""

_Value = str | int | float | bool | None
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_RETRIED = frozenset({429, 502, 503, 504})
_QUERIES: Mapping[str, Mapping[str, str]] = {INTERFACES: {"cabled": "true"}, DEVICES: {"exclude": "config_context"}}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one import may cost: objects per page and in all, bytes per answer, seconds per request and in all."""

    page: int = 500
    objects: int = 1_000_000
    answer_bytes: int = 64 * 1024 * 1024
    request_s: float = 60
    total_s: float = 1800
    tries: int = 3


class NetBox:
    """One server. Raises SetupError, without the token, for whatever goes wrong."""

    def __init__(
        self,
        url: str,
        limits: Limits | None = None,
        *,
        ca_file: Path | None = None,
        transport: httpx.BaseTransport | None = None,
        environment: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`url` is the server's address, with or without `/api`; `ca_file` has the certificates that its own is checked with."""
        self._base = _base(url)
        self._limits, self._sleep, self._clock = limits or Limits(), sleep, clock
        self._token = _token(os.environ if environment is None else environment)
        scheme = "Bearer" if self._token.startswith("nbt_") else "Token"  # v2 tokens of NetBox 4.5 and later
        try:
            tls = ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
        except (OSError, ssl.SSLError) as problem:
            raise SetupError(f"{ca_file} holds no certificates that can be read ({type(problem).__name__})") from None
        self._client = httpx.Client(
            headers={"Authorization": f"{scheme} {self._token}", "Accept": "application/json", "User-Agent": "auditor"},
            timeout=self._limits.request_s,
            verify=tls,
            follow_redirects=False,
            transport=transport,
        )
        self._end = self._clock() + self._limits.total_s

    def __enter__(self) -> NetBox:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def __repr__(self) -> str:
        return f"NetBox({self._base})"

    def cables(self, site: str = "") -> bytes:
        """Cables and all that tells of them, as a document for the plan format `netbox`; with `site` (slug) those of one site."""
        where = {"site": site} if site else {}
        out = {CABLES: list(self.objects(CABLES, where))}
        if any(cable.get("profile") for cable in out[CABLES]):
            out[TERMINATIONS] = list(self.objects(TERMINATIONS, {}, optional=True))
        panels = any(_ends_on_panel(cable) for cable in out[CABLES])
        for kind in (INTERFACES, DEVICES, *((FRONT_PORTS, REAR_PORTS) if panels else ())):
            out[kind] = list(self.objects(kind, where if kind != DEVICES else {}))
        return json.dumps(out, separators=(",", ":")).encode()

    def devices(self, filters: Mapping[str, Collection[str]] | None = None) -> list[dict[str, Any]]:
        """The devices that pass the filters (`{"site": ["dc1"], "role": ["leaf", "spine"]}`)."""
        for name in filters or {}:
            if name not in FILTERS:
                raise SetupError(f"{printable(name, 40)!r} is no filter; filters: {', '.join(FILTERS)}")
        return list(self.objects(DEVICES, filters or {}))

    def objects(
        self, kind: str, filters: Mapping[str, str | Collection[str]], *, optional: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Every object of a list (`dcim/cables`), reduced to what is read of it. An `optional` list may be missing."""
        query: list[tuple[str, str]] = [("limit", str(self._limits.page)), *_QUERIES.get(kind, {}).items()]
        for name, wanted in filters.items():
            query += [(name, value) for value in ([wanted] if isinstance(wanted, str) else wanted)]
        asked: set[tuple[tuple[str, str], ...]] = set()
        seen: set[str] = set()
        while True:
            if tuple(query) in asked:
                raise self._error(kind, "names the same page as the next one over and over")
            asked.add(tuple(query))
            page = self._page(kind, query, optional=optional)
            if page is None:
                return
            for item in page["results"]:
                if not isinstance(item, dict) or "id" not in item:
                    raise self._error(kind, "answers with objects that have no id")
                if str(item["id"]) not in seen:
                    seen.add(str(item["id"]))
                    yield slim(kind, item)
            if len(seen) > self._limits.objects:
                raise self._error(kind, f"has more than {self._limits.objects} objects")
            if not page.get("next"):
                break
            # the host in `next` may be an internal one, and so may be the path: only its query counts
            query = parse_qsl(urlsplit(str(page["next"])).query, keep_blank_values=True)
        count = page.get("count")
        if isinstance(count, int) and count != len(seen):
            raise self._error(kind, f"said {count} objects and gave {len(seen)}: it changed while it was read; try again")

    def _page(self, kind: str, query: list[tuple[str, str]], *, optional: bool) -> dict[str, Any] | None:
        path = f"{kind}/"
        for _ in range(4):
            response, body = self._get(kind, path, query)
            if response.status_code not in (301, 302, 303, 307, 308):
                break
            target = urlsplit(response.headers.get("location", ""))
            path = target.path.partition("/api/")[2] or path
            query = parse_qsl(target.query, keep_blank_values=True) or query
            if not target.path.partition("/api/")[2]:
                raise self._error(kind, f"redirects to {printable(target.path, 80)!r}, which is no API: is the address right?")
        else:
            wants = ", it may want https" if self._base.scheme == "http" else ""
            raise self._error(kind, f"redirects in a circle{wants}")
        if response.status_code == 404 and optional:
            return None
        if response.status_code in (401, 403):
            raise self._error(kind, f"refuses the token in {TOKEN} (status {response.status_code})")
        if response.status_code != 200:
            raise self._error(kind, f"answers with status {response.status_code}")
        try:
            page = json.loads(body)
        except (ValueError, RecursionError):
            raise self._error(kind, "answers with something else than JSON: is the address right?") from None
        if not isinstance(page, dict) or not isinstance(page.get("results"), list):
            raise self._error(kind, "answers with no list of objects: is it NetBox?")
        return page

    def _get(self, kind: str, path: str, query: list[tuple[str, str]]) -> tuple[httpx.Response, bytes]:
        url = self._base.copy_with(path=f"{self._base.path}{path}", params=httpx.QueryParams(list[tuple[str, _Value]](query)))
        for attempt in range(1, self._limits.tries + 1):
            last = attempt == self._limits.tries
            try:
                response, body = self._answer(kind, url)
            except httpx.HTTPError as problem:
                if last or not isinstance(problem, httpx.TransportError) or self._about_tls(problem):
                    raise self._error(kind, f"cannot be asked: {self._words(problem)}") from None
                wait = 1.0
            else:
                if last or response.status_code not in _RETRIED:
                    return response, body
                asked = response.headers.get("retry-after", "")
                wait = min(float(asked), 30.0) if asked.isdigit() else 2.0
            if self._clock() + wait > self._end:
                break
            self._sleep(wait)
        raise self._error(kind, f"did not answer within {self._limits.total_s:g} s")

    def _answer(self, kind: str, url: httpx.URL) -> tuple[httpx.Response, bytes]:
        body = bytearray()
        with self._client.stream("GET", url) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > self._limits.answer_bytes:
                    raise self._error(kind, f"answers with more than {self._limits.answer_bytes} bytes")
                if self._clock() > self._end:
                    raise self._error(kind, f"did not answer within {self._limits.total_s:g} s")
        return response, bytes(body)

    @staticmethod
    def _about_tls(problem: BaseException) -> bool:
        return "CERTIFICATE" in str(problem).upper() or "SSL" in str(problem).upper()

    def _words(self, problem: httpx.HTTPError) -> str:
        hint = " (a certificate of your own goes into --ca-file)" if self._about_tls(problem) else ""
        return f"{type(problem).__name__}: {problem!s}"[:300] + hint

    def _error(self, kind: str, message: str) -> SetupError:
        text = f"{self._base.copy_with(path=f'{self._base.path}{kind}/')} {message}"
        return SetupError(printable(text.replace(self._token, "…"), 600))


def _base(url: str) -> httpx.URL:
    """The address of the API, ending in `/api/`. Refused: credentials in it, and plain HTTP to other machines."""
    try:
        parts = httpx.URL(url.strip())
    except (httpx.InvalidURL, TypeError):
        raise SetupError("the NetBox address is no URL; write it like https://netbox.example.net") from None
    if parts.userinfo or "@" in url:
        raise SetupError(f"the NetBox address must hold no credentials; the token goes into {TOKEN}")
    if parts.scheme not in ("https", "http") or not parts.host or parts.query or parts.fragment:
        raise SetupError(f"{printable(url, 100)!r} is no address of NetBox; write it like https://netbox.example.net")
    if parts.scheme == "http" and parts.host not in _LOOPBACK:
        raise SetupError("the NetBox address must begin with https: a token is not sent in the clear")
    path = parts.path.rstrip("/")
    return parts.copy_with(path=f"{path}/" if path.endswith("/api") else f"{path}/api/")


def _token(environment: Mapping[str, str]) -> str:
    token = environment.get(TOKEN, "").strip()
    if not token:
        raise SetupError(f"the environment variable {TOKEN} must hold a token of NetBox that may read")
    if not token.isascii() or not token.isprintable() or " " in token or len(token) < 8:
        raise SetupError(f"the environment variable {TOKEN} holds no token: blanks or odd characters, or too short")
    return token


def _ends_on_panel(cable: Mapping[str, Any]) -> bool:
    text = json.dumps(
        [cable.get(key) for key in ("a_terminations", "b_terminations", "termination_a_type", "termination_b_type")]
    )
    return '"dcim.frontport"' in text or '"dcim.rearport"' in text
