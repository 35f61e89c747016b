import pytest

from auditor.cabling.faceplate import Cage, faceplates, find_cage


@pytest.mark.parametrize(
    ("model", "port", "cage"),
    [
        ("ACS-MSN4700", "Ethernet0", Cage(1, "upper")),
        ("ACS-MSN4700", "Ethernet8", Cage(2, "lower")),
        ("Mellanox-SN4700-O8C48", "Ethernet20", Cage(3, "upper")),
        ("Mellanox-SN4700-O8C48", "etp32d", Cage(32, "lower")),
        ("SN4700", "swp5s1", Cage(5, "upper")),
        ("ACS-MSN2700", "Ethernet4", Cage(2, "lower")),
        ("Mellanox-SN5600-O128", "Ethernet12", Cage(2)),
    ],
)
def test_the_cage_follows_from_the_port_name(model, port, cage):
    assert find_cage(model, port) == cage


@pytest.mark.parametrize(
    ("model", "port"),
    [
        ("", "Ethernet0"),
        ("unheard-of-switch", "Ethernet0"),
        ("ACS-MSN4700", "Ethernet256"),
        ("ACS-MSN4700", "PortChannel1"),
        ("ACS-MSN4700", "swp0"),
        ("ACS-MSN4700", "Ethernet0.100"),
    ],
)
def test_nothing_is_said_of_what_is_not_proven(model, port):
    assert find_cage(model, port) is None


@pytest.mark.parametrize("plate", faceplates(), ids=lambda plate: plate.models[0])
def test_every_cage_of_a_faceplate_has_a_port_name(plate):
    spread = next(name for name in plate.ports if name.per_cage)
    found = {spread.cage(f"Ethernet{number * spread.per_cage}") for number in range(plate.cages)}
    assert found == set(range(1, plate.cages + 1))
    assert plate.rows in ("", "odd_over_even")
