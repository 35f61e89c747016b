"""Command lines that are no shells: real Netmiko against replayed switches, their prompts, pagers, banners and complaints."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from auditor import yamldoc
from auditor.address import Layer
from auditor.collect import Collected, cli_session
from auditor.collect.inventory import Inventory, Route
from auditor.collect.live import LiveCollector
from auditor.collect.redaction import redact
from auditor.errors import SetupError
from auditor.facts import System
from auditor.lab.command_line import MANNERS
from auditor.lab.server import Lab
from auditor.model import Device, Failure, Fill, GapReason, Parser, Platform, Privilege, RawOutput, Source, Transport
from auditor.platforms import platforms
from auditor.settings import Collection, Credentials

PAGERS = (r"--\s?[Mm]ore\s?--", r"---\(more\)---", r"lines \d+-\d+", r"---- More ----")
TYPED = {
    "arista_eos": ["terminal width 511", "terminal length 0"],
    "cisco_nxos": ["terminal width 511", "terminal length 0"],
    "juniper_junos": ["set cli screen-width 511", "set cli complete-on-space off", "set cli screen-length 0"],
    "huawei_vrp": ["screen-length 0 temporary"],
    "huawei_vrpv8": ["screen-length 0 temporary"],
    "hp_comware": ["screen-length disable"],
    "mellanox_mlnxos": ["no cli session paging enable"],
    "dell_os10": ["terminal length 0"],
}
"""What docs/security.md says is typed besides the commands."""
OWN_PROMPTS = {"huawei_vrpv8": "[~sw-1]", "hp_comware": "<sw-1>", "mellanox_mlnxos": "sw-1 [pod1: master] > "}


FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


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
    own = OWN_PROMPTS.get(name, prompt(name)).strip()
    return {
        "show version": f"version 9\n{own}\ndescription {own} show\n  {own}\nlast line\n",
        "show tech": "".join(f"{' ' * (at % 3)}row {at} {'x' * (at % 50 * 40)}\n" for at in range(120)),
        "show version | json": '{"version": "9"}\n',
    }


def capture(folder: Path, name: str, own_prompt: str, printed: Mapping[str, str]) -> Path:
    (folder / "sw-1").mkdir(parents=True)
    outputs = []
    for at, (command, body) in enumerate(printed.items()):
        (folder / "sw-1" / f"{at}.txt").write_text(body)
        outputs.append({"file": f"{at}.txt", "command": command})
    (folder / "sw-1" / "device.yaml").write_text(yamldoc.dump({"platforms": [name], "prompt": own_prompt, "outputs": outputs}))
    return folder


@contextmanager
def reached(
    folder: Path, name: str, bad: str = "", *, printed: Mapping[str, str] | None = None, known: Mapping[str, Platform] = KNOWN,
    **changes: Any,
) -> Iterator[tuple[Lab, LiveCollector, Device]]:  # fmt: skip
    source = capture(folder, name, OWN_PROMPTS.get(name, ""), bodies(name) if printed is None else printed)
    with Lab(source, {"sw-1": bad} if bad else None, known=known) as lab:
        settings: dict[str, Any] = {
            "ssh_config": None, "device_deadline": 20, "login_timeout": 5, "known_hosts": (lab.known_hosts,),
            "credentials": Credentials(username=lab.username, key_file=lab.client_key, use_agent=False), **changes,
        }  # fmt: skip
        port = lab.ports["sw-1"]
        device = Device("sw-1", (name,), "127.0.0.1", port)
        yield lab, LiveCollector(Inventory((device,), {"sw-1": Route("127.0.0.1", port)}), Collection(**settings), known), device


def collect(folder: Path, name: str, bad: str = "", **changes: Any) -> Collected:
    with reached(folder, name, bad, **changes) as (_, live, device):
        (found,) = live.collect([device], None)
        return found


def by_command(collected: Collected) -> dict[str, RawOutput]:
    return {output.command: output for output in collected.outputs}


every = pytest.mark.parametrize("name", list(MANNERS))


@every
def test_answers_come_whole_though_they_hold_the_prompt_and_nothing_else_is_typed(tmp_path: Path, name: str) -> None:
    with reached(tmp_path, name) as (lab, live, device):
        (collected,) = live.collect([device], None)
        typed = [line for line in lab.typed["sw-1"] if line.strip()]
    assert collected.gaps == ()
    found = by_command(collected)
    for command, body in bodies(name).items():
        assert found[command].failure is None, found[command].detail
        assert found[command].body == body
        assert found[command].exit_status is None, "a command line tells none"
    complaint = MANNERS[name].refusal.replace("{command}", "show nothing")
    assert found["show nothing"].body == complaint + "\n"
    assert typed == [*TYPED[name], "show version", "show tech", "show version | json", "show nothing"]


@pytest.mark.parametrize("name", ["arista_eos", "juniper_junos", "hp_comware", "mellanox_mlnxos"])
def test_a_pager_that_cannot_be_turned_off_is_paged_through_and_taken_out(tmp_path: Path, name: str) -> None:
    assert by_command(collect(tmp_path, name, "pager:40"))["show tech"].body == bodies(name)["show tech"]


@pytest.mark.parametrize("name", ["arista_eos", "hp_comware"])
def test_a_banner_that_holds_the_prompt_harms_nothing(tmp_path: Path, name: str) -> None:
    found = by_command(collect(tmp_path, name, "banner"))
    assert found["show version"].body == bodies(name)["show version"]


@pytest.mark.parametrize("name", ["cisco_nxos", "juniper_junos"])
def test_a_command_that_hangs_costs_its_own_time_and_the_next_one_is_asked(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_session, "GRACE", 0.0)
    found = by_command(collect(tmp_path, name, "slow:3", command_deadline=1))
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


@pytest.mark.parametrize("name", ["arista_eos", "huawei_vrpv8"])
def test_a_pause_behind_text_like_the_prompt_cuts_nothing(tmp_path: Path, name: str) -> None:
    with reached(tmp_path, name, "pause:0.3") as (lab, live, device):
        (collected,) = live.collect([device], None)
        asked = lab.typed["sw-1"].count("show version")
    assert by_command(collected)["show version"].body == bodies(name)["show version"]
    assert asked == 2, "the first end was none, and the command was asked again"


def test_an_end_that_cannot_be_proven_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_session, "PATIENT", 0.1)
    found = by_command(collect(tmp_path, "arista_eos", "pause:0.3"))
    assert found["show version"].failure is GapReason.TRUNCATED
    assert "could not be told" in found["show version"].detail
    assert found["show tech"].body == bodies("arista_eos")["show tech"], "the others stand"


@pytest.mark.parametrize("name", ["huawei_vrp", "huawei_vrpv8"])
def test_an_offer_to_change_the_password_is_declined(tmp_path: Path, name: str) -> None:
    with reached(tmp_path, name, "question") as (lab, live, device):
        (collected,) = live.collect([device], None)
        assert lab.typed["sw-1"][0] == "N"
    assert by_command(collected)["show version"].body == bodies(name)["show version"]


@pytest.mark.parametrize("name", ["arista_eos", "juniper_junos", "mellanox_mlnxos"])
def test_who_asks_something_at_login_is_not_answered(tmp_path: Path, name: str) -> None:
    with reached(tmp_path, name, "question") as (lab, live, device):
        (collected,) = live.collect([device], None)
        assert lab.typed["sw-1"] == []
    (gap,) = collected.gaps
    assert gap.reason is GapReason.AUTH
    assert "Change now? [Y/N]" in gap.detail


def test_a_slow_line_costs_time_and_no_character(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tech = dict(bodies("huawei_vrp"))
    monkeypatch.setattr(f"{__name__}.bodies", lambda _: {"show version": tech["show version"]})
    found = by_command(collect(tmp_path, "huawei_vrp", "trickle:400"))
    assert found["show version"].body == tech["show version"]


@pytest.mark.parametrize("name", ["cisco_nxos", "huawei_vrp"])
def test_the_login_test_asks_the_version_command_and_no_shell_words(tmp_path: Path, name: str) -> None:
    with reached(tmp_path, name) as (lab, live, device):
        (report,) = live.login_test([device])
        typed = [line for line in lab.typed["sw-1"] if line.strip()]
    assert (report.failure, report.answers_like) == (None, (name,))
    assert typed == [*TYPED[name], "show version"]


def _fixtures(platform: Platform) -> dict[str, str]:
    """By command: what the first case of every source prints whose command has no parameter."""
    found = {}
    for source in platform.sources:
        if source.sent and source.parameter is None and source.privilege is Privilege.NONE:
            files = sorted((FIXTURES / platform.name / source.key).glob("*/output.*"))
            if files:
                found.setdefault(source.command, files[0].read_text())
    return found


@pytest.mark.parametrize("name", [name for name, one in platforms().items() if one.transport is Transport.CLI])
def test_the_fixtures_of_a_platform_come_over_the_wire_as_they_are(tmp_path: Path, name: str) -> None:
    known = platforms()[name]
    printed = _fixtures(known)
    assert printed
    with reached(tmp_path, name, printed=printed, known={name: known}, device_deadline=60) as (lab, live, device):
        (collected,) = live.collect([device], None)
        typed = lab.typed["sw-1"]
    found = by_command(collected)
    for command in set(printed) & set(found):
        assert found[command].failure is None, found[command].detail
        expected = redact(printed[command].replace("\r", ""), known.secrets)
        assert found[command].body.strip("\n").split("\n") == expected.strip("\n").split("\n"), command
    assert set(printed) & set(typed)
