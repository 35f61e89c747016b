"""`devlink`, `mstflint`, `mlxfwmanager` and `mlxlink`: what their texts say, and texts that say too little or too much."""

import pytest

from auditor.dialects import devlink, mlxfwmanager, mlxlink, mstflint

DEVLINK = """pci/0000:1a:00.0:
  driver mlx5_core
  versions:
      fixed:
        fw.psid MT_0000000838
      running:
        fw.version 28.41.1000
      stored:
        fw.version 28.43.1014
auxiliary/mlx5_core.eth.0:
  driver mlx5_core.eth
"""


def test_devlink_keeps_running_and_stored_apart():
    first, second = devlink.devices(DEVLINK)
    assert (first.handle, first.fields) == ("pci/0000:1a:00.0", {"driver": "mlx5_core"})
    assert first.running == {"fw.version": "28.41.1000"}
    assert first.stored == {"fw.version": "28.43.1014"}
    assert (second.handle, second.running, second.stored) == ("auxiliary/mlx5_core.eth.0", {}, {})


@pytest.mark.parametrize("text", ["", "devlink: nonsense\n", "  driver mlx5_core\n", "Failed to connect to devlink Netlink\n"])
def test_devlink_text_without_a_device_has_none(text):
    assert devlink.devices(text) == []


FLINT = "Image type:            FS4\nFW Version:            28.43.1014\n{running}PSID:                  MT_0000000838\n"


def test_flint_prints_the_running_version_only_while_it_is_another():
    both = mstflint.firmware(FLINT.format(running="FW Version(Running):   28.41.1000\n"))
    one = mstflint.firmware(FLINT.format(running=""))
    assert (both.stored, both.running) == ("28.43.1014", "28.41.1000")
    assert (one.stored, one.running, one.psid) == ("28.43.1014", "28.43.1014", "MT_0000000838")


def test_flint_of_an_adapter_that_tells_only_what_runs():
    found = mstflint.firmware("FW Version(Running):   2.36.5000\nPSID:   MT_1080120023\n")
    assert (found.stored, found.running) == (None, "2.36.5000")


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "no version"), (FLINT.format(running="FW Version:            28.39.1002\n"), "twice"), ("FW Version:\n", "no version")],
)
def test_flint_refuses_what_it_cannot_tell_apart(text, words):
    with pytest.raises(ValueError, match=words):
        mstflint.firmware(text)


MANAGER = """Device #1:
----------

  Part Number:      MCX75310AAS-NEA_Ax
  PSID:             MT_0000000838
  PCI Device Name:  0000:1a:00.0
  Versions:         Current        Available
     FW             28.43.1014     N/A
     FW (Running)   28.41.1000     N/A
     UEFI Virtio blk   22.4.0010      N/A
"""


def test_the_manager_calls_the_image_current_and_names_what_runs():
    (device,) = mlxfwmanager.devices(MANAGER)
    assert (device.name, device.part_number, device.psid) == ("0000:1a:00.0", "MCX75310AAS-NEA_Ax", "MT_0000000838")
    assert (device.stored, device.running) == ("28.43.1014", "28.41.1000")


def test_devices_of_the_manager_do_not_leak_into_each_other():
    second = MANAGER.replace("#1", "#2").replace("1a:", "3b:").replace("  PSID:             MT_0000000838\n", "")
    one, other = mlxfwmanager.devices(MANAGER + "\n" + second)
    assert (one.psid, other.psid) == ("MT_0000000838", None)


def test_the_managers_xml_and_text_say_the_same():
    xml = (
        '<Devices><Device pciName="0000:1a:00.0" psid="MT_0000000838" partNumber="MCX75310AAS-NEA_Ax"><Versions>'
        '<FW current="28.43.1014" available="N/A"/><FW_Running current="28.41.1000"/></Versions></Device></Devices>'
    )
    assert mlxfwmanager.xml_devices(xml) == mlxfwmanager.devices(MANAGER)


@pytest.mark.parametrize("text", ["<Devices><Device", "<Other/>", "no xml", "", "<Devices>" * 200 + "</Devices>" * 200])
def test_xml_of_something_else_is_refused(text):
    with pytest.raises(ValueError, match=r"cut off|no list of devices|not XML|is empty|nested deeper"):
        mlxfwmanager.xml_devices(text)


@pytest.mark.parametrize(
    ("said", "rate"),
    [
        ({"State": "Active", "Speed": "IB-NDR", "Width": "4x"}, 400_000_000_000),
        ({"State": "Active", "Speed": "IB-HDR", "Width": "2x"}, 100_000_000_000),
        ({"State": "Active", "Speed": "100G", "Width": "4x"}, 100_000_000_000),
        ({"State": "Active", "Speed": "NVLink-XDR", "Width": "2x"}, None),
        ({"State": "Polling", "Speed": "N/A", "Width": "N/A"}, None),
        ({"State": "Disable", "Speed": "100G", "Width": "4x"}, None),
        ({}, None),
    ],
)
def test_rate_of_a_link(said, rate):
    assert mlxlink.rate(said) == rate


def test_a_speed_that_is_none_is_refused():
    with pytest.raises(ValueError, match="no InfiniBand"):
        mlxlink.rate({"State": "Active", "Speed": "IB-QQQ", "Width": "4x"})


def test_sections_of_a_link_keep_labels_apart():
    text = "\nOperational Info\n----------------\nState     : Active \n\nModule Info\n-----------\nState     : N/A\nRev  "
    assert mlxlink.sections(text) == {"Operational Info": {"State": "Active"}, "Module Info": {"State": "N/A"}}
