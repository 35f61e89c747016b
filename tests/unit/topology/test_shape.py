import pytest

from auditor.topology import (
    Cpu,
    Gpu,
    GpuLink,
    Net,
    Pci,
    Shape,
    Topology,
    devices,
    difference,
    fingerprint,
    nearest,
    paths,
    shape_of,
)

GB = 1_000_000_000


def gpu(number, address, *links, speed=32 * GB, width=16):
    return Pci(address, 0x0302, speed, width, gpu=Gpu(number, True, links))


def nic(name, address, port=1, *, speed=32 * GB, width=16):
    return Pci(address, 0x0200, speed, width, nets=(Net(name, port, 400 * GB),))


def switch(address, *children, speed=32 * GB, width=16):
    return Pci(address, 0x0604, speed, width, children)


def way(topology, number, name):
    return next(path for path in paths(topology) if (path.gpu, path.nic) == (str(number), name))


TWO_NODES = Topology(
    (
        Cpu(
            0,
            children=(
                switch("0000:10:00.0", gpu(0, "0000:11:00.0"), nic("rail0", "0000:12:00.0")),
                nic("store", "0000:13:00.0"),
            ),
        ),
        Cpu(1, children=(switch("0000:80:00.0", switch("0000:81:00.0", gpu(1, "0000:82:00.0")), nic("rail1", "0000:83:00.0")),)),
    )
)


@pytest.mark.parametrize(
    ("number", "name", "kind"),
    [(0, "rail0", "PIX"), (1, "rail1", "PXB"), (0, "store", "PHB"), (0, "rail1", "SYS"), (1, "store", "SYS")],
)
def test_kinds_of_paths(number, name, kind):
    assert way(TWO_NODES, number, name).kind == kind


def test_every_gpu_has_its_nearest_port():
    near = {(path.gpu, path.nic) for path in paths(TWO_NODES) if path.nearest}
    assert near == {("0", "rail0"), ("1", "rail1")}


def test_several_ports_at_one_distance_are_all_nearest():
    host = Topology((Cpu(0, children=(gpu(0, "0000:11:00.0"), nic("a", "0000:12:00.0"), nic("b", "0000:13:00.0"))),))
    assert {path.nic for path in paths(host) if path.nearest} == {"a", "b"}


def test_in_a_tree_of_switches_the_port_below_the_same_one_is_nearest():
    """As in hosts where an outer switch feeds two inner ones, each with GPUs and an adapter of its own."""
    inner = [
        switch(f"0000:{bus}0:00.0", gpu(number, f"0000:{bus}2:00.0"), nic(name, f"0000:{bus}4:00.0"))
        for number, (bus, name) in enumerate([("2", "a"), ("3", "b")])
    ]
    host = Topology((Cpu(0, children=(switch("0000:10:00.0", *inner),)),))
    told = {(path.gpu, path.nic): (path.kind, path.nearest) for path in paths(host)}
    assert told == {("0", "a"): ("PIX", True), ("0", "b"): ("PXB", False), ("1", "a"): ("PXB", False), ("1", "b"): ("PIX", True)}


def test_among_ports_several_switches_away_the_fewest_count():
    near = switch("0000:20:00.0", switch("0000:21:00.0", gpu(0, "0000:22:00.0")), nic("a", "0000:24:00.0"))
    host = Topology((Cpu(0, children=(switch("0000:10:00.0", near, switch("0000:30:00.0", nic("b", "0000:34:00.0"))),)),))
    told = {path.nic: (path.kind, path.nearest) for path in paths(host)}
    assert told == {"a": ("PXB", True), "b": ("PXB", False)}


def test_beyond_the_processor_the_number_of_switches_says_nothing():
    host = Topology(
        (
            Cpu(0, children=(gpu(0, "0000:11:00.0"),)),
            Cpu(1, children=(switch("0000:80:00.0", nic("a", "0000:82:00.0")), nic("b", "0000:83:00.0"))),
        )
    )
    assert {path.nic: path.nearest for path in paths(host)} == {"a": True, "b": True}


def test_host_bridges_make_no_port_nearer():
    assert nearest({"a": "PHB", "b": "NODE", "c": "SYS"}, {}) == {"a": True, "b": True, "c": False}


def test_a_path_is_as_wide_as_its_narrowest_link():
    host = Topology((Cpu(0, children=(switch("0000:10:00.0", gpu(0, "0000:11:00.0"), nic("a", "0000:12:00.0", width=8)),)),))
    assert way(host, 0, "a").bandwidth == round(8 * 32 * GB * 128 / 130)


def test_the_link_above_a_shared_switch_does_not_count():
    host = Topology(
        (Cpu(0, children=(switch("0000:10:00.0", gpu(0, "0000:11:00.0"), nic("a", "0000:12:00.0"), speed=5 * GB, width=1),)),)
    )
    assert way(host, 0, "a").bandwidth == round(16 * 32 * GB * 128 / 130)


