"""Findings over links are proven by the cells of the ends that they name."""

from dataclasses import replace

from auditor.address import Address, Layer
from auditor.model import Fact, LinkEnd
from auditor.workflows import wiring


def test_the_paths_between_gpus_and_adapters_are_among_the_facts_of_an_end() -> None:
    near = Fact(Address("nccl_path", ("0", "mlx5_1"), "nearest"), True, Layer.APPLIED)
    end = LinkEnd("gpu-01", "ens1", "ens1", "gpu_host", gpus=(near,))
    assert wiring._facts([end])["gpu-01", replace(near.address, layer=Layer.APPLIED)] == (end, near)
