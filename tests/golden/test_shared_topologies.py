"""Topology and graph dumps of real machines: read, or a gap with its reason; nearest adapters as found by hand."""

import os
from pathlib import Path

import pytest

from auditor import topology
from auditor.dialects import nccl_topology
from auditor.workflows.parse import parse_text

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CAPTURES = SHARED / "captures" / "host"
pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="the captures are not beside the checkout")

TOPOLOGIES = sorted((CAPTURES / "nccl-topo-xml").glob("*.xml"))
GRAPHS = sorted((CAPTURES / "nccl-graph-xml").glob("*.xml"))
STATIC = ("aws-g5-", "aws-p4d-", "aws-p5-", "azure-ndv4-", "oci-a100-b4-")
CUT = ("h200-vm-", "smc-h200-")

NEAREST = {
    "oci-h100-dual-port-roce-180g-5GTs-upstream": {
        0: "mlx5_0 mlx5_1", 1: "mlx5_3 mlx5_4", 2: "mlx5_5 mlx5_6", 3: "mlx5_7 mlx5_8", 4: "mlx5_9 mlx5_10",
        5: "mlx5_12 mlx5_13", 6: "mlx5_14 mlx5_15", 7: "mlx5_16 mlx5_17",
    },
    "rccl-mi300x-8gpu-8cx7-ib-bluefield-switch": {n: f"mlx5_{n}" for n in range(8)},
    "rccl-mi100-8gpu-4nic-collnet": {n: f"mlx5_{n // 2 * 2 + 1}" for n in range(8)},
    "rccl-mi250x-16gcd-8nic-x8-uplinks": {
        n: f"mlx5_{nic}" for at, nic in enumerate((0, 1, 2, 3, 4, 5, 7, 8)) for n in (2 * at, 2 * at + 1)
    },
    "rccl-mi50-8gpu-3nic-asymmetric": {n: "mlx5_0 mlx5_1" if n < 4 else "mlx5_2" for n in range(8)},
    "rccl-v-old-rome-8gpu-first-revision": dict.fromkeys(range(8), "mlx5_1"),
    "rccl-mi300a-4apu-4cxi-numa2first": {n: f"cxi{n}" for n in range(4)},
}  # fmt: skip
"""By GPU, from drawing the tree of each file on paper."""


def parsed(file):
    return parse_text("linux", "nccl_topo", file.read_text(), None)


def rows(document, table):
    return [row for row in document["rows"] if row["table"] == table]


@pytest.mark.parametrize("file", TOPOLOGIES, ids=lambda file: file.stem)
def test_every_dump_is_read_or_says_why_not(file):
    document = parsed(file)
    reasons = {gap["reason"] for gap in document["gaps"]}
    if file.name.startswith(CUT):
        assert (document["rows"], reasons) == ([], {"truncated"})
        assert all("cut off" in gap["detail"] for gap in document["gaps"])
        return
    (row,) = rows(document, "nccl_topology")
    assert reasons <= {"unsupported"}, "what a file does not tell is no fault of it"
    assert row["static"] is file.name.startswith(STATIC)
    assert row["virtual"] is False
    assert bool(rows(document, "nccl_path")) is not row["static"]
    assert topology.difference(row["shape"], row["shape"]) == ()


@pytest.mark.parametrize("name", NEAREST)
def test_nearest_adapters_as_found_by_hand(name):
    found = {}
    for row in rows(parsed(CAPTURES / "nccl-topo-xml" / f"{name}.xml"), "nccl_path"):
        if row["nearest"]:
            found.setdefault(int(row["key"][0]), set()).add(row["key"][1])
    assert found == {gpu: set(names.split()) for gpu, names in NEAREST[name].items()}


def test_values_of_a_real_host():
    document = parsed(CAPTURES / "nccl-topo-xml" / "oci-h100-dual-port-roce-180g-5GTs-upstream.xml")
    paths = {tuple(row["key"]): row for row in rows(document, "nccl_path")}
    assert paths["0", "mlx5_0"]["kind"] == "PXB"
    assert paths["0", "mlx5_0"]["bandwidth"] == 504_123_076_923, "32 GT/s and 16 lanes; the slow link above is not on the way"
    assert paths["0", "mlx5_17"]["kind"] == "SYS"
    assert paths["0", "mlx5_3"]["kind"] == "PHB"
    nets = {row["key"][0]: row for row in rows(document, "nccl_net")}
    assert (nets["mlx5_12"]["guid"], nets["mlx5_12"]["pci"]) == ("08011e0003ae6d94", "0000:a5:00.0")
    assert {row["speed"] for row in nets.values()} == {180_000_000_000}


