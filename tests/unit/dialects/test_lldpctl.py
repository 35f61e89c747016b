"""The one-or-many, keyed-by-name and flat spellings of lldpctl's JSON."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.dialects.lldpctl import LldpEntry, neighbours

PORT = {"id": {"type": "ifname", "value": "Ethernet48"}, "descr": "row 3 rail 1", "ttl": "120"}
FIELDS = {"id": {"type": "mac", "value": "9C:05:91:AA:00:0E"}, "mgmt-ip": ["10.9.0.7", "fe80::7"]}


def body(**changes: Any) -> dict[str, Any]:
    return {"via": "LLDP", "rid": "4", "age": "3 days, 02:00:05", "chassis": {"spine-07": FIELDS}, "port": PORT, **changes}


def read(interface: Any) -> list[LldpEntry]:
    return list(neighbours({"lldp": {"interface": interface}}))


def test_one_neighbour_is_an_object():
    assert read({"ens3np0": body()}) == [
        LldpEntry(
            port="ens3np0", port_id="Ethernet48", port_kind="name", system="spine-07", port_description="row 3 rail 1",
            chassis="9c:05:91:aa:00:0e", chassis_kind="mac", management_address="10.9.0.7", age_s=266405.0, ttl_s=120.0,
            protocol="LLDP",
        )
    ]  # fmt: skip


def test_two_neighbours_of_one_port_are_both_kept():
    second = body(port={"id": {"type": "mac", "value": "02:11:22:33:44:55"}})
    found = read([{"Ethernet4": body()}, {"Ethernet4": second}])
    assert [(entry.port, entry.port_id, entry.port_kind) for entry in found] == [
        ("Ethernet4", "Ethernet48", "name"),
        ("Ethernet4", "02:11:22:33:44:55", "mac"),
    ]


@pytest.mark.parametrize(
    "document", [{"lldp": {}}, {"lldp": [{}]}, {"lldp": {"interface": None}}, {"lldp": {"interface": []}}, {"lldp": []}]
)
def test_no_neighbour_has_several_spellings(document: Any):
    assert list(neighbours(document)) == []


def test_a_nameless_neighbour_has_a_flat_chassis():
    entry = read({"Ethernet8": body(chassis=FIELDS)})[0]
    assert (entry.system, entry.chassis, entry.management_address) == (None, "9c:05:91:aa:00:0e", "10.9.0.7")


@pytest.mark.parametrize("name", ["id", "name", "value"])
def test_a_system_may_be_named_like_a_field(name: str):
    entry = read({"Ethernet8": body(chassis={name: FIELDS})})[0]
    assert (entry.system, entry.chassis) == (name, "9c:05:91:aa:00:0e")


def test_a_nameless_neighbour_with_a_chassis_id_alone():
    entry = read({"Ethernet8": body(chassis={"id": {"type": "local", "value": "asset-9"}})})[0]
    assert (entry.system, entry.chassis, entry.chassis_kind) == (None, "asset-9", "local")


def test_json0_puts_everything_into_lists():
    document = {
        "lldp": [{"interface": [{
            "name": "eth2", "via": "LLDP", "age": "0 day, 00:00:09",
            "chassis": [{"id": [{"type": "mac", "value": "9c:05:91:aa:00:0e"}], "name": [{"value": "spine-07"}],
                         "mgmt-ip": [{"value": "10.9.0.7"}, {"value": "fe80::7"}]}],
            "port": [{"id": [{"type": "local", "value": "527"}], "descr": [{"value": "to rack 4"}], "ttl": [{"value": "120"}]}],
        }]}]
    }  # fmt: skip
    (entry,) = neighbours(document)
    assert (entry.port, entry.system, entry.port_id, entry.port_kind) == ("eth2", "spine-07", "527", "local")
    assert (entry.port_description, entry.management_address, entry.ttl_s) == ("to rack 4", "10.9.0.7", 120.0)


def test_old_versions_print_the_time_to_live_with_the_chassis():
    chassis = {"spine-07": {**FIELDS, "ttl": "90"}}
    assert read({"eth0": body(chassis=chassis, port={"id": PORT["id"]})})[0].ttl_s == 90.0


def test_an_unknown_subtype_is_other():
    assert read({"eth0": body(port={"id": {"type": "unhandled", "value": "x"}})})[0].port_kind == "other"


@pytest.mark.parametrize(
    "document",
    [
        None, [], "lldp", {}, {"lldp": "none"}, {"lldp": {"interface": ["eth0"]}}, {"lldp": {"interface": {"eth0": "up"}}},
        {"lldp": {"interface": {"eth0": {}}}},
        {"lldp": {"interface": {"eth0": body(port={"descr": "no id"})}}},
        {"lldp": {"interface": {"eth0": body(port=[PORT, PORT])}}},
        {"lldp": {"interface": {"eth0": body(chassis=[{"a": FIELDS}, {"b": FIELDS}])}}},
        {"lldp": {"interface": {"eth0": body(age="yesterday")}}},
        {"lldp": {"interface": {"eth0": body(port={**PORT, "ttl": "soon"})}}},
        {"lldp": {"interface": {"eth0": body(port={**PORT, "descr": {"value": {"value": "x"}}})}}},
        {"lldp": {"interface": {"eth0": body(chassis={"a": {"id": {"type": "mac", "value": "zz"}}})}}},
        {"lldp": {"interface": {"": body()}}},
    ],
)  # fmt: skip
def test_hostile_shapes_are_errors(document: Any):
    with pytest.raises(ValueError):
        list(neighbours(document))
