"""NetBox cables: every form of an end, profiles and their lanes, patch panels, and what NetBox does not decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import AuditorError, PlanError, SetupError
from auditor.model import Plan, PlanLink
from auditor.plan.formats import Imported, formats
from auditor.plan.formats.netbox import read, sniff
from auditor.plan.formats.netbox_document import KINDS, slim
from auditor.plan.formats.netbox_trace import lanes

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "plans" / "netbox"

DEVICES = {"leaf-1": 1, "leaf-2": 2, "gpu-1": 11, "gpu-2": 12, "gpu-3": 13, "gpu-4": 14, "panel-a": 91, "panel-b": 92}


def end(number: int, device: str, name: str, kind: str = "dcim.interface") -> dict[str, Any]:
    nested = {"id": number, "name": name, "device": {"id": DEVICES[device], "name": device}}
    return {"object_type": kind, "object_id": number, "object": nested}


def cable(number: int, a: list[Any], b: list[Any], **fields: Any) -> dict[str, Any]:
    plain = {"id": number, "type": "", "status": {"value": "connected", "label": "Active"}, "label": "", "length": None}
    return {**plain, "a_terminations": a, "b_terminations": b, **fields}


def imported(*cables: Any, options: dict[str, str] | None = None, **lists: Any) -> Imported:
    document = {"dcim/cables": list(cables), **{f"dcim/{name.replace('_', '-')}": value for name, value in lists.items()}}
    return read(json.dumps(document).encode(), "netbox.json", options or {})


def pairs(done: Imported) -> set[tuple[str, str]]:
    return {(f"{link.a}[{link.a.lane}]", f"{link.b}[{link.b.lane}]") for link in done.links}


def names(done: Imported) -> list[str]:
    return sorted(link.name for link in done.links)


SIMPLE = cable(1, [end(1, "leaf-1", "Ethernet0")], [end(11, "gpu-1", "ens1np0")])


# documents


@pytest.mark.parametrize(
    "document",
    [
        [SIMPLE],
        {"count": 1, "next": None, "previous": None, "results": [SIMPLE]},
        {"cables": [SIMPLE]},
        {"dcim/cables": {"count": 1, "next": None, "previous": None, "results": [SIMPLE]}, "extras/tags": []},
    ],
)
def test_every_form_of_a_document(document: Any) -> None:
    raw = json.dumps(document).encode()
    assert names(read(raw, "c.json", {})) == ["gpu-1:ens1np0|leaf-1:Ethernet0"]
    assert sniff(raw, "c.json")


def test_one_page_of_several_is_an_error() -> None:
    page = {"count": 812, "next": "https://nb/api/dcim/cables/?offset=50", "previous": None, "results": [SIMPLE]}
    with pytest.raises(PlanError, match="dcim/cables: holds 1 of 812 objects, one page of several"):
        read(json.dumps(page).encode(), "c.json", {})


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"[" + b"9" * 5000 + b"]", "is no JSON"),
        (b"\xff", "is not UTF-8"),
        (b"17", "is no list of cables"),
        (b'{"a": 1}', "holds neither dcim/cables nor dcim/devices"),
        (b'{"dcim/cables": 3}', "dcim/cables: is no list of objects"),
        (b"[1, 2]", "is no list of objects"),
        (b"[]", "holds no cable between two interfaces"),
        (b'[{"id": 1, "a_terminations": 5, "status": [], "length": {}}]', "one end only: cable 1"),
    ],
)
def test_what_is_no_document_is_one_clear_error(raw: bytes, words: str) -> None:
    with pytest.raises(PlanError, match=words) as caught:
        read(raw, "c.json", {})
    assert str(caught.value).startswith("c.json")


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.sampled_from(["dcim.interface", "dcim.frontport", "connected", "Ethernet0", "\x1b[31m"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "name",
                    "device",
                    "object",
                    "object_id",
                    "object_type",
                    "a_terminations",
                    "b_terminations",
                    "status",
                    "value",
                    "profile",
                    "length",
                    "length_unit",
                    "tags",
                    "rear_port",
                    "positions",
                    "custom_fields",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(st.lists(ANYTHING, max_size=4), st.lists(ANYTHING, max_size=3))
def test_any_objects_give_links_or_an_error(cables: list[Any], ports: list[Any]) -> None:
    document = {"dcim/cables": cables, "dcim/front-ports": ports, "dcim/interfaces": ports, "dcim/devices": ports}
    try:
        done = read(json.dumps(document).encode(), "c.json", {})
    except AuditorError as error:
        assert str(error).isprintable()
    else:
        assert all(str(link.a).isprintable() for link in done.links)


def test_what_is_fetched_is_kept_as_far_as_it_is_read() -> None:
    full = {**SIMPLE, "url": "https://nb/1", "description": "x" * 1000, "tags": [{"id": 1, "name": "pod-1", "color": "ff"}]}
    for kind in KINDS:
        assert "url" not in slim(kind, full)
    kept = slim("dcim/cables", full)
    assert imported(kept) == imported(full)


# ends


def test_ends_of_releases_before_lists() -> None:
    old = {
        "id": 7,
        "status": "connected",
        "termination_a_type": "dcim.interface",
        "termination_a_id": 1,
        "termination_b_type": "dcim.interface",
        "termination_b_id": 11,
        "termination_a": {"id": 1, "name": "Ethernet0", "device": {"id": 1, "name": "leaf-1"}},
        "termination_b": {"id": 11, "name": "ens1np0", "device": {"id": 11, "name": "gpu-1"}},
    }
    assert names(imported(old)) == ["gpu-1:ens1np0|leaf-1:Ethernet0"]


def test_nautobots_references_are_looked_up_in_the_other_lists() -> None:
    shallow = {
        "id": "6f1c",
        "status": {"id": "aa", "name": "Connected"},
        "termination_a_type": "dcim.interface",
        "termination_b_type": "dcim.interface",
        "termination_a": {"id": "i-1", "object_type": "dcim.interface"},
        "termination_b": {"id": "i-2", "object_type": "dcim.interface"},
        "termination_a_id": "i-1",
        "termination_b_id": "i-2",
    }
    interfaces = [
        {"id": "i-1", "name": "Ethernet0", "device": {"id": "d-1"}},
        {"id": "i-2", "name": "ens1np0", "device": {"id": "d-2"}},
    ]
    devices = [{"id": "d-1", "name": "leaf-1"}, {"id": "d-2", "name": "gpu-1"}]
    assert names(imported(shallow, interfaces=interfaces, devices=devices)) == ["gpu-1:ens1np0|leaf-1:Ethernet0"]
    with pytest.raises(PlanError, match="no name of the port; add dcim/interfaces"):
        imported(shallow)


def test_ends_that_are_no_ports_are_left_out() -> None:
    circuit = {"object_type": "circuits.circuittermination", "object_id": 3, "object": {"id": 3}}
    done = imported(SIMPLE, cable(2, [end(2, "leaf-1", "Ethernet8")], [circuit]), cable(3, [end(3, "leaf-1", "Ethernet16")], []))
    assert len(done.links) == 1
    assert "netbox.json: left out: ends on circuits.circuittermination: cable 2" in done.notes
    assert "netbox.json: left out: one end only: cable 3" in done.notes


def test_devices_without_a_name_or_with_the_name_of_another_are_left_out() -> None:
    unnamed, twin = end(12, "gpu-2", "ens1np0"), end(13, "gpu-3", "ens1np0")
    unnamed["object"]["device"]["name"], twin["object"]["device"]["name"] = None, "gpu-1"
    done = imported(
        SIMPLE,
        cable(2, [end(2, "leaf-1", "Ethernet8")], [unnamed]),
        cable(3, [end(3, "leaf-1", "Ethernet16")], [twin]),
        cable(4, [end(4, "leaf-1", "Ethernet24")], [end(14, "gpu-4", "ens1np0")]),
    )
    assert names(done) == ["gpu-4:ens1np0|leaf-1:Ethernet24"]
    assert "netbox.json: left out: the device has no name: device 12:ens1np0" in done.notes
    assert any("several devices are called gpu-1; choose one with site=" in note for note in done.notes)


def test_a_site_chooses_among_devices_of_one_name() -> None:
    twin = end(13, "gpu-3", "ens1np0")
    twin["object"]["device"]["name"] = "gpu-1"
    devices = [
        {"id": number, "name": name, "site": {"slug": site}}
        for number, name, site in ((1, "leaf-1", "dc1"), (2, "leaf-2", "dc2"), (11, "gpu-1", "dc1"), (13, "gpu-1", "dc2"))
    ]
    other = cable(2, [end(2, "leaf-2", "Ethernet0")], [twin])
    done = imported(SIMPLE, other, devices=devices, options={"site": "dc1"})
    assert names(done) == ["gpu-1:ens1np0|leaf-1:Ethernet0"]
    with pytest.raises(PlanError, match="the option site needs the list dcim/devices"):
        imported(SIMPLE, options={"site": "dc1"})


# what a cable says


@pytest.mark.parametrize(
    ("status", "tag"),
    [
        ({"value": "connected", "label": "Active"}, ""),
        ({"value": "connected", "label": "Connected"}, ""),
        ("connected", ""),
        ({"value": "planned"}, "planned"),
        ({"name": "Planned"}, "planned"),
    ],
)
def test_statuses_by_value(status: Any, tag: str) -> None:
    assert imported({**SIMPLE, "status": status}).links[0].tags.get("status", "") == tag


def test_cables_on_their_way_out_are_left_out_and_free_their_ports() -> None:
    leaving = cable(2, [end(1, "leaf-1", "Ethernet0")], [end(12, "gpu-2", "ens1np0")], status={"value": "decommissioning"})
    done = imported(leaving, SIMPLE)
    assert names(done) == ["gpu-1:ens1np0|leaf-1:Ethernet0"]
    assert "netbox.json: left out: status decommissioning: cable 2" in done.notes
    assert "leaf-1:Ethernet0" in imported(leaving, options={"statuses": "decommissioning"}).links[0].name


def test_a_port_with_two_cables_keeps_the_first() -> None:
    done = imported(SIMPLE, cable(2, [end(1, "leaf-1", "Ethernet0")], [end(12, "gpu-2", "ens1np0")]))
    assert names(done) == ["gpu-1:ens1np0|leaf-1:Ethernet0"]
    assert "netbox.json: left out: leaf-1:Ethernet0 has another cable already: cable 2" in done.notes


@pytest.mark.parametrize(
    ("length", "unit", "metres"),
    [
        (3, "m", 3.0),
        ("2.50", "m", 2.5),
        (250, "cm", 2.5),
        (10, "ft", 3.048),
        (1, "km", 1000.0),
        (1, "mi", 1609.344),
        (100, "in", 2.54),
        (None, None, None),
    ],
)
def test_lengths_in_every_unit(length: Any, unit: str | None, metres: float | None) -> None:
    assert imported({**SIMPLE, "length": length, "length_unit": unit and {"value": unit}}).links[0].length_m == metres


def test_labels_tags_and_the_like() -> None:
    link = imported(
        {
            **SIMPLE,
            "label": "C-17",
            "type": "dac-passive",
            "color": "ff0000",
            "tenant": {"name": "hpc"},
            "tags": [{"name": "pod-1", "slug": "pod-1"}, "rail"],
        }
    ).links[0]
    assert (link.label, link.type) == ("C-17", "dac-passive")
    assert link.tags == {"netbox": "1", "tags": "pod-1,rail", "color": "ff0000", "tenant": "hpc"}


def test_racks_roles_and_models_come_from_the_devices() -> None:
    devices = [
        {
            "id": 1,
            "name": "leaf-1",
            "role": {"slug": "leaf"},
            "rack": {"name": "R9"},
            "position": 40.0,
            "device_type": {"model": "SN5600"},
            "platform": {"slug": "sonic"},
        },
        {"id": 11, "name": "gpu-1", "device_role": {"slug": "gpu_host"}, "rack": {"name": "R1"}, "position": "22.5"},
    ]
    done = imported(SIMPLE, devices=devices)
    link = done.links[0]
    assert (link.a.rack, link.a.position, link.b.rack, link.b.position) == ("R9", "40", "R1", "22.5")
    assert [(device.name, device.role, device.hardware_model, device.platforms) for device in done.devices] == [
        ("gpu-1", "gpu_host", "", ()),
        ("leaf-1", "leaf", "SN5600", ("sonic",)),
    ]


def interface(number: int, **fields: Any) -> dict[str, Any]:
    nested = {1: "leaf-1", 11: "gpu-1"}[number]
    return {
        "id": number,
        "name": {1: "Ethernet0", 11: "ens1np0"}[number],
        "device": {"id": DEVICES[nested], "name": nested},
        **fields,
    }


@pytest.mark.parametrize(
    ("one", "other", "speed"),
    [
        ({"type": {"value": "400gbase-x-osfp"}}, {"type": {"value": "400gbase-x-qsfp112"}}, 400 * 10**9),
        ({"type": {"value": "800gbase-x-osfp"}}, {"type": {"value": "400gbase-x-osfp"}}, 400 * 10**9),
        ({"type": {"value": "1.6tbase-x-osfp1600"}}, {}, 1600 * 10**9),
        ({"type": {"value": "1000base-t"}}, {}, 10**9),
        ({"type": "100base-tx"}, {}, 100 * 10**6),
        ({"type": {"value": "800gbase-x-osfp"}, "speed": 200_000_000}, {}, 200 * 10**9),
        ({"type": {"value": "other"}}, {"type": {"value": "virtual"}}, None),
    ],
)
def test_speeds_come_from_the_interfaces(one: dict[str, Any], other: dict[str, Any], speed: int | None) -> None:
    assert imported(SIMPLE, interfaces=[interface(1, **one), interface(11, **other)]).links[0].speed == speed


def test_infiniband_types_tell_no_speed_of_a_link() -> None:
    done = imported(SIMPLE, interfaces=[interface(1, type={"value": "infiniband-ndr"})])
    assert done.links[0].speed is None
    assert any("InfiniBand types tell the speed of one lane" in note for note in done.notes)


def test_a_custom_field_may_hold_the_speed() -> None:
    item = {**SIMPLE, "custom_fields": {"rate": "200G"}}
    assert imported(item, options={"speed_field": "rate"}).links[0].speed == 200 * 10**9


def test_macs_of_either_release_are_ids_only_when_asked_for() -> None:
    ports = [
        interface(1, mac_address="00:00:5E:00:53:01"),
        interface(11, primary_mac_address={"mac_address": "00:00:5E:00:53:0B"}),
    ]
    assert imported(SIMPLE, interfaces=ports).links[0].b.id == ""
    link = imported(SIMPLE, interfaces=ports, options={"ids": "mac"}).links[0]
    assert (link.a.id, link.b.id) == ("00:00:5e:00:53:01", "00:00:5e:00:53:0b")
    with pytest.raises(SetupError, match="is not mac"):
        imported(SIMPLE, options={"ids": "wwn"})


# profiles

HOSTS = [end(10 + at, f"gpu-{at}", "ens1np0") for at in range(1, 5)]
CAGE = [end(1, "leaf-1", "Ethernet0")]


def test_several_ends_without_a_profile_are_ambiguous() -> None:
    done = imported(SIMPLE, cable(2, [end(2, "leaf-1", "Ethernet8")], HOSTS[1:]))
    assert names(done) == ["gpu-1:ens1np0|leaf-1:Ethernet0"]
    assert any("ambiguous: 1 to 3 ends and no profile that says which is which: cable 2" in note for note in done.notes)


def test_a_breakout_becomes_lanes_of_one_cable() -> None:
    done = imported(cable(7, CAGE, HOSTS, profile={"value": "breakout-1c4p-4c1p", "label": "1C4P:4C1P breakout"}))
    assert pairs(done) == {(f"leaf-1:Ethernet0[{at}]", f"gpu-{at}:ens1np0[]") for at in range(1, 5)}
    assert {link.cable_id for link in done.links} == {"netbox-7"}
    writer = formats()["csv"].write
    assert writer is not None
    text, _ = writer(Plan(links=done.links))
    again = formats()["csv"].read(text.encode(), "plan.csv", {})
    assert {(link.a, link.b, link.cable_id) for link in again.links} == {(link.a, link.b, link.cable_id) for link in done.links}


def test_connectors_of_the_ends_decide_where_they_are_given() -> None:
    order = (3, 1, 4, 2)
    ends = [
        {
            "cable": {"id": 7},
            "cable_end": "B",
            "termination_type": "dcim.interface",
            "termination_id": 10 + at,
            "connector": connector,
            "positions": [1],
        }
        for at, connector in enumerate(order, start=1)
    ]
    done = imported(cable(7, CAGE, HOSTS, profile={"value": "breakout-1c4p-4c1p"}), cable_terminations=ends)
    assert pairs(done) == {(f"leaf-1:Ethernet0[{order[at - 1]}]", f"gpu-{at}:ens1np0[]") for at in range(1, 5)}


def test_free_connectors_without_their_numbers_are_ambiguous() -> None:
    broken = cable(7, CAGE, HOSTS[:3], profile={"value": "breakout-1c4p-4c1p"})
    done = imported(cable(8, [end(2, "leaf-1", "Ethernet8")], HOSTS[3:]), broken)
    assert names(done) == ["gpu-4:ens1np0|leaf-1:Ethernet8"]
    assert any("its ends have no connectors; add dcim/cable-terminations" in note for note in done.notes)


def test_lanes_to_one_port_are_one_link() -> None:
    done = imported({**SIMPLE, "profile": {"value": "single-1c4p"}})
    assert [(link.a.lane, link.b.lane, link.cable_id) for link in done.links] == [("", "", "")]


def test_a_trunk_joins_connector_with_connector() -> None:
    far = [end(20 + at, "leaf-2", f"Ethernet{at}") for at in (1, 2)]
    near = [end(30 + at, "leaf-1", f"Ethernet{at}") for at in (1, 2)]
    done = imported(cable(9, near, far, profile={"value": "trunk-2c4p"}))
    assert names(done) == ["leaf-1:Ethernet1|leaf-2:Ethernet1", "leaf-1:Ethernet2|leaf-2:Ethernet2"]


def test_a_shuffle_crosses_lanes() -> None:
    far = [end(20 + at, "leaf-2", f"Ethernet{at}") for at in (1, 2)]
    near = [end(30 + at, "leaf-1", f"Ethernet{at}") for at in (1, 2)]
    done = imported(cable(9, near, far, profile={"value": "trunk-2c4p-shuffle"}))
    assert pairs(done) == {
        ("leaf-1:Ethernet1[1-2]", "leaf-2:Ethernet1[1-2]"),
        ("leaf-1:Ethernet1[3-4]", "leaf-2:Ethernet2[1-2]"),
        ("leaf-1:Ethernet2[1-2]", "leaf-2:Ethernet1[3-4]"),
        ("leaf-1:Ethernet2[3-4]", "leaf-2:Ethernet2[3-4]"),
    }
    assert {link.cable_id for link in done.links} == {"netbox-9"}


def test_a_profile_that_is_not_known_decides_nothing() -> None:
    done = imported(SIMPLE, cable(2, [end(2, "leaf-1", "Ethernet8")], HOSTS[1:3], profile={"value": "breakout-9c9p-9c9p"}))
    assert names(done) == ["gpu-1:ens1np0|leaf-1:Ethernet0"]
    assert any("profile breakout-9c9p-9c9p is not known here: cable 2" in note for note in done.notes)


PROFILES = [
    *(f"single-1c{positions}p" for positions in (1, 2, 4, 6, 8, 12, 16)),
    *(f"trunk-2c{positions}p" for positions in (1, 2, 4, 6, 8, 12)),
    *(f"trunk-4c{positions}p" for positions in (1, 2, 4, 6, 8)),
    *("trunk-8c4p", "trunk-2c4p-shuffle", "trunk-4c4p-shuffle", "breakout-2c4p-8c1p-shuffle"),
    *(f"breakout-1c{positions}p-{positions}c1p" for positions in (2, 4, 6, 8)),
]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_of_netbox_has_its_lanes(profile: str) -> None:
    found = lanes(profile)
    assert found is not None
    assert len(set(found.values())) == len(found), "no two lanes end in one place"
    positions = {}
    for connector, position in found.values():
        positions.setdefault(connector, set()).add(position)
    assert sorted(positions) == list(range(1, len(positions) + 1))
    assert all(sorted(each) == list(range(1, len(each) + 1)) for each in positions.values())


@pytest.mark.parametrize("profile", ["", "trunk-2c4p-4c2p", "single-2c1p", "breakout-1c4p-2c1p", "trunk-2c2p-shuffle", "x"])
def test_other_words_are_no_profile(profile: str) -> None:
    assert lanes(profile) is None


# patch panels


def panels(positions: int, *, new: bool) -> dict[str, list[dict[str, Any]]]:
    """Two panels, one rear port each with so many positions, a front port for each."""
    fronts, rears = [], []
    for at, (panel, rear) in enumerate((("panel-a", 501), ("panel-b", 502))):
        device = {"id": DEVICES[panel], "name": panel}
        for position in range(1, positions + 1):
            number = 600 + at * 100 + position
            joined = {"rear_ports": [{"position": 1, "rear_port": rear, "rear_port_position": position}]}
            before = {"rear_port": {"id": rear, "name": "R1"}, "rear_port_position": position}
            fronts.append({"id": number, "name": f"F{position}", "device": device, **(joined if new else before)})
        rears.append({"id": rear, "name": "R1", "device": device, "positions": positions})
    return {"front_ports": fronts, "rear_ports": rears}


def through(position: int, **fields: Any) -> list[dict[str, Any]]:
    """The two patch cords of one position."""
    a = cable(
        10 + position,
        [end(10 + position, f"gpu-{position}", "ens1np0")],
        [end(600 + position, "panel-a", f"F{position}", "dcim.frontport")],
        **fields,
    )
    b = cable(
        20 + position,
        [end(700 + position, "panel-b", f"F{position}", "dcim.frontport")],
        [end(position, "leaf-1", f"Ethernet{position}")],
        **fields,
    )
    return [a, b]


BACKBONE = cable(
    50,
    [end(501, "panel-a", "R1", "dcim.rearport")],
    [end(502, "panel-b", "R1", "dcim.rearport")],
    label="trunk",
    length=30,
    length_unit="m",
)


@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("profile", ["", "single-1c4p"])
def test_panels_are_traced_through(new: bool, profile: str) -> None:
    backbone = {**BACKBONE, "profile": {"value": profile} if profile else ""}
    cords = [item for position in (1, 3) for item in through(position, length=2, length_unit="m", label=f"C{position}")]
    done = imported(*cords, backbone, **panels(4, new=new))
    assert names(done) == ["gpu-1:ens1np0|leaf-1:Ethernet1", "gpu-3:ens1np0|leaf-1:Ethernet3"]
    link = next(link for link in done.links if "gpu-3" in link.name)
    assert (link.via, link.label, link.length_m, link.tags["netbox"]) == (
        "panel-a:F3 > panel-b:F3",
        "C3 / trunk",
        34.0,
        "13+50+23",
    )
    assert link.cable_id == ""


def test_a_panel_without_the_rest_of_the_way_is_left_out() -> None:
    done = imported(SIMPLE, *through(2), **panels(4, new=True))
    assert names(done) == ["gpu-1:ens1np0|leaf-1:Ethernet0"]
    assert any("ends on a panel, and nothing is plugged in behind it: cable 12, cable 22" in note for note in done.notes)
    done = imported(SIMPLE, *through(2), BACKBONE)
    assert any("ends on a patch panel that is not known; add dcim/front-ports and dcim/rear-ports" in note for note in done.notes)


def test_a_rear_port_of_several_positions_in_a_port_is_ambiguous_without_a_profile() -> None:
    near = [through(position)[0] for position in (1, 2)]
    done = imported(
        cable(40, [end(8, "leaf-2", "Ethernet0")], [end(501, "panel-a", "R1", "dcim.rearport")]),
        *near,
        *_far(),
        **panels(4, new=True),
    )
    assert names(done) == ["gpu-4:ens1np0|leaf-1:Ethernet9"]
    assert any(
        "ambiguous: it ends on a panel port of several positions, and no profile says which: cable 40" in note
        for note in done.notes
    )


def test_a_rear_port_with_a_profile_is_a_breakout() -> None:
    near = [through(position)[0] for position in (1, 2, 3, 4)]
    profile = {"value": "single-1c4p"}
    done = imported(
        cable(40, [end(8, "leaf-2", "Ethernet0")], [end(501, "panel-a", "R1", "dcim.rearport")], profile=profile),
        *near,
        **panels(4, new=True),
    )
    assert {(str(link.end("leaf-2", "Ethernet0")), link.end("leaf-2", "Ethernet0").lane) for link in done.links} == {
        ("leaf-2:Ethernet0", str(lane)) for lane in range(1, 5)
    }
    assert {link.cable_id for link in done.links} == {"netbox-40"}


def _far() -> list[dict[str, Any]]:
    return [cable(41, [end(9, "leaf-1", "Ethernet9")], [end(14, "gpu-4", "ens1np0")])]


def test_panels_in_a_circle_end() -> None:
    loop = {
        "front_ports": [
            {"id": 601, "name": "F1", "device": {"id": 91, "name": "panel-a"}, "rear_port": {"id": 501}, "rear_port_position": 1}
        ],
        "rear_ports": [{"id": 501, "name": "R1", "device": {"id": 91, "name": "panel-a"}, "positions": 1}],
    }
    back = cable(3, [end(501, "panel-a", "R1", "dcim.rearport")], [end(601, "panel-a", "F1", "dcim.frontport")])
    done = imported(SIMPLE, back, **loop)
    assert len(done.links) == 1


# the fixture


def test_an_answer_of_the_rest_api_with_all_its_lists() -> None:
    done = read((FIXTURES / "pod.json").read_bytes(), "pod.json", {"site": "dc1"})
    told = {link.name: link for link in done.links}
    assert len(done.links) == 8
    breakout = told["gpu-n2:ens33np0|leaf-n1:Ethernet1/2"]
    assert (breakout.cable_id, breakout.end("leaf-n1", "Ethernet1/2").lane, breakout.speed) == ("netbox-202", "2", 100 * 10**9)
    patched = told["leaf-n1:Ethernet1/31|spine-n1:Ethernet1/1"]
    assert (patched.via, patched.length_m, patched.label) == ("pp-n1:F01 > pp-n2:F01", 27.5, "PC-1 / BB-1 / PC-2")
    assert told["gpu-n1:ens34np0|leaf-n2:Ethernet1/1"].tags["status"] == "planned"
    assert {device.name: device.role for device in done.devices}["gpu-n1"] == "gpu_host"
    assert sorted(note.removeprefix("pod.json: ") for note in done.notes) == [
        "left out: ambiguous: 1 to 2 ends and no profile that says which is which: cable 206",
        "left out: ends on circuits.circuittermination: cable 208",
        "left out: status decommissioning: cable 207",
    ]


def test_links_are_plain_plan_links() -> None:
    assert all(isinstance(link, PlanLink) for link in imported(SIMPLE).links)
    assert not sniff(b'{"schema": "turnup.intent/v1", "cables": []}', "intent.json")
    assert formats()["netbox"].read is read
