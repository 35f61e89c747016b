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
        Source("keyed", "show keyed", FILL, Parser.JSON, nothing, proof={"neighbour": "/lldp/interface/{0}"}),
        Source("file", "cat /etc/tree.json", FILL, Parser.TEXT, nothing, proof={"interface.mtu": "/PORT/{0}/mtu"}),
        Source(
            "blocks",
            "show blocks",
            FILL,
            Parser.TEXT,
            nothing,
            anchor=(r"^device:",),
            proof={"rdma_port.active_mtu": r"^device: {0}$" "\n" r"^  port: {1}$" "\n" r"^    mtu:"},
        ),
        Source("one", "show one", FILL, Parser.TEXT, nothing, anchor=(r"^device:",), proof={"rdma_port": r"^device: {0}$"}),
        Source(
            "labels",
            "show labels",
            FILL,
            Parser.TEXT,
            nothing,
            anchor=(r"^driver: ",),
            proof={"firmware": r"^(?:firmware-)?version: "},
        ),
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
    return of(source, body, Address("interface", (port,), column), value)


def of(source: str, body: str, address: Address, value: object) -> Evidence:
    spot = Spot("leaf", address)
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


BLOCKS = """device: rd0
  port: 1
    mtu: 1024
device: rd1
  port: 1
    mtu: 2048
  port: 2
    mtu: 4096
"""


def test_a_value_in_a_block_is_shown_under_the_line_that_names_its_object() -> None:
    found = of("blocks", BLOCKS, Address("rdma_port", ("rd1", "2"), "active_mtu"), 4096)
    assert found.locator == "lines 4, 8"
    assert found.excerpt == "device: rd1\n    mtu: 4096"


def test_neighbouring_lines_of_a_block_are_a_range() -> None:
    found = of("blocks", "device: rd1\n  port: 2\n    mtu: 4096\n", Address("rdma_port", ("rd1", "2"), "active_mtu"), 4096)
    assert found.locator == "lines 1, 3"
    assert of("labels", "driver: x\nversion: 7.1\nfirmware-version: 7.1\n", FIRMWARE, "7.1").locator == "lines 2-3"


FIRMWARE = Address("firmware", ("nic.0000:01:00.0",), "version")


def test_of_several_lines_that_one_is_shown_which_holds_the_value() -> None:
    found = of("labels", "driver: x\nversion: 24.10\nfirmware-version: 28.43.1014 (ABC_0000000001)\n", FIRMWARE, "28.43.1014")
    assert found.locator == "line 3"
    assert found.excerpt == "driver: x\nfirmware-version: 28.43.1014 (ABC_0000000001)"


def test_the_line_of_another_object_is_no_heading() -> None:
    found = of("one", BLOCKS, Address("rdma_port", ("rd1", "1"), "state"), "active")
    assert found.excerpt == "device: rd1"
    absent = of("one", "device: rd0\n", Address("rdma_port", ("rd1", "1"), "state"), ABSENT)
    assert absent.excerpt == "(no state for rd1,1 in 1 lines)"


def test_a_value_whose_key_is_written_otherwise_is_found_by_itself() -> None:
    body = "Component  Version\n---------  -------\nCPLD2      8.11\n"
    found = of("table", body, Address("firmware", ("cpld.2",), "version"), "8.11")
    assert found.locator == "line 3"


def test_a_value_is_never_called_missing() -> None:
    found = of("table", TABLE, Address("firmware", ("cpld.2",), "version"), "8.11")
    assert found.locator == "whole output"
    assert "no version" not in found.excerpt
    assert "read from 4 lines" in found.excerpt


LISTED = """{
  "lldp": {
    "interface": [
      {
        "eth2": {
          "via": "LLDP",
          "rid": "1",
          "port": {
            "id": {
              "value": "Ethernet8"
            }
          }
        }
      },
      {
        "eth20": {
          "via": "LLDP"
        }
      },
      {
        "eth2": {
          "via": "CDP",
          "rid": "3",
          "port": {
            "id": {
              "value": "Ethernet12"
            }
          }
        }
      }
    ]
  }
}
"""


def test_a_list_of_objects_with_one_member_is_searched_by_that_members_name() -> None:
    found = of("keyed", LISTED, Address("neighbour", ("eth20", "x"), "protocol"), "LLDP")
    assert found.locator == "/lldp/interface/1/eth20"
    assert found.excerpt.split() == ['"eth20":', "{", '"via":', '"LLDP"', "}"]


def test_of_two_entries_of_one_port_that_one_is_shown_which_holds_the_rest_of_the_key() -> None:
    found = of("keyed", LISTED, Address("neighbour", ("eth2", "Ethernet12"), "protocol"), "CDP")
    assert found.locator == "/lldp/interface/2/eth2"
    assert found.excerpt.split("\n")[1].strip() == '"via": "CDP",'


def test_a_long_entry_without_the_value_shows_what_else_names_it() -> None:
    found = of("keyed", LISTED, Address("neighbour", ("eth2", "Ethernet12"), "since_s"), 17.0)
    assert found.excerpt.split("\n")[1].strip() == '"value": "Ethernet12"'


def test_one_entry_is_an_object_and_json0_names_its_entries() -> None:
    one = '{"lldp": {"interface": {"eth2": {"via": "LLDP"}}}}'
    assert of("keyed", one, Address("neighbour", ("eth2", "x"), "protocol"), "LLDP").locator == "/lldp/interface/eth2"
    named = '{"lldp": {"interface": [{"name": "eth1", "via": "x"}, {"name": "eth2", "via": "LLDP"}]}}'
    assert of("keyed", named, Address("neighbour", ("eth2", "x"), "protocol"), "LLDP").locator == "/lldp/interface/1"


def test_a_member_that_is_in_no_element_of_a_list_is_said() -> None:
    found = of("keyed", LISTED, Address("neighbour", ("eth3", "x"), "protocol"), ABSENT)
    assert (found.locator, found.excerpt) == ("/lldp/interface", "(no eth3 in /lldp/interface)")


def test_json_that_is_read_as_text_is_proven_by_a_pointer() -> None:
    found = evidence("file", TREE, "Ethernet0", 9100)
    assert found.locator == "/PORT/Ethernet0/mtu"


def test_json_that_was_cut_is_no_accident() -> None:
    assert evidence("list", '[{"ifname":"lo"},{"ifname":"eth0","mtu":', "eth0", ABSENT).locator == "whole output"
