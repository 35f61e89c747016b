"""Evidence names the line that a person would look for."""

from collections.abc import Iterator, Mapping
from typing import Any

from auditor.address import Address, Layer
from auditor.evidence import Place, find
from auditor.facts import Interface, Row
from auditor.model import ABSENT, Evidence, Fill, Parser, Platform, Source, Spot, digest


def nothing(data: Any, parameters: Mapping[str, str]) -> Iterator[Row]:
    yield from ()


FILL = (Fill(Interface, Layer.APPLIED, ("mtu", "fec")),)
PLATFORM = Platform(
    "toy",
    "Toy",
    (
        Source("table", "show table", FILL, Parser.TEXT, nothing, anchor=(r"^ *Interface",), proof={"interface": r"^ *{0}\s"}),
        Source("tree", "show tree", FILL, Parser.JSON, nothing, proof={"interface.mtu": "/PORT/{0}/mtu"}),
        Source("list", "ip -j link", FILL, Parser.JSON, nothing, proof={"interface.mtu": "/[ifname={0}]/mtu"}),
    ),
)
TABLE = " Interface   MTU\n---------  ----\nEthernet1  9100\n Ethernet  1500\n"
TREE = """{
  "MGMT": {"Ethernet0": {"mtu": "1"}},
  "PORT": {
    "Ethernet0": {
      "alias": "etp1",
      "mtu": "9100"
    }
  }
}
"""


def evidence(source: str, body: str, port: str, value: object, column: str = "mtu") -> Evidence:
    spot = Spot("leaf", Address("interface", (port,), column))
    found = find(Place(spot, value, "toy", source, digest(body)), {"toy": PLATFORM}, {digest(body): body}.get)
    assert found is not None
    return found


def test_a_table_row_stands_under_its_header() -> None:
    found = evidence("table", TABLE, "Ethernet1", 9100)
    assert found.locator == "line 3"
    assert found.excerpt == " Interface   MTU\nEthernet1  9100"


def test_a_port_is_not_found_in_the_row_of_one_with_a_longer_name() -> None:
    assert evidence("table", TABLE, "Ethernet", 1500).locator == "line 4"


def test_absence_cites_the_whole_output_and_its_header() -> None:
    found = evidence("table", TABLE, "Ethernet9", ABSENT)
    assert found.locator == "whole output"
    assert "Interface" in found.excerpt
    assert "no mtu for Ethernet9" in found.excerpt


def test_a_json_value_is_found_at_its_pointer_not_at_the_first_key_of_that_name() -> None:
    found = evidence("tree", TREE, "Ethernet0", 9100)
    assert found.locator == "/PORT/Ethernet0/mtu"
    assert found.excerpt.strip() == '"mtu": "9100"'


def test_a_json_member_that_is_not_there_is_said() -> None:
    found = evidence("tree", TREE, "Ethernet4", ABSENT)
    assert found.locator == "/PORT"
    assert "no Ethernet4" in found.excerpt


def test_a_list_element_is_found_by_its_name() -> None:
    found = evidence("list", '[{"ifname":"lo","mtu":65536},{"ifname":"eth0","mtu":1500}]', "eth0", 1500)
    assert found.locator == "/1/mtu"
    assert '"mtu":1500' in found.excerpt


def test_a_body_that_is_gone_gives_no_evidence() -> None:
    spot = Spot("leaf", Address("interface", ("e",), "mtu"))
    assert find(Place(spot, 1, "toy", "table", "0" * 64), {"toy": PLATFORM}, {}.get) is None


def test_a_key_of_a_device_cannot_be_an_expression() -> None:
    assert evidence("table", TABLE, ".*", ABSENT).locator == "whole output"
    assert evidence("table", TABLE, "((((a+)+)+)+", 1).locator == "whole output"


def test_an_excerpt_is_short_whatever_the_line() -> None:
    body = " Interface MTU\nEthernet1 " + "x" * 100_000 + "\n"
    assert len(evidence("table", body, "Ethernet1", 1).excerpt) < 500
