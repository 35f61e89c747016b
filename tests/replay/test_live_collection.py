"""Live collection against real SSH servers on loopback: the lab's replayed devices, and a real shell."""

from __future__ import annotations

import itertools
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from auditor import yamldoc
from auditor.address import Layer
from auditor.collect import Collected
from auditor.collect.inventory import Inventory, Route
from auditor.collect.live import LiveCollector
from auditor.errors import SetupError
from auditor.facts import TABLES
from auditor.lab.server import Lab
from auditor.model import (
    Device,
    Failure,
    Fill,
    GapReason,
    Parameter,
    Parser,
    Platform,
    Privilege,
    RawOutput,
    Source,
    Status,
    Transport,
)
from auditor.settings import Collection, Credentials
from tests.replay.sshd import Sshd

PROMPT = "ops@swi:~$ "


def _nothing(data: Any, parameters: Mapping[str, str]) -> Iterable[Any]:
    return ()


def _fill(table: str, *columns: str) -> tuple[Fill, ...]:
    return (Fill(TABLES[table], Layer.APPLIED, columns),)


def _ports(body: str) -> list[str]:
    return re.findall(r"^port (\S+)$", body, re.MULTILINE)


PLATFORM = Platform(
    "demo",
    "A device for tests",
    sources=(
        Source("version", "show version", _fill("system", "os_version"), Parser.TEXT, _nothing, seconds=2),
        Source("ports", "show ports", _fill("interface", "up"), Parser.TEXT, _nothing, seconds=2),
        Source(
            "mtu", "show mtu {port}", _fill("interface", "mtu"), Parser.TEXT, _nothing,
            parameter=Parameter("port", ("ports",), _ports), seconds=2,
        ),
        Source(
            "peers", "lldpctl -f json", _fill("neighbour", "system"), Parser.JSON, _nothing, privilege=Privilege.SUDO, seconds=2
        ),
    ),
    failures=(Failure(r"^Error: No such command", GapReason.REJECTED, "the device does not know the command"),),
)  # fmt: skip
PLATFORMS = {"demo": PLATFORM}

BODIES = {
    "show version": f"version 1\n{PROMPT}\nbanner: type {PROMPT}show\n" + "filler text\n" * 100 + "end of version\n",
    "show ports": "port e0\nport Eth1/2\nport e3;reboot\n",
    "show mtu e0": "9100",
    "show mtu Eth1/2": "1500\n\n",
    "lldpctl -f json": '{"lldp": {"password": "hunter2"}}\n',
}


def capture(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).mkdir(parents=True)
        outputs = []
        for at, (command, body) in enumerate(BODIES.items()):
            (folder / name / f"{at}.txt").write_text(body)
            outputs.append({"file": f"{at}.txt", "command": command})
        document = {"platforms": ["demo"], "prompt": PROMPT, "outputs": outputs}
        (folder / name / "device.yaml").write_text(yamldoc.dump(document))
    return folder


def settings(lab: Lab | None = None, **changes: Any) -> Collection:
    base: dict[str, Any] = {"ssh_config": None, "device_deadline": 15, "login_timeout": 5, "connect_timeout": 3}
    if lab is not None:
        base["known_hosts"] = (lab.known_hosts,)
        base["credentials"] = Credentials(username=lab.username, key_file=lab.client_key, use_agent=False)
    return Collection(**{**base, **changes})


def collector(lab: Lab, transport: Transport = Transport.EXEC, **changes: Any) -> tuple[LiveCollector, tuple[Device, ...]]:
    devices = tuple(Device(name, ("demo",), "127.0.0.1", port) for name, port in sorted(lab.ports.items()))
    routes = {name: Route("127.0.0.1", port, transport=transport) for name, port in lab.ports.items()}
    return LiveCollector(Inventory(devices, routes), settings(lab, **changes), PLATFORMS), devices


def collect(lab: Lab, transport: Transport = Transport.EXEC, **changes: Any) -> dict[str, Collected]:
    live, devices = collector(lab, transport, **changes)
    return {collected.device.name: collected for collected in live.collect(devices, None)}


def by_command(collected: Collected) -> dict[str, RawOutput]:
    return {output.command: output for output in collected.outputs}


both = pytest.mark.parametrize("transport", [Transport.EXEC, Transport.SHELL])