@pytest.mark.parametrize(("speed", "carried"), [(2_500_000_000, 2 * GB), (5 * GB, 4 * GB), (16 * GB, 15_753_846_154)])
def test_what_a_lane_carries_follows_its_line_code(speed, carried):
    host = Topology((Cpu(0, children=(gpu(0, "0000:11:00.0", speed=speed, width=1), nic("a", "0000:12:00.0"))),))
    assert way(host, 0, "a").bandwidth == carried


def test_an_unknown_link_leaves_the_bandwidth_unknown():
    host = Topology((Cpu(0, children=(gpu(0, "0000:11:00.0", width=None), nic("a", "0000:12:00.0"))),))
    assert way(host, 0, "a").bandwidth is None


def test_without_numa_nodes_only_a_shared_switch_tells_who_is_near():
    host = Topology(
        (
            Cpu(
                None,
                children=(
                    switch("0000:10:00.0", gpu(0, "0000:11:00.0"), nic("a", "0000:12:00.0")),
                    nic("b", "0000:13:00.0"),
                ),
            ),
            Cpu(None, children=(gpu(1, "0000:14:00.0"),)),
        )
    )
    assert host.virtual
    told = {(path.gpu, path.nic): (path.kind, path.nearest) for path in paths(host)}
    assert told["0", "a"] == ("PIX", True)
    assert told["0", "b"] == (None, False)
    assert told["1", "a"] == told["1", "b"] == (None, None)


def test_ports_are_ordered_by_name_as_people_count():
    host = Topology((Cpu(0, children=tuple(nic(f"mlx5_{n}", f"0000:{n + 16:02x}:00.0") for n in (10, 2, 0))),))
    assert shape_of(host).names == {"NIC 0": "mlx5_0", "NIC 1": "mlx5_2", "NIC 2": "mlx5_10"}


def test_devices_reached_by_sockets_are_no_part_of_the_shape():
    bare = Topology((Cpu(0, children=(gpu(0, "0000:11:00.0"),)),))
    busy = Topology((Cpu(0, children=(gpu(0, "0000:11:00.0"),), nets=(Net("veth3f2a", 0, 10 * GB, None, False),)),))
    assert fingerprint(shape_of(bare).sentences()) == fingerprint(shape_of(busy).sentences())


def test_gpus_without_numbers_are_ordered_by_address():
    host = Topology((Cpu(0, children=(Pci("0000:20:00.0", 0x0302), Pci("0000:10:00.0", 0x0302))),))
    assert host.static
    assert [(device.label, device.pci.address) for device in devices(host)] == [
        ("GPU 0", "0000:10:00.0"),
        ("GPU 1", "0000:20:00.0"),
    ]


def test_links_between_gpus_belong_to_the_pair_and_those_to_switches_to_the_gpu():
    links = (GpuLink("xgmi", "0000:12:00.0", 1), GpuLink("nvlink", "0000:03:00.0", 4), GpuLink("nvlink", "0000:04:00.0", 5))
    host = Topology((Cpu(0, children=(gpu(0, "0000:11:00.0", *links), gpu(1, "0000:12:00.0"))),))
    sentences = shape_of(host).sentences()
    assert "GPU 0 and GPU 1: xgmi 1 and back 0" in sentences
    assert any(sentence.startswith("GPU 0: NUMA 0, NVLinks 5 + 4") for sentence in sentences)


def test_ports_of_one_adapter_are_told_apart_from_two_adapters():
    both = Pci("0000:12:00.0", 0x0200, nets=(Net("a", 1), Net("b", 2)))
    one = Topology((Cpu(0, children=(both,)),))
    two = Topology((Cpu(0, children=(nic("a", "0000:12:00.0"), nic("b", "0000:13:00.0"))),))
    words = difference(shape_of(two).sentences(), shape_of(one).sentences())
    assert words == ("a and b are ports of one adapter",)


def test_ports_with_one_name_are_named_with_their_number():
    host = Topology((Cpu(0, children=(Pci("0000:12:00.0", 0x0207, nets=(Net("mlx4_0", 1), Net("mlx4_0", 2))),)),))
    assert shape_of(host).names == {"NIC 0": "mlx4_0:1", "NIC 1": "mlx4_0:2"}


def test_more_devices_than_a_host_can_have_are_refused():
    host = Topology((Cpu(0, children=tuple(Pci(f"0000:{n // 32:02x}:{n % 32:02x}.0", 0x0302) for n in range(257))),))
    with pytest.raises(ValueError, match="257 ends of one kind"):
        devices(host)


@pytest.mark.parametrize("sentence", ["GPU 0", "GPU x: NUMA 0", "host: NUMA 0", "GPU 0 and: xgmi 1"])
def test_what_is_no_sentence_is_refused(sentence):
    with pytest.raises(ValueError, match="topology"):
        Shape.read([sentence])
