"""The table of firmware options: its columns, marks, enumerations and what it leaves out."""

import pytest

from auditor.dialects import mlxconfig

THREE = "Configurations:                    Default         Current         Next Boot\n"
ONE = "Configurations:                    Next Boot\n"


def values(text):
    return {name: tuple(cells.values()) for name, cells in mlxconfig.options(text).values.items()}


def test_every_column_is_read_by_its_header():
    options = mlxconfig.options(f"Device:             0000:5e:00.0\n\n{THREE}   SRIOV_EN     False(0)   True(1)   True(1)\n")
    assert options.device == "0000:5e:00.0"
    assert options.values == {"SRIOV_EN": {"Default": "False", "Current": "True", "Next Boot": "True"}}


def test_one_column_is_the_next_boot():
    assert mlxconfig.options(ONE + "   NUM_OF_VFS    16\n").values == {"NUM_OF_VFS": {"Next Boot": "16"}}


@pytest.mark.parametrize("mark", ["*  ", " RO", "*RO", "*", ""])
def test_marks_are_no_names(mark):
    assert values(f"{THREE}{mark}     NUM_OF_VFS     0   8   16   \n") == {"NUM_OF_VFS": ("0", "8", "16")}


@pytest.mark.parametrize(
    "cell,value",
    [("True(1)", "True"), ("_256KB(1)", "_256KB"), ("0", "0"), ("N/A", None), ("0x1f", "0x1f"), ("(3)", "(3)"), ("A(b)", "A(b)")],
)
def test_an_enumeration_loses_its_number_and_nothing_else_does(cell, value):
    assert values(f"{ONE}  X   {cell}\n") == {"X": (value,)}


def test_names_may_be_elements_of_arrays_and_whole_arrays_are_not_printed():
    options = mlxconfig.options(ONE + "  SPLIT[3]   1\n  SPLIT   Array[0..7]\n")
    assert list(options.values) == ["SPLIT[3]"]
    assert options.arrays == ("SPLIT",)


def test_notes_of_the_tool_are_no_rows_and_everything_else_is_said():
    text = (
        f"{THREE} A  1  1  1\n ...\n B  1  1\n\nThe '*' shows parameters with next value different from default/current value.\n"
        "\nThe 'RO' shows parameters which are for read only and cannot be changed\n"
    )
    options = mlxconfig.options(text)
    assert list(options.values) == ["A"]
    assert options.unread == (" ...", " B  1  1")


@pytest.mark.parametrize("text", ["", "Configurations: New\n", ONE + ONE, "  SRIOV_EN  True(1)\n"])
def test_without_exactly_one_table_there_is_nothing_to_read(text):
    with pytest.raises(ValueError, match="tables of options"):
        mlxconfig.options(text)