@both
def test_every_answer_comes_whole_though_it_holds_the_prompt(tmp_path: Path, transport: Transport) -> None:
    with Lab(capture(tmp_path, "swi-a1")) as lab:
        found = by_command(collect(lab, transport)["swi-a1"])
    assert {command: output.body for command, output in found.items()} == {
        **BODIES, "lldpctl -f json": '{"lldp": {"password": "<redacted>"}}\n',
    }  # fmt: skip
    assert all(output.failure is None and output.exit_status == 0 for output in found.values())
    assert found["show mtu Eth1/2"].parameters == {"port": "Eth1/2"}


@both
def test_a_name_that_could_be_a_command_is_never_sent(tmp_path: Path, transport: Transport) -> None:
    with Lab(capture(tmp_path, "swi-a1")) as lab:
        collected = collect(lab, transport)["swi-a1"]
    assert not any("reboot" in output.command for output in collected.outputs)
    assert [(gap.source, gap.reason) for gap in collected.gaps] == [("mtu", GapReason.NOT_COLLECTED)]


@both
@pytest.mark.parametrize(
    ("bad", "reason", "words"),
    [
        ("down", GapReason.UNREACHABLE, "refused"),
        ("wrong_password", GapReason.AUTH, "the login of 'lab' was refused"),
        ("changed_host_key", GapReason.AUTH, "the host key changed"),
    ],
)
def test_a_device_that_lets_nobody_in_is_one_gap_and_harms_no_other(
    tmp_path: Path, transport: Transport, bad: str, reason: GapReason, words: str
) -> None:
    with Lab(capture(tmp_path, "swi-a1", "swi-b1"), {"swi-a1": bad}) as lab:
        found = collect(lab, transport)
    (gap,) = found["swi-a1"].gaps
    assert (gap.table, gap.reason) == ("*", reason)
    assert words in gap.detail
    assert found["swi-a1"].outputs == ()
    assert by_command(found["swi-b1"])["show version"].body == BODIES["show version"]


@both
def test_a_device_that_never_answers_costs_its_own_time_only(tmp_path: Path, transport: Transport) -> None:
    with Lab(capture(tmp_path, "swi-a1", "swi-b1"), {"swi-a1": "silent"}) as lab:
        live, devices = collector(lab, transport, device_deadline=3, login_timeout=2)
        begin = time.monotonic()
        found = [(collected, time.monotonic() - begin) for collected in live.collect(devices, None)]
    (good, _), (silent, seconds) = found
    assert (good.device.name, len(good.outputs)) == ("swi-b1", 5)
    assert [(gap.table, gap.reason) for gap in silent.gaps] == [("*", GapReason.TIMEOUT)]
    assert seconds < 8


def test_a_byte_a_second_is_a_timeout_of_each_command_within_the_deadline(tmp_path: Path) -> None:
    with Lab(capture(tmp_path, "swi-a1"), {"swi-a1": "trickle:40"}) as lab:
        begin = time.monotonic()
        found = collect(lab, device_deadline=4)["swi-a1"]
    assert time.monotonic() - begin < 9
    assert {output.failure for output in found.outputs} <= {GapReason.TIMEOUT}
    assert found.outputs or found.gaps[0].reason is GapReason.TIMEOUT


def test_what_was_whole_before_the_line_dropped_is_kept(tmp_path: Path) -> None:
    folder = capture(tmp_path, "swi-a1")
    (folder / "swi-a1" / "1.txt").write_text("port e0\n" * 20_000)  # far longer than what is sent around it
    with Lab(folder, {"swi-a1": "drop:20000"}) as lab:
        found = by_command(collect(lab)["swi-a1"])
    assert found["show version"].failure is None
    assert found["show version"].body == BODIES["show version"]
    assert found["show ports"].failure is GapReason.TRUNCATED
    assert found["lldpctl -f json"].failure is GapReason.UNREACHABLE


@both
def test_dropped_in_the_first_answer_nothing_passes_for_whole(tmp_path: Path, transport: Transport) -> None:
    with Lab(capture(tmp_path, "swi-a1"), {"swi-a1": "drop:900"}) as lab:
        found = collect(lab, transport)["swi-a1"]
    assert by_command(found)["show version"].failure is GapReason.TRUNCATED
    assert all(output.failure is not None for output in found.outputs)


@both
def test_a_refused_sudo_is_a_gap_of_that_command(tmp_path: Path, transport: Transport) -> None:
    with Lab(capture(tmp_path, "swi-a1"), {"swi-a1": "refused_sudo"}) as lab:
        found = by_command(collect(lab, transport)["swi-a1"])
    assert found["lldpctl -f json"].failure is GapReason.PERMISSION
    assert "a password is required" in found["lldpctl -f json"].detail
    assert found["show version"].failure is None


