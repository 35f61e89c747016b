import tracemalloc

import pytest

from auditor import xmldoc
from auditor.dialects import nccl_topology


def one(inside, head='numaid="0"'):
    return nccl_topology.read(f'<system version="1"><cpu {head}>{inside}</cpu></system>').cpus[0]


def function(**given):
    given = {"busid": "0000:10:00.0", **given}
    return one(f"<pci{''.join(f' {name}={chr(34)}{value}{chr(34)}' for name, value in given.items())}/>").children[0]


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("16 GT/s", 16e9), ("16.0 GT/s PCIe", 16e9), ("32 GT/s PCIe/s", 32e9), ("2.5 GT/s", 2.5e9), ("", None),
        ("Unknown", None), ("Unknown speed", None), ("0 GT/s", None),
    ],
)  # fmt: skip
def test_speeds_by_their_leading_number(text, speed):
    assert function(link_speed=text).speed == speed


@pytest.mark.parametrize(("text", "width"), [("16", 16), ("1", 1), ("0", None), ("255", None), ("63", None), ("", None)])
def test_widths_that_no_link_has_are_unknown(text, width):
    assert function(link_width=text).width == width


def test_absent_attributes_are_unknown():
    pci = function()
    assert (pci.code, pci.speed, pci.width) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "address"),
    [("0000:1B:00.0", "0000:1b:00.0"), ("1b:00.1", "0000:1b:00.1"), ("ffff:ff:01.0", "ffff:ff:01.0"),
        ("0101:00:00.0", "0101:00:00.0")],
)  # fmt: skip
def test_addresses(text, address):
    assert function(busid=text).address == address


@pytest.mark.parametrize(
    ("mask", "cpus"),
    [
        ("ff", tuple(range(8))), ("1,00000000", (32,)), ("00000000,00000003", (0, 1)), ("3,80000000", (31, 32, 33)),
        ("000000,00000000,0000000f", (0, 1, 2, 3)), ("", None), ("0", ()),
    ],
)  # fmt: skip
def test_masks_of_cpus(mask, cpus):
    assert nccl_topology.cpu_set(mask) == cpus


@pytest.mark.parametrize("mask", ["ff,", "x", "0-31", "f" * 9, ",".join(["f"] * 1000)])
def test_what_is_no_mask(mask):
    with pytest.raises(ValueError, match="no CPU mask"):
        nccl_topology.cpu_set(mask)


def test_a_node_that_the_machine_hides():
    assert one("", 'numaid="-1"').numa is None


def test_hidden_targets_have_no_address():
    inside = '<pci busid="0000:10:00.0"><gpu dev="0"><nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/></gpu></pci>'
    (link,) = one(inside).children[0].gpu.links
    assert (link.kind, link.target, link.count) == ("nvlink", "", 18)


@pytest.mark.parametrize(
    ("text", "guid"),
    [("0x9a70500003ae6d94", "9a70500003ae6d94"), ("0x8011e0003ae6d94", "08011e0003ae6d94"), ("0x0", None), ("0x3", None)],
)
def test_guids(text, guid):
    assert one(f'<nic><net name="a" guid="{text}"/></nic>').nets[0].guid == guid


def test_a_port_without_a_function_hangs_at_the_processor():
    (net,) = one('<nic><net name="bond0" port="0" speed="25000" gdr="0"/></nic>').nets
    assert (net.name, net.port, net.speed, net.gdr) == ("bond0", 0, 25_000_000_000, False)
    assert net.socket


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("<graphs/>", "not 'system'"),
        ("<system/>", "no processor"),
        ('<system><cpu numaid="first"/></system>', "numaid is no number"),
        ('<system><cpu><pci busid="slot 3"/></cpu></system>', "no PCI address"),
        ("<system><cpu><nic><net/></nic></cpu></system>", "without a name"),
    ],
)
def test_what_cannot_be_read_says_why(text, match):
    with pytest.raises(ValueError, match=match):
        nccl_topology.read(text)


def test_the_tree_of_several_hosts_is_told_apart():
    with pytest.raises(nccl_topology.SeveralHosts):
        nccl_topology.read('<system><cpu host_hash="0x1"/><cpu host_hash="0x2"/></system>')


def test_a_dump_that_was_cut_says_so():
    with pytest.raises(xmldoc.CutOff, match="line 2"):
        nccl_topology.read('<system version="1">\n  <cpu numaid="0"')


@pytest.mark.parametrize(
    "text",
    [
        "<system><cpu>" + '<pci busid="0000:01:00.0">' * 10_000,
        f'<system><cpu affinity="{"f" * 1_000_000}"/></system>',
        '<!DOCTYPE system [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><system><cpu numaid="&b;"/></system>',
        '<!DOCTYPE system [<!ENTITY a SYSTEM "file:///etc/hostname">]><system><cpu numaid="&a;"/></system>',
    ],
    ids=["nesting", "attribute", "entities", "external entity"],
)
def test_hostile_documents_are_refused_within_bounds(text):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="line 1"):
            nccl_topology.read(text)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(text) + 2_000_000
    finally:
        tracemalloc.stop()
