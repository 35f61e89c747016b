import subprocess
import tempfile
from pathlib import Path

import pytest

from auditor.errors import CaptureError
from auditor.lab import shell
from auditor.lab.misbehaviour import Misbehaviour, parse
from auditor.lab.shell import Recorded

ANSWERS = (
    Recorded("show version", "SONiC $HOME `x` 'y'\n"),
    Recorded("show interfaces status", "".join(f"row {at}\n" for at in range(60))),
    Recorded("sonic-db-dump -n APPL_DB -k 'PORT_TABLE:*' -y", "{}\n"),
    Recorded("sudo cat /etc/sonic/config_db.json", '{"PORT": {}}'),
    Recorded("fwutil show status", "no\n", 3),
)


def run(folder: Path, line: str, bad: Misbehaviour | None = None, typed: str = "") -> subprocess.CompletedProcess[str]:
    folder = Path(tempfile.mkdtemp(dir=folder))
    shell.build(folder / "bin", folder / "bodies", ANSWERS, bad)
    shell.build_common(folder / "common", folder / "bodies")
    done = subprocess.run(
        [*shell.command_line(), "-c", line],
        env=dict(shell.environment(folder / "bin", folder / "common", "$ ")),
        input=typed.encode(), capture_output=True, timeout=20, check=False,
    )  # fmt: skip
    return subprocess.CompletedProcess(line, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_recorded_body_is_printed_byte_for_byte(tmp_path: Path) -> None:
    assert run(tmp_path, "show version").stdout == "SONiC $HOME `x` 'y'\n"


def test_quoting_of_arguments_does_not_matter(tmp_path: Path) -> None:
    assert run(tmp_path, 'sonic-db-dump -n APPL_DB -k "PORT_TABLE:*" -y').stdout == "{}\n"


def test_the_recorded_exit_status_is_returned(tmp_path: Path) -> None:
    done = run(tmp_path, "fwutil show status")
    assert (done.stdout, done.returncode) == ("no\n", 3)


def test_what_was_not_recorded_is_not_found(tmp_path: Path) -> None:
    for line in ("show vlan", "ls", "fwutil"):
        done = run(tmp_path, line)
        assert (done.stdout, done.returncode) == ("", 127)
        assert "command not found" in done.stderr


def test_cat_prints_recorded_files_only(tmp_path: Path) -> None:
    assert run(tmp_path, "cat /etc/sonic/config_db.json").stdout == '{"PORT": {}}'
    done = run(tmp_path, "cat /etc/passwd")
    assert (done.stdout, done.returncode) == ("", 1)
    assert "No such file" in done.stderr


def test_sudo_runs_without_a_password_only_when_it_may_not_ask(tmp_path: Path) -> None:
    assert run(tmp_path, "sudo -n show version").returncode == 0
    assert run(tmp_path, "sudo show version").returncode == 1


def test_the_login_test_is_answered_without_a_recording(tmp_path: Path) -> None:
    assert run(tmp_path, "uname -sr; sudo -n true").stdout.startswith("Linux ")


def test_commands_join_and_keep_their_own_statuses(tmp_path: Path) -> None:
    done = run(
        tmp_path, 'sh -c \'timeout -k 1 5 fwutil show status </dev/null; printf "%s\\n" $?; show version; printf "%s\\n" $?\''
    )
    assert done.stdout == "no\n3\nSONiC $HOME `x` 'y'\n0\n"


def test_nothing_of_the_machine_can_be_run_or_written(tmp_path: Path) -> None:
    assert "restricted" in run(tmp_path, "/bin/ls").stderr
    assert "restricted" in run(tmp_path, f"show version > {tmp_path}/out").stderr
    assert not (tmp_path / "out").exists()


def test_refused_sudo(tmp_path: Path) -> None:
    done = run(tmp_path, "sudo -n show version", parse("refused_sudo"))
    assert (done.stdout, done.returncode, done.stderr) == ("", 1, "sudo: a password is required\n")


def test_a_rejected_command_reads_like_the_vendors_own_words(tmp_path: Path) -> None:
    done = run(tmp_path, "show interfaces status", parse("rejected:interfaces"))
    assert (done.stdout, done.returncode) == ("", 2)
    assert 'Error: No such command "interfaces".' in done.stderr
    assert run(tmp_path, "show version", parse("rejected:interfaces")).returncode == 0


def test_a_truncated_answer_claims_success(tmp_path: Path) -> None:
    done = run(tmp_path, "show interfaces status", parse("truncated:status"))
    assert done.returncode == 0
    assert 0 < len(done.stdout) < len(ANSWERS[1].body)
    assert ANSWERS[1].body.startswith(done.stdout)


def test_a_pager_stops_after_a_page_and_waits(tmp_path: Path) -> None:
    done = run(tmp_path, "show interfaces status", parse("pager:10"), typed="\n")
    assert done.stdout.split("\n")[10] == "--More--\r        \rrow 10"
    assert done.stdout.count("\n") == 60
    assert "--More--" not in run(tmp_path, "show version", parse("pager:10")).stdout


@pytest.mark.parametrize("command", ["", "sudo -n", "/bin/ls", "../x", "show 'x", "-c x"])
def test_a_recording_that_is_no_command_line_is_refused(tmp_path: Path, command: str) -> None:
    with pytest.raises(CaptureError):
        shell.build(tmp_path / "bin", tmp_path / "bodies", [Recorded(command, "")])
