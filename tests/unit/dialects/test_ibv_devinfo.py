"""Sections of `ibv_devinfo`: what belongs to a device, to a port, and to neither."""

from auditor.dialects import ibv_devinfo

PORT = "\t\tport:\t{n}\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tlink_layer:\t\tEthernet\n"
SHORT = "hca_id:\tmlx5_0\n\tnode_guid:\t\t\t946d:ae03:0077:1030\n\tphys_port_cnt:\t\t\t1\n" + PORT.format(n=1)


def read(text):
    return list(ibv_devinfo.devices(text))


def test_a_device_and_its_port():
    (device,) = read(SHORT)
    assert (device.name, device.verbose, device.whole) == ("mlx5_0", False, True)
    assert device.fields["node_guid"] == "946d:ae03:0077:1030"
    (port,) = device.ports
    assert port.number == "1"
    assert port.fields == {"state": "PORT_ACTIVE (4)", "link_layer": "Ethernet"}


def test_the_first_line_of_a_label_counts_for_a_device():
    (device,) = read("hca_id:\tmlx5_0\n\tmax_sge:\t\t\t30\n\tflags:\n\t\t\t\t\tIBV_TM_CAP_RC\n\tmax_sge:\t\t\t1\n")
    assert device.fields["max_sge"] == "30"


def test_labels_of_one_port_do_not_leak_into_the_next_device():
    first, second = read(SHORT + "\n" + SHORT.replace("mlx5_0", "mlx5_1").replace("\t\t\tlink_layer:\t\tEthernet\n", ""))
    assert "link_layer" in first.ports[0].fields
    assert "link_layer" not in second.ports[0].fields
    assert (first.whole, second.whole) == (True, False)


def test_gids_belong_to_their_port():
    text = (
        SHORT
        + "\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:966d:aeff:fe77:1030, RoCE v1\n\t\t\tGID[  1]:\t\t::ffff:192.0.2.3, RoCE v2\n"
    )
    (device,) = read(text)
    assert device.ports[0].gids == {0: "fe80:0000:0000:0000:966d:aeff:fe77:1030", 1: "::ffff:192.0.2.3"}


def test_a_device_with_fewer_ports_than_it_counts_is_not_whole():
    (device,) = read(SHORT.replace("phys_port_cnt:\t\t\t1", "phys_port_cnt:\t\t\t2"))
    assert not device.whole


def test_a_verbose_device_is_whole_with_the_speed_of_its_port_only():
    verbose = SHORT.replace("\t\tport", "\tmax_mr_size:\t\t\t0xffffffffffffffff\n\t\tport")
    assert not read(verbose)[0].whole
    assert read(verbose + "\t\t\tactive_speed:\t\t50.0 Gbps (64)\n")[0].whole


def test_text_before_the_first_device_is_nothing():
    assert read("libibverbs: Warning: no driver\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_DOWN (1)\n") == []
