"""Commands beside findings: of the right platform, with the port filled in, and nothing that could be more than it seems."""

import re

import pytest

from auditor.address import Address
from auditor.checks import rules
from auditor.evaluate.remedies import table, tell
from auditor.facts import TABLES, schema
from auditor.model import Finding, Severity, Spot
from auditor.platforms import platforms


def finding(cell: str, expected: str = "9100 bytes", rule: str = "mtu.compute", device: str = "leaf-01") -> Finding:
    return Finding(
        "f", rule, "o", Severity.ERROR, (device,), cell, expected, "1500", "m", spots=(Spot(device, Address.parse(cell)),)
    )


def lines(item: Finding, *names: str) -> list[str]:
    (told,) = tell([item], {"leaf-01": names})
    return [line for remedy in told.commands for line in remedy.lines]


def test_the_port_and_the_wanted_number_stand_in_the_command() -> None:
    assert lines(finding("interface[Ethernet4].mtu", ">= 9100 bytes"), "sonic")[0] == "sudo config interface mtu Ethernet4 9100"
    assert lines(finding("interface[ens1f0np0].mtu", "4200"), "linux") == ["ip link set dev ens1f0np0 mtu 4200"]


def test_where_no_one_number_is_wanted_a_word_stands_for_it() -> None:
    assert lines(finding("interface[Ethernet4].mtu", "the same IP MTU on both ends"), "sonic")[0].endswith("Ethernet4 MTU")
    assert lines(finding("interface[Ethernet4].mtu", "any of 4200, 9000"), "linux")[0].endswith("mtu MTU")


def test_a_rule_goes_before_the_column_and_an_unknown_platform_has_none() -> None:
    pause = finding("host_qos[ens1].pause_rx", "off", "lossless.global_pause_on")
    assert lines(pause, "linux") == ["ethtool -A ens1 rx off tx off"]
    assert lines(finding("interface[Ethernet4].mtu"), "hp_comware") == []
    assert lines(finding("neighbour[Ethernet4,x].system"), "sonic") == []


@pytest.mark.parametrize("port", ["eth0; reboot", "$(reboot)", "eth0\nreboot", "--help", "a|b"])
def test_a_name_that_is_no_plain_name_never_stands_in_a_command(port: str) -> None:
    item = Finding(
        "f",
        "mtu.x",
        "o",
        Severity.ERROR,
        ("leaf-01",),
        "a",
        "9100",
        "1500",
        "m",
        spots=(Spot("leaf-01", Address("interface", (port,), "mtu")),),
    )
    (line,) = lines(item, "linux")
    assert line == "ip link set dev PORT mtu 9100"


def test_every_entry_names_what_exists_and_where_it_comes_from() -> None:
    for line in table():
        assert line.platform in platforms()
        assert len(line.source) > 6
        if line.at.startswith("rule "):
            assert line.at.removeprefix("rule ") in rules()
        else:
            name, _, column = line.at.partition(".")
            assert column in schema(TABLES[name]).columns
        assert all(set(re.findall(r"\{\w+\}", text)) <= {"{port}", "{key}", "{wanted}"} for text in line.type)
