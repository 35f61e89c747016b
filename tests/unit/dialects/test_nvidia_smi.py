import pytest

from auditor.dialects import nvidia_smi

HEAD = '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n<nvidia_smi_log>'


def document(*gpus, attached=1):
    counted = f"<driver_version>550.54.15</driver_version><attached_gpus>{attached}</attached_gpus>"
    return f"{HEAD}{counted}{''.join(gpus)}</nvidia_smi_log>"


def test_a_gpu_of_the_xml_log_with_its_nested_values():
    found = nvidia_smi.xml(
        document(
            '<gpu id="00000000:9B:00.0"><product_name>M</product_name><pci><pci_gpu_link_info><pcie_gen><current_link_gen>4'
            "</current_link_gen></pcie_gen></pci_gpu_link_info></pci><fabric><state>Completed</state><status>Success</status>"
            "</fabric></gpu>"
        )
    )
    assert (found.driver, found.attached, found.whole) == ("550.54.15", 1, True)
    (gpu,) = found.devices
    assert gpu.pci == "00000000:9B:00.0"
    assert gpu.values == {"product": "M", "link_generation": "4", "fabric_state": "Completed", "fabric_status": "Success"}


def test_fewer_gpus_than_announced_are_not_whole():
    assert not nvidia_smi.xml(document('<gpu id="00000000:9B:00.0"/>', attached=2)).whole


def test_another_document_is_refused():
    with pytest.raises(ValueError, match="'topology', not of nvidia-smi"):
        nvidia_smi.xml("<topology/>")


@pytest.mark.parametrize(
    "text",
    [document('<gpu id="0')[:120], HEAD, "", "NVIDIA-SMI has failed", "<a>" * 10_000, HEAD + f'<gpu id="{"x" * 100_000}"/>'],
)
def test_what_is_no_whole_document_is_one_error(text):
    with pytest.raises(ValueError, match=r"line|longer"):
        nvidia_smi.xml(text)


LOG = """Driver Version                            : 550.54.15
Attached GPUs                             : 2
GPU 00000000:1A:00.0
    Product Name                          : M
    MIG Mode
        Current                           : Disabled
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 3
            Link Width
                Current                   : 8x
    Fabric
        State                             : Completed
        Status                            : Insufficient Resources
        CliqueId                          : 0
    Processes                             : None
GPU 00000000:2B:00.0
    Product Name                          : M
    Fabric
        State                             : N/A
"""


def test_a_value_of_the_text_log_is_known_by_the_labels_above_it():
    first, second = nvidia_smi.log(LOG).devices
    assert first.values == {
        "product": "M", "link_generation": "3", "fabric_state": "Completed", "fabric_status": "Insufficient Resources",
    }  # fmt: skip
    assert second.values == {"product": "M", "fabric_state": "N/A"}


def test_a_gpu_whose_last_lines_are_missing_is_not_whole():
    found = nvidia_smi.log(LOG)
    assert [device.whole for device in found.devices] == [True, False]
    assert not found.whole
    assert nvidia_smi.log(LOG + "    Processes                             : None\n").whole


def test_names_of_programs_cannot_pass_for_values():
    found = nvidia_smi.log(LOG + "    Processes\n        Process ID : 7\n            Name : Fabric : State : Completed\n")
    assert found.devices[1].values == {"product": "M", "fabric_state": "N/A"}


def test_the_table_gives_numbers_and_addresses_and_no_name_that_it_cuts():
    driver, listed = nvidia_smi.table(
        "| NVIDIA-SMI 550.54.15   Driver Version: 550.54.14   CUDA Version: 12.4 |\n"
        "|   0  NVIDIA RTX 6000 Ada Gene...    Off |   00000000:41:00.0 Off |                  Off |\n"
        "|  11  Tesla V100-SXM3-32GB           On  | 00000001:B7:00.0 Off |                    0 |\n"
    )
    assert driver == "550.54.14"
    assert [(gpu.index, gpu.product, gpu.pci) for gpu in listed] == [
        (0, None, "00000000:41:00.0"),
        (11, "Tesla V100-SXM3-32GB", "00000001:B7:00.0"),
    ]


@pytest.mark.parametrize(
    ("lines", "up", "silent", "strange"),
    [
        ("\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n\t Link 2: 25 GB/s\n", 2, False, None),
        ("NVML: Unable to retrieve NVLink information as all links are inActive\n", 0, True, None),
        ("", 0, False, None),
        ("\t Link 0: 26.562 GB/s\n\t Link 1: <recovering>\n", 1, False, "<recovering>"),
    ],
)
def test_links_of_one_gpu(lines, up, silent, strange):
    (links,) = nvidia_smi.nvlinks(f"GPU 3: M (UUID: GPU-1)\n{lines}")
    assert (links.index, links.product, links.uuid) == (3, "M", "GPU-1")
    assert (links.up, links.silent, links.strange) == (up, silent, strange)
