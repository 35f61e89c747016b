"""Grammars of PCI listings: lspci, its tree, the kernel's device tree; and the matrix of the GPU driver."""

import pytest

from auditor.dialects import lspci, lspci_tree, lstopo, nvidia_topo, sysfs_pci


@pytest.mark.parametrize(
    ("head", "code", "ids"),
    [
        ("01:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 80GB] [10de:2331] (rev a1)", 0x0302, (0x10DE, 0x2331)),
        ("0000:01:00.0 Ethernet controller: Broadcom Inc. and subsidiaries BCM57608 (rev 11)", 0x0200, (None, None)),
        ("01:00.0 Generic system peripheral [0807]: Intel Corporation Device 0b23", 0x0807, (None, None)),
        ("01:00.0 Class 0108: Device 144d:a80a", 0x0108, (None, None)),
        ("01:00.0 Encryption controller: Intel Corporation Device 4940", None, (None, None)),
        ("01:00.0", None, (None, None)),
    ],
)
def test_class_and_numbers_of_a_record(head, code, ids):
    (function,) = lspci.functions(head + "\n")
    assert (function.address, function.class_code) == ("0000:01:00.0", code)
    assert (function.vendor_id, function.device_id) == ids


@pytest.mark.parametrize(
    ("text", "speed", "width"),
    [
        ("Speed 16GT/s (downgraded), Width x8 (downgraded)", 16_000_000_000, 8),
        ("Speed 2.5GT/s, Width x16", 2_500_000_000, 16),
        ("Speed unknown, Width x0", None, None),
        ("Speed 32GT/s (ok), Width x0 (downgraded)", 32_000_000_000, None),
        ("Speed unknown, Width x63", None, None),
        ("nonsense", None, None),
    ],
)
def test_what_a_link_runs_at(text, speed, width):
    (function,) = lspci.functions(f"01:00.0 Ethernet controller: X\n\t\tLnkSta:\t{text}\n\t\tLnkSta2: Speed 64GT/s, Width x1\n")
    assert (function.runs.speed, function.runs.width) == (speed, width)


def test_access_control_is_known_from_its_control_line_only():
    head = "01:00.0 PCI bridge: X\n\tCapabilities: [170] Access Control Services\n"
    (brief,) = lspci.functions(head)
    assert (brief.acs, brief.acs_unread) == (None, True)
    (full,) = lspci.functions(head + "\t\tACSCap:\tReqRedir+ CmpltRedir+ X\n\t\tACSCtl:\tSrcValid+ ReqRedir- CmpltRedir- X\n")
    assert (full.acs, full.acs_unread) == (False, False)


@pytest.mark.parametrize("body", ["\tLnkSta: Speed 16GT/s, Width x8\n", "01:00.0 PCI bridge: X\n\nWarning: nothing\n"])
def test_a_line_that_belongs_to_no_function_is_refused(body):
    with pytest.raises(ValueError, match="line"):
        list(lspci.functions(body))


def test_a_tree_of_several_roots_with_switches_and_empty_ports():
    body = (
        "-+-[0000:c8]-+-00.0-[c9-cc]----00.0-[ca-cc]--+-00.0-[cb]----00.0  A NIC\n"
        " |           |                               \\-01.0-[cc]----00.0  A GPU - with [10]-+-00.0 in its name\n"
        " |           \\-01.0-[cd]--\n"
        " \\-[0000:00]-+-00.0\n"
        "             \\-1f.0\n"
    )
    assert lspci_tree.tree(body) == {
        "0000:c8:00.0": None, "0000:c9:00.0": "0000:c8:00.0", "0000:ca:00.0": "0000:c9:00.0", "0000:cb:00.0": "0000:ca:00.0",
        "0000:ca:01.0": "0000:c9:00.0", "0000:cc:00.0": "0000:ca:01.0", "0000:c8:01.0": None, "0000:00:00.0": None,
        "0000:00:1f.0": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "body", ["hello\n", "-[0000:00]-+-00.0\n           +-zz.0\n", " +-00.0\n", "-[0000:00]-+-00.0\n           \\-00.0\n"]
)
def test_what_is_no_tree_is_refused(body):
    with pytest.raises(ValueError, match="line"):
        lspci_tree.tree(body)


