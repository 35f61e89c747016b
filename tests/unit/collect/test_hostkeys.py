from __future__ import annotations

from pathlib import Path

import paramiko
import pytest
from paramiko.hostkeys import HostKeys

from auditor.collect.hostkeys import KnownHosts, lookup_name

KEY = paramiko.ECDSAKey.generate()
OTHER = paramiko.ECDSAKey.generate()


def line(names: str, key: paramiko.PKey = KEY) -> str:
    return f"{names} {key.get_name()} {key.get_base64()}"


def known(folder: Path, *lines: str) -> KnownHosts:
    file = folder / "known_hosts"
    file.write_text("\n".join(lines) + "\n")
    return KnownHosts([file, folder / "missing"])


@pytest.mark.parametrize(
    "names",
    ["swi-a1", "x,swi-a1,y", "swi-*", "*,!swi-b*", "swi-a?", HostKeys.hash_host("swi-a1")],
    ids=["plain", "list", "star", "negation", "question mark", "hashed"],
)
def test_a_key_known_under_the_name_is_accepted(tmp_path: Path, names: str) -> None:
    assert known(tmp_path, "# comment", line(names)).problem(["swi-a1"], KEY) is None


def test_any_of_several_names_will_do(tmp_path: Path) -> None:
    assert known(tmp_path, line("192.0.2.1")).problem(["swi-a1", "192.0.2.1"], KEY) is None


@pytest.mark.parametrize(
    "names",
    ["swi-b1", "*,!swi-a*", "[swi-a1]:2222", HostKeys.hash_host("swi-b1")],
    ids=["plain", "negation", "port", "hashed"],
)
def test_a_name_that_is_not_there_is_unknown(tmp_path: Path, names: str) -> None:
    problem = known(tmp_path, line(names)).problem(["swi-a1"], KEY)
    assert problem is not None
    assert problem.startswith("unknown host key")
    assert "swi-a1" in problem


def test_another_key_under_the_name_is_a_change_and_both_are_shown(tmp_path: Path) -> None:
    problem = known(tmp_path, line("swi-a1", OTHER)).problem(["swi-a1"], KEY)
    assert problem is not None
    assert "changed" in problem
    assert KEY.fingerprint in problem
    assert OTHER.fingerprint in problem


def test_one_of_two_known_keys_is_enough(tmp_path: Path) -> None:
    assert known(tmp_path, line("swi-a1", OTHER), line("swi-a1")).problem(["swi-a1"], KEY) is None


def test_a_revoked_key_is_refused_though_known(tmp_path: Path) -> None:
    problem = known(tmp_path, line("swi-a1"), "@revoked " + line("*")).problem(["swi-a1"], KEY)
    assert problem is not None
    assert "revoked" in problem


def test_lines_that_cannot_be_read_are_skipped(tmp_path: Path) -> None:
    lines = ["junk", "swi-a1 ssh-ed25519 !!!", "swi-a1 no-such-type AAAA", "@cert-authority " + line("*"), "swi-a1 ssh-rsa AAAA"]
    assert known(tmp_path, *lines).problem(["swi-a1"], KEY) is not None
    assert known(tmp_path, *lines, line("swi-a1")).problem(["swi-a1"], KEY) is None


def test_a_port_is_part_of_the_name() -> None:
    assert lookup_name("swi-a1", 22) == "swi-a1"
    assert lookup_name("swi-a1", 2222) == "[swi-a1]:2222"
