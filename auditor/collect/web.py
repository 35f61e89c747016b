"""One device over HTTPS: TLS verified, no redirects, no proxies, bounded in size and time."""

from __future__ import annotations

import json
import ssl
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from auditor.canonical import printable
from auditor.collect.ssh import Unreached
from auditor.errors import SetupError
from auditor.model import GapReason

_STATUS = {401: GapReason.AUTH, 403: GapReason.PERMISSION}


def tls(ca_file: Path | None) -> ssl.SSLContext:
    """The context that checks a device's certificate, also against the site's own authority. Raises SetupError."""
    try:
        context = ssl.create_default_context()
        if ca_file is not None:
            context.load_verify_locations(cafile=str(ca_file))
    except (OSError, ssl.SSLError) as problem:
        raise SetupError(f"{ca_file} holds no certificates that can be read ({type(problem).__name__})") from None
    return context


@dataclass(frozen=True, slots=True)
class Page:
    """What came back: HTTP status and body; `whole` is False where the body was cut at the limit."""

    status: int
    body: bytes
    whole: bool = True


@dataclass(slots=True)
class Web:
    """A client of one device. `address` is `host` or `host:port`, `limit` the bytes kept of one body, `seconds` the most that
    a request may wait; `called` and `setting` are what the device and the setting of its authority are called in messages.

    No request lasts beyond `end`, a reading of `time.monotonic`. Raises Unreached; never returns part of a body as a whole.
    """

    address: str
    context: ssl.SSLContext
    account: tuple[str, str] | None
    limit: int
    seconds: float
    called: str
    setting: str
    end: float = float("inf")
    _client: httpx.Client | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Web({self.address})"

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
        self._client = None

    def get(self, path: str) -> Page:
        """The answer to `GET path`."""
        return self._ask("GET", path, None, {})

    def post(self, path: str, body: str, media: str) -> Page:
        """The answer to `POST path` with a body of this media type."""
        return self._ask("POST", path, body.encode(), {"Content-Type": media})

    def _ask(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> Page:
        try:
            return self._read(method, path, content, headers)
        except httpx.TimeoutException:
            raise Unreached(GapReason.TIMEOUT, f"the {self.called} gave no answer within the deadline") from None
        except httpx.RemoteProtocolError as problem:
            words = printable(str(problem), 200)
            raise Unreached(GapReason.TRUNCATED, f"the answer of the {self.called} broke off: {words}") from None
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise Unreached(GapReason.UNREACHABLE, self._explained(problem)) from None

    def _read(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> Page:
        left = self.end - time.monotonic()
        if left <= 0:
            raise httpx.ReadTimeout("the deadline is over")
        body = bytearray()
        timeout = min(left, self.seconds)
        with self._open().stream(method, path, content=content, headers=headers, timeout=timeout) as answer:
            for chunk in answer.iter_bytes(65536):
                body += chunk
                if len(body) > self.limit:
                    return Page(answer.status_code, bytes(body[: self.limit]), False)
                if time.monotonic() > self.end:
                    raise httpx.ReadTimeout("the deadline is over")
            return Page(answer.status_code, bytes(body))

    def _open(self) -> httpx.Client:
        if self._client is None:
            self._client = httpx.Client(
                base_url=f"https://{self.address}",
                auth=self.account,
                headers={"Accept": "application/json", "User-Agent": "auditor"},
                verify=self.context,
                follow_redirects=False,
                trust_env=False,
            )
        return self._client

    def _explained(self, problem: Exception) -> str:
        words = printable(str(problem), 200)
        if "CERTIFICATE_VERIFY_FAILED" in words:
            return f"its certificate is not trusted ({words}); name the authority of your {self.called}s in {self.setting}"
        return f"no connection to the {self.called}: {words or type(problem).__name__}"


def document(page: Page, called: str) -> Any:
    """The JSON of a whole answer, whatever its status; raises Unreached for a refused login and for anything that is no JSON."""
    if page.status in _STATUS:
        words = "the login was refused" if page.status == 401 else "the account may not use it"
        raise Unreached(_STATUS[page.status], f"{called}: {words} (HTTP {page.status})")
    if not page.whole:
        raise Unreached(GapReason.TRUNCATED, f"longer than {len(page.body)} bytes; the rest was cut")
    try:
        return json.loads(page.body)
    except (ValueError, RecursionError):
        shown = printable(page.body[:60].decode("utf-8", "replace"), 60)
        reason = GapReason.UNPARSED if page.status == 200 else GapReason.REJECTED
        raise Unreached(reason, f"no answer of the {called} but HTTP {page.status} and {shown!r}; is the API enabled?") from None
