from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.collect.script import MAX_LINE, Command, Mark, Splitter, batches, join
from auditor.model import Privilege

LIMIT = 1 << 20


def stream(mark: Mark, *bodies: tuple[bytes, int], preamble: bytes = b"") -> bytes:
    out = preamble + f"\n{mark.text} 0 0\n".encode()
    for number, (body, status) in enumerate(bodies, 1):
        out += body + f"\n{mark.text} {number} {status}\n".encode()
    return out


def split(mark: Mark, data: bytes, count: int, step: int = 1 << 16, limit: int = LIMIT) -> Splitter:
    splitter = Splitter(mark, count, limit)
    for at in range(0, len(data), step):
        splitter.feed(data[at : at + step], float(at))
    return splitter


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=5), st.integers(1, 50), st.binary(max_size=20))
def test_bodies_come_back_byte_for_byte_however_they_are_cut(bodies: list[bytes], step: int, preamble: bytes) -> None:
    mark = Mark.fresh()
    data = stream(mark, *((body, at) for at, body in enumerate(bodies)), preamble=preamble)
    splitter = split(mark, data, len(bodies), step)
    assert splitter.done
    assert [(piece.body, piece.status) for piece in splitter.pieces] == [(body, at) for at, body in enumerate(bodies)]


def test_a_mark_of_another_channel_is_text() -> None:
    mark, other = Mark.fresh(), Mark.fresh()
    body = f"x\n{other.text} 1 0\ny".encode()
    assert split(mark, stream(mark, (body, 0)), 1).pieces[0].body == body


def test_the_whole_mark_stands_nowhere_in_the_line() -> None:
    mark = Mark.fresh()
    assert mark.text not in join([Command("show version")], mark)


def test_an_unfinished_answer_is_the_rest() -> None:
    mark = Mark.fresh()
    data = stream(mark, (b"one", 0), (b"two", 0))
    splitter = split(mark, data[: data.index(b"two") + 2], 2)
    assert [piece.body for piece in splitter.pieces] == [b"one"]
    assert splitter.rest() == b"tw"
    assert not splitter.done


def test_text_instead_of_a_shell_is_the_rest() -> None:
    splitter = split(Mark.fresh(), b"This account is not available.\r\n", 3)
    assert splitter.started is None
    assert splitter.rest() == b"This account is not available."


def test_too_long_an_answer_overflows_and_keeps_no_more_than_the_limit() -> None:
    mark = Mark.fresh()
    splitter = Splitter(mark, 1, 1000)
    splitter.feed(f"\n{mark.text} 0 0\n".encode(), 0)
    for _ in range(100):
        splitter.feed(b"y" * 5000, 1)
        assert len(splitter.rest()) <= 1000
    assert splitter.overflow


def test_seconds_are_those_between_the_marks() -> None:
    mark = Mark.fresh()
    splitter = Splitter(mark, 1, LIMIT)
    splitter.feed(f"\n{mark.text} 0 0\n".encode(), 10.0)
    assert splitter.started == 10.0
    splitter.feed(f"x\n{mark.text} 1 0\n".encode(), 12.5)
    assert splitter.pieces[0].seconds == 2.5


def test_commands_are_batched_below_the_length_that_every_server_takes() -> None:
    commands = [Command(f"show interface Ethernet{at} transceiver") for at in range(400)]
    found = batches(commands)
    assert [at for batch in found for at in batch] == list(range(400))
    assert len(found) > 1
    assert all(len(join([commands[at] for at in batch], Mark.fresh())) < MAX_LINE for batch in found)


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_real_shells_run_the_line(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    commands = [
        Command("echo one"),
        Command("printf a%sb '; '"),
        Command("cat /nonexistent-file"),
        Command("no-such-command-here"),
        Command("true"),
        Command("cat", seconds=3),
        Command("true", Privilege.NONE),
    ]
    mark = Mark.fresh()
    done = subprocess.run([shell, "-c", join(commands, mark)], capture_output=True, timeout=30, check=False)
    out, errors = split(mark, done.stdout, len(commands)), split(mark, done.stderr, len(commands))
    assert out.done
    assert errors.done
    assert [piece.body for piece in out.pieces] == [b"one\n", b"a; b", b"", b"", b"", b"", b""]
    assert [piece.status for piece in out.pieces] == [0, 0, 1, 127, 0, 0, 0]
    assert b"nonexistent-file" in errors.pieces[2].body
    assert errors.pieces[0].body == b""


def test_a_command_that_hangs_is_ended_where_there_is_timeout() -> None:
    if shutil.which("timeout") is None:
        pytest.skip("no timeout here")
    mark = Mark.fresh()
    line = join([Command("sleep 20", seconds=0.2), Command("echo next")], mark)
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=15, check=False)
    out = split(mark, done.stdout, 2)
    assert [(piece.body, piece.status) for piece in out.pieces] == [(b"", 124), (b"next\n", 0)]


@pytest.mark.parametrize(("user", "body", "status"), [("0", b"seen\n", 0), ("1000", b"", 127)])
def test_root_needs_no_sudo_where_none_is_installed(tmp_path: Path, user: str, body: bytes, status: int) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    (tmp_path / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (tmp_path / "id").chmod(0o755)
    mark = Mark.fresh()
    line = join([Command("echo seen", Privilege.SUDO)], mark)
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, timeout=15, check=False, env={"PATH": str(tmp_path)})
    (piece,) = split(mark, done.stdout, 1).pieces
    assert (piece.body, piece.status) == (body, status)
