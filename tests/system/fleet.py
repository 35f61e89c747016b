"""Machines of the kernel's making, each with its own network, host name and `/run`, in which real `lldpd` and `sshd` run, and
a patch bay whose cables a test moves as a hand would.

A port is a veth pair: one end in the machine, the other in the patch bay, a network of its own. A cable is a bridge there that
lets LLDP through. So a port that loses its plug stays, with name and address, and loses its carrier, and so does the far one.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple

from .conftest import run, wait_for

MANAGEMENT = "10.213.0"
LLDP = "0x4000"
"""Bit of a bridge's forwarding mask for frames to 01-80-C2-00-00-0E, the address of LLDP; else a bridge keeps them."""

_PORT = r"([^\s;]+) ([^\s;]+)"


class Place(NamedTuple):
    """A port of a machine."""

    machine: str
    port: str


class Namespace:
    """A process that holds namespaces, and commands that run in them. It ends with all that was started inside."""

    def __init__(self, start: str, log: Path) -> None:
        """`start`: shell lines to run inside before anything else."""
        inside = f"set -e\nmount -t sysfs sysfs /sys\nip link set lo up\n{start}\necho ready\nexec sleep infinity"
        spaces = ("--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
        with log.open("wb") as errors:
            self._holder = subprocess.Popen(("unshare", *spaces, "sh", "-c", inside), stdout=subprocess.PIPE, stderr=errors)
        assert self._holder.stdout is not None
        said = self._holder.stdout.readline()
        assert said == b"ready\n", log.read_text()
        children = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text().split()
        self.pid = children[0]

    def command(self, *words: str) -> tuple[str, ...]:
        """The words that run this command inside."""
        return ("nsenter", "-t", self.pid, "-n", "-u", "-m", "-p", "--", *words)

    def run(self, *words: str) -> str:
        """What the command prints; raises CalledProcessError."""
        return run(*self.command(*words))

    def ip(self, *lines: str) -> None:
        """Several lines of `ip` at once. Process ids in them are those of this machine."""
        command = ("nsenter", "-t", self.pid, "-n", "ip", "-batch", "-")
        subprocess.run(command, input="\n".join(lines), check=True, text=True, timeout=20)

    def close(self) -> None:
        """End the holder, and with it every process inside."""
        self._holder.kill()
        self._holder.wait(10)
        self._holder.stdout.close()


@dataclass
class Machine:
    """One host or switch: `address` is what the auditor reaches, `host_key` what its sshd shows."""

    name: str
    address: str
    host_key: str
    space: Namespace

    def neighbours(self) -> set[tuple[Place, Place]]:
        """Each of its ports with whom lldpd says that it sees; a former neighbour counts until lldpd has forgotten it."""
        document = json.loads(self.space.run("lldpcli", "-f", "json0", "show", "neighbors"))
        return {
            (Place(self.name, item["name"]), Place(chassis["name"][0]["value"], port["descr"][0]["value"]))
            for lldp in document["lldp"]
            for item in lldp.get("interface", ())
            for chassis, port in zip(item["chassis"], item["port"], strict=True)
        }


@dataclass
class Fleet:
    """Machines, the patch bay between them, and the office from which the auditor reaches their management addresses."""

    folder: Path
    ports: dict[str, tuple[str, ...]]
    key: Path = field(init=False)
    office: Namespace = field(init=False)
    bay: Namespace = field(init=False)
    machines: dict[str, Machine] = field(default_factory=dict)
    _far: dict[Place, Place | None] = field(default_factory=dict)
    _cages: dict[Place, str] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _cables = count()

    def __enter__(self) -> "Fleet":
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self) -> None:
        self.key = self._new_key("client")
        self.office, self.bay = self._space("office"), self._space("bay")
        self.office.ip("link add lan type bridge", f"address add {MANAGEMENT}.1/24 dev lan", "link set lan up")
        for number, (name, ports) in enumerate(self.ports.items(), 11):
            self._add(name, f"{MANAGEMENT}.{number}", ports)

    def _space(self, name: str, start: str = "") -> Namespace:
        space = Namespace(f"hostname {name}\n{start}", self.folder / f"{name}.log")
        self._stack.callback(space.close)
        return space

    def _new_key(self, name: str) -> Path:
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(self.folder / name))
        return self.folder / name

    def _add(self, name: str, address: str, ports: tuple[str, ...]) -> None:
        key = self._new_key(f"{name}.key")
        ssh, lldp = self.folder / f"{name}.sshd", self.folder / f"{name}.lldpd"
        ssh.write_text(
            f"ListenAddress {address}\nHostKey {key}\nAuthorizedKeysFile {self.key}.pub\n"
            "PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
        )
        # What a switch does and a host's distribution does not: the port is called by its name and not by its address.
        kind = "macaddress" if name.startswith("gpu") else "ifname"
        lldp.write_text(
            f"configure system interface pattern *,!mgmt\nconfigure lldp portidsubtype {kind}\n"
            "configure lldp tx-interval 1\nconfigure lldp tx-hold 2\n"
        )
        space = self._space(name, f"mount -t tmpfs tmpfs /run\nmkdir -p /run/lldpd /run/sshd\ncp {lldp} /run/lldpd.conf")
        machine = self.machines[name] = Machine(
            name, address, " ".join(key.with_suffix(".key.pub").read_text().split()[:2]), space
        )
        self.office.ip(f"link add {name} type veth peer mgmt netns {space.pid}", f"link set {name} master lan up")
        space.ip(f"address add {address}/24 dev mgmt", "link set mgmt up")
        for port in ports:
            place = Place(name, port)
            cage = self._cages[place] = f"cage{len(self._cages)}"
            self._far[place] = None
            self.bay.ip(f"link add {cage} type veth peer {port} netns {space.pid}")
            space.ip(f"link set {port} up")
        program = run("sh", "-c", "PATH=$PATH:/usr/sbin:/sbin command -v sshd").strip()
        space.run(program, "-f", str(ssh))
        space.run("lldpd", "-O", "/run/lldpd.conf")
        wait_for(lambda: self._answers(machine))

    def _answers(self, machine: Machine) -> bool:
        asked = subprocess.run(
            machine.space.command("lldpcli", "show", "configuration"), capture_output=True, text=True, timeout=20
        )
        return re.search(r"Transmit delay: 1\b", asked.stdout) is not None

    # Hands

    def put(self, one: Place, other: Place) -> None:
        """Lay a cable between two empty ports."""
        assert self._far[one] is None and self._far[other] is None
        cable = f"cable{next(self._cables)}"
        self._far[one], self._far[other] = other, one
        lines = [f"link add {cable} type bridge group_fwd_mask {LLDP} mcast_snooping 0", f"link set {cable} up"]
        self.bay.ip(*lines, *(f"link set {self._cages[place]} master {cable} up" for place in (one, other)))

    def pull(self, place: Place) -> Place:
        """Take the plug out of a port; returns the port that its other end is in, which loses its carrier too."""
        far = self._far[place]
        assert far is not None, f"{place} is empty"
        self.bay.ip(*(f"link set {self._cages[end]} down nomaster" for end in (place, far)))
        self._far[place] = self._far[far] = None
        return far

    def wire(self, cables: list[tuple[Place, Place]]) -> None:
        """These cables and no others; what is right stays."""
        wanted = {end: far for one, other in cables for end, far in ((one, other), (other, one))}
        for place in self._far:
            if self._far[place] not in (None, wanted.get(place)):
                self.pull(place)
        for one, other in cables:
            if self._far[one] is None:
                self.put(one, other)

    def is_wired(self, cables: list[tuple[Place, Place]]) -> bool:
        """Whether there are these cables and no others."""
        there = {frozenset(pair) for pair in self._far.items() if pair[1] is not None}
        return there == {frozenset(pair) for pair in cables}

    def follow(self, work_order: list[str]) -> None:
        """Move plugs as the steps say, literally; fails at a step that no hand could do."""
        hanging: Place | None = None
        for step in work_order:
            if taken := re.match(rf"Take the plug out of {_PORT}", step):
                assert hanging is None
                hanging = self.pull(Place(*taken.groups()))
            elif moved := re.search(rf"Move the plug from {_PORT}.*? to {_PORT}", step):
                source, target = Place(*moved.groups()[:2]), Place(*moved.groups()[2:])
                self.put(self.pull(source), target)
            elif put := re.match(rf"Put the hanging plug into {_PORT}", step):
                assert hanging is not None
                self.put(hanging, Place(*put.groups()))
                hanging = None
            else:
                raise AssertionError(f"no hand movement: {step}")
        assert hanging is None

    @contextmanager
    def silent(self, place: Place, status: str) -> Iterator[None]:
        """While this lasts, lldpd leaves the port alone (`disabled`), as if the adapter's firmware took all frames, or says
        nothing there (`rx-only`)."""
        words = ("lldpcli", "configure", "ports", place.port, "lldp", "status")
        machine = self.machines[place.machine].space
        machine.run(*words, status)
        try:
            yield
        finally:
            machine.run(*words, "rx-and-tx")

    def wait(self, silent: Collection[Place] = ()) -> None:
        """Until every lldpd sees what is across its cables and nothing else. `silent`: ports that see nobody."""
        wanted = {(place, far) for place, far in self._far.items() if far is not None and place not in silent}
        wait_for(lambda: set().union(*(machine.neighbours() for machine in self.machines.values())) == wanted)


