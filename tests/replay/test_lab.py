"""The lab itself, seen by real SSH clients."""

import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import paramiko
import pytest
from netmiko import ConnectHandler

from auditor.errors import CaptureError, SetupError
from auditor.lab.server import LOOPBACK, Lab

STATUS = "".join(f"Ethernet{at}  up\n" for at in range(100))


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    for name in ("leaf-a", "leaf-b"):
        folder = tmp_path / "capture" / name
        folder.mkdir(parents=True)
        (folder / "status.txt").write_text(STATUS)
        (folder / "config.json").write_text('{"PORT": {}}\n')
        (folder / "device.yaml").write_text(
            "platforms: [sonic]\nrole: leaf\n"
            f'prompt: "admin@{name}:~$ "\n'
            "outputs:\n"
            "  - {file: status.txt, command: show interfaces status}\n"
            "  - {file: config.json, command: cat /etc/sonic/config_db.json}\n"
        )
    return tmp_path / "capture"


@contextmanager
def client(lab: Lab, device: str = "leaf-a", password: str = "lab", key: bool = False) -> Iterator[paramiko.SSHClient]:
    with paramiko.SSHClient() as ssh:
        name = f"[{LOOPBACK}]:{lab.ports[device]}"
        for line in lab.known_hosts.read_text().splitlines():
            if line.startswith(f"{name} "):
                entry = paramiko.hostkeys.HostKeyEntry.from_line(line)
                assert entry is not None and entry.key is not None
                ssh.get_host_keys().add(name, entry.key.get_name(), entry.key)
        ssh.set_missing_host_key_policy(paramiko.RejectPolicy())
        ssh.connect(
            LOOPBACK, lab.ports[device], lab.username, allow_agent=False, look_for_keys=False, timeout=10,
            password=None if key else password, pkey=paramiko.ECDSAKey(filename=str(lab.client_key)) if key else None,
        )  # fmt: skip
        yield ssh


def execute(ssh: paramiko.SSHClient, line: str, timeout: float = 10) -> tuple[str, int]:
    typed, out, _ = ssh.exec_command(line, timeout=timeout)
    assert not typed.closed  # paramiko half-closes the channel when nobody holds its input
    return out.read().decode(), out.channel.recv_exit_status()


def read_until(channel: paramiko.Channel, text: str, seconds: float = 10) -> str:
    got, end = "", time.monotonic() + seconds
    channel.settimeout(0.2)
    while text not in got and time.monotonic() < end:
        try:
            got += channel.recv(4096).decode()
        except TimeoutError:
            continue
    return got


@pytest.mark.parametrize("key", [False, True])
def test_recorded_answers_come_over_one_exec_channel_with_their_statuses(capture: Path, key: bool) -> None:
    with Lab(capture) as lab, client(lab, key=key) as ssh:
        line = (
            "sh -c 'show interfaces status </dev/null; echo m $?; sudo -n cat /etc/sonic/config_db.json; nope; echo m $?; exit 4'"
        )
        out, status = execute(ssh, line)
        assert (out, status) == (STATUS + 'm 0\n{"PORT": {}}\nm 127\n', 4)


def test_a_login_shell_echoes_prompts_and_answers(capture: Path) -> None:
    with Lab(capture) as lab, client(lab) as ssh:
        shell = ssh.invoke_shell()
        assert read_until(shell, "$ ").endswith("admin@leaf-a:~$ ")
        shell.send(b"cat /etc/sonic/config_db.json\n")
        assert read_until(shell, "~$ ") == 'cat /etc/sonic/config_db.json\r\n{"PORT": {}}\r\nadmin@leaf-a:~$ '
        shell.send(b"exit\n")
        assert shell.recv_exit_status() == 0


def test_netmiko_takes_a_device_for_a_linux_one(capture: Path) -> None:
    with Lab(capture) as lab, ConnectHandler(
        device_type="linux", host=LOOPBACK, port=lab.ports["leaf-a"], username="lab", password="lab",
        ssh_strict=True, alt_host_keys=True, alt_key_file=str(lab.known_hosts),
    ) as device:  # fmt: skip
        assert device.find_prompt() == "admin@leaf-a:~$"
        assert device.send_command("show interfaces status").splitlines() == STATUS.splitlines()


def test_only_loopback_is_bound_and_stopping_closes_every_port(capture: Path) -> None:
    with Lab(capture) as lab:
        ports, directory = dict(lab.ports), lab.directory
        assert len(set(ports.values())) == 2
        assert {listener.getsockname()[0] for listener in lab._listeners} == {"127.0.0.1"}
    assert not directory.exists()
    for port in ports.values():
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, port), 2)


def test_two_hundred_devices_answer_at_once(tmp_path: Path) -> None:
    for at in range(200):
        folder = tmp_path / f"dev-{at:03d}"
        folder.mkdir()
        (folder / "name.txt").write_text(f"dev-{at:03d}\n")
        (folder / "device.yaml").write_text("platforms: [linux]\noutputs:\n  - {file: name.txt, command: uname -n}\n")

    def name(device: str) -> str:
        with client(lab, device, key=True) as ssh:
            return execute(ssh, "uname -n", 60)[0].strip()

    with Lab(tmp_path) as lab, ThreadPoolExecutor(40) as pool:
        assert list(pool.map(name, lab.ports)) == list(lab.ports)


