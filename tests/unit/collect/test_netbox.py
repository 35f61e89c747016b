"""The NetBox client against answers from memory: pages, bounds, redirects, errors, and that the token stays where it is."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from auditor.collect.netbox import TOKEN, Limits, NetBox
from auditor.errors import SetupError

SECRET = "0123456789abcdef0123456789abcdef01234567"
URL = "https://netbox.example.net"

Answer = Callable[[httpx.Request], httpx.Response]


def page(items: list[Any], count: int | None = None, following: str | None = None) -> httpx.Response:
    return httpx.Response(
        200, json={"count": len(items) if count is None else count, "next": following, "previous": None, "results": items}
    )


class Clock:
    """Time that passes only when somebody waits."""

    def __init__(self) -> None:
        self.now, self.waits = 0.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


def server(
    answer: Answer, url: str = URL, token: str = SECRET, limits: Limits | None = None, clock: Clock | None = None
) -> NetBox:
    clock = clock or Clock()
    return NetBox(
        url, limits, transport=httpx.MockTransport(answer), environment={TOKEN: token}, sleep=clock.sleep, clock=clock
    )  # fmt: skip


def devices(answer: Answer, **named: Any) -> list[dict[str, Any]]:
    with server(answer, **named) as netbox:
        return netbox.devices()


def refused(answer: Answer, **named: Any) -> str:
    with pytest.raises(SetupError) as caught:
        devices(answer, **named)
    message = str(caught.value)
    assert SECRET not in message and "\n" not in message
    return message


# addresses and tokens


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://netbox.example.net", "https://netbox.example.net/api/dcim/devices/"),
        ("https://netbox.example.net/", "https://netbox.example.net/api/dcim/devices/"),
        ("https://netbox.example.net/api/", "https://netbox.example.net/api/dcim/devices/"),
        ("https://tools.example.net:8443/netbox", "https://tools.example.net:8443/netbox/api/dcim/devices/"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/api/dcim/devices/"),
    ],
)
def test_the_address_with_or_without_api(url: str, asked: str) -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url).partition("?")[0])
        return page([])

    devices(answer, url=url)
    assert seen == [asked]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://netbox.example.net", "must begin with https: a token is not sent in the clear"),
        ("https://admin:hunter2@netbox.example.net", "must hold no credentials"),
        ("ftp://netbox.example.net", "is no address of NetBox"),
        ("netbox.example.net", "is no address of NetBox"),
        ("https://netbox.example.net/?token=x", "is no address of NetBox"),
        ("https://[::1", "is no URL"),
    ],
)
def test_addresses_that_are_refused(url: str, words: str) -> None:
    with pytest.raises(SetupError, match=words) as caught:
        NetBox(url, environment={TOKEN: SECRET})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(("token", "header"), [(SECRET, f"Token {SECRET}"), ("nbt_abc.defghij", "Bearer nbt_abc.defghij")])
def test_both_kinds_of_token(token: str, header: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == header
        return page([])

    devices(answer, token=token)


@pytest.mark.parametrize("token", ["", "  ", "two words here", "käse-käse-käse", "abc\r\nHost: x"])
def test_what_is_no_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(SetupError) as caught:
        NetBox(URL, environment={TOKEN: token})
    assert TOKEN in str(caught.value)
    assert not token.strip() or token not in str(caught.value)


def test_the_token_is_in_no_url_error_repr_or_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def answer(request: httpx.Request) -> httpx.Response:
        assert SECRET not in str(request.url)
        raise httpx.ConnectError(f"cannot connect with {SECRET}")

    assert "cannot be asked: ConnectError" in refused(answer)
    assert SECRET not in repr(server(answer))
    assert SECRET not in caplog.text


# pages


def test_all_pages_are_read_and_hosts_and_paths_in_next_do_not_count() -> None:
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url)
        offset = int(request.url.params.get("offset", "0"))
        following = (
            f"http://netbox-app-3.internal:8001/prefix/api/dcim/devices/?limit=2&offset={offset + 2}&exclude=config_context"
        )
        return page([{"id": offset + at, "name": f"d{offset + at}"} for at in (1, 2)], 6, following if offset < 4 else None)

    assert [item["name"] for item in devices(answer)] == ["d1", "d2", "d3", "d4", "d5", "d6"]
    assert {(url.scheme, url.host, url.path) for url in asked} == {("https", "netbox.example.net", "/api/dcim/devices/")}
    assert asked[0].params["limit"] == "500"


def test_pages_that_repeat_are_an_error() -> None:
    assert "names the same page as the next one" in refused(lambda _: page([{"id": 1}], 9, f"{URL}/api/dcim/devices/?offset=0"))


def test_a_list_that_changes_while_it_is_read_is_an_error() -> None:
    assert "said 3 objects and gave 2: it changed while it was read" in refused(
        lambda _: page([{"id": 1}, {"id": 2}, {"id": 2}], 3)
    )


def test_more_objects_than_allowed_are_an_error() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        offset = int(request.url.params.get("offset", "0"))
        return page([{"id": offset + at} for at in range(10)], 10**9, f"{URL}/x?offset={offset + 10}")

    assert "has more than 50 objects" in refused(answer, limits=Limits(objects=50))


def test_an_answer_that_is_too_large_is_not_read_to_its_end() -> None:
    pulled = []

    def body() -> Any:
        for at in range(1000):
            pulled.append(at)
            yield b" " * 1000

    assert "answers with more than 20000 bytes" in refused(
        lambda _: httpx.Response(200, content=body()), limits=Limits(answer_bytes=20_000)
    )
    assert len(pulled) < 30


def test_a_compressed_answer_is_bounded_by_what_it_unpacks_to() -> None:
    import gzip

    bomb = gzip.compress(b"0" * 5_000_000)
    message = refused(
        lambda _: httpx.Response(200, content=bomb, headers={"content-encoding": "gzip"}), limits=Limits(answer_bytes=1_000_000)
    )
    assert "answers with more than 1000000 bytes" in message


# redirects


def test_redirects_are_followed_on_the_given_host_only() -> None:
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        if len(asked) == 1:
            return httpx.Response(
                301, headers={"location": "https://evil.example.org/api/dcim/devices/?limit=500&exclude=config_context&v=2"}
            )
        return page([{"id": 1, "name": "leaf-1"}])

    assert [item["name"] for item in devices(answer)] == ["leaf-1"]
    assert asked[1] == f"{URL}/api/dcim/devices/?limit=500&exclude=config_context&v=2"


def test_a_redirect_to_a_login_page_is_an_error() -> None:
    message = refused(lambda _: httpx.Response(302, headers={"location": f"{URL}/login/?next=/api/"}))
    assert "redirects to '/login/', which is no API" in message


def test_redirects_in_a_circle_end() -> None:
    message = refused(
        lambda request: httpx.Response(308, headers={"location": str(request.url.copy_with(scheme="https"))}),
        url="http://localhost:8000",
    )
    assert "redirects in a circle, it may want https" in message


# errors


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (httpx.Response(401, json={"detail": "Invalid token"}), f"refuses the token in {TOKEN} (status 401)"),
        (httpx.Response(403, json={"detail": "no"}), "refuses the token"),
        (httpx.Response(404), "answers with status 404"),
        (httpx.Response(500), "answers with status 500"),
        (httpx.Response(200, text="<html>Welcome</html>"), "something else than JSON"),
        (httpx.Response(200, content=b"[" * 100_000), "something else than JSON"),
        (httpx.Response(200, json=[1]), "no list of objects: is it NetBox?"),
        (httpx.Response(200, json={"results": [{"name": "x"}]}), "objects that have no id"),
        (httpx.Response(200, json={"results": [5]}), "objects that have no id"),
    ],
)
def test_other_answers_are_one_clear_error(response: httpx.Response, words: str) -> None:
    assert words in refused(lambda _: response)


def test_a_busy_server_is_asked_again_after_the_time_it_names() -> None:
    clock, answers = (
        Clock(),
        [httpx.Response(429, headers={"retry-after": "7"}), httpx.Response(502), page([{"id": 1, "name": "a"}])],
    )
    assert devices(lambda _: answers.pop(0), clock=clock) == [{"id": 1, "name": "a"}]
    assert clock.waits == [7.0, 2.0]


def test_a_server_that_stays_busy_is_given_up() -> None:
    clock = Clock()
    assert "answers with status 503" in refused(lambda _: httpx.Response(503), clock=clock)
    assert len(clock.waits) == 2


def test_the_whole_takes_no_longer_than_allowed() -> None:
    assert "did not answer within 3 s" in refused(
        lambda _: httpx.Response(429, headers={"retry-after": "20"}), limits=Limits(total_s=3)
    )


# what is asked for


def test_cables_come_with_all_that_tells_of_them() -> None:
    asked: dict[str, dict[str, str]] = {}
    interface = {
        "object_type": "dcim.interface",
        "object_id": 1,
        "object": {"id": 1, "name": "a", "url": "x", "device": {"id": 1, "name": "d"}},
    }
    port = {"object_type": "dcim.frontport", "object_id": 2, "object": None}
    answers = {
        "cables": [
            {
                "id": 1,
                "profile": {"value": "single-1c1p"},
                "a_terminations": [interface],
                "b_terminations": [port],
                "comments": "long",
            }
        ],
        "cable-terminations": None,
    }

    def answer(request: httpx.Request) -> httpx.Response:
        kind = request.url.path.removeprefix("/api/dcim/").strip("/")
        asked[kind] = dict(request.url.params)
        items = answers.get(kind, [])
        return httpx.Response(404) if items is None else page(items)

    with server(answer) as netbox:
        document = json.loads(netbox.cables("dc1"))
    assert list(asked) == ["cables", "cable-terminations", "interfaces", "devices", "front-ports", "rear-ports"]
    assert asked["cables"]["site"] == asked["interfaces"]["site"] == "dc1"
    assert asked["interfaces"]["cabled"] == "true" and asked["devices"]["exclude"] == "config_context"
    assert "site" not in asked["devices"] and "site" not in asked["cable-terminations"]
    kept = document["dcim/cables"][0]
    assert "comments" not in kept and "url" not in kept["a_terminations"][0]["object"]


def test_panels_and_connectors_are_not_asked_for_where_there_are_none() -> None:
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return page([{"id": 1, "profile": "", "a_terminations": [], "b_terminations": []}])

    with server(answer) as netbox:
        netbox.cables()
    assert asked == ["/api/dcim/cables/", "/api/dcim/interfaces/", "/api/dcim/devices/"]


def test_devices_can_be_filtered() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.params.multi_items() == [
            ("limit", "500"),
            ("exclude", "config_context"),
            ("site", "dc1"),
            ("role", "leaf"),
            ("role", "spine"),
        ]
        return page([])

    with server(answer) as netbox:
        assert netbox.devices({"site": ["dc1"], "role": ["leaf", "spine"]}) == []
        with pytest.raises(SetupError, match="'name__ic' is no filter"):
            netbox.devices({"name__ic": ["x"]})
