"""Real daemons: two lldpd joined by a cable of the kernel's, and an OpenSSH server on loopback.

`fleet.py` has whole machines with both, and cables to be moved.
"""

import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from auditor.workflows.project import load_project


def need(*programs):
    """Skip unless this is root and the programs are installed."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    missing = [program for program in programs if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: run `make test-system` as root")


def need_namespaces():
    """Skip where not even root may make namespaces, as in a container."""
    tried = subprocess.run(("unshare", "--net", "--uts", "--mount", "--pid", "--fork", "true"), capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"needs the right to make namespaces: {tried.stderr.strip()}")


def pytest_terminal_summary(terminalreporter):
    """How many of these tests ran and how many did not: a skipped test proves nothing."""
    here = Path(__file__).parent.name
    count = {
        outcome: sum(f"/{here}/" in report.nodeid for report in terminalreporter.getreports(outcome))
        for outcome in ("passed", "failed", "error", "skipped")
    }
    skipped = count.pop("skipped")
    terminalreporter.line(f"system tests: {sum(count.values())} ran, {skipped} skipped")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout


def wait_for(question, seconds=20.0):
    """The first true answer; fails the test when none comes in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := question():
            return answer
        time.sleep(0.2)
    raise AssertionError(f"nothing after {seconds} s")


def stop(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)


@dataclass(frozen=True)
class Node:
    """One end of the cable: its namespace, its port, and the socket of its lldpd."""

    name: str
    namespace: str
    port: str
    socket: Path

    def lldpcli(self, *words):
        return run("lldpcli", "-u", str(self.socket), *words)

    def lldpctl(self, form="json"):
        return run("lldpctl", "-u", str(self.socket), "-f", form)

    def neighbours(self):
        return json.loads(self.lldpctl()).get("lldp", {}).get("interface")

    def link(self, *words):
        return run("ip", "-n", self.namespace, "link", *words)

    def mac(self):
        return json.loads(run("ip", "-n", self.namespace, "-j", "link", "show", self.port))[0]["address"]


@pytest.fixture
def cable():
    """Two hosts in network namespaces of their own, joined by a veth pair, each running lldpd."""
    need("ip", "lldpd", "lldpcli", "unshare")
    mark = os.getpid()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        folder.chmod(0o755)  # lldpd drops its privileges and still has to reach its socket
        nodes = [Node(f"node-{end}", f"auditor{mark}{end}", f"ens{end}np0", folder / f"{end}.sock") for end in (1, 2)]
        for node in nodes:
            run("ip", "netns", "add", node.namespace)
            stack.callback(run, "ip", "netns", "del", node.namespace)
        one, two = nodes
        run("ip", "link", "add", one.port, "netns", one.namespace, "type", "veth", "peer", two.port, "netns", two.namespace)
        for node in nodes:
            node.link("set", node.port, "up")
            start = f"hostname {node.name}; exec lldpd -d -u {node.socket} -p {folder / node.name}.pid"
            log = stack.enter_context((folder / f"{node.name}.log").open("wb"))
            command = ("ip", "netns", "exec", node.namespace, "unshare", "--uts", "sh", "-c", start)
            stack.callback(stop, subprocess.Popen(command, stdout=log, stderr=log))
        for node in nodes:
            wait_for(node.socket.exists)
            node.lldpcli("configure", "lldp", "tx-interval", "1")
        yield nodes


@dataclass(frozen=True)
class SshServer:
    """A real OpenSSH server on loopback, and what a client needs to log in to it as root."""

    port: int
    host_key: str
    client_key: Path

    def project(self, folder, host_key=""):
        """A project folder with one device, which is this machine. `host_key`: another one than the server's."""
        (folder / "inventory").mkdir(parents=True)
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {host_key or self.host_key}\n")
        (folder / "inventory" / "hosts.yaml").write_text(
            f"this-host: {{hostname: 127.0.0.1, port: {self.port}, username: root, platform: linux, data: {{role: gpu_host}}}}\n"
        )
        (folder / "auditor.yaml").write_text(
            "collection:\n"
            f"  known_hosts: [{folder / 'known_hosts'}]\n"
            "  ssh_config: null\n"
            f"  credentials: {{key_file: {self.client_key}, use_agent: false}}\n"
        )
        return load_project(folder)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
        return connection.recv(4) == b"SSH-"
    return False


@pytest.fixture
def sshd(tmp_path):
    """OpenSSH's own server with keys made for this test."""
    need("sshd", "ssh-keygen")
    for name in ("host", "client"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(tmp_path / name))
    (tmp_path / "authorized").write_text((tmp_path / "client.pub").read_text())
    port = free_port()
    (tmp_path / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path / 'host'}\nAuthorizedKeysFile {tmp_path / 'authorized'}\n"
        "PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)
    program = shutil.which("sshd", path="/usr/sbin:/sbin:" + os.environ["PATH"])
    with (tmp_path / "sshd.log").open("wb") as log:
        server = subprocess.Popen([program, "-D", "-e", "-f", str(tmp_path / "sshd_config")], stdout=log, stderr=log)
    try:
        wait_for(lambda: answers(port))
        yield SshServer(port, " ".join((tmp_path / "host.pub").read_text().split()[:2]), tmp_path / "client")
    finally:
        stop(server)
