"""The keyvalue form of lldpd: keys that repeat, names with dots, texts of several lines, and where an answer breaks off."""

import pytest

from auditor.dialects.lldpctl import LldpEntry
from auditor.dialects.lldpctl_keyvalue import neighbours

BODY = """lldp.PORT.via=LLDP
lldp.PORT.rid=4
lldp.PORT.age=3 days, 02:00:05
lldp.PORT.chassis.mac=9C:05:91:AA:00:0E
lldp.PORT.chassis.name=spine-07
lldp.PORT.chassis.descr=a system
lldp.PORT.chassis.mgmt-ip=10.9.0.7
lldp.PORT.chassis.mgmt-ip=fe80::7
lldp.PORT.chassis.Bridge.enabled=on
lldp.PORT.port.ifname=Ethernet48
lldp.PORT.port.descr=row 3 rail 1
lldp.PORT.port.ttl=120
lldp.PORT.lldp-med.Policy.available=yes
"""


def read(text):
    return list(neighbours(text))


def body(port="eno1", **changes):
    text = BODY.replace("PORT", port)
    for old, new in changes.items():
        text = text.replace(f".{old}=", f".{new}=")
    return text


@pytest.mark.parametrize("port", ["eno1", "bond0.12", "port.1", "via"])
def test_every_value_of_a_neighbour_whatever_its_port_is_called(port):
    assert read(body(port)) == [
        LldpEntry(
            port=port, port_id="Ethernet48", port_kind="name", system="spine-07", port_description="row 3 rail 1",
            chassis="9c:05:91:aa:00:0e", chassis_kind="mac", management_address="10.9.0.7", age_s=266405.0, ttl_s=120.0,
            protocol="LLDP",
        )
    ]  # fmt: skip


def test_two_neighbours_of_one_port_are_both_kept():
    assert [entry.port_kind for entry in read(body() + body(ifname="local"))] == ["name", "local"]


def test_no_line_is_no_neighbour():
    assert read("") == []


def test_a_text_of_several_lines_stays_with_its_key():
    text = body().replace("row 3 rail 1", "row 3\nrail 1")
    assert read(text)[0].port_description == "row 3\nrail 1"


def test_a_value_may_hold_an_equals_sign():
    assert read(body().replace("row 3 rail 1", "rail=1"))[0].port_description == "rail=1"


@pytest.mark.parametrize("keep", range(1, 12))
def test_a_neighbour_cut_before_its_time_to_live_is_not_read(keep):
    found = read(body() + "".join(body("eno2").splitlines(keepends=True)[:keep]))
    assert found[0].port == "eno1"
    assert len(found) == 2
    assert "breaks off" in found[1]


def test_a_neighbour_without_port_id_says_so():
    (found,) = read(body().replace("lldp.eno1.port.ifname=Ethernet48\n", ""))
    assert "port" in found
    assert isinstance(found, str)


def test_a_line_of_another_port_in_the_middle_belongs_to_nobody():
    found = read(body().replace("lldp.eno1.chassis.name", "lldp.eno2.chassis.name"))
    assert any(isinstance(item, str) for item in found)
