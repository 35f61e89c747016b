"""Finds the place of a fault in a designed fabric; raises SetupError for what is not there."""

from __future__ import annotations

from collections.abc import Callable

from auditor.errors import SetupError
from auditor.lab.fabric import Fabric, Host, HostNic, Switch, SwitchPort

Fault = Callable[[Fabric, str, str], None]
"""(fabric, device, port or an empty text) -> None; changes the fabric. Raises SetupError for what is not there."""


def switch(fabric: Fabric, device: str) -> Switch:
    """The switch of this name."""
    if device not in fabric.switches:
        raise SetupError(f"the fabric has no switch {device!r}")
    return fabric.switches[device]


def port(fabric: Fabric, device: str, name: str) -> SwitchPort:
    """The port of a switch."""
    ports = switch(fabric, device).ports
    if name not in ports:
        raise SetupError(f"{device} has no port {name!r}")
    return ports[name]


def host(fabric: Fabric, device: str) -> Host:
    """The host of this name."""
    if device not in fabric.hosts:
        raise SetupError(f"the fabric has no host {device!r}")
    return fabric.hosts[device]


def nic(fabric: Fabric, device: str, name: str) -> HostNic:
    """The adapter of a host by its network device."""
    adapters = host(fabric, device).nics
    if name not in adapters:
        raise SetupError(f"{device} has no adapter {name!r}")
    return adapters[name]


def nics(fabric: Fabric, device: str, name: str) -> list[HostNic]:
    """One adapter of a host, or all where none is named."""
    return [nic(fabric, device, name)] if name else list(host(fabric, device).nics.values())


def end(fabric: Fabric, device: str, name: str) -> SwitchPort | HostNic:
    """A port of a switch or an adapter of a host."""
    return nic(fabric, device, name) if device in fabric.hosts else port(fabric, device, name)
