"""Command lines that are no shells: real Netmiko against replayed switches, their prompts, pagers, banners and complaints."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from auditor import yamldoc
from auditor.address import Layer
from auditor.collect import Collected
from auditor.collect.cli_session import _without_echo
from auditor.collect.inventory import Inventory, Route
from auditor.collect.live import LiveCollector
from auditor.errors import SetupError
from auditor.facts import System
from auditor.lab.command_line import MANNERS
from auditor.lab.server import Lab
from auditor.model import Device, Failure, Fill, GapReason, Parser, Platform, RawOutput, Source, Transport
from auditor.settings import Collection, Credentials

TYPES = {name: name for name in MANNERS}
PAGERS = (r" ?-+\(?(?:[Mm]ore)\)?(?: \d+%\))?-*(?: More ----)?", r"lines \d+-\d+", r" *---- More ----")


def _nothing(data: Any, parameters: Mapping[str, str]) -> Iterable[Any]:
    return ()


def platform(name: str) -> Platform:
    fills = (Fill(System, Layer.APPLIED, ("os_version",)),)
    return Platform(
        name,
        "for tests",
        sources=(
            Source("version", "show version", fills, Parser.TEXT, _nothing, seconds=3),
            Source("long", "show tech", fills, Parser.TEXT, _nothing, seconds=6),
            Source("json", "show version | json", fills, Parser.TEXT, _nothing, seconds=3),
            Source("gone", "show nothing", fills, Parser.TEXT, _nothing, seconds=3),
        ),
        netmiko=name,
        transport=Transport.CLI,
        formats=("| json",),
        pagers=PAGERS,
        failures=(Failure(r"^% |^Error: |^ % |^unknown command", GapReason.REJECTED, "the switch does not take the command"),),
    )


KNOWN = {name: platform(name) for name in MANNERS}


def prompt(name: str) -> str:
    return MANNERS[name].prompt.format(name="sw-1").strip()


def bodies(name: str) -> dict[str, str]:
    return {
        "show version": f"version 9\n{prompt(name)}\ndescription {prompt(name)} show\n  {prompt(name)}\nlast line\n",
        "show tech": "".join(f"row {at} {'x' * (at % 200)}\n" for at in range(120)),
        "show version | json": '{"version": "9"}\n',
    }


def capture(folder: Path, name: str) -> Path:
    (folder / "sw-1").mkdir(parents=True)
    outputs = []
    for at, (command, body) in enumerate(bodies(name).items()):
        (folder / "sw-1" / f"{at}.txt").write_text(body)
        outputs.append({"file": f"{at}.txt", "command": command})
    (folder / "sw-1" / "device.yaml").write_text(yamldoc.dump({"platforms": [name], "outputs": outputs}))
    return folder


def collect(folder: Path, name: str, bad: str = "", **changes: Any) -> Collected:
    with Lab(capture(folder, name), {"sw-1": bad} if bad else None, known=KNOWN) as lab:
        settings: dict[str, Any] = {
            "ssh_config": None, "device_deadline": 20, "login_timeout": 5, "known_hosts": (lab.known_hosts,),
            "credentials": Credentials(username=lab.username, key_file=lab.client_key, use_agent=False), **changes,
        }  # fmt: skip
        port = lab.ports["sw-1"]
        device = Device("sw-1", (name,), "127.0.0.1", port)
        live = LiveCollector(Inventory((device,), {"sw-1": Route("127.0.0.1", port)}), Collection(**settings), KNOWN)
        (found,) = live.collect([device], None)
        return found


def by_command(collected: Collected) -> dict[str, RawOutput]:
    return {output.command: output for output in collected.outputs}


every = pytest.mark.parametrize("name", list(MANNERS))


@every
def test_answers_come_whole_though_they_hold_the_prompt(tmp_path: Path, name: str) -> None:
    collected = collect(tmp_path, name)
    assert collected.gaps == ()
    found = by_command(collected)
    for command, body in bodies(name).items():
        assert found[command].failure is None, found[command].detail
        assert found[command].body == body
        assert found[command].exit_status is None, "a command line tells none"
    complaint = MANNERS[name].refusal.replace("{command}", "show nothing").strip().splitlines()[-1]
    assert complaint in found["show nothing"].body


@pytest.mark.parametrize("name", ["arista_eos", "huawei_vrp", "juniper_junos"])
def test_a_pager_that_cannot_be_turned_off_is_paged_through(tmp_path: Path, name: str) -> None:
    body = by_command(collect(tmp_path, name, "pager:40"))["show tech"].body
    rows = [row for row in body.splitlines() if row.startswith("row ") or " row " in row or "\trow" in row]
    assert [f"row {at} " in body for at in range(120)] == [True] * 120
    assert len(rows) >= 117, "rows behind a pager stand on its line"


@pytest.mark.parametrize("name", ["arista_eos", "hp_comware"])
def test_a_banner_that_holds_the_prompt_harms_nothing(tmp_path: Path, name: str) -> None:
    found = by_command(collect(tmp_path, name, "banner"))
    assert found["show version"].body == bodies(name)["show version"]


@pytest.mark.parametrize("name", ["cisco_nxos", "juniper_junos"])
def test_a_command_that_hangs_costs_its_own_time_and_the_next_one_is_asked(tmp_path: Path, name: str) -> None:
    found = by_command(collect(tmp_path, name, "slow:9", command_deadline=1))
    assert {output.failure for command, output in found.items() if command != "show nothing"} == {GapReason.TIMEOUT}
    assert MANNERS[name].refusal.strip().splitlines()[-1] in found["show nothing"].body


def test_a_switch_that_never_answers_costs_its_own_deadline(tmp_path: Path) -> None:
    begin = time.monotonic()
    (gap,) = collect(tmp_path, "arista_eos", "silent", device_deadline=3).gaps
    assert gap.reason is GapReason.TIMEOUT
    assert time.monotonic() - begin < 8


@pytest.mark.parametrize(
    ("bad", "reason"),
    [("wrong_password", GapReason.AUTH), ("changed_host_key", GapReason.AUTH), ("drop:60", GapReason.UNREACHABLE)],
)
def test_who_lets_nobody_in_or_hangs_up_is_one_gap(tmp_path: Path, bad: str, reason: GapReason) -> None:
    collected = collect(tmp_path, "dell_os10", bad)
    reasons = {gap.reason for gap in collected.gaps} | {output.failure for output in collected.outputs}
    assert reasons <= {reason, GapReason.TRUNCATED}
    assert reasons


def test_a_way_that_the_platform_does_not_have_is_an_error_before_the_first_device() -> None:
    device = Device("sw-1", ("arista_eos",), "127.0.0.1", 22)
    routes = {"sw-1": Route("127.0.0.1", 22, transport=Transport.EXEC)}
    with pytest.raises(SetupError, match="sw-1: transport exec: arista_eos is reached by cli only"):
        LiveCollector(Inventory((device,), routes), Collection(), KNOWN)


@pytest.mark.parametrize(
    "echo",
    [
        "show version | json\n", "show version | js\non\n", "show versio\x08\x08on | json\n",
        "sw-1#show version | json\n", "show version | json\nsw-1#show version | json\n", "",
    ],
)  # fmt: skip
def test_the_echo_goes_and_nothing_else(echo: str) -> None:
    assert _without_echo(f'{echo}{{"version": 1}}\nshow version | json\n', "show version | json", "sw-1#") == (
        '{"version": 1}\nshow version | json\n'
    )
