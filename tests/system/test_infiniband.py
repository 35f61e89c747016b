"""`auditor cabling check` on what the real `ibnetdiscover` and `iblinkinfo` print of a simulated fabric with crossed cables."""

import csv
import os
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.dialects import ibnet

from .conftest import need, run, stop
from .fleet import Place, auditor, report

pytestmark = pytest.mark.system

HOSTS, RAILS, PORTS = 64, 4, 40
NIC, LEAF = "mlx5_{}", "leaf-"
WALKER = Place("fm-01", "ibsim0")
"""The host that runs the tools, and its adapter, which the simulator calls so; on a port that the generated plan leaves free."""
LINKS = 2 * HOSTS * RAILS + 1
FACTORY = "MT4123 ConnectX6   Mellanox Technologies"


@dataclass
class Rails:
    """A generated plan, and nets for ibsim made of it: `cables` maps every port to the one across."""

    rows: list[dict[str, str]] = field(repr=False)

    def __post_init__(self):
        self.ends = [(Place(row["a_device"], row["a_port"]), Place(row["b_device"], row["b_port"])) for row in self.rows]
        self.cables = {one: far for pair in self.ends for one, far in (pair, pair[::-1])}
        self._guids = {}
        for one in sorted(self.cables, key=lambda place: self._node(place)):
            self._guids.setdefault(self._node(one), 0x946DAE0300000000 + 0x100 * (len(self._guids) + 1))

    @staticmethod
    def _node(place):
        """A switch is one node, every adapter of a host is one."""
        return Place(place.machine, "") if place.port.isdigit() else place

    def guid(self, place):
        """Of the node, as ibsim numbers it; an adapter's only port has the next one."""
        return self._guids[self._node(place)]

    def net(self, cables, descriptions):
        """The net in ibsim's format, which is that of ibnetdiscover's output. `descriptions`: texts of some nodes."""
        nodes = defaultdict(dict)
        for one, far in cables.items():
            nodes[self._node(one)][self._number(one)] = far
        blocks = []
        # The walk begins at the first node of the file.
        for node in sorted(nodes, key=lambda node: (node != WALKER, node)):
            adapter = node.port != ""
            text = descriptions.get(node, f"{node.machine} {node.port}".strip())
            head = f'Ca\t1 "{self._id(node)}"' if adapter else f'Switch\t{PORTS} "{self._id(node)}"'
            block = ["vendid=0x2c9", f"devid={'0x101b' if adapter else '0xd2f0'}"]
            block += [f"{'caguid' if adapter else 'switchguid'}=0x{self.guid(node):016x}", f'{head}\t\t# "{text}"']
            for number, far in sorted(nodes[node].items()):
                block.append(f'[{number}]\t"{self._id(far)}"[{self._number(far)}]\t\t# "" lid 0 4xHDR')
            blocks.append("\n".join(block))
        return "\n\n".join(blocks) + "\n\n"

    def _id(self, place):
        return f"{'H' if self._node(place).port else 'S'}-{self.guid(place):016x}"

    def _number(self, place):
        return 1 if self._node(place).port else int(place.port)