@dataclass
class Site:
    """A project folder about a fleet, and the installed command run in its office."""

    folder: Path
    fleet: Fleet

    def write(self, cables: list[tuple[Place, Place]]) -> None:
        """Inventory, host keys, settings and the plan."""
        (self.folder / "inventory").mkdir(parents=True)
        (self.folder / "plan").mkdir()
        machines = self.fleet.machines.values()
        (self.folder / "known_hosts").write_text("".join(f"{machine.address} {machine.host_key}\n" for machine in machines))
        (self.folder / "auditor.yaml").write_text(
            f"collection:\n  known_hosts: [{self.folder / 'known_hosts'}]\n  ssh_config: null\n"
            f"  credentials: {{key_file: {self.fleet.key}, use_agent: false}}\n"
        )
        (self.folder / "inventory" / "hosts.yaml").write_text(
            "".join(
                f"{machine.name}: {{hostname: {machine.address}, username: root, platform: linux,"
                f" data: {{role: {'gpu_host' if machine.name.startswith('gpu') else 'leaf'}}}}}\n"
                for machine in machines
            )
        )
        rows = [f"{one.machine},{one.port},{other.machine},{other.port},compute" for one, other in cables]
        (self.folder / "plan" / "plan.csv").write_text("\n".join(["a_device,a_port,b_device,b_port,plane", *rows, ""]))

    def words(self, *words: str) -> tuple[str, ...]:
        """The whole command line of the auditor in the office."""
        return self.fleet.office.command(*auditor(), "-C", str(self.folder), *words)

    def check(self, *words: str) -> tuple[int, dict]:
        """Exit code and report of `auditor cabling check`, live."""
        return report(self.words("-q", "cabling", "check", "--format", "json", *words))


def auditor() -> tuple[str, ...]:
    """The installed command beside this interpreter."""
    installed = Path(sys.executable).with_name("auditor")
    return (str(installed),) if installed.exists() else (sys.executable, "-m", "auditor")


def report(command: tuple[str, ...]) -> tuple[int, dict]:
    """Exit code and JSON report of a run of the command."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.stdout, f"{shlex.join(command)}: exit {done.returncode}\n{done.stderr}"
    return done.returncode, json.loads(done.stdout)
