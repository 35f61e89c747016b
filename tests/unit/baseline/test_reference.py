from __future__ import annotations

import pytest

from auditor.baseline.reference import resolve_references
from auditor.model import Fabric
from auditor.plan.fabric import parse_fabric

FABRIC = parse_fabric(
    """\
planes:
  compute:
    rdma_mtu: 4096
    classes:
      - {name: roce, dscp: [26, 28], priority: 3}
      - {name: bulk, dscp: [0], priority: 0}
rail_scheme: one leaf per rail
""",
    "fabric.yaml",
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$fabric.compute.roce.priority", 3),
        ("$fabric.compute.bulk.priority", 0),
        ("$fabric.compute.roce.dscp", [26, 28]),
        ("$fabric.compute.rdma_mtu", 4096),
        ("$fabric.planes.compute.classes.roce.priority", 3),
        ("$fabric.rail_scheme", "one leaf per rail"),
        ("plain text with a $ in it", "plain text with a $ in it"),
        (26, 26),
    ],
)
def test_a_reference_becomes_its_value(text: object, value: object) -> None:
    assert resolve_references(text, FABRIC) == value


def test_references_are_found_at_any_depth() -> None:
    nested = {"a": ["$fabric.compute.roce.priority", {"b": "$fabric.compute.rdma_mtu"}]}
    assert resolve_references(nested, FABRIC) == {"a": [3, {"b": 4096}]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$fabric", "is no reference"),
        ("$fabric.", "is no reference"),
        ("$plan.x", "is no reference"),
        ("$fabric.compute.roce.prio", r"fabric\.yaml has no \$fabric\.compute\.roce\.prio"),
        ("$fabric.storage.rdma_mtu", r"has no \$fabric\.storage"),
        ("$fabric.compute.rdma_mtu.x", r"has no \$fabric\.compute\.rdma_mtu\.x"),
        ("$fabric.compute", "a whole section"),
        ("$fabric.compute.classes", "a whole section"),
    ],
)
def test_a_reference_that_leads_nowhere_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        resolve_references(text, FABRIC)


def test_without_a_fabric_document_there_is_nothing_to_refer_to() -> None:
    with pytest.raises(ValueError, match=r"fabric\.yaml has no"):
        resolve_references("$fabric.compute.rdma_mtu", Fabric())
