"""Topologies among peers: what travels, who is odd, and in which words."""

from datetime import UTC, datetime

from auditor.address import Layer
from auditor.dialects import nccl_topology
from auditor.evaluate import attributes
from auditor.evaluate.peers import Census
from auditor.facts import NcclPath, NcclTopology, Row
from auditor.model import Device, DeviceOutcome, Finding, Gap, GapReason, Origin, PeerFact, State
from auditor.topology import fingerprint, paths, shape_of
from tests.topologies import Host, Style, healthy

AT = datetime(2026, 4, 2, 3, 0, tzinfo=UTC)
MODEL = "GX-8"


def tell(device: str, *rows: Row, gaps: tuple[Gap, ...] = ()) -> tuple[PeerFact, ...]:
    tables: dict = {}
    origins: dict = {}
    for row in rows:
        tables.setdefault((type(row), Layer.APPLIED), {})[row.key] = row
        for name in type(row).__dataclass_fields__:
            origins[type(row), Layer.APPLIED, name] = (Origin("source", "d" * 64, "linux"),)
    return attributes.emit(State(device, AT, tables, origins, gaps), "gpu_host", MODEL, {}, (), ((),))


def dumped(host: Host, style: Style) -> tuple[Row, ...]:
    tree = nccl_topology.read(host.dump(style))
    shape = shape_of(tree).sentences()
    near = [NcclPath(gpu=path.gpu, nic=path.nic, kind=path.kind, nearest=path.nearest) for path in paths(tree)]
    return (NcclTopology(fingerprint_shape=fingerprint(shape), shape=shape), *near)


def named(facts: tuple[PeerFact, ...]) -> list[PeerFact]:
    """What is known; the rest of the tables was not asked for."""
    return [fact for fact in facts if fact.address]


def judged(*told: tuple[PeerFact, ...]) -> list[Finding]:
    census = Census()
    names = [f"gpu-{at:02}" for at in range(1, len(told) + 1)]
    for name, facts in zip(names, told, strict=True):
        census.add(DeviceOutcome(name, AT, reached=True, hardware_model=MODEL, peers=facts))
    inventory = [Device(name, ("linux",), role="gpu_host", hardware_model=MODEL) for name in names]
    return census.judge(inventory, ()).findings


def hosts(*changed: Host) -> list[tuple[PeerFact, ...]]:
    return [tell("gpu", *dumped(host, Style(seed=at, shuffle=True, addresses=at))) for at, host in enumerate(changed)]


def test_a_topology_travels_as_its_hash_with_its_words_and_the_cells_of_nearest_ports() -> None:
    (fact,) = named(hosts(healthy(4))[0])
    assert fact.address == "nccl_topology.fingerprint_shape"
    assert fact.value is not None
    assert len(fact.value) == 16
    assert "GPU 0: NUMA 0, NVLinks 5 + 5 + 4 + 4, speed 32 GT/s, width 16" in fact.words
    assert [str(cell.address) for cell in fact.cells[1:]] == [f"nccl_path[{n},mlx5_{n}].nearest" for n in range(4)]


def test_one_odd_host_is_one_finding_with_its_words_and_the_cells_they_name() -> None:
    good = healthy()
    (finding,) = judged(*hosts(good, good, good, good.change(3, nic="mlx5_2").change(2, nic="mlx5_3")))
    assert (finding.rule, str(finding.severity), finding.devices) == ("nccl.topology_outlier", "error", ("gpu-04",))
    assert finding.observed == (
        "gpu-04: GPU 2's nearest NIC is mlx5_3 instead of mlx5_2, GPU 3's nearest NIC is mlx5_2 instead of mlx5_3"
    )
    assert [str(spot.address.row) for spot in finding.spots] == ["nccl_path[2,mlx5_3]", "nccl_path[3,mlx5_2]"]


def test_hosts_that_are_odd_in_different_ways_are_told_one_by_one() -> None:
    good = healthy()
    (finding,) = judged(*hosts(*[good] * 6, good.change(3, nic_width=8), good.change(5, nic=None)))
    assert sorted(finding.devices) == ["gpu-07", "gpu-08"]
    assert "gpu-07: mlx5_3: width 8 instead of 16" in finding.observed
    assert "gpu-08: mlx5_5 is missing: 7 NICs instead of 8" in finding.observed


def test_a_dump_that_knows_less_is_nobodys_outlier() -> None:
    good = healthy(4)
    bare = dumped(good, Style(decimals=""))
    assert judged(*hosts(good, good, good), tell("gpu", *bare)) == []


def test_without_dumps_the_nearest_ports_are_one_attribute() -> None:
    good, odd = healthy(4), healthy(4).change(0, nic="mlx5_1").change(1, nic="mlx5_0")
    told = [tell("gpu", *dumped(host, Style())[1:]) for host in (good, good, good, odd)]
    assert [fact.address for fact in named(told[0])] == ["nccl_path.nearest"]
    (finding,) = judged(*told)
    assert finding.rule == "nccl.topology_outlier"
    assert "GPU 0's nearest NIC is mlx5_1 instead of mlx5_0" in finding.observed
    assert finding.devices == ("gpu-04",)


def test_a_host_whose_dump_was_cut_leaves_the_others_undecided() -> None:
    cut = tell("gpu", gaps=(Gap("gpu", "nccl_topology", "nccl_topo", GapReason.TRUNCATED),))
    (fact,) = [fact for fact in cut if fact.column == "nccl_topology.fingerprint_shape"]
    assert fact.value is None
    assert judged(*hosts(*[healthy(4)] * 3), cut) == []


def test_hosts_without_a_dump_say_nothing() -> None:
    gap = Gap("gpu", "nccl_topology", "nccl_topo", GapReason.UNSUPPORTED)
    assert [fact for fact in tell("gpu", gaps=(gap,)) if fact.column == "nccl_topology.fingerprint_shape"] == []
