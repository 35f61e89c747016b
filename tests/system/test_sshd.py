"""The live collector against a real OpenSSH server: this machine audited as a GPU host."""

import os
import platform

import pytest

from auditor.address import Address
from auditor.collect.live import LiveCollector
from auditor.model import GapReason
from auditor.parse import parse_device
from auditor.platforms import platforms

from .conftest import run

pytestmark = pytest.mark.system


def collect(project):
    (collected,) = LiveCollector(project.inventory, project.settings.collection).collect(list(project.devices.values()), None)
    return collected


def state_of(collected):
    device = collected.device
    return parse_device(device.name, collected.outputs, platforms(), gaps=collected.gaps, names=device.platforms)


def value(state, table, key, column):
    return state.cell(Address(table, key, column)).value


def test_commands_run_for_real_and_become_facts(sshd, tmp_path):
    state = state_of(collect(sshd.project(tmp_path / "project")))
    assert value(state, "system", (), "kernel") == platform.release()
    assert value(state, "system", (), "hostname") == os.uname().nodename
    assert value(state, "interface", ("lo",), "mtu") == 65536


def test_tools_that_are_not_there_are_gaps_and_not_facts(sshd, tmp_path):
    collected = collect(sshd.project(tmp_path / "project"))
    failed = {output.source: output.failure for output in collected.outputs if output.failure}
    assert not any(gap.table == "*" for gap in collected.gaps)
    assert failed, "this machine has no RDMA tools, so some commands cannot answer"
    assert state_of(collected).gaps


def test_another_host_key_is_refused_before_any_command(sshd, tmp_path):
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other"))
    other = " ".join((tmp_path / "other.pub").read_text().split()[:2])
    collected = collect(sshd.project(tmp_path / "project", host_key=other))
    assert not collected.outputs
    (gap,) = collected.gaps
    assert gap.table == "*"
    assert gap.reason in (GapReason.AUTH, GapReason.UNREACHABLE)
    assert "host key" in gap.detail.lower()


def test_a_key_that_the_server_does_not_know_is_a_refused_login(sshd, tmp_path):
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(sshd.client_key.with_name("stranger")))
    stranger = type(sshd)(sshd.port, sshd.host_key, sshd.client_key.with_name("stranger"))
    (gap,) = collect(stranger.project(tmp_path / "project")).gaps
    assert (gap.table, gap.reason) == ("*", GapReason.AUTH)