def test_a_device_that_is_down_refuses_the_connection(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "down"}) as lab:
        with pytest.raises(OSError, match=r"[Uu]nable to connect|refused"), client(lab):
            pass
        with client(lab, "leaf-b") as ssh:
            assert execute(ssh, "show interfaces status")[0] == STATUS


def test_wrong_credentials_are_refused(capture: Path) -> None:
    with Lab(capture, {"leaf-b": "wrong_password"}) as lab:
        for device, password, key in (("leaf-a", "guess", False), ("leaf-b", "lab", False), ("leaf-b", "lab", True)):
            with pytest.raises(paramiko.AuthenticationException), client(lab, device, password, key):
                pass


def test_a_changed_host_key_is_noticed(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "changed_host_key"}) as lab, pytest.raises(paramiko.BadHostKeyException), client(lab):
        pass


def test_a_dropped_connection_ends_in_the_middle(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "drop:300"}) as lab, client(lab) as ssh:
        _, out, _ = ssh.exec_command("show interfaces status")
        assert out.read().decode() == STATUS[:300]
        assert out.channel.recv_exit_status() == -1


def test_a_silent_device_takes_the_login_and_never_answers(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "silent"}) as lab, client(lab) as ssh:
        with pytest.raises(TimeoutError):
            execute(ssh, "show interfaces status", 0.5)
        assert read_until(ssh.invoke_shell(), "$", 0.5) == ""


def test_a_slow_device_thinks_before_each_command(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "slow:0.3"}) as lab, client(lab) as ssh:
        began = time.monotonic()
        assert execute(ssh, "show interfaces status")[0] == STATUS
        assert time.monotonic() - began >= 0.3


def test_a_trickling_device_sends_byte_by_byte(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "trickle:20"}) as lab, client(lab) as ssh:
        began = time.monotonic()
        assert execute(ssh, "echo 0123456789")[0] == "0123456789\n"
        assert time.monotonic() - began >= 0.5


def test_a_pager_waits_for_a_key_in_the_shell(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "pager:10"}) as lab, client(lab) as ssh:
        shell = ssh.invoke_shell()
        read_until(shell, "$ ")
        shell.send(b"show interfaces status\n")
        page = read_until(shell, "--More--")
        assert page.endswith("Ethernet9  up\r\n--More--")
        shell.send(b"\n")
        assert "Ethernet99  up" in read_until(shell, "~$ ")


def test_a_pager_hangs_an_exec_channel_whose_input_stays_open(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "pager:10"}) as lab, client(lab) as ssh:
        with pytest.raises(TimeoutError):
            execute(ssh, "show interfaces status", 0.5)
        assert "--More--" in execute(ssh, "show interfaces status </dev/null")[0]


def test_a_banner_holds_the_prompt_before_every_answer(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "banner"}) as lab, client(lab) as ssh:
        transport = ssh.get_transport()
        assert transport is not None
        assert b"admin@leaf-a:~$ " in (transport.get_banner() or b"")
        assert "\nadmin@leaf-a:~$ \r\n" in execute(ssh, "show interfaces status")[0]


@pytest.mark.parametrize(
    ("bad", "line", "status"),
    [("refused_sudo", "sudo -n show interfaces status", 1), ("rejected:interfaces", "show interfaces status", 2)],
)
def test_refusals_have_a_status_and_no_output(capture: Path, bad: str, line: str, status: int) -> None:
    with Lab(capture, {"leaf-a": bad}) as lab, client(lab) as ssh:
        assert execute(ssh, line) == ("", status)


def test_a_truncated_answer_claims_success(capture: Path) -> None:
    with Lab(capture, {"leaf-a": "truncated"}) as lab, client(lab) as ssh:
        assert execute(ssh, "show interfaces status") == (STATUS[: len(STATUS) // 2], 0)


def test_what_cannot_be_served_is_refused_before_a_port_opens(capture: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="leaf-z"):
        Lab(capture, {"leaf-z": "down"})
    with pytest.raises(CaptureError):
        Lab(tmp_path / "nothing")
    with pytest.raises(CaptureError):
        Lab(tmp_path)
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        with pytest.raises(SetupError, match="cannot listen"):
            Lab(capture, base_port=taken.getsockname()[1]).start()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="this kernel does not say whose a connection is")
def test_another_user_of_the_machine_gets_no_login(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.getuid()
    with Lab(capture) as lab:
        monkeypatch.setattr("auditor.lab.server.os.getuid", lambda: own + 1)
        with pytest.raises((paramiko.SSHException, OSError, EOFError)), client(lab):
            pass
        monkeypatch.undo()
        with client(lab) as ssh:
            assert execute(ssh, "show interfaces status")[0] == STATUS
