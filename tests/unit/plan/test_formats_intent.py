from __future__ import annotations

import json

import pytest

from auditor.errors import ErrorList, PlanError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.formats import Imported
from auditor.plan.formats.intent import read, sniff, write

HEAD = "schema: turnup.intent/v1\n"
CABLE = "- {a: {device: a, interface: p}, b: {device: b, interface: q}}\n"


def imported(text: str) -> Imported:
    return read(text.encode(), "t.yaml", {})


def wrong(text: str) -> str:
    with pytest.raises((PlanError, ErrorList)) as caught:
        imported(text)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "cables:\n" + CABLE,
        "cables:\n" + CABLE + "schema: 'turnup.intent/v1'\n",
        '{"schema": "turnup.intent/v1",\n"cables": ['
        '{"a": {"device": "a", "interface": "p"}, "b": {"device": "b", "interface": "q"}}]}',
        '{\n\t"schema" : "turnup.intent/v1",\n\t"cables": [\n\t\t{"b": {"device": "b", "interface": "q"},'
        ' "a": {"device": "a", "interface": "p"}, "speed_gbps": null}\n\t]\n}',
    ],
)
def test_yaml_and_json_are_one(text: str) -> None:
    assert sniff(text.encode(), "x")
    assert [f"{link.a} {link.b}" for link in imported(text).links] == ["a:p b:q"]


def test_devices_are_looked_up_in_any_case_and_without_domain() -> None:
    cable = "- {a: {device: lf-1, interface: p}, b: {device: Lf-1.other, interface: q}}\n"
    assert "both ends are on LF-1.hall.example" in wrong(HEAD + "devices: [{name: LF-1.hall.example}]\ncables:\n" + cable)


@pytest.mark.parametrize(
    ("role", "ours"),
    [("gpu-node", "gpu_host"), ("leaf-switch", "leaf"), ("spine-switch", "spine"), ("pdu", "pdu"), ("other", "")],
)
def test_roles_become_ours_and_theirs_again(role: str, ours: str) -> None:
    found = imported(HEAD + f"devices: [{{name: a, role: {role}}}]\ncables:\n" + CABLE)
    assert {device.name: device.role for device in found.devices}["a"] == ours
    written = json.loads(write(Plan("x", found.links))[0])
    assert written["devices"][0] == {"name": "a", "role": role}


def test_a_role_that_it_does_not_have_is_other_and_not_carried() -> None:
    text, gone = write(Plan("x", (PlanLink(PlanEnd("a", "p"), PlanEnd("b", "q"), tags={"a_role": "core"}),)))
    assert json.loads(text)["devices"][0]["role"] == "other" and gone == ("a_role",)


def test_a_speed_that_is_no_whole_number_of_gbit_is_not_carried() -> None:
    text, gone = write(Plan("x", (PlanLink(PlanEnd("a", "p"), PlanEnd("b", "q"), speed=2_500_000_000),)))
    assert "speed_gbps" not in text and gone == ("speed",)


def test_written_document() -> None:
    link = PlanLink(
        PlanEnd("n-1", "e0", rack="R2", position="7"), PlanEnd("lf", "1"), speed=400 * 10**9, label="C", tags={"b_model": "M"}
    )
    assert json.loads(write(Plan("hall", (link,)))[0]) == {
        "schema": "turnup.intent/v1",
        "site": "hall",
        "racks": [{"name": "R2"}],
        "devices": [
            {"name": "lf", "role": "other", "model": "M"},
            {"name": "n-1", "role": "other", "rack": "R2", "position": "7"},
        ],
        "cables": [
            {"label": "C", "a": {"device": "n-1", "interface": "e0"}, "b": {"device": "lf", "interface": "1"}, "speed_gbps": 400}
        ],
    }