def test_one_machine_in_other_words_is_the_same_machine():
    """Elements turned round, a job on another rank, numbers as an older version wrote them."""
    text = (CAPTURES / "nccl-topo-xml" / "rccl-mi300x-8gpu-8cx7-ib-bluefield-switch.xml").read_text()
    first, second = text[text.index("  <cpu") : text.rindex("  <cpu")], text[text.rindex("  <cpu") : text.index("</system>")]
    turned = text.replace(first + second, second + first).replace("32.0 GT/s PCIe", "32 GT/s").replace('rank="', 'rank="1')
    turned = turned.replace('subsystem_vendor="0x0000" ', "").replace("0.000000", "0.000").replace('guid="0xf', 'guid="0xe')
    assert turned != text
    one, other = nccl_topology.read(text), nccl_topology.read(turned)
    assert topology.exact(one) == topology.exact(other)
    assert topology.shape_of(one).sentences() == topology.shape_of(other).sentences()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            'busid="0000:64:00.0" class="0x020700" vendor="0x15b3" device="0x1021" subsystem_vendor="0x15b3" '
            'subsystem_device="0x0101" link_speed="32.0 GT/s PCIe" link_width="16"',
            'busid="0000:64:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="8"',
            ("mlx5_3: width 8 instead of 16",),
        ),
        (
            '<cpu numaid="1"',
            '<cpu numaid="2"',
            ("GPU 4, GPU 5, GPU 6, GPU 7, mlx5_4, mlx5_5, mlx5_6 and mlx5_7 hang under NUMA 2 instead of 1",),
        ),
    ],
    ids=["a link width", "a NUMA node"],
)
def test_one_change_in_a_real_dump_is_told_in_its_words(old, new, words):
    text = (CAPTURES / "nccl-topo-xml" / "rccl-mi300x-8gpu-8cx7-ib-bluefield-switch.xml").read_text()
    assert old in text
    seen, common = (topology.shape_of(nccl_topology.read(each)).sentences() for each in (text.replace(old, new), text))
    assert topology.difference(common, seen) == words


def test_a_lost_link_between_two_gpus_of_a_real_host_is_named():
    text = (CAPTURES / "nccl-topo-xml" / "rccl-mi300x-8gpu-8cx7-ib-bluefield-switch.xml").read_text()
    link = '<xgmi target="0000:0c:00.0" count="1" tclass="0x120000"/>'
    lost = text[: text.rindex(link)] + text[text.rindex(link) + len(link) :]
    seen, common = (topology.shape_of(nccl_topology.read(each)).sentences() for each in (lost, text))
    assert topology.difference(common, seen) == ("GPU 0 and GPU 7: 1 and back 0 XGMI links instead of 1",)


def test_a_missing_adapter_of_a_real_host_is_named():
    text = (CAPTURES / "nccl-topo-xml" / "rccl-mi300x-8gpu-8cx7-ib-bluefield-switch.xml").read_text()
    start = text.index('      <pci busid="0000:9a:00.0"')
    without = text[:start] + text[text.index("      </pci>\n", start) + len("      </pci>\n") :]
    seen, common = (topology.shape_of(nccl_topology.read(each)).sentences() for each in (without, text))
    assert topology.difference(common, seen) == ("mlx5_4 is missing: 7 NICs instead of 8",)


@pytest.mark.parametrize("file", GRAPHS, ids=lambda file: file.stem)
def test_every_graph_is_read(file):
    document = parse_text("linux", "nccl_graph", file.read_text(), None)
    assert document["gaps"] == []
    assert document["rows"]


def test_a_ring_that_leaves_out_an_adapter_and_turns_shows_both():
    file = next(file for file in GRAPHS if file.stem.startswith("modelled-h100-ring"))
    (ring,) = parse_text("linux", "nccl_graph", file.read_text(), None)["rows"]
    assert ring["networks"] == [0, 1, 2, 4, 5, 6, 7]
    assert (ring["channels"], ring["turning"], ring["cross_nic"]) == (8, 1, True)
