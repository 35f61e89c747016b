"""Redfish: names of the machines, and the inventories of five vendors read by hand."""

import json
import os
from pathlib import Path

import pytest

from auditor.errors import NormaliseError
from auditor.platforms import redfish

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[4] / "shared")) / "captures" / "host"


def versions(document):
    rows = [row for row in redfish.firmware(document, {}) if hasattr(row, "version")]
    return {row.component: row.version for row in rows}


def test_names_of_systems_are_plain_and_come_once():
    body = json.dumps(
        {"Members": [{"@odata.id": f"/redfish/v1/Systems/{name}"} for name in ("DGX", "DGX", "../x", "a b", "HGX_0")]}
    )
    assert list(redfish.system_names(body)) == ["DGX", "HGX_0"]


def test_what_is_no_collection_is_refused():
    for document in ({}, [], {"Members": "x"}, {"Members": [1]}, {"Members": [{"@odata.id": "/redfish/v1/x"}]}):
        with pytest.raises(NormaliseError):
            list(redfish.firmware(document, {}))


needs_captures = pytest.mark.skipif(not SHARED.is_dir(), reason="the captures are not beside the checkout")


@needs_captures
@pytest.mark.parametrize(
    ("name", "wanted", "number"),
    [
        ("dgx-h100-ami-expanded", {"bmc": "23.11.21", "redfish.bios": "01.01.03", "nvswitch.3": "96.10.4A.00.01"}, 54),
        (
            "smc-hgx-h100-expanded",
            {"bmc": "11.01.01", "redfish.bios": "BIOS Date: 08/04/2023 Ver 1.4", "redfish.NIC8": "28.37.10.14"},
            None,
        ),
        ("dell-r750-idrac9-expanded", {"bmc": "6.00.30.00", "redfish.bios": "1.8.2", "cpld.CPLD.Embedded.1": "1.0.5"}, None),
        ("hpe-ilo5-expanded", {"bmc": "2.72 Sep 04 2022", "redfish.bios": "A42 v2.60 (08/11/2022)"}, None),
        ("gb200-nvswitch-tray-expanded", {"nvswitch.0": "35_2014_4652", "nvswitch.1": "35_2014_4652"}, 11),
    ],
)
def test_inventories_of_real_boards(name, wanted, number):
    found = versions(json.loads((SHARED / "redfish-firmwareinventory" / f"{name}.json").read_text()))
    assert wanted.items() <= found.items()
    assert number is None or len(found) == number
    assert not any("Not Present" in version or "Previous" in component for component, version in found.items())


@needs_captures
def test_links_alone_are_a_gap():
    with pytest.raises(NormaliseError, match="links alone"):
        list(
            redfish.firmware(
                json.loads((SHARED / "redfish-firmwareinventory" / "dgx-h100-collection-links-only.json").read_text()), {}
            )
        )


@needs_captures
@pytest.mark.parametrize("name", ["dell-r750", "dgx-h100", "hpe-ilo5", "smc-hgx-h100"])
def test_bios_attributes_stand_as_the_vendor_has_them(name):
    document = json.loads((SHARED / "redfish-bios" / f"{name}.json").read_text())
    rows = {row.name: row.value for row in redfish.bios(document, {})}
    assert rows.keys() == {key for key, value in document["Attributes"].items() if not isinstance(value, dict | list)}
    assert len(rows) > 5
    if name == "dell-r750":
        assert rows["BootMode"] == "Uefi"
        assert rows["AcPwrRcvryUserDelay"] == "120"