def sysfs(*lines):
    return sysfs_pci.functions("".join(f"/sys/devices/{line}\n" for line in lines))


def test_the_path_is_the_tree_wherever_the_host_bridge_hangs():
    found = sysfs(
        "LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/47505500-0001/pci0001:00/0001:00:00.0/class:0x030200",
        "pci0000:64/0000:64:00.5/pci10000:00/10000:00:02.0/10000:01:00.0/class:0x010802",
        "pci0000:00/0000:00:01.0/0000:01:00.0/class:0x020000",
    )
    assert {address: (function.parent, function.depth) for address, function in found.items()} == {
        "0001:00:00.0": (None, 0), "10000:01:00.0": ("10000:00:02.0", 1), "0000:01:00.0": ("0000:00:01.0", 1),
    }  # fmt: skip


def test_files_of_what_hangs_on_a_function_are_not_its_own():
    assert not sysfs("pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/vendor:ATA", "pnp0/00:01/numa_node:0")


@pytest.mark.parametrize(
    ("text", "speed"),
    [("16.0 GT/s PCIe", 16_000_000_000), ("2.5 GT/s", 2_500_000_000), ("Unknown speed", None), ("Unknown", None)],
)
def test_speeds_of_old_and_new_kernels(text, speed):
    (function,) = sysfs(f"pci0000:00/0000:00:01.0/max_link_speed:{text}").values()
    assert function.speed("max_link_speed") == speed


def test_widths_that_say_nothing():
    (none,) = sysfs("pci0000:00/0000:00:01.0/current_link_width:0").values()
    (dead,) = sysfs("pci0000:00/0000:00:01.0/current_link_width:63").values()
    assert (none.width("current_link_width"), none.dead) == (None, False)
    assert (dead.width("current_link_width"), dead.dead) == (None, True)


def test_rdma_devices_on_the_bus_and_slots():
    body = (
        "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/infiniband/mlx5_0/node_type:1: CA\n"
        "/sys/devices/virtual/infiniband/rxe0/node_type:1: CA\n"
        "/sys/bus/pci/slots/12/address:0000:01:00\n"
    )
    assert sysfs_pci.rdma_devices(body) == {"mlx5_0": "0000:01:00.0"}
    assert sysfs_pci.slots(body) == {"0000:01:00": "12"}


def test_a_matrix_needs_its_head_and_its_legend():
    with pytest.raises(ValueError, match="no head"):
        nvidia_topo.matrix("Legend:\n")
    with pytest.raises(ValueError, match="legend does not name NIC0"):
        nvidia_topo.matrix("\tGPU0\tNIC0\tCPU Affinity\nGPU0\t X \tPIX\t0-3\n")


def test_cells_that_are_no_kind_are_listed():
    found = nvidia_topo.matrix("\tGPU0\tmlx5_0\tmlx5_1\nGPU0\t X \tPIX\tsoup\n")
    assert found.kinds == {("0", "mlx5_0"): "PIX"}
    assert found.unread == ("GPU0 mlx5_1: 'soup'",)


@pytest.mark.parametrize(("nodes", "numa"), [("0x00000002", 1), ("0x1,0x0", 32), ("0x00000003", None), ("0x0,,0x00000001", 0)])
def test_the_node_of_a_set_of_one(nodes, numa):
    device = '<object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0302 [10de:2330] [0:0] a1"/>'
    body = f'<topology><object nodeset="{nodes}">{device}</object></topology>'
    assert [function.numa for function in lstopo.functions(body)] == [numa]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<html></html>", "no topology"),
        ('<topology><object pci_busid="x" pci_type="0302 [10de:2330] a"/></topology>', "no PCI address"),
        ('<topology><object pci_busid="0000:01:00.0" pci_type="gpu"/></topology>', "has no type"),
        ('<!DOCTYPE t [<!ENTITY a "b">]><topology/>', "not read"),
    ],
)
def test_what_is_no_dump_of_hwloc_is_refused(body, words):
    with pytest.raises(ValueError, match=words):
        lstopo.functions(body)