@both
def test_a_rejected_command_is_a_gap_of_that_command(tmp_path: Path, transport: Transport) -> None:
    with Lab(capture(tmp_path, "swi-a1"), {"swi-a1": "rejected:show version"}) as lab:
        found = by_command(collect(lab, transport)["swi-a1"])
    assert found["show version"].failure is GapReason.REJECTED
    assert "exit status 2" in found["show version"].detail
    assert found["show ports"].failure is None


@both
def test_a_banner_with_the_prompt_in_it_does_no_harm(tmp_path: Path, transport: Transport) -> None:
    with Lab(capture(tmp_path, "swi-a1"), {"swi-a1": "banner"}) as lab:
        assert by_command(collect(lab, transport)["swi-a1"])["show version"].body == BODIES["show version"]


@both
def test_a_slow_device_is_waited_for(tmp_path: Path, transport: Transport) -> None:
    with Lab(capture(tmp_path, "swi-a1"), {"swi-a1": "slow:0.7"}) as lab:
        found = by_command(collect(lab, transport)["swi-a1"])
    assert found["show version"].body == BODIES["show version"]
    assert found["show version"].seconds >= 0.7


@both
def test_a_command_beyond_its_deadline_costs_the_others_nothing(tmp_path: Path, transport: Transport) -> None:
    with Lab(capture(tmp_path, "swi-a1"), {"swi-a1": "slow:9"}) as lab:
        live, devices = collector(lab, transport, command_deadline=0.5)
        begin = time.monotonic()
        (found,) = live.collect(devices, frozenset({"system.os_version", "interface.up"}))
    assert time.monotonic() - begin < 12
    assert {output.failure for output in found.outputs} <= {GapReason.TIMEOUT}


def test_a_pager_gets_no_key_and_its_prompt_stays_in_the_body(tmp_path: Path) -> None:
    with Lab(capture(tmp_path, "swi-a1"), {"swi-a1": "pager:20"}) as lab:
        body = by_command(collect(lab)["swi-a1"])["show version"].body
    assert "--More--" in body
    assert body.endswith("end of version\n")


@both
def test_an_unknown_host_key_is_refused_and_never_added(tmp_path: Path, transport: Transport) -> None:
    empty = tmp_path / "known_hosts"
    empty.touch()
    with Lab(capture(tmp_path / "capture", "swi-a1")) as lab:
        (gap,) = collect(lab, transport, known_hosts=(empty,))["swi-a1"].gaps
    assert gap.reason is GapReason.AUTH
    assert gap.detail.startswith("unknown host key")
    assert empty.read_text() == ""


def test_planned_devices_are_not_contacted(tmp_path: Path) -> None:
    device = Device("swi-a1", ("demo",), "127.0.0.1", 1, status=Status.PLANNED)
    live = LiveCollector(Inventory((device,), {}), settings(), PLATFORMS)
    (collected,) = live.collect([device], None)
    assert (collected.gaps[0].table, collected.gaps[0].reason) == ("*", GapReason.NOT_COLLECTED)


def test_a_reader_that_leaves_early_ends_the_run(tmp_path: Path) -> None:
    with Lab(capture(tmp_path, *(f"swi-a{at}" for at in range(8)))) as lab:
        live, devices = collector(lab, workers=2)
        next(iterator := live.collect(devices, None))
        iterator.close()  # type: ignore[attr-defined]
        assert not [thread for thread in threading.enumerate() if thread.name == "collect"]


def test_a_reader_that_leaves_waits_for_no_silent_device(tmp_path: Path) -> None:
    with Lab(capture(tmp_path, "swi-a1", "swi-b1"), {"swi-a1": "silent"}) as lab:
        live, devices = collector(lab, device_deadline=60, login_timeout=60)
        iterator = live.collect(devices, None)
        assert next(iterator).device.name == "swi-b1"
        begin = time.monotonic()
        iterator.close()  # type: ignore[attr-defined]
        assert time.monotonic() - begin < 10


