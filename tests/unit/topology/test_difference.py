import pytest

from auditor.dialects import nccl_topology
from auditor.topology import difference, shape_of
from tests.topologies import Host, Slot, healthy


def told(host):
    return shape_of(nccl_topology.read(host.dump())).sentences()


def words(common, seen):
    return difference(told(common), told(seen))


def test_equal_hosts_have_nothing_between_them():
    assert words(healthy(), healthy()) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gpu_width": 8}, "GPU 3: width 8 instead of 16"),
        ({"nic_width": 8}, "mlx5_3: width 8 instead of 16"),
        ({"switch_width": 4}, "the switch above GPU 3 and mlx5_3: width 4 instead of 16"),
        ({"nic": None}, "mlx5_3 is missing: 7 NICs instead of 8"),
        ({"gpu": None}, "GPU 3 is missing: 7 GPUs instead of 8"),
        ({"nvlinks": (5, 5, 4)}, "GPU 3: NVLinks 5 + 5 + 4 instead of 5 + 5 + 4 + 4"),
        ({"nvlinks": ()}, "GPU 3: NVLinks 0 instead of 5 + 5 + 4 + 4"),
        ({"numa": 1}, "GPU 3 and mlx5_3 hang under NUMA 1 instead of 0"),
    ],
)
def test_one_change_is_one_clause(change, said):
    assert words(healthy(), healthy().change(3, **change)) == (said,)


def test_one_change_on_several_devices_is_one_clause():
    changed = healthy().change(1, nic_width=8).change(6, nic_width=8)
    assert words(healthy(), changed) == ("mlx5_1 and mlx5_6: width 8 instead of 16",)


def test_a_device_that_is_there_besides():
    assert words(healthy().change(7, nic=None), healthy()) == ("mlx5_7 besides: 8 NICs instead of 7",)


def test_a_whole_switch_that_is_lost():
    lost = Host(tuple(slot for slot in healthy().slots if slot.gpu != 5))
    assert words(healthy(), lost) == ("GPU 5 is missing: 7 GPUs instead of 8", "mlx5_5 is missing: 7 NICs instead of 8")


def test_a_switch_with_nothing_below_it_is_no_device():
    bare = healthy().change(5, gpu=None, nic=None)
    assert words(healthy(), bare) == ("GPU 5 is missing: 7 GPUs instead of 8", "mlx5_5 is missing: 7 NICs instead of 8")


def test_a_single_gpu_under_another_node():
    moved = Host((*healthy().change(5, gpu=None).slots, Slot(5, None, 0)))
    said = words(healthy(), moved)
    assert said[0] == "GPU 5 hangs under NUMA 0 instead of 1"


def test_an_adapter_that_sits_beside_another_gpu():
    host = healthy(4, 1)
    moved = "".join(host.dump().splitlines(True))
    nic = next(line for line in moved.splitlines(True) if "mlx5_3" in line)
    beside = next(line for line in moved.splitlines(True) if "mlx5_2" in line)
    moved = moved.replace(nic, "").replace(beside, beside + nic)
    said = difference(told(host), shape_of(nccl_topology.read(moved)).sentences())
    assert said == ("mlx5_3 hangs beside GPU 2 and mlx5_2 instead of beside GPU 3",)


def test_a_fault_beside_a_missing_device_is_told_too():
    changed = healthy().change(2, nic=None).change(6, gpu_width=8)
    assert words(healthy(), changed) == ("mlx5_2 is missing: 7 NICs instead of 8", "GPU 6: width 8 instead of 16")


def test_a_job_on_half_of_the_gpus_says_which_ones_it_had():
    half = Host(tuple(slot if slot.gpu > 3 else Slot(None, slot.nic, slot.numa) for slot in healthy().slots))
    assert words(healthy(), half) == ("GPU 0, GPU 1, GPU 2, GPU 3 are missing: 4 GPUs instead of 8",)


def test_what_one_side_does_not_say_is_no_difference():
    known = ["GPU 0: NUMA 0, speed 32 GT/s, width 16", "GPU 1: NUMA 1, width 16"]
    assert difference(known, ["GPU 0: NUMA 0", "GPU 1: there"]) == ()
    assert difference(["GPU 0: NUMA 0", "GPU 1: there"], known) == ()


def test_names_alone_are_no_difference():
    assert difference(["NIC 0: NUMA 0", "NIC 0: named mlx5_0"], ["NIC 0: NUMA 0", "NIC 0: named mlx5_2"]) == ()


def test_a_lost_link_between_two_gpus():
    common = ["GPU 0: there", "GPU 1: there", "GPU 0 and GPU 1: xgmi 1"]
    assert difference(common, ["GPU 0: there", "GPU 1: there"]) == ("GPU 0 and GPU 1: no XGMI links instead of 1",)


def test_numbers_are_told_from_the_side_that_is_judged():
    assert difference(["NIC 0: rate 400 Gb/s"], ["NIC 0: rate 200 Gb/s"]) == ("NIC 0: rate 200 Gb/s instead of 400 Gb/s",)


def test_words_of_another_making_are_refused():
    with pytest.raises(ValueError, match="topology"):
        difference(["a frozen text"], ["GPU 0: there"])
