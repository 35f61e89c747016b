from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from auditor.collect.output import Answer, Request, raw_output
from auditor.collect.survey import MAX_NAMES, Survey
from auditor.model import Device, GapReason, Platform

DEVICE = Device("swi-a1", ("demo",))
NOW = datetime(2031, 1, 1, tzinfo=UTC)
GONE = Answer(failure=GapReason.TIMEOUT, detail="no end of the answer within 10 s")


def run(platform: Platform, answers: dict[str, Answer], *reads: str) -> tuple[list[list[str]], Survey]:
    """The commands of each round, when the device answers like this (by command; others say `fine`)."""
    survey = Survey(DEVICE, platform, reads or None)
    rounds = []
    while requests := survey.next_requests():
        rounds.append([request.command for request in requests])
        for request in requests:
            answer = answers.get(request.command, Answer(b"fine\n", status=0))
            survey.take(request, raw_output(DEVICE, request, answer, NOW))
    return rounds, survey


def test_fixed_commands_go_first_and_names_from_their_answers_second(platform: Platform) -> None:
    answers = {"show links": Answer(b"link e0\nlink e1\n", status=0), "lldpctl -f json": Answer(b"{}", status=0)}
    rounds, survey = run(platform, answers)
    assert rounds == [
        ["show version", "show links", "lldpctl -f json", "cat '/etc/demo config'"],
        ["show mtu -i e0", "show mtu -i e1", "show e0", "show e1"],
    ]
    assert survey.finish() == []


def test_only_what_is_read_is_asked(platform: Platform) -> None:
    rounds, _ = run(platform, {"show links": Answer(b"link e0\n", status=0)}, "interface.fec")
    assert rounds == [["show links"], ["show e0"]]


def test_a_failed_command_brings_its_fallback_and_that_brings_the_names(platform: Platform) -> None:
    answers = {"show links": Answer(b"% Invalid input\n", status=0), "show link": Answer(b"link e7\n", status=0)}
    rounds, survey = run(platform, answers, "interface.fec")
    assert rounds == [["show links"], ["show link"], ["show e7"]]
    assert survey.finish() == []


def test_json_that_is_none_brings_its_fallback(platform: Platform) -> None:
    rounds, _ = run(platform, {"lldpctl -f json": Answer(b"unknown option -f\n", status=0)}, "neighbour.system")
    assert rounds == [["lldpctl -f json"], ["lldpctl"]]


def test_an_answered_command_brings_no_fallback(platform: Platform) -> None:
    rounds, _ = run(platform, {"lldpctl -f json": Answer(b'{"lldp": {}}', status=0)}, "neighbour.system")
    assert rounds == [["lldpctl -f json"]]


def test_without_names_there_is_one_gap_with_the_reason_of_the_naming_command(platform: Platform) -> None:
    rounds, survey = run(platform, {"show links": GONE, "show link": GONE}, "interface.fec")
    assert rounds == [["show links"], ["show link"]]
    (gap,) = survey.finish()
    assert (gap.table, gap.source, gap.reason, gap.columns) == ("interface", "detail", GapReason.TIMEOUT, ("fec",))
    assert "links or links_old" in gap.detail


def test_a_name_that_may_not_be_sent_is_a_gap_and_the_others_are_asked(platform: Platform) -> None:
    answers = {"show links": Answer(b"link e0\nlink e1;reboot\nlink $(x)\nlink e0\n", status=0)}
    rounds, survey = run(platform, answers, "interface.fec")
    assert rounds[1] == ["show e0"]
    (gap,) = survey.finish()
    assert gap.reason is GapReason.NOT_COLLECTED
    assert "and 1 more" in gap.detail


def test_too_many_names_are_cut_and_said(platform: Platform) -> None:
    body = "".join(f"link e{at}\n" for at in range(MAX_NAMES + 5)).encode()
    rounds, survey = run(platform, {"show links": Answer(body, status=0)}, "interface.fec")
    assert len(rounds[1]) == MAX_NAMES
    assert str(MAX_NAMES + 5) in survey.finish()[0].detail


def test_a_naming_function_that_crashes_names_nothing(platform: Platform) -> None:
    def crash(body: str) -> list[str]:
        raise KeyError(body)

    sources = tuple(
        replace(source, parameter=replace(source.parameter, names=crash)) if source.parameter else source
        for source in platform.sources
    )
    rounds, _ = run(replace(platform, sources=sources), {}, "interface.fec")
    assert rounds == [["show links"]]


def test_a_request_for_an_unasked_device_has_gaps_when_finished_early(platform: Platform) -> None:
    survey = Survey(DEVICE, platform, {"interface.fec"})
    assert [request.command for request in survey.next_requests()] == ["show links"]
    assert [gap.source for gap in survey.finish()] == ["detail"]


def judged(platform: Platform, key: str, answer: Answer) -> tuple[GapReason | None, str]:
    output = raw_output(DEVICE, Request(platform, platform.source(key), "x"), answer, NOW)
    return output.failure, output.detail


def test_exit_status_and_error_stream_say_why_there_is_no_answer(platform: Platform) -> None:
    cases = {
        GapReason.PERMISSION: [
            Answer(b"", b"sudo: a password is required\n", 1),
            Answer(b"", b"open: Permission denied\n", 13),
            Answer(b"", b"", 126),
        ],
        GapReason.REJECTED: [
            Answer(b"", b"sh: 1: show: not found\n", 127),
            Answer(b"", b"something odd\n", 9),
            Answer(b"Usage: show\n", b"", 2),
            Answer(b"", b"% Invalid input\n", 0),
            Answer(b" \n", b"no such thing\n", 0),
        ],
        GapReason.TIMEOUT: [Answer(b"", b"", 124)],
        None: [Answer(b"fine", b"a warning\n", 0), Answer(b"", b"", 0)],
    }
    for reason, answers in cases.items():
        for answer in answers:
            assert judged(platform, "version", answer)[0] is reason, answer


def test_a_source_may_declare_other_statuses_and_empty_answers(platform: Platform) -> None:
    assert judged(platform, "saved", Answer(b"", b"note\n", 3))[0] is None
    assert judged(platform, "saved", Answer(b"", b"", 1))[0] is GapReason.REJECTED


def test_the_error_text_is_the_body_of_a_failed_output_and_is_shown_harmlessly(platform: Platform) -> None:
    request = Request(platform, platform.source("version"), "show version")
    output = raw_output(DEVICE, request, Answer(b"", b"\x1b[2Jno\npassword: hunter2\n", 1), NOW)
    assert "hunter2" not in output.body
    assert output.body.endswith("\n")
    assert "\x1b" not in output.detail


def test_a_body_is_redacted_decoded_and_cut(platform: Platform) -> None:
    request = Request(platform, platform.source("version"), "show version")
    output = raw_output(DEVICE, request, Answer(b"community s3cr3t\n\xff\xfe" + b"x" * 50, status=0), NOW, limit=30)
    assert output.failure is GapReason.TRUNCATED
    assert output.body.startswith("community <redacted>\n��x")
    assert "30 bytes" in output.detail


def test_what_is_read_from_captures_only_is_never_asked_not_even_as_a_fallback(platform: Platform) -> None:
    silent = {"peers_text", "version"}
    quiet = replace(platform, sources=tuple(replace(source, sent=source.key not in silent) for source in platform.sources))
    rounds, survey = run(quiet, {"lldpctl -f json": Answer(b"unknown option -f\n", status=0)})
    assert not {"lldpctl", "show version"} & {command for commands in rounds for command in commands}
    assert survey.finish() == []