def test_the_login_test_tells_login_privilege_and_likely_platform(tmp_path: Path) -> None:
    with Lab(capture(tmp_path, "swi-a1", "swi-b1", "swi-c1"), {"swi-b1": "refused_sudo", "swi-c1": "wrong_password"}) as lab:
        live, devices = collector(lab)
        found = {report.device.name: report for report in live.login_test(devices)}
    assert (found["swi-a1"].failure, found["swi-a1"].sudo, found["swi-a1"].answers_like) == (None, True, ("demo",))
    assert found["swi-b1"].sudo is False
    assert found["swi-c1"].failure is GapReason.AUTH


def test_a_platform_is_recognised_by_what_its_answers_hold(tmp_path: Path) -> None:
    version = Source("version", "show version", _fill("system", "os_version"), Parser.TEXT, _nothing, anchor=(r"^Brand X$",))
    ports = Source("ports", "show ports", _fill("interface", "up"), Parser.TEXT, _nothing, anchor=(r"^port \S+$",))
    known = {"demo": PLATFORM, "other": Platform("other", "Other", (version,)), "bare": Platform("bare", "Bare", (ports,))}
    with Lab(capture(tmp_path, "swi-a1")) as lab:
        live, devices = collector(lab)
        live = LiveCollector(Inventory(devices, {}), settings(lab), known)
        (report,) = live.login_test(devices)
    assert report.answers_like == ("demo", "bare")


def test_an_unusable_key_file_is_a_set_up_error(tmp_path: Path) -> None:
    device = Device("swi-a1", ("demo",), "127.0.0.1", 1)
    live = LiveCollector(Inventory((device,), {}), settings(credentials=Credentials(key_file=tmp_path / "none")), PLATFORMS)
    with pytest.raises(SetupError, match="key file"):
        next(live.collect([device], None))


# a real shell


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    monkeypatch.setenv("AUDITOR_PASSWORD", "pw")
    folder = tmp_path / "bin"
    folder.mkdir()
    with Sshd(folder) as server:
        for name in ("show", "lldpctl"):
            server.script(name, "echo fine")
        server.script("sudo", 'shift; exec "$@"')
        yield server


def ask(sshd: Sshd, tmp_path: Path, devices: int = 1, group: str = "", **changes: Any) -> list[Collected]:
    known = tmp_path / "known_hosts"
    known.write_text(sshd.known_hosts_line)
    found = tuple(Device(f"d{at}", ("demo",), aaa_group=group) for at in range(devices))
    routes = {device.name: Route("127.0.0.1", sshd.port, aaa_group=group) for device in found}
    base = {"known_hosts": (known,), "credentials": Credentials(username="u", use_agent=False), "logins_per_second": 1000}
    live = LiveCollector(Inventory(found, routes), settings(**{**base, **changes}), PLATFORMS)
    return list(live.collect(found, frozenset({"system.os_version", "neighbour.system"})))


def test_warnings_on_the_error_stream_do_not_spoil_json(sshd: Sshd, tmp_path: Path) -> None:
    sshd.script("lldpctl", "echo '{'; echo 'W: old kernel' >&2; echo '\"a\": 1}'; echo more >&2")
    (collected,) = ask(sshd, tmp_path)
    output = by_command(collected)["lldpctl -f json"]
    assert (output.body, output.failure) == ('{\n"a": 1}\n', None)


@pytest.mark.timeout(60)
def test_200_megabytes_are_cut_and_the_next_command_is_still_answered(sshd: Sshd, tmp_path: Path) -> None:
    sshd.script("show", "head -c 200000000 /dev/zero | tr '\\0' x")
    (collected,) = ask(sshd, tmp_path, max_output=2_000_000)
    found = by_command(collected)
    assert found["show version"].failure is GapReason.TRUNCATED
    assert len(found["show version"].body) <= 2_000_000
    assert found["lldpctl -f json"].body == "fine\n"


def test_a_flood_on_the_error_stream_blocks_nothing(sshd: Sshd, tmp_path: Path) -> None:
    sshd.script("show", "head -c 6000000 /dev/zero | tr '\\0' x >&2; echo done")
    (collected,) = ask(sshd, tmp_path)
    assert by_command(collected)["show version"].body == "done\n"


def test_without_timeout_on_the_device_the_client_gives_up_a_hanging_command(sshd: Sshd, tmp_path: Path) -> None:
    sshd.script("timeout", "exit 127")
    sshd.script("show", "echo begun; exec sleep 30")
    (collected,) = ask(sshd, tmp_path, command_deadline=0.5)
    found = by_command(collected)
    assert found["show version"].failure is GapReason.TIMEOUT
    assert found["show version"].body == "begun\n"
    assert found["lldpctl -f json"].body == "fine\n"


