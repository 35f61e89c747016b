"""`auditor cabling check` against real LLDP agents over real SSH: cables moved by hand, and what the installer is told."""

import subprocess
import threading

import pytest

from .conftest import need, need_namespaces, stop, wait_for
from .fleet import Fleet, Place, Site

pytestmark = pytest.mark.system

HOSTS = tuple(f"gpu-{number:02}" for number in range(1, 5))
NICS = ("ens114np0", "ens116np0")
LEAVES = ("leaf-1", "leaf-2")
CABLES = [
    (Place(host, nic), Place(leaf, f"Ethernet{4 * number}"))
    for number, host in enumerate(HOSTS)
    for nic, leaf in zip(NICS, LEAVES, strict=True)
]
"""NIC n of every host is on leaf n, hosts port after port."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    need("ip", "lldpd", "lldpcli", "sshd", "ssh-keygen", "unshare", "nsenter")
    need_namespaces()
    switch_ports = tuple(f"Ethernet{4 * number}" for number in range(len(HOSTS) + 1))
    with Fleet(tmp_path_factory.mktemp("fleet"), dict.fromkeys(HOSTS, NICS) | dict.fromkeys(LEAVES, switch_ports)) as fleet:
        yield fleet


@pytest.fixture
def site(fleet, tmp_path):
    """A fresh project about the fleet, wired as planned."""
    fleet.wire(CABLES)
    fleet.wait()
    site = Site(tmp_path / "site", fleet)
    site.write(CABLES)
    return site


def exchange(fleet, one, other):
    """Put the plugs of two ports into each other's."""
    one_far, other_far = fleet.pull(one), fleet.pull(other)
    fleet.put(one_far, other)
    fleet.put(other_far, one)


class Watch:
    """A command that goes on printing; its lines so far are `lines`."""

    def __init__(self, command):
        self.lines = []
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)

    def _read(self):
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))

    def __enter__(self):
        self._reader.start()
        return self

    def __exit__(self, *_):
        stop(self._process)
        self._reader.join(10)
        self._process.stdout.close()

    def until(self, line):
        """Wait for this line."""
        wait_for(lambda: line in self.lines, 40)

    def ends(self):
        """The exit code, once it has ended by itself."""
        return self._process.wait(20)


def test_a_healthy_fleet_is_proven_from_both_ends(site):
    code, report = site.check()
    assert report["causes"] == []
    assert code == 0
    links = report["coverage"]["links"]
    assert (links["planned"], links["proven"]) == (8, 8)


def test_two_exchanged_cables_are_one_cause_and_its_work_order_mends_them(site, fleet):
    exchange(fleet, Place("leaf-1", "Ethernet4"), Place("leaf-2", "Ethernet4"))
    fleet.wait()
    code, wrong = site.check()
    assert code == 1
    (cause,) = wrong["causes"]
    assert cause["kind"] == "swapped"
    assert set(cause["members"]) == {finding["fingerprint"] for finding in wrong["findings"]}
    assert {finding["rule"] for finding in wrong["findings"]} == {"cabling.wrong_peer"}
    assert len(wrong["findings"]) == 2
    assert (wrong["coverage"]["links"]["wrong"], wrong["coverage"]["links"]["proven"]) == (2, 6)
    assert len(cause["work_order"]) == 3
    fleet.follow(cause["work_order"])
    fleet.wait()
    code, right = site.check()
    assert (code, right["causes"]) == (0, [])
    assert right["coverage"]["links"]["proven"] == 8
    resolved = {finding["fingerprint"] for finding in right["findings"] if finding["status"] == "resolved"}
    assert resolved == set(cause["members"])


def test_hosts_wired_round_a_ring_of_three_are_one_cause_whose_moves_hold(site, fleet):
    ports = [Place("leaf-1", f"Ethernet{number}") for number in (0, 4, 8)]
    fars = [fleet.pull(port) for port in ports]
    for far, port in zip(fars, ports[1:] + ports[:1], strict=True):
        fleet.put(far, port)
    fleet.wait()
    code, wrong = site.check()
    assert code == 1
    (cause,) = wrong["causes"]
    assert cause["kind"] == "cycle"
    fleet.follow(cause["work_order"])
    assert fleet.is_wired(CABLES)


def test_a_pulled_cable_and_a_plug_in_a_spare_port_are_two_causes(site, fleet):
    fleet.pull(Place("gpu-03", "ens114np0"))
    planned, spare = Place("leaf-2", "Ethernet12"), Place("leaf-2", "Ethernet16")
    fleet.put(fleet.pull(planned), spare)
    fleet.wait()
    code, report = site.check()
    assert code == 1
    causes = {cause["kind"]: cause for cause in report["causes"]}
    assert causes.keys() == {"missing", "wrong_port"}
    links = report["coverage"]["links"]
    assert (links["missing"], links["wrong"], links["proven"]) == (1, 1, 6)
    assert any("gpu-03 ens114np0" in step for step in causes["missing"]["work_order"])
    fleet.follow(causes["wrong_port"]["work_order"])
    fleet.put(Place("gpu-03", "ens114np0"), Place("leaf-1", "Ethernet8"))
    assert fleet.is_wired(CABLES)


def test_a_silent_agent_is_no_missing_cable_and_one_that_only_hears_is_proof_enough(site, fleet):
    mute, mute_far = Place("gpu-02", "ens116np0"), Place("leaf-2", "Ethernet4")
    shy, shy_far = Place("gpu-04", "ens114np0"), Place("leaf-1", "Ethernet12")
    with fleet.silent(mute, "disabled"), fleet.silent(shy, "rx-only"):
        fleet.wait(silent={mute, mute_far, shy_far})
        code, report = site.check()
    assert code == 3
    links = report["coverage"]["links"]
    assert (links["link_only"], links["missing"], links["proven_one_end"], links["proven"]) == (1, 0, 1, 6)
    (finding,) = report["findings"]
    assert (finding["rule"], finding["severity"]) == ("cabling.not_proven", "information")
    assert set(finding["devices"]) == {mute.machine, mute_far.machine}


def test_a_watch_tells_what_turned_green_and_ends(site, fleet):
    exchange(fleet, Place("leaf-1", "Ethernet0"), Place("leaf-2", "Ethernet0"))
    fleet.wait()
    with Watch(site.words("-q", "cabling", "check", "--watch", "--every", "1", "--no-store")) as watch:
        watch.until("2 cables not right yet")
        order = [line.strip() for line in watch.lines if line.startswith("  ")]
        fleet.follow(order)
        watch.until("every planned cable of the scope is right")
        assert watch.ends() == 0
    green = {line.removeprefix("right now: ") for line in watch.lines if line.startswith("right now: ")}
    assert green == {
        "gpu-01:ens114np0|leaf-1:Ethernet0",
        "gpu-01:ens116np0|leaf-2:Ethernet0",
    }
