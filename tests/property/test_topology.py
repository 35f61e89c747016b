"""Whatever says nothing about a machine leaves its fingerprints alone; whatever does is told by the words that name it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.dialects import nccl_topology
from auditor.topology import Shape, difference, exact, fingerprint, shape_of
from tests.topologies import Slot, Style, healthy

HOSTS = st.builds(healthy, st.sampled_from([2, 4, 8, 16]), st.sampled_from([1, 2]))
SAME_ADDRESSES = st.builds(
    Style,
    seed=st.integers(0, 2**20),
    shuffle=st.booleans(),
    decimals=st.sampled_from(["32.0 GT/s PCIe", "32 GT/s", "32 GT/s PCIe/s"]),
    vendors=st.booleans(),
    extras=st.booleans(),
    ranks=st.sampled_from([0, 8, 1016]),
    host_hash=st.booleans(),
)
OTHER_ADDRESSES = st.builds(Style, seed=st.integers(0, 2**20), shuffle=st.booleans(), addresses=st.integers(0, 64))


def told(host, style=Style()):  # noqa: B008 (frozen)
    return shape_of(nccl_topology.read(host.dump(style))).sentences()


@settings(max_examples=50, deadline=None)
@given(HOSTS, SAME_ADDRESSES)
def test_two_dumps_of_one_machine_are_equal(host, style):
    one, other = host.dump(), host.dump(style)
    assert exact(nccl_topology.read(one)) == exact(nccl_topology.read(other))
    assert told(host) == told(host, style)


@settings(max_examples=50, deadline=None)
@given(HOSTS, OTHER_ADDRESSES)
def test_renumbered_addresses_leave_the_shape_alone(host, style):
    assert fingerprint(told(host)) == fingerprint(told(host, style))
    moved = exact(nccl_topology.read(host.dump())) != exact(nccl_topology.read(host.dump(style)))
    assert moved == (style.addresses > 0)


@settings(max_examples=50, deadline=None)
@given(HOSTS, SAME_ADDRESSES)
def test_sentences_can_be_read_back(host, style):
    assert Shape.read(told(host, style)).sentences() == told(host, style)


@settings(max_examples=50, deadline=None)
@given(HOSTS, st.data(), OTHER_ADDRESSES)
def test_one_change_is_told_by_one_clause_that_names_it(host, data, style):
    at = data.draw(st.integers(0, len(host.slots) - 1))
    slot = host.slots[at]
    gpu, nic = f"GPU {slot.gpu}", slot.nic
    count = len(host.slots)
    other = data.draw(st.sampled_from([node for node in (0, 1, 3) if node != slot.numa]))
    changed, words = data.draw(
        st.sampled_from(
            [
                (host.change(at, gpu_width=8), f"{gpu}: width 8 instead of 16"),
                (host.change(at, nic_width=4), f"{nic}: width 4 instead of 16"),
                (host.change(at, switch_width=8), f"the switch above {gpu} and {nic}: width 8 instead of 16"),
                (host.change(at, nvlinks=(5, 5, 4)), f"{gpu}: NVLinks 5 + 5 + 4 instead of 5 + 5 + 4 + 4"),
                (host.change(at, nic=None), f"{nic} is missing: {count - 1} NICs instead of {count}"),
                (host.change(at, numa=other), f"{gpu} and {nic} hang under NUMA {other} instead of {slot.numa}"),
            ]
        )
    )
    assert difference(told(host), told(changed, style)) == (words,)
    assert fingerprint(told(host)) != fingerprint(told(changed, style))


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([4, 8, 16]), st.data())
def test_a_lost_gpu_is_named_by_its_place_though_the_driver_counts_anew(gpus, data):
    """The numbers behind it move up; the adapter that lost its GPU says which one it was."""
    host = healthy(gpus)
    at = data.draw(st.integers(0, gpus - 1))
    slots = [Slot(None if n == at else n - (n > at), slot.nic, slot.numa) for n, slot in enumerate(host.slots)]
    words = difference(told(host), told(type(host)(tuple(slots))))
    assert words == (f"GPU {at} is missing: {gpus - 1} GPUs instead of {gpus}",)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([4, 8, 16]), st.data())
def test_a_lost_adapter_is_named_by_its_place_though_the_kernel_counts_anew(gpus, data):
    host = healthy(gpus)
    at = data.draw(st.integers(0, gpus - 1))
    slots = [Slot(slot.gpu, None if n == at else f"mlx5_{n - (n > at)}", slot.numa) for n, slot in enumerate(host.slots)]
    words = difference(told(host), told(type(host)(tuple(slots))))
    assert words == (f"mlx5_{at} is missing: {gpus - 1} NICs instead of {gpus}",)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([4, 8]), st.data(), OTHER_ADDRESSES)
def test_two_exchanged_adapters_are_told_from_both_gpus(gpus, data, style):
    host = healthy(gpus)
    one, other = sorted(data.draw(st.sets(st.integers(0, gpus - 1), min_size=2, max_size=2)))
    a, b = host.slots[one], host.slots[other]
    swapped = host.change(one, nic=b.nic).change(other, nic=a.nic)
    words = difference(told(host), told(swapped, style))
    if a.numa == b.numa:
        assert words == (
            f"GPU {one}'s nearest NIC is mlx5_{other} instead of mlx5_{one}",
            f"GPU {other}'s nearest NIC is mlx5_{one} instead of mlx5_{other}",
        )
    else:
        assert len(words) == 2
        assert all(f"mlx5_{n} hangs under NUMA" in " ".join(words) for n in (one, other))


@settings(max_examples=50, deadline=None)
@given(HOSTS, st.data(), SAME_ADDRESSES)
def test_nothing_is_told_of_equal_machines_and_something_of_unequal_ones(host, data, style):
    at = data.draw(st.integers(0, len(host.slots) - 1))
    widths = {name: data.draw(st.sampled_from([8, 16])) for name in ("gpu_width", "nic_width", "switch_width")}
    changed = host.change(at, **widths)
    same = fingerprint(told(host)) == fingerprint(told(changed, style))
    assert same == (difference(told(host), told(changed, style)) == ())
