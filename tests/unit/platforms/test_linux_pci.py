"""PCI sources of the Linux platform beyond single answers: what is sent, several answers together, broken ones."""

from datetime import UTC, datetime
from time import monotonic

import pytest

from auditor.address import Address
from auditor.collect.guard import commands_for
from auditor.evidence import Place, find
from auditor.model import GapReason, Privilege, RawOutput, Spot, digest
from auditor.parse import parse_device
from auditor.platforms import platforms

PLATFORM = platforms()["linux"]
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def state(**bodies):
    outputs = [
        RawOutput("gpu-1", "linux", key, PLATFORM.source(key).command, body, digest(body), NOW) for key, body in bodies.items()
    ]
    return parse_device("gpu-1", outputs, platforms())


def cell(state_, text):
    return state_.cell(Address.parse(text))


def record(address, kind, name, *details):
    return "\n".join([f"{address} {kind}: {name}", *(f"\t{line}" for line in details), "", ""])


LINK = ("LnkCap: Port #0, Speed 32GT/s, Width x16, ASPM L1", "LnkSta: Speed 16GT/s, Width x16")


def test_the_device_tree_is_read_by_one_command_that_follows_no_link_and_writes_nothing():
    source = PLATFORM.source("pci_sysfs")
    words = commands_for(PLATFORM, source).split()
    assert words[:2] == ["grep", "-rs"] and source.privilege is Privilege.NONE
    assert {word.partition("=")[0] for word in words[2:-3]} == {"--include", "--exclude-dir"}
    assert words[-3:] == [".", "/sys/devices", "/sys/bus/pci/slots"]


def test_only_bridges_are_listed_as_root():
    source = PLATFORM.source("lspci_bridges")
    assert source.privilege is Privilege.SUDO
    assert [fill.columns for fill in source.fills] == [("acs",)]


def test_records_and_drawing_make_one_table():
    records = record("20:01.0", "PCI bridge", "X", "Capabilities: [40] Express (v2) Root Port (Slot+), MSI 00", *LINK)
    records += record("21:00.0", "Ethernet controller", "Y", "Capabilities: [60] Express (v2) Endpoint, MSI 00", *LINK)
    seen = state(lspci=records, lspci_tree="-[0000:20]---01.0-[21]----00.0\n")
    assert cell(seen, 'pci["0000:21:00.0"].parent').value == "0000:20:01.0"
    assert cell(seen, 'pci["0000:21:00.0"].speed').value == 16_000_000_000
    assert cell(seen, 'pci["0000:20:01.0"].speed').gap.reason is GapReason.UNSUPPORTED
    assert cell(seen, 'pci["0000:20:01.0"].speed_cap').value == 32_000_000_000


def test_a_bridge_without_access_control_redirects_nothing_and_one_that_was_cut_is_unknown():
    port = ("Capabilities: [40] Express (v2) Downstream Port (Slot+), MSI 00", *LINK)
    whole = record("0000:22:00.0", "PCI bridge", "X", *port)
    assert cell(state(lspci_bridges=whole), 'pci["0000:22:00.0"].acs').value is False
    cut = cell(state(lspci_bridges=whole.rstrip("\n") + "\n"), 'pci["0000:22:00.0"].acs')
    assert cut.value is None and cut.gap.reason is GapReason.TRUNCATED


def test_access_control_without_its_state_is_unknown():
    port, acs = "Capabilities: [40] Express Downstream Port, MSI 00", "Capabilities: [170] Access Control Services"
    seen = state(lspci=record("0000:22:00.0", "PCI bridge", "X", port, acs))
    assert cell(seen, 'pci["0000:22:00.0"].acs').value is None


def test_bridges_in_a_circle_are_refused():
    loop = record("00:01.0", "PCI bridge", "X", "Bus: primary=00, secondary=00, subordinate=00, sec-latency=0")
    seen = state(lspci=loop)
    assert not list(seen.all_rows())
    assert any(gap.reason is GapReason.UNPARSED and "never end" in gap.detail for gap in seen.gaps)


def test_a_function_of_which_half_the_files_were_read_is_a_gap_of_its_own():
    seen = state(pci_sysfs="/sys/devices/pci0000:00/0000:00:01.0/class:0x020000\n")
    assert seen.has_row(Address.parse('pci["0000:00:01.0"]')) is None


def test_a_matrix_of_a_machine_without_the_tool_is_unsupported():
    seen = state(nvidia_topo="sh: 1: nvidia-smi: not found\n")
    assert {gap.reason for gap in seen.gaps if gap.source == "nvidia_topo"} == {GapReason.UNSUPPORTED}


@pytest.mark.parametrize(
    "line",
    ["\tCapabilities: " + "] Express A" * 50_000, "\tLnkSta: " + "Speed 1GT/s" * 50_000, "\tACSCtl: " + "ReqRedir+ " * 50_000],
    ids=["port", "link", "access control"],
)
def test_endless_lines_cost_no_time(line):
    begun = monotonic()
    state(lspci=f"01:00.0 PCI bridge: X\n{line}\n\n")
    assert monotonic() - begun < 2


def proof(key, body, address, value):
    place = Place(Spot("gpu-1", Address.parse(address)), value, "linux", key, "digest")
    return find(place, platforms(), lambda _: body)


@pytest.mark.parametrize(
    ("column", "value", "line"),
    [
        ("class_code", 0x0200, "class:0x020000"),
        ("numa_node", 1, "numa_node:1"),
        ("width", 8, "current_link_width:8"),
        ("width_cap", 16, "max_link_width:16"),
        ("speed", 32_000_000_000, "current_link_speed:32.0 GT/s PCIe"),
        ("speed_cap", 32_000_000_000, "max_link_speed:32.0 GT/s PCIe"),
        ("vendor_id", 0x15B3, "vendor:0x15b3"),
        ("device_id", 0x1021, "device:0x1021"),
    ],
)
def test_each_fact_of_the_device_tree_is_proven_by_its_own_file(column, value, line):
    files = ("class:0x020000", "numa_node:1", "current_link_width:8", "max_link_width:16", "vendor:0x15b3", "device:0x1021")
    files += ("current_link_speed:32.0 GT/s PCIe", "max_link_speed:32.0 GT/s PCIe")
    port = "/sys/devices/pci0000:20/0000:20:01.0"
    body = "\n".join([*(f"{port}/{file}" for file in files), *(f"{port}/0000:21:00.0/{file}" for file in files), ""])
    found = proof("pci_sysfs", body, f'pci["0000:21:00.0"].{column}', value)
    assert found.excerpt == f"{port}/0000:21:00.0/{line}"


def test_the_nearest_adapter_is_proven_by_where_it_lies_in_the_device_tree():
    body = "/sys/devices/pci0000:20/0000:21:00.0/infiniband/mlx5_1/node_type:1: CA\n"
    assert proof("pci_sysfs", body, "nccl_path[0,mlx5_1].nearest", True).excerpt == body.rstrip()


def test_access_control_is_proven_by_its_state_below_its_port():
    acs = ("Capabilities: [170 v1] Access Control Services", "ACSCap: SrcValid+", "ACSCtl: SrcValid+ ReqRedir+ CmpltRedir+")
    body = record("0000:22:00.0", "PCI bridge", "X") + record("0000:23:00.0", "PCI bridge", "Y", *acs)
    assert proof("lspci_bridges", body, 'pci["0000:23:00.0"].acs', True).excerpt.splitlines() == [
        "0000:23:00.0 PCI bridge: Y", "\tACSCtl: SrcValid+ ReqRedir+ CmpltRedir+",
    ]  # fmt: skip
