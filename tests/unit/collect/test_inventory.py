from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from nornir.plugins.inventory.simple import SimpleInventory

from auditor.collect.inventory import Inventory, load
from auditor.errors import ErrorList, InventoryError, SetupError
from auditor.model import Status, Transport

KNOWN = ("sonic", "linux")


def write(folder: Path, hosts: str, groups: str = "", defaults: str = "") -> Path:
    (folder / "hosts.yaml").write_text(hosts)
    if groups:
        (folder / "groups.yaml").write_text(groups)
    if defaults:
        (folder / "defaults.yaml").write_text(defaults)
    return folder


POD = """\
swi-a1:
  hostname: 192.0.2.11
  groups: [leafs]
  data: {rack: R1, position: 40, tags: {owner: netops}}
swi-b1:
  hostname: 192.0.2.12
  port: 2222
  groups: [spines]
  data: {status: planned, maintenance_until: 2031-05-01}
node-7:
  platform: linux
  data: {role: gpu_host, pod: p1, transport: shell, rack: R1}
"""
GROUPS = """\
fabric: {platform: sonic, username: audit, data: {site: lab, aaa_group: tacacs}}
leafs: {groups: [fabric], data: {role: leaf}}
spines: {groups: [fabric], data: {role: spine, site: hall}}
"""


@pytest.fixture
def pod(tmp_path: Path) -> Inventory:
    return load(write(tmp_path, POD, GROUPS, "data: {pod: p0}\nport: 22\n"), KNOWN)


def test_a_device_has_its_own_values_then_those_of_its_groups_then_the_defaults(pod: Inventory) -> None:
    leaf = pod.device("swi-a1")
    assert leaf.platforms == ("sonic",)
    assert (leaf.address, leaf.port, leaf.role, leaf.site, leaf.pod) == ("192.0.2.11", 22, "leaf", "lab", "p0")
    assert (leaf.rack, leaf.position, leaf.aaa_group) == ("R1", "40", "tacacs")
    assert leaf.groups == ("leafs", "fabric")
    assert leaf.tags == {"owner": "netops"}
    assert pod.device("swi-b1").site == "hall"
    assert pod.routes["swi-a1"].username == "audit"


def test_a_host_without_an_address_is_reached_by_its_name(pod: Inventory) -> None:
    assert pod.routes["node-7"].hostname == "node-7"
    assert pod.routes["node-7"].transport is Transport.SHELL


def test_status_and_maintenance_are_typed(pod: Inventory) -> None:
    spine = pod.device("swi-b1")
    assert spine.status is Status.PLANNED
    assert spine.maintenance_until == datetime(2031, 5, 1, 23, 59, 59, tzinfo=UTC)


def test_inheritance_is_that_of_nornir_itself(tmp_path: Path, pod: Inventory) -> None:
    theirs = SimpleInventory(*(str(tmp_path / name) for name in ("hosts.yaml", "groups.yaml", "defaults.yaml"))).load()
    for device in pod.devices:
        host = theirs.hosts[device.name]
        assert device.role == host.extended_data().get("role", "")
        assert device.site == host.extended_data().get("site", "")
        assert device.pod == host.extended_data().get("pod", "")
        assert (pod.routes[device.name].username or None) == host.username
        assert device.groups == tuple(group.name for group in host.extended_groups())


def test_devices_come_in_the_order_of_their_names(pod: Inventory) -> None:
    assert [device.name for device in pod.devices] == ["node-7", "swi-a1", "swi-b1"]


def test_select_joins_globs_of_one_kind_and_crosses_kinds(pod: Inventory) -> None:
    def names(**filters: list[str]) -> list[str]:
        return [device.name for device in pod.select(**filters)]

    assert names() == ["node-7", "swi-a1", "swi-b1"]
    assert names(devices=["swi-a*", "node-7"]) == ["node-7", "swi-a1"]
    assert names(groups=["fabric"]) == ["swi-a1", "swi-b1"]
    assert names(racks=["R1"], roles=["leaf"]) == ["swi-a1"]
    assert names(pods=["p1"]) == ["node-7"]


def test_a_filter_that_matches_nothing_is_an_error_with_the_likely_word(pod: Inventory) -> None:
    with pytest.raises(SetupError, match=r"no device matches 'swi-a2'.*did you mean 'swi-a1'"):
        pod.select(devices=["swi-a2"])
    with pytest.raises(SetupError, match="no rack matches"):
        pod.select(racks=["R99"])
    with pytest.raises(SetupError, match="satisfies all"):
        pod.select(devices=["swi-*"], pods=["p1"])