def test_names_that_are_one_device_there_are_refused() -> None:
    with pytest.raises(PlanError, match=r"Lf\.a and lf are one device"):
        write(Plan("x", (PlanLink(PlanEnd("lf", "1"), PlanEnd("Lf.a", "2")),)))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("schema: turnup.intent/v2\ncables: []\n", 1, "schema is turnup.intent/v1"),
        ("- 1\n", 1, "schema is turnup.intent/v1"),
        (HEAD + "cables: 7\n", 2, "cables must be a list"),
        (HEAD + "cables:\n- 7\n", 3, "an entry of cables must be a mapping"),
        (HEAD + "cables:\n- {a: {device: a, interface: 7}, b: {device: b, interface: q}}\n", 3, "interface must be a text"),
        (HEAD + "cables:\n- {a: {device: on, interface: x}, b: {device: b, interface: q}}\n", 3, "device must be a text"),
        (HEAD + "cables:\n- {a: a, b: {device: b, interface: q}}\n", 3, "a must be a mapping"),
        (HEAD + "cables:\n" + CABLE[:-2] + ", speed_gbps: fast}\n", 3, "speed_gbps must be a whole number"),
        (HEAD + "cables:\n" + CABLE[:-2] + ", speed_gbps: 2.5}\n", 3, "speed_gbps must be a whole number"),
        (HEAD + "cables:\n" + CABLE + CABLE.replace("device: b", "device: c"), 4, "already used by line 3"),
        (HEAD + "devices:\n- {name: a}\n- {name: A.x}\ncables:\n" + CABLE, 4, "device A.x stands twice"),
        (HEAD + "devices:\n- {role: leaf-switch}\ncables:\n" + CABLE, 3, "name must be a text"),
        (HEAD + "cables:\n" + CABLE + "cables: []\n", 4, "key 'cables' stands twice"),
        (HEAD + "cables: &x\n- *x\n", 3, "aliases"),
        (HEAD + "cables: []\n", None, "holds no cable"),
        (HEAD + "cables: " + "[" * 5000 + "\n", 2, "nest"),
        (HEAD + "cables: " + "[" * 60 + "\n", 2, "nested deeper"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(text: str, line: int | None, words: str) -> None:
    message = wrong(text)
    assert message.startswith(f"t.yaml:{line}: " if line else "t.yaml: ") and words in message


def test_all_errors_are_told_at_once() -> None:
    assert len(wrong(HEAD + "cables:\n- 1\n- 2\n- {a: 1}\n").splitlines()) == 3


def test_the_mac_of_an_interface_is_its_identity_and_is_written_again() -> None:
    devices = "devices: [{name: A.x, interfaces: [{name: p, mac: 0200.5e10.0007}, {name: z}]}]\n"
    (link,) = imported(HEAD + devices + "cables:\n" + CABLE).links
    assert (link.a.device, link.a.id, link.b.id) == ("A.x", "02:00:5e:10:00:07", "")
    text, gone = write(Plan("x", (link,)))
    assert json.loads(text)["devices"][0]["interfaces"] == [{"name": "p", "mac": "02:00:5e:10:00:07"}] and gone == ()


def test_an_identity_that_is_no_mac_is_not_carried() -> None:
    link = PlanLink(PlanEnd("a", "p", id="02:00:5e:10:00:07"), PlanEnd("b", "q", id="0000:3b:00.0"))
    text, gone = write(Plan("x", (link,)))
    assert gone == ("b_id",) and [link.a.id for link in imported(text).links] == ["02:00:5e:10:00:07"]


@pytest.mark.parametrize(
    ("device", "line", "words"),
    [
        ("{name: a, interfaces: [{name: p, mac: zz}]}", 4, "a_id: 'zz' is neither"),
        ("{name: a, interfaces: [{mac: '02:00:5e:10:00:07'}]}", 2, "name must be a text"),
        ("{name: a, interfaces: 7}", 2, "interfaces must be a list"),
        ("{name: a, rack: [1]}", 2, "rack must be a text"),
    ],
)
def test_what_is_wrong_with_a_device_is_told_with_its_line(device: str, line: int, words: str) -> None:
    message = wrong(HEAD + f"devices: [{device}]\ncables:\n" + CABLE)
    assert message.startswith(f"t.yaml:{line}: ") and words in message
