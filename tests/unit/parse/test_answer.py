"""What an answer must be before anything is read from it: whole, of the right kind, and the right command's."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from auditor.address import Address, Layer
from auditor.errors import NormaliseError
from auditor.facts import ConfigFile, Interface
from auditor.model import (
    ABSENT,
    Failure,
    Fill,
    GapReason,
    Parameter,
    Parser,
    Platform,
    RawOutput,
    Source,
    State,
    Unread,
    Unsupported,
    digest,
)
from auditor.parse import answer as answer_module
from auditor.parse import parse_device

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def from_json(data: Any, parameters: Mapping[str, str]) -> Iterator[Interface]:
    for name, row in data["ports"].items():
        yield Interface(name=name, mtu=row.get("mtu"))


def from_text(data: str, parameters: Mapping[str, str]) -> Iterator[Interface | Unread]:
    for line in data.splitlines()[1:]:
        words = line.split()
        if len(words) == 2 and words[1].isdigit():
            yield Interface(name=words[0], mtu=int(words[1]))
        elif words:
            yield Unread(Interface, (words[0],), "mtu", detail="no number")


def one_port(data: str, parameters: Mapping[str, str]) -> Iterator[Interface]:
    yield Interface(name=parameters["port"], fec="rs" if "rs" in data else None)


def with_undeclared(data: Any, parameters: Mapping[str, str]) -> Iterator[Interface]:
    yield Interface(name="E0", speed=1)


def with_wrong_type(data: Any, parameters: Mapping[str, str]) -> Iterator[Interface]:
    yield Interface(name="E0", mtu="9100")  # type: ignore[arg-type]


def that_raises(data: Any, parameters: Mapping[str, str]) -> Iterator[Interface]:
    yield Interface(name="E0", mtu=1)
    raise NormaliseError("ports", "mtu", "many")


APPLIED = Fill(Interface, Layer.APPLIED, ("mtu",))
PLATFORM = Platform(
    "toy",
    "Toy",
    (
        Source("json", "show json", (APPLIED,), Parser.JSON, from_json),
        Source("text", "show text", (APPLIED,), Parser.TEXT, from_text, anchor=(r"^PORT +MTU", r"^-- end")),
        Source("plain", "show plain", (APPLIED,), Parser.TEXT, from_text, anchor=(r"^PORT +MTU",), fallback_for="json"),
        Source("saved", "cat saved", (Fill(Interface, Layer.SAVED, ("mtu",)),), Parser.JSON, from_json),
        Source(
            "fec",
            "show fec {port}",
            (Fill(Interface, Layer.APPLIED, ("fec",)),),
            Parser.TEXT,
            one_port,
            parameter=Parameter("port", ("json",), lambda body: []),
        ),
        Source("undeclared", "u", (APPLIED,), Parser.JSON, with_undeclared),
        Source("wrong_type", "w", (APPLIED,), Parser.JSON, with_wrong_type),
        Source("raises", "r", (APPLIED,), Parser.JSON, that_raises),
    ),
    failures=(Failure(r"command not found", GapReason.REJECTED, "no such command"),),
    pagers=(r"--More--",),
    unsupported=(Unsupported("queue", ("watchdog_enabled",), "no such thing", Layer.APPLIED),),
)


def raw(source: str, body: str, **more: Any) -> RawOutput:
    return RawOutput("dev", "toy", source, source, body, digest(body), NOW, **more)


def state(*outputs: RawOutput, **more: Any) -> State:
    return parse_device("dev", outputs, {"toy": PLATFORM}, **more)


def mtu(found: State, port: str = "E0") -> Any:
    cell = found.cell(Address("interface", (port,), "mtu"))
    return cell.gap.reason if cell.gap else cell.value


GOOD = '{"ports": {"E0": {"mtu": 9100}, "E1": {}}}'


def test_a_whole_answer_gives_values_and_absence() -> None:
    found = state(raw("json", GOOD))
    assert mtu(found) == 9100
    assert mtu(found, "E1") is ABSENT
    assert mtu(found, "E7") is ABSENT


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", GapReason.UNPARSED),
        (GOOD[:-1], GapReason.TRUNCATED),
        (GOOD[:20], GapReason.TRUNCATED),
        ('{"ports": {"E0": {"mtu": 9100}}} trailing\nmore\nand more', GapReason.UNPARSED),
        ('{"ports": {"E0": {"mtu": 9100}, "E0": {"mtu": 1500}}}', GapReason.UNPARSED),
        ('{"ports": {"E0": {"mtu": NaN}}}', GapReason.UNPARSED),
        ('{"ports": []}', GapReason.UNPARSED),
        ("[" * 100_000, GapReason.UNPARSED),
        ('{"ports": {"E0": {"mtu": ' + "9" * 10_000 + "}}}", GapReason.UNPARSED),
        ("bash: show: command not found", GapReason.REJECTED),
        ("\x00\x01\x02", GapReason.UNPARSED),
    ],
)
def test_a_broken_json_answer_is_a_gap_with_its_reason(body: str, reason: GapReason) -> None:
    assert mtu(state(raw("json", body))) is reason


def test_text_behind_a_login_banner_is_still_the_json() -> None:
    assert mtu(state(raw("json", "Last login: yesterday\n" + GOOD + "\ndev#"))) == 9100


def test_a_text_without_its_end_line_keeps_what_it_has_and_proves_no_absence() -> None:
    found = state(raw("text", "PORT MTU\nE0 9100\n"))
    assert mtu(found) == 9100
    assert mtu(found, "E1") is GapReason.TRUNCATED


def test_a_text_that_holds_nothing_expected_is_refused() -> None:
    assert mtu(state(raw("text", "Welcome\nE0 9100\n"))) is GapReason.UNPARSED


def test_a_field_that_cannot_be_read_hides_only_its_cell() -> None:
    found = state(raw("text", "PORT MTU\nE0 many\nE1 1500\n-- end\n"))
    assert mtu(found) is GapReason.UNPARSED
    assert mtu(found, "E1") == 1500
    assert mtu(found, "E2") is ABSENT


def test_a_pager_at_the_end_means_cut_and_in_the_middle_is_cleaned() -> None:
    cut = state(raw("text", "PORT MTU\nE0 9100\n--More--"))
    assert mtu(cut) == 9100
    assert mtu(cut, "E1") is GapReason.TRUNCATED
    whole = state(raw("text", "PORT MTU\nE0 9100\n--More--\x08\x08\x08\x08\x08\x08\x08\x08E1 1500\n-- end\n"))
    assert mtu(whole, "E1") == 1500
    assert mtu(whole, "E2") is ABSENT


def test_an_exit_status_is_a_refusal_whatever_the_text() -> None:
    assert mtu(state(raw("json", GOOD, exit_status=1))) is GapReason.REJECTED


def test_sudo_refused_is_a_permission_gap() -> None:
    assert mtu(state(raw("json", "sudo: a password is required", exit_status=1))) is GapReason.PERMISSION


def test_words_of_a_failure_inside_a_long_answer_do_not_refuse_it() -> None:
    rows = "\n".join(f"E{number} 9100" for number in range(40))
    body = f"PORT MTU\n{rows}\nnote: command not found is no port\n" + "\n".join(f"X{n} 1" for n in range(20)) + "\n-- end\n"
    assert mtu(state(raw("text", body))) == 9100


@pytest.mark.parametrize("source", ["undeclared", "wrong_type", "raises"])
def test_a_fault_of_the_platform_file_is_a_gap_not_a_crash(source: str) -> None:
    found = state(raw(source, "{}"))
    assert found.cell(Address("interface", ("E9",), "mtu")).gap is not None


def test_rows_read_before_a_normaliser_failed_stand() -> None:
    found = state(raw("raises", "{}"))
    assert mtu(found) == 1
    assert mtu(found, "E1") is GapReason.UNPARSED


def test_the_fallback_counts_only_when_the_better_source_gave_nothing() -> None:
    both = state(raw("json", GOOD), raw("plain", "PORT MTU\nE0 1500\n"))
    assert mtu(both) == 9100
    only = state(raw("json", "bash: show: command not found"), raw("plain", "PORT MTU\nE0 1500\n"))
    assert mtu(only) == 1500
    assert mtu(only, "E1") is ABSENT


def test_two_answers_that_disagree_are_a_conflict_of_that_cell_alone() -> None:
    found = state(raw("json", GOOD), raw("text", "PORT MTU\nE0 1500\nE2 1500\n-- end\n"))
    assert mtu(found) is GapReason.CONFLICT
    assert mtu(found, "E2") == 1500


def test_a_command_with_a_parameter_speaks_of_that_port_only() -> None:
    found = state(
        raw("fec", "fec: off", parameters={"port": "E0"}),
        raw("fec", "no answer", parameters={"port": "E1"}, failure=GapReason.TIMEOUT),
    )
    assert found.cell(Address("interface", ("E0",), "fec")).value is ABSENT
    assert found.cell(Address("interface", ("E1",), "fec")).gap.reason is GapReason.TIMEOUT  # type: ignore[union-attr]
    assert found.cell(Address("interface", ("E2",), "fec")).gap.reason is GapReason.NOT_COLLECTED  # type: ignore[union-attr]


def test_an_excerpt_proves_no_absence() -> None:
    found = state(raw("json", GOOD, excerpt=("interface",)))
    assert mtu(found) == 9100
    assert mtu(found, "E7") is GapReason.NOT_COLLECTED


def test_the_layer_is_never_borrowed_for_a_row() -> None:
    found = state(raw("json", GOOD), raw("saved", '{"ports": {"E7": {"mtu": 1500}}}'))
    assert mtu(found, "E7") is ABSENT
    assert found.cell(Address("interface", ("E7",), "mtu", Layer.SAVED)).value == 1500


def test_columns_without_a_source_are_unsupported_and_declared_ones_say_why() -> None:
    found = state(raw("json", GOOD))
    speed = found.cell(Address("interface", ("E0",), "speed")).gap
    assert speed is not None
    assert speed.reason is GapReason.UNSUPPORTED
    watchdog = found.cell(Address("queue", ("E0", "3"), "watchdog_enabled", Layer.APPLIED)).gap
    assert watchdog is not None
    assert watchdog.detail == "no such thing"
    assert found.cell(Address("config_file", ("x",), "exists")).gap is not None
    assert ConfigFile.TABLE == "config_file"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_answer_that_takes_too_long_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(data: Any, parameters: Mapping[str, str]) -> Iterator[Interface]:
        while True:
            yield Interface(name="E0")

    # where the alarm rings inside a callback of the garbage collector Python swallows it with a warning, and it rings again
    monkeypatch.setattr(answer_module, "TIME_LIMIT", 0.05)
    source = Source("slow", "slow", (APPLIED,), Parser.TEXT, slow)
    parsed = answer_module.parse_output(raw("slow", "x"), source, PLATFORM)
    assert [gap.reason for gap in parsed.gaps] == [GapReason.UNPARSED]
    assert "within" in parsed.gaps[0].detail


def test_a_longer_answer_than_allowed_is_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_module, "MAX_BODY", 18)
    found = state(raw("plain", "PORT MTU\nE0 9100\nE1 1500\n"))
    assert mtu(found, "E1") is GapReason.TRUNCATED


def test_a_recorded_text_that_stops_in_a_line_loses_that_line_and_proves_no_absence() -> None:
    found = state(raw("plain", "PORT MTU\nE0 9100\nE1 15", exit_status=0))
    assert mtu(found) == 9100
    assert mtu(found, "E1") is GapReason.TRUNCATED
    assert mtu(state(raw("plain", "PORT MTU\nE0 9100", exit_status=None))) == 9100, "pasted text may lack its last line end"
    assert mtu(state(raw("plain", "PORT MT", exit_status=0))) is GapReason.TRUNCATED


@pytest.mark.parametrize("body", ["\x1b[2J\x1b[H\x07" * 9, "PORT MTU\n" + "\ufffd\x01\x02 " * 50, "PORT MTU\nE0 9100\n\0"])
def test_a_text_of_control_characters_is_binary(body: str) -> None:
    assert mtu(state(raw("plain", body))) is GapReason.UNPARSED


def test_a_few_control_characters_in_a_name_do_not_blind_the_table() -> None:
    assert mtu(state(raw("plain", "PORT MTU\nE0 9100\n" + "E1 1500\n" * 50 + "\x1b[31mevil 1\n"))) == 9100


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("% Invalid input detected at '^' marker.\n", GapReason.REJECTED),
        ("sh: 1: show: not found\n", GapReason.REJECTED),
        ('Error: No such command "show"\n', GapReason.REJECTED),
        ("Building configuration...\n", GapReason.TRUNCATED),
        ("Timeout, server 10.0.0.9 not responding.\n", GapReason.TIMEOUT),
    ],
)
def test_what_another_box_or_shell_says_is_no_answer_of_any_platform(body: str, reason: GapReason) -> None:
    assert mtu(state(raw("plain", body))) is reason
