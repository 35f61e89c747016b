from __future__ import annotations

from dataclasses import replace

import pytest

from auditor.collect.guard import allowed, commands_for, sent_text, transport_for, wanted_sources
from auditor.errors import PlatformError
from auditor.model import Device, Parser, Platform, Source, Transport
from auditor.platforms import platforms as registered


def test_a_declared_command_is_given_as_it_stands(platform: Platform) -> None:
    assert commands_for(platform, platform.source("version")) == "show version"
    assert commands_for(platform, platform.source("saved")) == "cat '/etc/demo config'"


def test_a_parameter_is_filled_in(platform: Platform) -> None:
    assert commands_for(platform, platform.source("mtu"), {"port": "Ethernet1/2.3"}) == "show mtu -i Ethernet1/2.3"


@pytest.mark.parametrize(
    "value",
    ["", "-rf", "a b", "a;reboot", "$(x)", "`x`", "a\nb", "a|b", "a'b", 'a"b', "a\x00", "..", "/etc", "é", "a" * 300, "a>b"],
)
def test_a_parameter_that_is_no_plain_name_is_never_sent(platform: Platform, value: str) -> None:
    with pytest.raises(PlatformError, match="no name that may be sent"):
        commands_for(platform, platform.source("mtu"), {"port": value})


@pytest.mark.parametrize("parameters", [{}, {"other": "x"}, {"port": "a", "more": "b"}])
def test_exactly_the_declared_parameters_are_needed(platform: Platform, parameters: dict[str, str]) -> None:
    with pytest.raises(PlatformError, match="exactly the parameters"):
        commands_for(platform, platform.source("mtu"), parameters)


def test_an_undeclared_source_is_never_sent(platform: Platform) -> None:
    other = replace(platform.source("version"), command="reload")
    with pytest.raises(PlatformError, match="declares no source"):
        commands_for(platform, other)


@pytest.mark.parametrize(
    "command",
    [
        "a; b",
        "a | b",
        "a && b",
        "a > f",
        "a < f",
        "a $x",
        "a `b`",
        "a\nb",
        "a *",
        "a ~",
        "a \\b",
        'a "b"',
        "a 'b",
        "a#b",
        "(a)",
        " a",
    ],
)
def test_shell_operators_in_a_platform_file_are_refused(platform: Platform, command: str) -> None:
    source = replace(platform.source("version"), command=command)
    with pytest.raises(PlatformError):
        commands_for(replace(platform, sources=(source,)), source)


@pytest.mark.parametrize("command", ["sudo show x", "sh -c x", "bash x", "env a"])
def test_a_command_that_runs_another_is_refused(platform: Platform, command: str) -> None:
    source = replace(platform.source("version"), command=command)
    with pytest.raises(PlatformError, match="runs another"):
        commands_for(replace(platform, sources=(source,)), source)


def test_privilege_is_added_by_the_transport(platform: Platform) -> None:
    assert sent_text(platform.source("peers"), "lldpctl -f json") == "sudo -n lldpctl -f json"
    assert sent_text(platform.source("version"), "show version") == "show version"


def keys(platform: Platform, *reads: str) -> list[str]:
    return [source.key for source in wanted_sources(platform, reads or None)]


def test_without_reads_all_but_the_fallbacks_are_wanted(platform: Platform) -> None:
    assert keys(platform) == ["version", "links", "mtu", "detail", "peers", "saved"]


def test_only_sources_of_the_read_columns_are_wanted(platform: Platform) -> None:
    assert keys(platform, "system.os_version") == ["version"]
    assert keys(platform, "system.serial") == []
    assert keys(platform, "neighbour.system", "system.os_version") == ["version", "peers"]
    assert keys(platform, "neighbour") == ["peers"]


def test_sources_that_name_parameters_come_along(platform: Platform) -> None:
    assert keys(platform, "interface.fec") == ["links", "detail"]


def test_a_layer_narrows_what_is_wanted(platform: Platform) -> None:
    assert keys(platform, "interface.mtu@saved") == ["saved"]
    assert keys(platform, "interface.mtu@applied") == ["links", "mtu"]


def test_every_command_of_every_registered_platform_passes_the_guard() -> None:
    for platform in registered().values():
        for source in platform.sources:
            sample = {} if source.parameter is None else {source.parameter.name: "eth0"}
            if source.sent:
                assert commands_for(platform, source, sample)
            else:
                with pytest.raises(PlatformError, match="captures only"):
                    commands_for(platform, source, sample)


def test_what_is_read_from_captures_only_is_neither_listed_nor_made_a_command(platform: Platform) -> None:
    source = replace(platform.sources[0], sent=False)
    silent = replace(platform, sources=(source, *platform.sources[1:]))
    assert len(allowed(Device("a", ("demo",)), {"demo": silent})) == len(platform.sources) - 1
    with pytest.raises(PlatformError, match="captures only"):
        commands_for(silent, source)


def test_allowed_lists_what_a_device_may_be_sent(platform: Platform) -> None:
    listed = [text for _, _, text in allowed(Device("a", ("demo",)), {"demo": platform})]
    assert "sudo -n lldpctl -f json" in listed
    assert "show mtu -i {port}" in listed
    assert len(listed) == len(platform.sources)


def test_what_is_sent_depends_on_the_way_that_the_inventory_asks_for() -> None:
    over_ssh, over_https = Transport.EXEC, Transport.HTTPS
    both = Source("a", "nv show a", (), Parser.JSON, lambda _data, _parameters: (), rest="/nvue_v1/a")
    alone = Source("b", "cat /b", (), Parser.JSON, lambda _data, _parameters: ())
    platform = Platform("p", "t", (both, alone), transport=over_ssh, also=(over_https,))
    device = Device("leaf", ("p",))
    assert [text for _, _, text in allowed(device, {"p": platform})] == ["nv show a", "cat /b"]
    assert [text for _, _, text in allowed(device, {"p": platform}, over_https)] == ["GET /nvue_v1/a"]


def test_a_way_that_a_platform_does_not_have_is_not_for_it() -> None:
    shell = Platform("p", "t", (), transport=Transport.EXEC)
    bmc = Platform("b", "t", (), transport=Transport.HTTPS)
    assert transport_for(shell, Transport.NAPALM) is Transport.EXEC
    assert transport_for(shell, Transport.SHELL) is Transport.SHELL
    assert transport_for(bmc, Transport.SHELL) is Transport.HTTPS
    assert transport_for(bmc, None) is Transport.HTTPS
