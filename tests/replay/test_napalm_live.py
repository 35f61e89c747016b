"""NAPALM's real drivers against eAPI, NX-API and NETCONF on loopback: raw answers, refusals, trust, time and size."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import paramiko
import pytest

from auditor import yamldoc
from auditor.address import Layer
from auditor.collect import Collected
from auditor.collect.inventory import Inventory, Route
from auditor.collect.live import LiveCollector
from auditor.facts import System
from auditor.lab import eapi, nxapi
from auditor.lab.api import ApiDevice, Trouble, by_command
from auditor.lab.certificate import Authority
from auditor.lab.netconf import NetconfDevice
from auditor.lab.shell import Recorded
from auditor.model import Device, Fill, GapReason, Parser, Platform, RawOutput, Source, Transport
from auditor.platforms import platforms
from auditor.settings import Api, Collection, Credentials
from auditor.workflows.parse import parse_text

PASSWORD = "lab"
VERSION = {"version": "4.30.1F", "modelName": "DCS-7060X6", "hostname": "leaf-a"}
TEXT = "Software image version: 4.30.1F\nUptime: 3 days ünd more\n"


def nothing(_data: Any, _parameters: Mapping[str, str]) -> Iterator[Any]:
    yield from ()


def source(key: str, command: str, **more: Any) -> Source:
    fills = (Fill(System, Layer.APPLIED, ("version",)),)
    parser = Parser.JSON if "json" in command else Parser.TEXT
    return Source(key=key, command=command, fills=fills, parser=parser, normalise=nothing, **more)


def platform(driver: str, *sources: Source) -> Platform:
    return Platform(
        name=f"made_{driver}", title="made up", sources=sources, transport=Transport.CLI, also=(Transport.NAPALM,),
        napalm=driver, formats=("| json", "| json native", "| display json", "| display xml"),
    )  # fmt: skip


EOS = platform(
    "eos", source("version", "show version | json"), source("version_text", "show version"), source("foo", "show foo"),
    source("bar", "show bar | json"),
)  # fmt: skip
EOS_ANSWERS = by_command(
    [
        Recorded("show version | json", json.dumps(VERSION)),
        Recorded("show version", TEXT),
        Recorded("show bar", "text alone\n"),
        Recorded("show secret", "% Invalid input (privileged mode required)", 1),
    ]
)
NXOS = platform(
    "nxos", source("version", "show version | json"), source("version_text", "show version"), source("foo", "show foo"),
    source("native", "show interface brief | json native"), source("bar", "show bar | json"),
)  # fmt: skip
NXOS_ANSWERS = by_command(
    [
        Recorded("show version | json", json.dumps({"nxos_ver_str": "10.3(2)"})),
        Recorded("show version", "Cisco Nexus\n  NXOS: version 10.3(2)\n"),
        Recorded("show interface brief | json native", '{"TABLE_interface": []}'),
        Recorded("show bar", "text alone\n"),
    ]
)
JUNOS = platform(
    "junos", source("version", "show version | display json"), source("version_text", "show version"), source("foo", "show foo"),
    source("ports", "show interfaces | display xml"),
)  # fmt: skip
JSON_TEXT = '{\n    "software" : [{"host" : "qfx-a", "a" : "<&>"}],\n    "software" : [{"twice" : 1}]\n}\n'
JUNOS_ANSWERS = by_command(
    [
        Recorded("show version | display json", JSON_TEXT),
        Recorded("show version", "\nHostname: qfx-a\nModel: qfx5130 <&>\n"),
        Recorded("show interfaces | display xml", "<interface-information><name>et-0/0/0</name></interface-information>"),
    ]
)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def open_device() -> Iterator[Callable[[Any], Any]]:
    with ExitStack() as stack:
        yield stack.enter_context


Devices = Callable[[Any], Any]


def run(
    made: Platform, ports: Mapping[str, int], monkeypatch: pytest.MonkeyPatch, *, ca: Path | None = None, group: str = "",
    known_hosts: tuple[Path, ...] = (), password: str = PASSWORD, **limits: Any,
) -> dict[str, Collected]:  # fmt: skip
    """What a run collects from devices of one platform, by their names."""
    monkeypatch.setenv("AUDITOR_PASSWORD", password)
    routes = {name: Route("127.0.0.1", port, "lab", Transport.NAPALM, group) for name, port in ports.items()}
    devices = tuple(Device(name, (made.name,), address="127.0.0.1", port=port, aaa_group=group) for name, port in ports.items())
    settings = Collection(
        ssh_config=None,
        api=Api(ca_file=ca),
        credentials=Credentials(use_agent=False),
        known_hosts=known_hosts,
        workers=4,
        **limits,
    )
    collector = LiveCollector(Inventory(devices, routes), settings, {made.name: made})
    return {collected.device.name: collected for collected in collector.collect(devices, None)}


def answers(collected: Collected) -> dict[str, RawOutput]:
    assert not [gap for gap in collected.gaps if gap.table == "*"], collected.gaps
    return {output.source: output for output in collected.outputs}


def whole_gap(collected: Collected) -> tuple[GapReason | None, str]:
    assert not collected.outputs
    (gap,) = collected.gaps
    assert gap.table == "*"
    return gap.reason, gap.detail


# good answers and refusals


def test_eapi_gives_json_and_text_as_the_device_said_them(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(ApiDevice(eapi.speak(EOS_ANSWERS), authority.context()))
    got = answers(run(EOS, {"leaf-a": device.port}, monkeypatch, ca=authority.file)["leaf-a"])
    assert json.loads(got["version"].body) == VERSION
    assert got["version"].command == "show version | json"
    assert got["version_text"].body == TEXT
    assert got["version"].failure is None is got["version_text"].failure
    assert (got["foo"].failure, "Invalid input (at token 1: 'foo')" in got["foo"].detail) == (GapReason.REJECTED, True)
    assert got["bar"].failure is GapReason.REJECTED
    assert "unconverted command" in got["bar"].detail


def test_eapi_is_sent_what_is_declared_and_what_the_driver_opens_with(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(ApiDevice(eapi.speak(EOS_ANSWERS), authority.context()))
    run(EOS, {"leaf-a": device.port}, monkeypatch, ca=authority.file)
    assert device.asked == ["show version", "show version", "show version", "show foo", "show bar"]
    assert "enable" not in device.asked


def test_a_command_that_wants_the_privileged_mode_is_a_matter_of_permission(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(ApiDevice(eapi.speak(EOS_ANSWERS), authority.context()))
    made = platform("eos", source("secret", "show secret"), source("version_text", "show version"))
    got = answers(run(made, {"leaf-a": device.port}, monkeypatch, ca=authority.file)["leaf-a"])
    assert got["secret"].failure is GapReason.PERMISSION
    assert "privileged mode required" in got["secret"].detail


def test_nxapi_gives_json_and_text_as_the_device_said_them(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(ApiDevice(nxapi.speak(NXOS_ANSWERS), authority.context()))
    got = answers(run(NXOS, {"leaf-n": device.port}, monkeypatch, ca=authority.file)["leaf-n"])
    assert json.loads(got["version"].body) == {"nxos_ver_str": "10.3(2)"}
    assert got["version_text"].body == "Cisco Nexus\n  NXOS: version 10.3(2)\n"
    assert got["native"].body == '{"TABLE_interface": []}'
    assert (got["foo"].failure, "% Invalid command" in got["foo"].detail) == (GapReason.REJECTED, True)
    assert "Structured output unsupported" in got["bar"].detail
    assert device.asked[0] == "show hostname"
    assert sorted(device.asked[1:]) == [
        "show bar",
        "show foo",
        "show interface brief | json native",
        "show version",
        "show version",
    ]


def junos(device: NetconfDevice, folder: Path, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Collected:
    known = folder / "known_hosts"
    known.write_text(device.known_hosts(more.pop("key", None)))
    return run(more.pop("made", JUNOS), {"leaf-j": device.port}, monkeypatch, known_hosts=(known,), **more)["leaf-j"]


def test_netconf_gives_json_text_and_xml_as_the_device_said_them(
    open_device: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(NetconfDevice(JUNOS_ANSWERS))
    got = answers(junos(device, tmp_path, monkeypatch))
    assert got["version"].body == JSON_TEXT
    assert got["version_text"].body == "\nHostname: qfx-a\nModel: qfx5130 <&>\n"
    assert "<name>et-0/0/0</name>" in got["ports"].body
    assert got["foo"].failure is GapReason.REJECTED
    assert "syntax error, expecting <command>" in got["foo"].detail
    assert device.asked == ["show version", "show version", "show foo", "show interfaces", "close-session"]


# logins and trust


@pytest.mark.parametrize(("made", "speak"), [(EOS, eapi.speak(EOS_ANSWERS)), (NXOS, nxapi.speak(NXOS_ANSWERS))])
def test_a_password_that_one_device_refused_is_not_tried_on_the_next_of_its_group(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch, made: Platform, speak: Any
) -> None:
    devices = [open_device(ApiDevice(speak, authority.context(), password="another")) for _ in range(4)]
    ports = {f"leaf-{at}": device.port for at, device in enumerate(devices)}
    got = run(made, ports, monkeypatch, ca=authority.file, group="tacacs")
    assert sum(len(device.tried) for device in devices) == 1
    assert {whole_gap(one)[0] for one in got.values()} == {GapReason.AUTH}
    assert sum("not tried" in whole_gap(one)[1] for one in got.values()) == 3


def test_a_password_refused_over_netconf_is_tried_once(
    open_device: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(NetconfDevice(JUNOS_ANSWERS, Trouble.REFUSED))
    assert whole_gap(junos(device, tmp_path, monkeypatch))[0] is GapReason.AUTH
    assert device.tried == [PASSWORD]


@pytest.mark.parametrize(("made", "speak"), [(EOS, eapi.speak(EOS_ANSWERS)), (NXOS, nxapi.speak(NXOS_ANSWERS))])
@pytest.mark.parametrize("knows_another", [False, True])
def test_a_certificate_that_nobody_vouches_for_gets_no_password(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch, made: Platform, speak: Any, knows_another: bool,
    tmp_path: Path,
) -> None:  # fmt: skip
    device = open_device(ApiDevice(speak, authority.context()))
    ca = Authority(tmp_path, "another").file if knows_another else None
    reason, detail = whole_gap(run(made, {"leaf-a": device.port}, monkeypatch, ca=ca)["leaf-a"])
    assert reason is GapReason.UNREACHABLE
    assert "collection.api.ca_file" in detail
    assert (device.tried, device.asked) == ([], [])


@pytest.mark.parametrize("changed", [False, True])
def test_a_host_key_that_is_unknown_or_changed_gets_no_password(
    open_device: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: bool
) -> None:
    device = open_device(NetconfDevice(JUNOS_ANSWERS))
    if changed:
        collected = junos(device, tmp_path, monkeypatch, key=paramiko.ECDSAKey.generate())
    else:
        collected = run(JUNOS, {"leaf-j": device.port}, monkeypatch)["leaf-j"]
    reason, detail = whole_gap(collected)
    assert reason is GapReason.AUTH
    assert ("changed" if changed else "unknown host key") in detail
    assert device.tried == []


# troubles


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (Trouble.HTML, GapReason.UNPARSED),
        (Trouble.OFF, GapReason.REJECTED),
        (Trouble.CUT, GapReason.TRUNCATED),
        (Trouble.SILENT, GapReason.TIMEOUT),
        (Trouble.REFUSED, GapReason.AUTH),
    ],
)
@pytest.mark.parametrize(("made", "speak"), [(EOS, eapi.speak(EOS_ANSWERS)), (NXOS, nxapi.speak(NXOS_ANSWERS))])
def test_an_api_that_is_none_is_one_gap_of_the_device(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch, made: Platform, speak: Any, trouble: Trouble,
    reason: GapReason,
) -> None:  # fmt: skip
    device = open_device(ApiDevice(speak, authority.context(), trouble))
    begin = time.monotonic()
    got = run(made, {"leaf-a": device.port}, monkeypatch, ca=authority.file, login_timeout=1)["leaf-a"]
    assert whole_gap(got)[0] is reason
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [(Trouble.HTML, GapReason.UNPARSED), (Trouble.CUT, GapReason.TRUNCATED), (Trouble.SILENT, GapReason.TIMEOUT)],
)
def test_an_answer_that_spoils_behind_the_login_is_a_gap_of_its_own(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch, trouble: Trouble, reason: GapReason
) -> None:
    made = platform("eos", source("version", "show version | json"), source("version_text", "show version", seconds=0.5))
    device = open_device(ApiDevice(eapi.speak(EOS_ANSWERS), authority.context(), trouble, after=2))
    got = answers(run(made, {"leaf-a": device.port}, monkeypatch, ca=authority.file)["leaf-a"])
    assert got["version"].failure is None
    assert (got["version_text"].failure, got["version_text"].body) == (reason, "")


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch, authority: Authority) -> None:
    reason, _ = whole_gap(run(EOS, {"leaf-a": 1}, monkeypatch, ca=authority.file)["leaf-a"])
    assert reason is GapReason.UNREACHABLE


def test_an_answer_that_is_too_long_is_no_answer(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = by_command([*EOS_ANSWERS.values(), Recorded("show foo", "x" * 50_000)])
    device = open_device(ApiDevice(eapi.speak(long), authority.context()))
    got = answers(run(EOS, {"leaf-a": device.port}, monkeypatch, ca=authority.file, max_output=10_000)["leaf-a"])
    assert got["foo"].failure is GapReason.TRUNCATED
    assert got["version_text"].failure is None


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [(Trouble.OFF, GapReason.REJECTED), (Trouble.CUT, GapReason.UNREACHABLE), (Trouble.SILENT, GapReason.TIMEOUT)],
)
def test_netconf_that_is_off_breaks_off_or_hangs(
    open_device: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: Trouble, reason: GapReason
) -> None:
    made = platform("junos", source("version", "show version | display json", seconds=1))
    device = open_device(NetconfDevice(JUNOS_ANSWERS, trouble))
    collected = junos(device, tmp_path, monkeypatch, made=made, login_timeout=5)
    reasons = {item.reason for item in collected.gaps} | {output.failure for output in collected.outputs}
    assert reasons == {reason}


def test_netconf_without_a_hello_costs_the_time_of_a_login(
    open_device: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(NetconfDevice(JUNOS_ANSWERS, Trouble.MUTE))
    reason, _ = whole_gap(junos(device, tmp_path, monkeypatch, login_timeout=2))
    assert reason is GapReason.TIMEOUT


def test_a_long_answer_over_netconf_ends_the_session(
    open_device: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = by_command([Recorded("show version | display json", json.dumps(["x" * 50_000]))])
    made = platform("junos", source("version", "show version | display json"))
    got = answers(junos(open_device(NetconfDevice(long)), tmp_path, monkeypatch, made=made, max_output=10_000))
    assert got["version"].failure is GapReason.TRUNCATED


def test_a_document_type_over_netconf_is_refused(open_device: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;</a>'
    made = platform("junos", source("ports", "show interfaces | display xml", seconds=1))
    device = open_device(NetconfDevice(by_command([Recorded("show interfaces | display xml", evil)])))
    collected = junos(device, tmp_path, monkeypatch, made=made)
    assert {gap.reason for gap in collected.gaps} == {GapReason.UNREACHABLE}


# the platforms' own parsers


OWN = [made for made in platforms().values() if made.napalm]
ROOT = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.mark.parametrize("made", OWN, ids=lambda made: made.name)
def test_parsers_read_what_the_api_carries_as_what_a_terminal_shows(
    made: Platform, authority: Authority, open_device: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: dict[str, dict[str, Any]] = {}
    recorded = []
    for one in filter(lambda one: one.sent and one.parameter is None, made.sources):
        for case in sorted((ROOT / made.name / one.key).glob("*/output.*")):
            facts = yamldoc.read(case.parent / "facts.yaml").data
            if facts["command"] == one.command and not facts.get("gaps"):
                wanted[one.key] = parse_text(made.name, one.command, case.read_text(), None)
                recorded.append(Recorded(one.command, case.read_text()))
                break
    assert len(wanted) >= 5
    known = by_command([*EOS_ANSWERS.values(), *recorded] if made.napalm == "eos" else recorded)
    made = replace(made, sources=tuple(one for one in made.sources if one.key in wanted and not one.fallback_for))
    if made.napalm == "junos":
        collected = junos(open_device(NetconfDevice(known)), tmp_path, monkeypatch, made=made)
    else:
        speak = {"eos": eapi, "nxos": nxapi}[made.napalm].speak(known)
        device = open_device(ApiDevice(speak, authority.context()))
        collected = run(made, {"leaf-a": device.port}, monkeypatch, ca=authority.file)["leaf-a"]
    got = answers(collected)
    assert got
    for key, output in got.items():
        assert output.failure is None, (key, output.detail)
        read = parse_text(made.name, output.command, output.body, None)
        assert (key, read["rows"], read["gaps"]) == (key, wanted[key]["rows"], wanted[key]["gaps"])


def test_a_login_test_asks_what_the_platform_declares_and_nothing_else(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDITOR_PASSWORD", PASSWORD)
    device = open_device(ApiDevice(eapi.speak(EOS_ANSWERS), authority.context()))
    inventory = Inventory(
        (Device("leaf-a", (EOS.name,), address="127.0.0.1", port=device.port),),
        {"leaf-a": Route("127.0.0.1", device.port, "lab", Transport.NAPALM)},
    )
    settings = Collection(ssh_config=None, api=Api(ca_file=authority.file), credentials=Credentials(use_agent=False))
    (report,) = LiveCollector(inventory, settings, {EOS.name: EOS}).login_test(inventory.devices)
    assert (report.failure, report.answers_like, report.sudo) == (None, (EOS.name,), None)
    assert device.asked == ["show version", "show version"]


def test_a_group_may_have_a_password_of_its_own(
    authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = open_device(ApiDevice(eapi.speak(EOS_ANSWERS), authority.context(), password="fabric secret"))
    monkeypatch.setenv("AUDITOR_PASSWORD_FABRIC_B", "fabric secret")
    collected = run(EOS, {"leaf-a": device.port}, monkeypatch, ca=authority.file, group="fabric-b")["leaf-a"]
    assert answers(collected)["version"].failure is None
    assert "fabric secret" not in repr(collected)
    assert set(device.tried) == {"fabric secret"}


def test_without_a_password_nobody_is_asked(authority: Authority, open_device: Devices, monkeypatch: pytest.MonkeyPatch) -> None:
    device = open_device(ApiDevice(eapi.speak(EOS_ANSWERS), authority.context()))
    reason, detail = whole_gap(run(EOS, {"leaf-a": device.port}, monkeypatch, ca=authority.file, password="")["leaf-a"])
    assert (reason, device.tried) == (GapReason.AUTH, [])
    assert "AUDITOR_PASSWORD is not set" in detail
