from __future__ import annotations

from pathlib import Path

import pytest

from auditor.errors import ErrorList, PlanError
from auditor.model import FabricAdapter, Plane, TrafficClass
from auditor.plan.fabric import parse_fabric, read_fabric

FULL = """\
planes:
  compute:
    rdma_mtu: 4096
    overhead_bytes: 50
    classes:
      - {name: roce, dscp: [28, 26], priority: 3, cnp_dscp: 48}
      - {name: bulk, dscp: [0], priority: 0, lossless: false}
  oob: {}
port_groups:
  downlinks: {pattern: "Ethernet?", role: [leaf]}
  to_spine: {peer_role: spine}
  hall2: {tag: {room: hall 2}}
nics:
  model-x: {nic0: "1A:00.0"}
rail_scheme: one leaf per rail
"""


def test_a_whole_document() -> None:
    fabric = parse_fabric(FULL)
    roce = TrafficClass("roce", (26, 28), 3, 48)
    bulk = TrafficClass("bulk", (0,), 0, None, lossless=False)
    assert fabric.planes == {"compute": Plane("compute", (roce, bulk), 4096, 50), "oob": Plane("oob")}
    assert fabric.port_groups["downlinks"] == {"pattern": ["Ethernet?"], "role": ["leaf"]}
    assert fabric.port_groups["hall2"] == {"tag": {"room": ["hall 2"]}}
    assert fabric.nics == {"model-x": {"nic0": "0000:1a:00.0"}}
    assert fabric.rail_scheme == "one leaf per rail"
    assert fabric.document["planes"]["compute"]["rdma_mtu"] == 4096
    assert fabric.text == FULL
    assert len(fabric.digest) == 64


def test_an_empty_document_is_a_fabric_without_intent() -> None:
    assert parse_fabric("").planes == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "f.yaml:1: must be a mapping"),
        ("plane: {}\n", "f.yaml:1: plane: no such key (did you mean 'planes'?)"),
        ("planes:\n  compute:\n    rdma_mtu: 4000\n", "f.yaml:3: planes.compute.rdma_mtu"),
        ("planes:\n  compute:\n    overhead_bytes: -1\n", "f.yaml:3: planes.compute.overhead_bytes"),
        ("planes:\n  c:\n    classes:\n    - {name: r, dscp: [64], priority: 3}\n", "f.yaml:4: planes.c.classes.0.dscp.0"),
        ("planes:\n  c:\n    classes:\n    - {name: r, dscp: [true], priority: 3}\n", "f.yaml:4: planes.c.classes.0.dscp.0"),
        ("planes:\n  c:\n    classes:\n    - {name: r, dscp: [], priority: 3}\n", "f.yaml:4: planes.c.classes.0.dscp"),
        ("planes:\n  c:\n    classes:\n    - {name: r, dscp: [1], priority: 8}\n", "priority"),
        ("planes:\n  c:\n    classes:\n    - {name: r, dscp: [1], prioritee: 3}\n", "did you mean 'priority'?"),
        ("planes:\n  c:\n    classes:\n    - {name: r, dscp: [1], priority: 3, cnp_dscp: 99}\n", "cnp_dscp"),
        ("planes: {in_use: {}}\n", "always exists"),
        ('planes: {"a b": {}}\n', "planes.a b"),
        ("port_groups: {in_use: {pattern: x}}\n", "there is a port group in_use already"),
        ("planes: {c: {}}\nport_groups: {c: {pattern: x}}\n", "f.yaml:2: there is a port group c already"),
        ("port_groups: {g: {role: leaf}}\n", "selects nothing"),
        ("port_groups: {g: {pattern: []}}\n", "port_groups.g.pattern"),
        ("nics: {m: {nic0: eth0}}\n", "nics.m.nic0: no PCI address"),
        ("a: 1\na: 2\n", "stands twice"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, words: str) -> None:
    with pytest.raises((PlanError, ErrorList)) as caught:
        parse_fabric(text, "f.yaml")
    assert words in str(caught.value)


CLASSES = "planes:\n  c:\n    classes:\n    - {name: a, dscp: [26], priority: 3}\n    - "


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("{name: b, dscp: [26], priority: 4}", "f.yaml:5: DSCP 26 is in class a and in class b"),
        ("{name: a, dscp: [27], priority: 4}", "f.yaml:5: plane c has two classes named a"),
        ("{name: b, dscp: [27], priority: 3, lossless: false}", "f.yaml:5: priority 3 of plane c cannot be lossless in one"),
    ],
)
def test_classes_of_a_plane_must_agree(second: str, words: str) -> None:
    with pytest.raises(ErrorList) as caught:
        parse_fabric(CLASSES + second + "\n", "f.yaml")
    assert words in str(caught.value)


def test_all_errors_come_at_once() -> None:
    with pytest.raises(ErrorList) as caught:
        parse_fabric("planes: {c: {rdma_mtu: 1, x: 2}}\nnic: {}\n")
    assert len(caught.value.errors) == 3


def test_a_file_is_read_and_a_missing_one_named(tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(FULL)
    assert read_fabric(tmp_path / "fabric.yaml").file == str(tmp_path / "fabric.yaml")
    with pytest.raises(PlanError, match="cannot be read"):
        read_fabric(tmp_path / "no.yaml")


def test_adapters_of_infiniband_fabrics_name_their_planes() -> None:
    fabric = parse_fabric("fabrics:\n  - {plane: compute, hca: mlx5_0}\n  - {plane: storage, hca: mlx5_2, port: 2}\n")
    assert fabric.fabrics == (FabricAdapter("compute", "mlx5_0"), FabricAdapter("storage", "mlx5_2", 2))
    assert parse_fabric("").fabrics == ()


def test_one_adapter_hangs_in_one_plane() -> None:
    text = "fabrics:\n  - {plane: compute, hca: mlx5_0}\n  - {plane: compute, hca: mlx5_0}\n  - {plane: storage, hca: mlx5_0}\n"
    with pytest.raises(ErrorList, match=r"fabric.yaml:4: mlx5_0 hangs in plane compute already, and not in storage as well"):
        parse_fabric(text)


@pytest.mark.parametrize(
    "text", ["fabrics: [{plane: p}]", "fabrics: [{plane: p, hca: a, port: 0}]", "fabrics: [{plane: p, hca: a, x: 1}]"]
)
def test_an_adapter_needs_a_plane_and_a_name_and_nothing_else(text: str) -> None:
    with pytest.raises(ErrorList, match=r"fabrics\.0"):
        parse_fabric(text)
