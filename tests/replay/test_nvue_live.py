"""NVUE's REST API on loopback: paths that are declared, and nothing else; logins, trust, answers that are none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from auditor.address import Layer
from auditor.collect import Collected
from auditor.collect.commands import Recogniser
from auditor.collect.guard import path_for
from auditor.collect.inventory import Inventory, Route
from auditor.collect.live import LiveCollector
from auditor.errors import PlatformError
from auditor.facts import System
from auditor.lab import nvue
from auditor.lab.api import ApiDevice, Trouble, by_command
from auditor.lab.certificate import Authority
from auditor.lab.shell import Recorded
from auditor.model import Device, Fill, GapReason, Parameter, Parser, Platform, Privilege, RawOutput, Source, Transport
from auditor.settings import Api, Collection, Credentials

PASSWORD = "lab"
PORTS = {"swp1": {"link": {"state": {"up": {}}}}, "swp2": {}}
Devices = Callable[[Any], Any]


def nothing(_data: Any, _parameters: Mapping[str, str]) -> Iterator[Any]:
    yield from ()


def names(body: str) -> Iterator[str]:
    yield from re.findall(r'"(swp\d+)"', body)


def source(key: str, command: str, rest: str = "", **more: Any) -> Source:
    fills = (Fill(System, Layer.APPLIED, ("version",)),)
    return Source(key=key, command=command, fills=fills, parser=Parser.JSON, normalise=nothing, rest=rest, **more)


CUMULUS = Platform(
    name="made_cumulus", title="made up", transport=Transport.EXEC, also=(Transport.HTTPS,),
    sources=(
        source("ports", "nv show interface -o json", "/nvue_v1/interface?rev=operational"),
        source("link", "nv show interface {port} link -o json", "/nvue_v1/interface/{port}/link?rev=operational",
               parameter=Parameter("port", ("ports",), names), privilege=Privilege.SUDO),
        source("kernel", "cat /proc/version"),
    ),
)  # fmt: skip
ANSWERS = by_command(
    [
        Recorded("GET /nvue_v1/interface?rev=operational", json.dumps(PORTS, indent=1)),
        Recorded("GET /nvue_v1/interface/swp1/link?rev=operational", '{"mtu": 9216}'),
    ]
)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def open_device() -> Iterator[Devices]:
    with ExitStack() as stack:
        yield stack.enter_context


def run(
    ports: Mapping[str, int], monkeypatch: pytest.MonkeyPatch, ca: Path | None, group: str = "", **limits: Any
) -> dict[str, Collected]:
    """What a run collects from these switches, by their names."""
    monkeypatch.setenv("LAB_PASSWORD", PASSWORD)
    routes = {name: Route("127.0.0.1", port, "", Transport.HTTPS, group) for name, port in ports.items()}
    devices = tuple(
        Device(name, (CUMULUS.name,), address="127.0.0.1", port=port, aaa_group=group) for name, port in ports.items()
    )
    api = Api(username="lab", password_env="LAB_PASSWORD", ca_file=ca)
    settings = Collection(ssh_config=None, api=api, credentials=Credentials(use_agent=False), known_hosts=(), workers=4, **limits)
    collector = LiveCollector(Inventory(devices, routes), settings, {CUMULUS.name: CUMULUS})
    return {collected.device.name: collected for collected in collector.collect(devices, None)}


def answers(collected: Collected) -> dict[str, RawOutput]:
    assert not [gap for gap in collected.gaps if gap.table == "*"], collected.gaps
    return {output.command: output for output in collected.outputs}


def test_the_paths_are_asked_for_and_their_bodies_come_as_they_are(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(ApiDevice(nvue.speak(ANSWERS), authority.context()))
    got = answers(run({"leaf-c": device.port}, monkeypatch, authority.file)["leaf-c"])
    assert got["GET /nvue_v1/interface?rev=operational"].body == json.dumps(PORTS, indent=1)
    assert got["GET /nvue_v1/interface/swp1/link?rev=operational"].body == '{"mtu": 9216}'
    assert got["GET /nvue_v1/interface/swp2/link?rev=operational"].failure is GapReason.REJECTED
    assert got["cat /proc/version"].failure is GapReason.UNSUPPORTED
    assert len(device.asked) == 3
    assert all(asked.startswith("GET /nvue_v1/") for asked in device.asked)


def test_a_refused_account_is_tried_once_in_its_group(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = [open_device(ApiDevice(nvue.speak(ANSWERS), authority.context(), password="another")) for _ in range(4)]
    got = run({f"leaf-{at}": device.port for at, device in enumerate(devices)}, monkeypatch, authority.file, "tacacs")
    assert sum(len(device.tried) for device in devices) == 1
    assert {gap.reason for one in got.values() for gap in one.gaps} == {GapReason.AUTH}


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (Trouble.HTML, GapReason.UNPARSED),
        (Trouble.OFF, GapReason.REJECTED),
        (Trouble.CUT, GapReason.TRUNCATED),
        (Trouble.SILENT, GapReason.TIMEOUT),
    ],
)
def test_what_is_no_answer_is_a_gap(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch, trouble: Trouble, reason: GapReason
) -> None:
    device = open_device(ApiDevice(nvue.speak(ANSWERS), authority.context(), trouble))
    collected = run({"leaf-c": device.port}, monkeypatch, authority.file, command_deadline=0.5)["leaf-c"]
    reasons = {gap.reason for gap in collected.gaps if gap.table == "*"} | {output.failure for output in collected.outputs}
    assert reason in reasons
    assert None not in reasons


def test_a_certificate_that_nobody_vouches_for_gets_no_password(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(ApiDevice(nvue.speak(ANSWERS), authority.context()))
    (gap,) = run({"leaf-c": device.port}, monkeypatch, None)["leaf-c"].gaps
    assert (gap.table, gap.reason) == ("*", GapReason.UNREACHABLE)
    assert "collection.api.ca_file" in gap.detail
    assert device.tried == []


@pytest.mark.parametrize("rest", ["", "nvue_v1/x", "/nvue_v1/../x", "/x y", "/x?rev=a&b=%0a", "//elsewhere"])
def test_a_path_that_is_none_is_never_asked_for(rest: str) -> None:
    wrong = source("x", "nv show x", rest)
    with pytest.raises(PlatformError):
        path_for(Platform(name="p", title="t", sources=(wrong,)), wrong)


def test_a_name_in_a_path_stays_one_step_of_it() -> None:
    one = CUMULUS.sources[1]
    assert path_for(CUMULUS, one, {"port": "a/b:c"}) == "/nvue_v1/interface/a%2Fb%3Ac/link?rev=operational"


def test_an_answer_over_rest_is_recognised_in_a_capture() -> None:
    (request,) = Recogniser([CUMULUS]).by_text("GET /nvue_v1/interface/swp1/link?rev=operational")
    assert (request.source.key, request.parameters) == ("link", {"port": "swp1"})
