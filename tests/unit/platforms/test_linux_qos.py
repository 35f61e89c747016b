"""QoS of the adapters of a Linux host: trust, maps, PFC, pause, congestion control."""

from auditor.address import Address
from auditor.model import GapReason
from tests.unit.platforms.linux_host import cell, reason, recorded, state


def test_with_trust_pcp_the_dscp_map_is_unknown_and_trust_is_known():
    seen = state(("mlnx_qos -i ens16np0", recorded("mlnx_qos", "trust_pcp_pfc_off")))
    assert cell(seen, "qos_port[ens16np0].trust").value == ("pcp",)
    assert reason(seen, "host_dscp[ens16np0,26].priority") is GapReason.UNSUPPORTED
    assert seen.has_row(Address.parse("host_dscp[ens16np0,26]")) is None


def test_pfc_off_on_every_priority_is_a_value():
    seen = state(("mlnx_qos -i ens16np0", recorded("mlnx_qos", "trust_pcp_pfc_off")))
    assert cell(seen, "qos_port[ens16np0].pfc_priorities").value == ()


def test_an_answer_cut_behind_the_map_leaves_pfc_unknown_and_the_map_in_use():
    body = recorded("mlnx_qos", "dscp_pfc_with_default_priority")
    seen = state(("mlnx_qos -i ens15f0np0", body[: body.index("default priority")]))
    assert cell(seen, "host_dscp[ens15f0np0,26].priority").value == 3
    assert cell(seen, "qos_port[ens15f0np0].trust").value == ("dscp",)
    assert reason(seen, "qos_port[ens15f0np0].pfc_priorities") is GapReason.TRUNCATED


def test_a_pfc_row_cut_in_the_middle_is_not_read():
    body = recorded("mlnx_qos", "dscp_pfc_with_default_priority")
    at = body.index("enabled")
    seen = state(("mlnx_qos -i ens15f0np0", body[: at + 26]))
    assert body[at : at + 26].split() == ["enabled", "0", "0", "0", "1"]
    assert reason(seen, "qos_port[ens15f0np0].pfc_priorities") is GapReason.TRUNCATED


def test_a_virtual_function_without_trust_state_does_not_count_as_another_trust():
    seen = state(("mlnx_qos -i ens15f0v3", recorded("mlnx_qos", "trust_not_supported")))
    assert reason(seen, "qos_port[ens15f0v3].trust") is GapReason.UNSUPPORTED
    assert cell(seen, "qos_port[ens15f0v3].pfc_priorities").value == (3,)


def test_trust_dscp_without_a_map_leaves_the_map_unknown():
    body = recorded("mlnx_qos", "trust_pcp_pfc_off").replace("state: pcp", "state: dscp")
    seen = state(("mlnx_qos -i ens16np0", body))
    assert reason(seen, "host_dscp[ens16np0,26].priority") is GapReason.UNPARSED


def test_a_trust_word_that_nobody_knows_is_unknown():
    body = recorded("mlnx_qos", "trust_pcp_pfc_off").replace("state: pcp", "state: both?")
    assert reason(state(("mlnx_qos -i ens16np0", body)), "qos_port[ens16np0].trust") is GapReason.UNPARSED


def test_one_network_device_that_refuses_hides_nothing_of_another():
    seen = state(
        ("mlnx_qos -i eth3", recorded("mlnx_qos", "traceback")),
        ("mlnx_qos -i ens16np0", recorded("mlnx_qos", "trust_pcp_pfc_off")),
    )
    assert reason(seen, "qos_port[eth3].trust") is GapReason.PERMISSION
    assert cell(seen, "qos_port[ens16np0].trust").value == ("pcp",)


def test_pause_and_trust_of_one_port_make_one_row():
    seen = state(
        ("mlnx_qos -i ens15f0np0", recorded("mlnx_qos", "dscp_pfc_with_default_priority")),
        ("ethtool -a ens15f0np0", recorded("ethtool_pause", "off")),
    )
    assert cell(seen, "qos_port[ens15f0np0].trust").value == ("dscp",)
    assert cell(seen, "qos_port[ens15f0np0].global_pause_rx").value is False


def test_what_is_offered_is_neither_on_nor_off():
    seen = state(("ethtool -a eno3", recorded("ethtool_pause", "result_not_printed")))
    assert reason(seen, "qos_port[eno3].global_pause_rx") is GapReason.UNSUPPORTED


def test_congestion_control_that_no_driver_shows_is_unsupported_not_off():
    seen = state(("grep -r . /sys/class/net/ens17np0/ecn", recorded("ecn", "inbox_driver")))
    assert reason(seen, "host_qos[ens17np0].ecn_rp") is GapReason.UNSUPPORTED


def test_the_owner_stands_beside_congestion_control():
    seen = state(
        ("mlnx_qos -i ens15f0np0", recorded("mlnx_qos", "dscp_pfc_with_default_priority")),
        ("grep -r . /sys/class/net/ens15f0np0/ecn", recorded("ecn", "two_priorities")),
    )
    assert cell(seen, "host_qos[ens15f0np0].dcbx_owner").value == "os"
    assert cell(seen, "host_qos[ens15f0np0].ecn_np").value == (3, 4)
