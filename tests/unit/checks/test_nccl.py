from datetime import UTC, datetime

import pytest

from auditor.checks.nccl.libraries import libraries, lists, number
from auditor.evaluate import device
from auditor.facts import QosPort
from auditor.model import Fabric, Origin, Plane, State, TrafficClass

AT = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


def test_libraries_are_data():
    known = {library.name: library for library in libraries()}
    assert known["NCCL"].ordinary.variables == ("NCCL_IB_TC",)
    assert known["NCCL"].gpu_initiated.variables == ("NCCL_GIN_IB_TC", "NCCL_IB_TC")
    assert (known["NCCL"].ordinary.default, known["HCCL"].ordinary.default) == (0, 132)
    assert [library.name for library in libraries() if library.assumed] == ["NCCL"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("104", 104),
        ("0", 0),
        ("255", 255),
        ("0x68", 104),
        ("0150", 104),
        ("+104", 104),
        ("256", None),
        ("-1", None),
        ("08", None),
        ("104 ", None),
        ("", None),
        ("26.0", None),
        ("0x", None),
        ("9" * 40, None),
        ("١٠٤", None),
    ],
)
def test_traffic_classes_are_read_as_the_library_reads_them(text, value):
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("mlx5", ["mlx5_1", "mlx5_10", "mlx5_2"]),
        ("mlx5_1", ["mlx5_1", "mlx5_10"]),
        ("=mlx5_1", ["mlx5_1"]),
        ("=mlx5_1:1,mlx5_2:2", ["mlx5_1"]),
        ("mlx5_1,mlx5_2", ["mlx5_1", "mlx5_10", "mlx5_2"]),
        ("^mlx5_1", ["mlx5_2"]),
        ("^=mlx5_1", ["mlx5_10", "mlx5_2"]),
        ("=mlx5_1, mlx5_2", ["mlx5_1", "mlx5_2"]),
        ("=bnxt_re0", []),
    ],
)
def test_lists_of_devices(text, listed):
    assert [name for name in ("mlx5_1", "mlx5_10", "mlx5_2") if lists(text, name, "1")] == listed


def test_a_switch_of_the_plane_is_not_asked_for_an_environment():
    plane = Plane("compute", (TrafficClass("roce", (26,), 3),))
    rows = {("Ethernet0",): QosPort(port="Ethernet0", pfc_priorities=(3,))}
    where = {(QosPort, "configured", "pfc_priorities"): (Origin("source", "0" * 64),)}
    seen = State("leaf-01", AT, {(QosPort, "configured"): rows}, where)
    groups = {"compute": frozenset({"Ethernet0"})}
    subject = device.Subject("leaf-01", "leaf", "", False, (), Fabric({"compute": plane}), groups, ("nccl.*",))
    said = device.judge(seen, subject)
    assert {str(result.verdict) for result in said.results} == {"not_applicable"}
    assert said.gaps == []