def test_a_command_may_read_its_input_and_gets_none(sshd: Sshd, tmp_path: Path) -> None:
    sshd.script("show", "cat; echo rest")
    (collected,) = ask(sshd, tmp_path)
    assert by_command(collected)["show version"].body == "rest\n"


def test_a_device_without_a_shell_is_told_from_a_broken_one(sshd: Sshd, tmp_path: Path) -> None:
    sshd.script("sh", "echo This account is not available; exit 1")
    (collected,) = ask(sshd, tmp_path)
    assert {output.failure for output in collected.outputs} == {GapReason.REJECTED}
    assert "This account is not available" in collected.outputs[0].detail


def test_a_password_refused_once_is_not_tried_on_the_rest_of_its_aaa_group(sshd: Sshd, tmp_path: Path) -> None:
    sshd.password = "changed"
    found = ask(sshd, tmp_path, devices=6, group="tacacs")
    assert len(sshd.logins) == 1
    assert {collected.gaps[0].reason for collected in found} == {GapReason.AUTH}
    assert sum("not tried" in collected.gaps[0].detail for collected in found) == 5


def test_a_jump_host_is_logged_in_to_once_for_all_devices_behind_it(sshd: Sshd, tmp_path: Path) -> None:
    folder = tmp_path / "jump-bin"
    folder.mkdir()
    with Sshd(folder) as jump:
        config = tmp_path / "config"
        config.write_text(f"Host d*\n  ProxyJump u@127.0.0.1:{jump.port}\n")
        known = tmp_path / "known"
        known.write_text(sshd.known_hosts_line + jump.known_hosts_line)
        found = ask(sshd, tmp_path, devices=3, ssh_config=config, known_hosts=(known,))
        assert len(jump.logins) == 1
    assert [by_command(collected)["show version"].body for collected in found] == ["fine\n"] * 3


def test_an_unknown_key_of_the_jump_host_is_refused_and_named(sshd: Sshd, tmp_path: Path) -> None:
    folder = tmp_path / "jump-bin"
    folder.mkdir()
    with Sshd(folder) as jump:
        config = tmp_path / "config"
        config.write_text(f"Host d*\n  ProxyJump u@127.0.0.1:{jump.port}\n")
        found = ask(sshd, tmp_path, devices=2, ssh_config=config)
        assert jump.logins == []
    for collected in found:
        assert collected.gaps[0].reason is GapReason.AUTH
        assert collected.gaps[0].detail.startswith("jump host 127.0.0.1: unknown host key")


@pytest.fixture
def listener() -> Iterator[Callable[[bytes, float], int]]:
    """Opens a port that sends bytes over and over with a pause, or (without bytes) says nothing."""
    sockets: list[socket.socket] = []

    def serve(data: bytes, pause: float) -> int:
        server = socket.create_server(("127.0.0.1", 0))
        sockets.append(server)

        def talk() -> None:
            try:
                connection, _ = server.accept()
                sockets.append(connection)
                for _ in itertools.count():
                    if data:
                        connection.sendall(data)
                    time.sleep(pause)
            except OSError:
                return

        threading.Thread(target=talk, daemon=True).start()
        return int(server.getsockname()[1])

    yield serve
    for one in sockets:
        one.close()


@pytest.mark.parametrize(("data", "pause"), [(b"", 0.1), (b"x", 0.1), (b"HTTP/1.1 400 Bad Request\r\n", 0.1)])
def test_a_port_that_never_speaks_ssh_costs_the_login_time(
    listener: Callable[[bytes, float], int], data: bytes, pause: float, tmp_path: Path
) -> None:
    device = Device("d0", ("demo",))
    inventory = Inventory((device,), {"d0": Route("127.0.0.1", listener(data, pause))})
    begin = time.monotonic()
    (collected,) = LiveCollector(inventory, settings(login_timeout=1), PLATFORMS).collect([device], None)
    assert time.monotonic() - begin < 6
    assert (collected.gaps[0].table, collected.gaps[0].reason) == ("*", GapReason.TIMEOUT)


def test_a_name_that_does_not_resolve_is_unreachable() -> None:
    device = Device("no-such-host.invalid", ("demo",))
    (collected,) = LiveCollector(Inventory((device,), {}), settings(), PLATFORMS).collect([device], None)
    assert collected.gaps[0].reason is GapReason.UNREACHABLE
