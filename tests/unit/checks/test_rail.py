"""GPU, nearest NIC and rail: what most hosts of a model show is right, and the layer that broke is named."""

from __future__ import annotations

from auditor.address import Address, Layer
from auditor.checks.rail import gpu_nic_rail_broken
from auditor.model import Fact, Judgement, Link, LinkEnd, LinkVerdict, PlanEnd, PlanLink, RuleContext, Verdict

Near = dict[str, str]
"""NIC of each GPU, by number."""

STRAIGHT: Near = {"0": "mlx5_0", "1": "mlx5_1", "2": "mlx5_2"}
RAILS = {"mlx5_0": "0", "mlx5_1": "1", "mlx5_2": "2"}


def links_of(host: str, near: Near, rails: dict[str, str] | None = None, model: str = "model-x") -> list[Link]:
    out = []
    for nic, rail in (rails or RAILS).items():
        gpus = tuple(
            Fact(Address("nccl_path", (gpu, nic), "nearest"), True, Layer.APPLIED) for gpu, mine in near.items() if mine == nic
        )
        facts = {"system.hardware_model": Fact(Address("system", (), "hardware_model"), model, Layer.APPLIED)}
        a = LinkEnd(host, nic, f"ens{nic[-1]}", "gpu_host", facts, gpus=gpus)
        b = LinkEnd(f"leaf-{rail}", host, host, "leaf")
        plan = PlanLink(PlanEnd(host, nic), PlanEnd(f"leaf-{rail}", host), rail=rail)
        out.append(Link(a, b, LinkVerdict.PROVEN, plan))
    return out


def judge(*hosts: list[Link]) -> list[Judgement]:
    return list(gpu_nic_rail_broken.function([link for host in hosts for link in host], RuleContext()))


def test_hosts_that_agree_pass_whatever_the_order_is() -> None:
    odd = {"0": "mlx5_2", "1": "mlx5_0", "2": "mlx5_1"}
    said = judge(*(links_of(f"gpu-{at}", odd) for at in range(3)))
    assert [item.verdict for item in said] == [Verdict.PASS] * 3


def test_two_exchanged_nics_are_one_judgement_that_names_the_pcie_layer() -> None:
    crossed = {**STRAIGHT, "0": "mlx5_1", "1": "mlx5_0"}
    said = judge(*(links_of(f"gpu-{at}", STRAIGHT) for at in range(3)), links_of("gpu-9", crossed))
    (wrong,) = [item for item in said if item.verdict is Verdict.FAIL]
    assert wrong.deviation is not None
    assert "GPU 0 is nearest to mlx5_1 instead of mlx5_0" in wrong.deviation.message
    assert "GPU 1 is nearest to mlx5_0 instead of mlx5_1" in wrong.deviation.message
    assert "PCIe or BIOS" in wrong.deviation.message
    assert len(wrong.deviation.spots) == 2


def test_a_host_whose_rows_give_the_same_nics_other_rails_names_the_plan() -> None:
    turned = {"mlx5_0": "1", "mlx5_1": "0", "mlx5_2": "2"}
    said = judge(*(links_of(f"gpu-{at}", STRAIGHT) for at in range(3)), links_of("gpu-9", STRAIGHT, turned))
    (wrong,) = [item for item in said if item.verdict is Verdict.FAIL]
    assert wrong.deviation is not None
    assert "order of NICs in the plan" in wrong.deviation.message
    assert "PCIe" not in wrong.deviation.message


def test_several_nics_near_a_gpu_are_compared_as_a_set() -> None:
    both: Near = {"0": "mlx5_0"}
    hosts = []
    for at in range(3):
        links = links_of(f"gpu-{at}", both)
        extra = Fact(Address("nccl_path", ("0", "mlx5_1"), "nearest"), True, Layer.APPLIED)
        second = links[1]
        end = LinkEnd(second.a.device, "mlx5_1", "ens1", "gpu_host", second.a.facts, gpus=(extra,))
        hosts.append([links[0], Link(end, second.b, LinkVerdict.PROVEN, second.plan), links[2]])
    assert [item.verdict for item in judge(*hosts)] == [Verdict.PASS] * 3


def test_too_few_hosts_or_unknown_models_say_nothing() -> None:
    crossed = {**STRAIGHT, "0": "mlx5_1", "1": "mlx5_0"}
    assert judge(links_of("gpu-0", STRAIGHT), links_of("gpu-1", crossed)) == []
    assert judge(*(links_of(f"gpu-{at}", STRAIGHT, model="") for at in range(4))) == []


def test_a_lost_gpu_is_told_as_such_and_not_by_the_numbers_of_those_behind_it() -> None:
    slipped = {"0": "mlx5_0", "1": "mlx5_2"}
    said = judge(*(links_of(f"gpu-{at}", STRAIGHT) for at in range(3)), links_of("gpu-9", slipped))
    (wrong,) = [item for item in said if item.verdict is Verdict.FAIL]
    assert wrong.deviation is not None
    assert (wrong.deviation.expected, wrong.deviation.observed) == ("3 GPUs", "2 GPUs")
    assert "none is nearest to mlx5_1 (rail 1)" in wrong.deviation.message
    assert "PCIe" not in wrong.deviation.message
