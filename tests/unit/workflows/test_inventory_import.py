"""Devices into the inventory: what is new is appended, what stands there stays, what contradicts is named on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from auditor.cli import app
from auditor.collect import inventory as inventories
from auditor.errors import AuditorError, ErrorList, InventoryError, SetupError
from auditor.model import Status
from auditor.workflows.inventory_import import Merge, merge, save
from auditor.workflows.inventory_sources import Entry, from_csv, from_netbox, from_plan

HOSTS = """\
# switches of pod 1
leaf-01:
  hostname: 192.0.2.1   # management
  platform: sonic
  data: {role: leaf, rack: R20}

gpu-01:
  platform: linux
  data:
    role: gpu_host
"""
GROUPS = "leaf: {platform: sonic, data: {role: leaf}}\nany: {data: {pod: pod-1}}\nspecial: {groups: [leaf]}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "auditor.yaml").touch()
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory" / "hosts.yaml").write_text(HOSTS)
    (tmp_path / "inventory" / "groups.yaml").write_text(GROUPS)
    return tmp_path


def hosts(project: Path) -> Path:
    return project / "inventory" / "hosts.yaml"


def entry(
    name: str, *platforms: str, address: str = "", groups: tuple[str, ...] = (), line: int | None = 7, **data: str
) -> Entry:
    return Entry(name, "devices.csv", line, address, None, platforms, groups, data)


def merged(project: Path, *entries: Entry, **options: object) -> Merge:
    done = merge(str(project), entries, **options)  # type: ignore[arg-type]
    save(done)
    return done


def refused(project: Path, *entries: Entry) -> str:
    before = hosts(project).read_text()
    with pytest.raises(SetupError) as caught:
        merge(str(project), entries)
    assert hosts(project).read_text() == before
    return str(caught.value)


# merging


def test_new_hosts_are_appended_and_nothing_else_is_touched(project: Path) -> None:
    done = merged(project, entry("leaf-02", "sonic", address="192.0.2.2", role="leaf", rack="R20", status="planned"))
    text = hosts(project).read_text()
    assert text.startswith(HOSTS)
    device = inventories.load(project / "inventory").device("leaf-02")
    assert (device.address, device.role, device.rack, device.status) == ("192.0.2.2", "leaf", "R20", Status.PLANNED)
    assert [item.name for item in done.new] == ["leaf-02"]


def test_the_same_again_changes_nothing(project: Path) -> None:
    first = entry("leaf-02", "sonic", address="192.0.2.2", role="leaf")
    merged(project, first)
    before = hosts(project).read_text()
    done = merged(project, first, entry("leaf-01", "sonic", address="192.0.2.1", rack="R20"))
    assert (done.new, done.filled, done.same, hosts(project).read_text()) == ((), (), 2, before)


def test_an_inventory_is_begun_where_there_is_none(project: Path) -> None:
    for file in (project / "inventory").iterdir():
        file.unlink()
    merged(project, entry("leaf-02", "sonic"))
    assert yaml.safe_load(hosts(project).read_text()) == {"leaf-02": {"platform": "sonic"}}


@pytest.mark.parametrize("text", ["", "{}\n", "---\n", "# nothing yet\n"])
def test_an_empty_file_is_begun(project: Path, text: str) -> None:
    hosts(project).write_text(text)
    merged(project, entry("leaf-02", "sonic"))
    assert yaml.safe_load(hosts(project).read_text()) == {"leaf-02": {"platform": "sonic"}}


def test_a_field_that_a_host_lacks_is_filled_in(project: Path) -> None:
    done = merged(project, entry("gpu-01", "linux", address="192.0.2.9", rack="R01", role="gpu_host"))
    assert done.filled == (("gpu-01", {"hostname": "192.0.2.9", "rack": "R01"}),)
    text = hosts(project).read_text()
    assert text.startswith(HOSTS.partition("gpu-01:")[0])
    assert yaml.safe_load(text)["gpu-01"] == {
        "hostname": "192.0.2.9",
        "platform": "linux",
        "data": {"role": "gpu_host", "rack": "R01"},
    }


def test_a_host_with_comments_is_not_written_anew(project: Path) -> None:
    assert "hosts.yaml:3: leaf-01 has comments or is written otherwise; add by hand:" in refused(
        project, entry("leaf-01", site="dc1")
    )


def test_a_contradiction_names_the_line_on_both_sides(project: Path) -> None:
    message = refused(project, entry("leaf-02", "sonic"), entry("leaf-01", "linux", address="192.0.2.77", rack="R21", line=9))
    assert f"{hosts(project)}:5: leaf-01: rack is R20 here and R21 in devices.csv:9" in message
    assert f"{hosts(project)}:3: leaf-01: hostname is 192.0.2.1 here and 192.0.2.77 in devices.csv:9" in message
    assert f"{hosts(project)}:4: leaf-01: platform is sonic here and linux in devices.csv:9" in message


def test_a_status_is_never_changed_on_the_quiet(project: Path) -> None:
    assert "status is accepted here and planned in devices.csv:7" in refused(project, entry("gpu-01", status="planned"))


def test_names_that_differ_in_case_alone_are_a_contradiction(project: Path) -> None:
    assert "leaf-01 is LEAF-01 in devices.csv:7: names must not differ in case alone" in refused(
        project, entry("LEAF-01", "sonic")
    )


def test_a_device_that_stands_twice_in_the_source_is_an_error(project: Path) -> None:
    message = refused(project, entry("leaf-02", "sonic", line=3), entry("Leaf-02", "sonic", line=4))
    assert message == "devices.csv:4: Leaf-02 stands at devices.csv:3 already"


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 129, "x\x1b[31m"])
def test_names_that_no_device_can_have_are_refused(project: Path, name: str) -> None:
    message = refused(project, entry(name, "sonic"))
    assert message.startswith("devices.csv:7: device name") and message.isprintable()


def test_what_the_inventory_would_refuse_is_said_before_it_is_written(project: Path) -> None:
    message = refused(project, entry("leaf-02", "sonic", address="192.0.2.1"))
    assert "would be refused: leaf-02 has the same address and port as leaf-01" in message
    assert "would be refused: hostname must be a host name" in refused(project, entry("leaf-02", "sonic", address="a b"))


def test_a_broken_inventory_is_said_first(project: Path) -> None:
    hosts(project).write_text("leaf-01: {platform: sonnic}\n")
    assert "unknown platform 'sonnic' (did you mean 'sonic'?)" in refused(project, entry("leaf-02", "sonic"))


# platforms, roles, groups


def test_devices_without_a_platform_are_left_out(project: Path) -> None:
    done = merged(project, entry("spine-01"), entry("leaf-02", groups=("special",)), entry("leaf-03", groups=("any",)))
    assert [item.name for item in done.new] == ["leaf-02"]
    assert [text.partition(":")[0] for text in done.left_out] == ["spine-01", "leaf-03"]
    (project / "inventory" / "defaults.yaml").write_text("platform: sonic\n")
    assert [item.name for item in merged(project, entry("spine-01")).new] == ["spine-01"]


def test_the_command_line_gives_platforms_roles_and_groups_to_new_devices_by_glob(project: Path) -> None:
    done = merged(
        project,
        entry("gpu-02", rack="R01"),
        entry("fm-1", role="other"),
        entry("leaf-02"),
        entry("pdu-1"),
        platform=[("gpu-*", "linux"), ("fm-*", "linux,sonic")],
        role=[("gpu-*", "gpu_host")],
        group=[("leaf-*", "leaf")],
        skip=["pdu*"],
    )
    written = yaml.safe_load(hosts(project).read_text())
    assert written["gpu-02"] == {"platform": "linux", "data": {"role": "gpu_host", "rack": "R01"}}
    assert written["fm-1"] == {"data": {"platforms": ["linux", "sonic"], "role": "other"}}
    assert written["leaf-02"] == {"groups": ["leaf"]}
    assert "pdu-1" not in written and not done.left_out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"platform": [("*", "sonnic")]}, "--platform: unknown platform 'sonnic'"),
        ({"group": [("*", "spine")]}, "there is no group 'spine'"),
    ],
)
def test_platforms_and_groups_that_do_not_exist_are_refused(project: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(SetupError, match=words):
        merge(str(project), [], **options)  # type: ignore[arg-type]


# CSV


def listed(tmp_path: Path, text: str) -> list[Entry]:
    (tmp_path / "devices.csv").write_text(text, encoding="utf-8")
    return from_csv(tmp_path / "devices.csv")


def test_a_csv_with_every_column(tmp_path: Path) -> None:
    head = "name,address,port,platform,platforms,groups,role,site,pod,rack,position,hardware_model,bmc_address,status\n"
    found = listed(
        tmp_path,
        "\ufeff"
        + head
        + "\nleaf-02,192.0.2.2,2222,sonic,linux sonic,leaf;any,leaf,dc1,pod-1,R20,40,SN5600,192.0.2.102,planned\n",
    )
    place = str(tmp_path / "devices.csv")
    data = {
        "role": "leaf",
        "site": "dc1",
        "pod": "pod-1",
        "rack": "R20",
        "position": "40",
        "hardware_model": "SN5600",
        "bmc_address": "192.0.2.102",
        "status": "planned",
    }
    assert found == [Entry("leaf-02", place, 3, "192.0.2.2", 2222, ("sonic", "linux"), ("leaf", "any"), data)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "is empty"),
        ("name;platform\nx;y\n", 1, "no such column: 'name;platform'"),
        ("name,rak\n", 1, "no such column: 'rak' (did you mean 'rack'?)"),
        ("rack,role\n", 1, "column 'name' is missing"),
        ("name,rack,rack\n", 1, "column 'rack' stands twice"),
        ("name,platform\nx,sonnic\n", 2, "unknown platform 'sonnic' (did you mean 'sonic'?)"),
        ("name,status\nx,here\n", 2, "status must be one of planned, installed, accepted"),
        ("name,port\nx,70000\n", 2, "port must be a number from 1 to 65535"),
        ("name,rack\nx,R\x1b[31m\n", 2, "rack: control character"),
        ("name,rack\n\nx\n", 3, "has 1 fields where the header has 2"),
        ('name,rack\n"x,y\n', 2, "is no CSV"),
    ],
)
def test_errors_of_a_csv_name_their_line(tmp_path: Path, text: str, line: int | None, words: str) -> None:
    with pytest.raises(InventoryError) as caught:
        listed(tmp_path, text)
    assert (caught.value.line, words in caught.value.message) == (line, True)


def test_all_errors_of_a_csv_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(ErrorList) as caught:
        listed(tmp_path, "name,platform,port\na,sonnic,1\nb,sonic,x\n")
    assert [getattr(error, "line", None) for error in caught.value.errors] == [2, 3]


@given(st.text(max_size=200))
def test_any_text_gives_entries_or_an_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("csv") / "devices.csv"
    file.write_bytes(("name,platform,rack\n" + text).encode("utf-8", "surrogatepass"))
    try:
        found = from_csv(file)
    except AuditorError as error:
        assert str(file) in str(error)
    else:
        assert all(item.name is not None for item in found)


# NetBox


def test_devices_of_netbox() -> None:
    devices = [
        {
            "id": 1,
            "name": "leaf-02",
            "status": {"value": "staged"},
            "role": {"slug": "leaf"},
            "site": {"slug": "dc1"},
            "rack": {"name": "R20"},
            "position": 40.0,
            "device_type": {"model": "SN5600"},
            "platform": {"slug": "sonic"},
            "primary_ip": {"address": "192.0.2.2/24"},
            "oob_ip": {"address": "192.0.2.102/24"},
        },
        {
            "id": 2,
            "name": "gpu-02",
            "status": {"value": "active"},
            "device_role": {"slug": "gpu"},
            "platform": {"slug": "ubuntu-22"},
        },
        {"id": 3, "name": None, "status": {"value": "active"}},
        {"id": 4, "name": "old-1", "status": {"value": "decommissioning"}},
        {"id": 5, "name": "twin", "status": {"value": "active"}},
        {"id": 6, "name": "twin", "status": {"value": "active"}},
    ]
    entries, left = from_netbox(devices, "https://netbox.example.net")
    assert [(item.name, item.address, item.platforms) for item in entries] == [
        ("leaf-02", "192.0.2.2", ("sonic",)),
        ("gpu-02", "", ()),
    ]
    assert entries[0].data == {
        "role": "leaf",
        "site": "dc1",
        "rack": "R20",
        "position": "40",
        "hardware_model": "SN5600",
        "bmc_address": "192.0.2.102",
        "status": "installed",
    }
    assert entries[1].data == {"role": "gpu", "status": "accepted"}
    assert left == [
        "device 3: has no name",
        "old-1: status decommissioning",
        "twin (id 5): several devices have this name; filter by site or tenant",
        "twin (id 6): several devices have this name; filter by site or tenant",
    ]


# plans and the command line


PLAN = """\
a_device,a_port,b_device,b_port,a_rack,b_rack
gpu-01,ens1np0,leaf-01,Ethernet0,R01,R20
gpu-02,ens1np0,leaf-02,Ethernet0,R01,
"""


def run(project: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["-C", str(project), "inventory", "import", *words])


def test_every_device_of_the_plan_with_what_the_plan_says(project: Path) -> None:
    (project / "plan").mkdir()
    (project / "plan" / "plan.csv").write_text(PLAN)
    entries, _ = from_plan(str(project), None, "auto", {})
    assert [(item.name, dict(item.data), item.platforms) for item in entries] == [
        ("gpu-01", {"rack": "R01"}, ()),
        ("gpu-02", {"rack": "R01"}, ()),
        ("leaf-01", {"rack": "R20"}, ()),
        ("leaf-02", {}, ()),
    ]
    before = hosts(project).read_text()
    dry = run(project, "plan", "--group", "leaf-*=leaf", "--dry-run")
    assert (dry.exit_code, hosts(project).read_text()) == (3, before)
    assert dry.stdout == "new\tleaf-02\tleaf\nfilled\tgpu-01\track=R01\n"
    assert "left out: gpu-02: no platform is known; give it one with --platform 'gpu-02=…' or --group" in dry.stderr
    assert "1 new, 1 filled in, 1 as they were, 1 left out; would be written" in dry.stderr
    done = run(project, "plan", "--group", "leaf-*=leaf", "--platform", "gpu-*=linux")
    assert done.exit_code == 0, done.output
    assert {device.name for device in inventories.load(project / "inventory").devices} == {
        "gpu-01",
        "gpu-02",
        "leaf-01",
        "leaf-02",
    }


def test_a_csv_by_the_command_line(project: Path) -> None:
    (project / "devices.csv").write_text("name,platform,address\nleaf-02,sonic,192.0.2.2\n")
    assert run(project, "csv", str(project / "devices.csv")).exit_code == 0
    assert inventories.load(project / "inventory").device("leaf-02").address == "192.0.2.2"


@pytest.mark.parametrize("words", [("--platform", "sonic"), ("--role", "=x"), ("--group", "x=")])
def test_a_choice_that_is_none_is_refused(project: Path, words: tuple[str, str]) -> None:
    (project / "devices.csv").write_text("name,platform\nleaf-02,sonic\n")
    done = run(project, "csv", str(project / "devices.csv"), *words)
    assert isinstance(done.exception, SetupError) and "write it as GLOB=VALUE" in str(done.exception)
