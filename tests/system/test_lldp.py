"""What the real lldpd prints is what our reader of its JSON understands."""

import json

import pytest

from auditor.dialects import lldpctl

from .conftest import wait_for

pytestmark = pytest.mark.system


def test_each_end_names_the_other_by_mac_as_lldpd_does_by_default(cable):
    for own, far in (cable, cable[::-1]):
        wait_for(own.neighbours)
        (entry,) = lldpctl.neighbours(json.loads(own.lldpctl()))
        assert (entry.port, entry.system) == (own.port, far.name)
        assert (entry.port_kind, entry.port_id) == ("mac", far.mac())
        assert entry.port_description == far.port
        assert (entry.chassis_kind, entry.protocol) == ("mac", "LLDP")
        assert entry.age_s is not None
        assert entry.ttl_s == 4


def test_the_port_name_is_read_once_the_agent_sends_it(cable):
    own, far = cable
    far.lldpcli("configure", "lldp", "portidsubtype", "ifname")

    def named():
        return [entry for entry in lldpctl.neighbours(json.loads(own.lldpctl())) if entry.port_kind == "name"]

    (entry,) = wait_for(named)
    assert entry.port_id == far.port


def test_json_and_json0_say_the_same(cable):
    own, _ = cable
    wait_for(own.neighbours)
    short, long = ([*lldpctl.neighbours(json.loads(own.lldpctl(form)))] for form in ("json", "json0"))
    assert [(e.port, e.system, e.port_kind, e.port_id, e.chassis) for e in short] == [
        (e.port, e.system, e.port_kind, e.port_id, e.chassis) for e in long
    ]


def test_a_pulled_cable_leaves_an_empty_answer_that_is_still_an_answer(cable):
    own, far = cable
    wait_for(own.neighbours)
    far.link("set", far.port, "down")
    wait_for(lambda: not own.neighbours())
    assert list(lldpctl.neighbours(json.loads(own.lldpctl()))) == []