@pytest.mark.parametrize(
    ("hosts", "line", "words"),
    [
        ("a: {platform: sonik}\n", 1, "did you mean 'sonic'"),
        ("a: {}\n", 1, "no platform"),
        ("a:\n  platform: sonic\n  groups: [leaf]\n", 3, "unknown group 'leaf'"),
        ("a:\n  platform: sonic\n  data:\n    rak: R1\n", 4, "did you mean 'rack'"),
        ("a:\n  platform: sonic\n  data:\n    colour: red\n", 4, "tags"),
        ("a:\n  platform: sonic\n  role: leaf\n", 3, "under `data`"),
        ("a:\n  platform: sonic\n  port: 70000\n", 3, "port"),
        ("a:\n  platform: sonic\n  hostname: 10.0.0.1/24\n", 3, "hostname"),
        ("a:\n  platform: sonic\n  hostname: 12\n", 3, "hostname"),
        ("a: {platform: [sonic]}\n", 1, "must be a text"),
        ("a:\n  platform: sonic\n  data: {status: built}\n", 3, "planned, installed, accepted"),
        ("a:\n  platform: sonic\n  data: {maintenance_until: tomorrow}\n", 3, "maintenance_until"),
        ("a:\n  platform: sonic\n  data: {role: [leaf]}\n", 3, "role"),
        ("a:\n  data: {platforms: [linux, [x]]}\n", 2, "unknown platform"),
        ("a:\n  platform: sonic\n  data: {transport: telnet}\n", 3, "exec, shell"),
        ("a: 3\n", 1, "must be a mapping"),
        ("a: {platform: sonic}\na: {platform: sonic}\n", 2, "twice"),
    ],
)
def test_what_is_wrong_in_hosts_is_named_with_file_and_line(tmp_path: Path, hosts: str, line: int, words: str) -> None:
    with pytest.raises(SetupError, match=words) as caught:
        load(write(tmp_path, hosts), KNOWN)
    errors = caught.value.errors if isinstance(caught.value, ErrorList) else [caught.value]
    assert isinstance(errors[0], InventoryError)
    assert (Path(errors[0].file or "").name, errors[0].line) == ("hosts.yaml", line)


@pytest.mark.parametrize(
    "name", ["../etc", "a/b", "a\\\\b", "..", ".hidden", "-rf", "a b", "a\\x1b[31m", "x" * 129, "a,b", "a:b"]
)
def test_a_hostile_device_name_is_refused_and_shown_harmlessly(tmp_path: Path, name: str) -> None:
    with pytest.raises(InventoryError, match="name") as caught:
        load(write(tmp_path, f'"{name}": {{platform: sonic}}\n'), KNOWN)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "a: {platform: sonic, password: hunter2}\n",
        "a:\n  platform: sonic\n  data: {enable_secret: hunter2}\n",
        "a:\n  platform: sonic\n  connection_options: {netmiko: {password: hunter2}}\n",
        "a:\n  platform: sonic\n  connection_options: {netmiko: {extras: {secret: hunter2}}}\n",
    ],
)
def test_a_credential_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    with pytest.raises(InventoryError, match="no credential") as caught:
        load(write(tmp_path, text), KNOWN)
    assert "hunter2" not in str(caught.value)


def test_groups_that_inherit_from_each_other_are_refused(tmp_path: Path) -> None:
    groups = "one: {groups: [two]}\ntwo: {groups: [one]}\n"
    with pytest.raises(InventoryError, match="one > two > one") as caught:
        load(write(tmp_path, "a: {platform: sonic}\n", groups), KNOWN)
    assert Path(caught.value.file or "").name == "groups.yaml"


def test_all_errors_are_found_in_one_pass(tmp_path: Path) -> None:
    with pytest.raises(ErrorList) as caught:
        load(write(tmp_path, "a: {platform: x}\nb: {platform: sonic, prt: 1}\n", "g: {data: {rak: 1}}\n"), KNOWN)
    assert len(caught.value.errors) == 3


def test_names_that_differ_in_case_and_one_address_twice_are_refused(tmp_path: Path) -> None:
    hosts = "a: {platform: sonic, hostname: h1}\nA: {platform: sonic, hostname: h2}\nb: {platform: sonic, hostname: h1}\n"
    with pytest.raises(ErrorList) as caught:
        load(write(tmp_path, hosts), KNOWN)
    assert "differs only in case" in str(caught.value)
    assert "same address" in str(caught.value)


def test_a_missing_hosts_file_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match=r"hosts\.yaml"):
        load(tmp_path, KNOWN)