@dataclass
class Subnet:
    """A project about the fabric, and the simulator."""

    folder: Path
    rails: Rails

    def write(self, ids=False):
        """Plan and inventory. `ids`: the plan has the GUIDs of the adapters."""
        (self.folder / "plan").mkdir(parents=True)
        (self.folder / "inventory").mkdir()
        (self.folder / "auditor.yaml").write_text("plan: plan/plan.csv\n")
        rows = [
            row | ({"a_id": f"{self.rails.guid(one) + (not one.port.isdigit()):016x}"} if ids and one != WALKER else {})
            for row, (one, _) in zip(self.rails.rows, self.rails.ends, strict=True)
        ]
        columns = [*self.rails.rows[0], *(["a_id"] if ids else [])]
        with (self.folder / "plan" / "plan.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(columns)))
            writer.writeheader()
            writer.writerows(rows)
        devices = dict.fromkeys(place.machine for place in self.rails.cables)
        lines = [f"{name}: {{platform: infiniband, data: {{role: {self._role(name)}}}}}" for name in devices]
        (self.folder / "inventory" / "hosts.yaml").write_text("\n".join(lines) + "\n")

    @staticmethod
    def _role(name):
        return (
            "leaf"
            if name.startswith("leaf")
            else "spine"
            if name.startswith("spine")
            else "gpu_host"
            if name.startswith("gpu")
            else "fabric_manager"
        )

    def walk(self, cables, descriptions=None):
        """What the tools print of these cables, as a capture of the host that ran them; returns its folder."""
        capture = self.folder / "capture"
        host = capture / WALKER.machine
        host.mkdir(parents=True)
        net = self.folder / "net"
        net.write_text(self.rails.net(cables, descriptions or {}))
        outputs = []
        with Simulator(net) as simulator:
            for command in ("ibstat", "ibnetdiscover -C ibsim0", "iblinkinfo -l -C ibsim0"):
                file = f"{command.split()[0]}.txt"
                (host / file).write_text(simulator.run(*command.split()))
                outputs.append(f"  - {{file: {file}, command: {command}, exit: 0}}")
        lines = ["platforms: [infiniband]", f"collected_at: '{datetime.now(UTC).isoformat()}'", "outputs:", *outputs, ""]
        (host / "device.yaml").write_text("\n".join(lines))
        return capture

    def check(self, cables, descriptions=None):
        """Exit code and report."""
        capture = self.walk(cables, descriptions)
        return report((*auditor(), "-q", "-C", str(self.folder), "cabling", "check", "--from", str(capture), "--format", "json"))


class Simulator:
    """ibsim on a net, and tools that take it for the fabric of this machine."""

    def __init__(self, net):
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        self._environment = os.environ | {"IBSIM_SOCKNAME": f"auditor-{os.getpid()}", "PATH": path}
        self._log = net.with_suffix(".log").open("wb")
        command = ("ibsim", "-s", "-n", str(net))
        self._process = subprocess.Popen(
            command, env=self._environment, stdout=subprocess.PIPE, stderr=self._log, text=True, bufsize=1
        )

    def __enter__(self):
        said = iter(self._process.stdout.readline, "")
        assert any("simulator ready" in line for line in said)
        return self

    def __exit__(self, *_):
        stop(self._process)
        self._process.stdout.close()
        self._log.close()

    def run(self, *command):
        """What the tool prints."""
        words = ("ibsim-run", *command)
        return subprocess.run(words, env=self._environment, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.fixture(scope="module")
def rails(tmp_path_factory):
    """64 hosts with 4 adapters on 16 leaves, each with two parallel links to each of 8 spines, as `plan generate` lays it."""
    need("ibsim", "ibsim-run", "ibnetdiscover", "iblinkinfo", "ibstat")
    plan = tmp_path_factory.mktemp("plan") / "plan.csv"
    size = ("--hosts", str(HOSTS), "--rails", str(RAILS), "--ports", str(PORTS), "--speed", "4xHDR")
    run(*auditor(), "plan", "generate", *size, "--nic-port", "mlx5_0", "--switch-port", "1", "-o", str(plan))
    with plan.open(newline="") as file:
        rows = list(csv.DictReader(file))
    ends = {"a_device": WALKER.machine, "a_port": WALKER.port, "b_device": rows[0]["b_device"], "b_port": str(PORTS)}
    return Rails([*rows, rows[0] | ends | {"rail": ""}])


@pytest.fixture
def subnet(rails, tmp_path):
    return Subnet(tmp_path / "subnet", rails)


def crossed(cables, *ports):
    """The plugs of these ports moved on to the next one, the last to the first."""
    out = dict(cables)
    for port, source in zip(ports, ports[-1:] + ports[:-1], strict=True):
        far = cables[source]
        out[port], out[far] = far, port
    return out


def test_the_plan_has_parallel_uplinks(rails):
    pairs = defaultdict(int)
    for one, other in rails.ends:
        pairs[one.machine, other.machine] += 1
    assert sum(count == 2 for count in pairs.values()) == 16 * 8
    assert len(rails.ends) == LINKS


def test_the_tools_walk_the_whole_fabric(rails, subnet):
    host = subnet.walk(rails.cables) / WALKER.machine
    fabric = ibnet.discover((host / "ibnetdiscover.txt").read_text())
    assert len(fabric.nodes) == HOSTS * RAILS + 1 + 24
    assert sum(1 for _ in fabric.cables()) == 2 * LINKS
    assert fabric.strange == []
    assert ibnet.doubts(fabric) == []


def links_of(said):
    """How many links have which verdict; those of none are left out."""
    return {verdict: count for verdict, count in said["coverage"]["links"].items() if count and verdict != "planned"}


def test_a_healthy_fabric_is_proven_whole_and_parallel_links_are_kept_apart(rails, subnet):
    subnet.write()
    code, said = subnet.check(rails.cables)
    assert said["causes"] == []
    assert links_of(said) == {"proven": LINKS}
    assert code == 0


def test_a_crossed_pair_a_rotated_host_and_exchanged_parallel_links_are_three_causes(rails, subnet):
    subnet.write()
    pair = [rails.cables[Place(host, "mlx5_1")] for host in ("gpu-005", "gpu-009")]
    ring = [rails.cables[Place("gpu-040", f"mlx5_{rail}")] for rail in range(RAILS)]
    parallel = [near for near, far in rails.ends if (near.machine, far.machine) == ("leaf-r2-03", "spine-05")]
    code, said = subnet.check(crossed(crossed(crossed(rails.cables, *pair), *ring), *parallel))
    assert code == 1
    assert links_of(said) == {"proven": LINKS - 8, "wrong": 8}
    causes = {len(cause["members"]): cause for cause in said["causes"] if cause["severity"] == "error"}
    (mild,) = (cause for cause in said["causes"] if cause["severity"] == "warning")
    assert (mild["kind"], len(mild["members"])) == ("swapped", 2)
    assert causes.keys() == {2, RAILS}
    assert causes[2]["kind"] == "swapped"
    assert len(causes[2]["work_order"]) == 3
    assert all("gpu-005 mlx5_1" in step or "gpu-009 mlx5_1" in step for step in causes[2]["work_order"])
    # `mlx5_0` is a number that the kernel gave: nobody is sent to move cables of one host by it.
    assert causes[RAILS]["kind"] == "cables_or_numbering"
    assert "gpu-040" in causes[RAILS]["title"]
    assert len(causes[RAILS]["work_order"]) == 1


def test_with_guids_in_the_plan_a_rotated_host_has_moves_and_a_nameless_node_is_known(rails, subnet):
    subnet.write(ids=True)
    ring = [rails.cables[Place("gpu-040", f"mlx5_{rail}")] for rail in range(RAILS)]
    code, said = subnet.check(crossed(rails.cables, *ring), {Place("gpu-020", "mlx5_2"): FACTORY})
    assert code == 1
    assert links_of(said) == {"proven": LINKS - RAILS, "wrong": RAILS}
    wrong, nameless = sorted(said["causes"], key=lambda cause: cause["severity"])
    assert (wrong["kind"], len(wrong["members"]), len(wrong["work_order"])) == ("nic_order", RAILS, RAILS + 1)
    (finding,) = (finding for finding in said["findings"] if finding["cause"] == nameless["id"])
    assert (finding["rule"], finding["severity"]) == ("cabling.factory_description", "warning")
    assert finding["observed"] == FACTORY
    assert "gpu-020" in finding["message"]


def test_a_nameless_node_without_guid_and_one_outside_of_the_walk_are_neither_wrong_nor_missing(rails, subnet):
    subnet.write()
    pulled = Place("gpu-033", "mlx5_3")
    cables = {one: far for one, far in rails.cables.items() if pulled not in (one, far)}
    code, said = subnet.check(cables, {Place("gpu-020", "mlx5_2"): FACTORY})
    found = links_of(said)
    assert found.pop("proven") == LINKS - 2
    assert found.keys() <= {"unknown", "link_only"}
    assert {finding["severity"] for finding in said["findings"]} == {"information"}
    assert code == 3
