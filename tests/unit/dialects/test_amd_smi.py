import pytest

from auditor.dialects import amd_smi

HEAD = " " * 13 + "0000:05:00.0 0000:26:00.0\n"


def test_firmware_by_gpu_without_what_has_no_version():
    text = """GPU: 0
    FW_LIST:
        FW 0:
            FW_ID: PM
            FW_VERSION: 04.86
GPU: 1
    FW_LIST:
        FW 0:
            FW_ID: PM
"""
    assert amd_smi.firmware(text) == {0: {"PM": "04.86"}, 1: {}}


def test_tables_by_name_each_with_its_own_addresses():
    links = f"LINK TYPE TABLE:\n{HEAD}0000:05:00.0 SELF         XGMI\n0000:26:00.0 XGMI         SELF\n"
    found = amd_smi.topology(f"{links}HOPS TABLE:\n{HEAD}0000:05:00.0 0            1\n")
    assert found["LINK TYPE"]["0000:26:00.0"] == {"0000:05:00.0": "XGMI", "0000:26:00.0": "SELF"}
    assert found["HOPS"] == {"0000:05:00.0": {"0000:05:00.0": "0", "0000:26:00.0": "1"}}


def test_a_row_with_cells_missing_is_refused():
    with pytest.raises(ValueError, match="1 cells under 2 addresses"):
        amd_smi.topology(f"LINK TYPE TABLE:\n{HEAD}0000:05:00.0 SELF\n")
