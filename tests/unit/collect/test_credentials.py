from __future__ import annotations

import pickle
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import paramiko
import pytest

from auditor.collect.credentials import Gate, PasswordStopped, Wallet
from auditor.errors import SetupError
from auditor.settings import Credentials


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUDITOR_PASSWORD", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)


def test_the_password_comes_from_the_environment_and_may_differ_by_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDITOR_PASSWORD", "common")
    monkeypatch.setenv("AUDITOR_PASSWORD_TACACS_EAST", "east")
    wallet = Wallet(Credentials())
    assert wallet.password("") == "common"
    assert wallet.password("tacacs-east") == "east"
    assert wallet.password("other") == "common"


def test_the_password_may_come_from_a_command_run_without_a_shell() -> None:
    assert Wallet(Credentials(password_command=(sys.executable, "-c", "print('a b'); print('c')"))).password("") == "a b"


@pytest.mark.parametrize("command", [("/nonexistent/tool",), (sys.executable, "-c", "import sys; sys.exit('hunter2')")])
def test_a_command_that_fails_is_a_set_up_error_without_its_output(command: tuple[str, ...]) -> None:
    with pytest.raises(SetupError, match="password_command") as caught:
        Wallet(Credentials(password_command=command))
    assert "hunter2" not in str(caught.value)


def test_the_password_may_come_from_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(get_password=lambda service, username: f"{service}/{username}")
    monkeypatch.setitem(sys.modules, "keyring", fake)
    assert Wallet(Credentials(keyring_service="audit", username="ops")).password("") == "audit/ops"


def test_without_the_keyring_package_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(SetupError, match="package `keyring`"):
        Wallet(Credentials(keyring_service="audit"))


def test_a_key_file_is_read_once_and_a_bad_one_is_a_set_up_error(tmp_path: Path) -> None:
    good = tmp_path / "id"
    paramiko.ECDSAKey.generate().write_private_key_file(str(good))
    assert Wallet(Credentials(key_file=good)).key is not None
    locked = tmp_path / "locked"
    paramiko.ECDSAKey.generate().write_private_key_file(str(locked), password="pw")
    with pytest.raises(SetupError, match="encrypted"):
        Wallet(Credentials(key_file=locked))
    (tmp_path / "junk").write_text("hunter2")
    with pytest.raises(SetupError, match="no private key") as caught:
        Wallet(Credentials(key_file=tmp_path / "junk"))
    assert "hunter2" not in str(caught.value)
    with pytest.raises(SetupError, match="cannot be read"):
        Wallet(Credentials(key_file=tmp_path / "none"))


def test_a_wallet_shows_nothing_and_cannot_be_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDITOR_PASSWORD", "hunter2")
    wallet = Wallet(Credentials())
    assert "hunter2" not in repr(wallet)
    with pytest.raises(TypeError):
        pickle.dumps(wallet)


def test_a_password_refused_once_is_not_offered_to_the_rest_of_its_group() -> None:
    gate = Gate(1000)
    assert not gate.try_password("tacacs", "a", lambda: False)
    offered = []
    with pytest.raises(PasswordStopped, match="a"):
        gate.try_password("tacacs", "b", lambda: bool(offered.append(1)))
    assert offered == []
    assert gate.try_password("radius", "c", lambda: True)


def test_devices_without_a_group_have_accounts_of_their_own() -> None:
    gate = Gate(1000)
    assert not gate.try_password("", "a", lambda: False)
    assert gate.try_password("", "b", lambda: True)


def test_a_failure_that_is_no_refusal_stops_nobody() -> None:
    gate = Gate(1000)

    def broken() -> bool:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        gate.try_password("tacacs", "a", broken)
    assert gate.try_password("tacacs", "b", lambda: True)


def test_until_the_first_password_is_taken_devices_try_one_at_a_time() -> None:
    gate = Gate(1000)
    running, most = 0, 0
    entered = threading.Event()
    release = threading.Event()

    def attempt() -> bool:
        nonlocal running, most
        running += 1
        most = max(most, running)
        entered.set()
        release.wait(5)
        running -= 1
        return False

    refused: list[str] = []

    def login(name: str) -> None:
        try:
            gate.try_password("tacacs", name, attempt)
        except PasswordStopped:
            refused.append(name)

    threads = [threading.Thread(target=login, args=(f"d{at}",)) for at in range(6)]
    for thread in threads:
        thread.start()
    entered.wait(5)
    release.set()
    for thread in threads:
        thread.join()
    assert most == 1
    assert len(refused) == 5


def test_logins_of_a_group_are_spread_and_others_wait_for_nobody() -> None:
    slept: list[float] = []
    gate = Gate(10, clock=lambda: 100.0, sleep=slept.append)
    for _ in range(3):
        gate.wait("tacacs")
    gate.wait("")
    gate.wait("radius")
    assert slept == pytest.approx([0.1, 0.2])
