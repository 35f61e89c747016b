"""Named faults that can be put into a designed fabric before its captures are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from auditor.errors import SetupError
from auditor.lab.fabric import OLD_NIC_FIRMWARE, ROCE_DSCP, ROCE_PRIORITY, End, Fabric, Host, HostNic, Switch, SwitchPort

Fault = Callable[[Fabric, str, str], None]
"""(fabric, device, port or an empty text) -> None; changes the fabric. Raises SetupError for what is not there."""


def inject(fabric: Fabric, fault: str, device: str, port: str = "") -> None:
    """Put one fault of `FAULTS` into the fabric; raises SetupError for an unknown fault, device or port."""
    try:
        change = FAULTS[fault]
    except KeyError:
        raise SetupError(f"no fault {fault!r}; there are: {', '.join(FAULTS)}") from None
    change(fabric, device, port)


def _mtu(fabric: Fabric, device: str, port: str) -> None:
    """A switch port left at the Ethernet default."""
    _port(fabric, device, port).mtu = 1500


def _dscp_class(fabric: Fabric, device: str, _: str) -> None:
    """The RoCE code point leads to the default class in this switch's map."""
    _switch(fabric, device).dscp_to_tc[ROCE_DSCP] = 0


def _buffer_model(fabric: Fabric, device: str, _: str) -> None:
    """The switch computes its buffers by the dynamic model."""
    _switch(fabric, device).buffer_model = "dynamic"


def _nic_firmware(fabric: Fabric, device: str, port: str) -> None:
    """All adapters of a host (or one, by its netdev) run last year's firmware."""
    for nic in [_nic(fabric, device, port)] if port else _host(fabric, device).nics.values():
        nic.firmware = OLD_NIC_FIRMWARE


def _pfc_priorities(fabric: Fabric, device: str, port: str) -> None:
    """A port pauses another priority too."""
    end = _nic(fabric, device, port) if device in fabric.hosts else _port(fabric, device, port)
    end.pfc = (ROCE_PRIORITY, ROCE_PRIORITY + 1)


def _no_dscp_map(fabric: Fabric, device: str, port: str) -> None:
    """A switch port trusts nothing that its map could read: no DSCP map is bound to it."""
    _port(fabric, device, port).dscp_map = ""


def _trust(fabric: Fabric, device: str, port: str) -> None:
    """An adapter classifies by VLAN priority."""
    _nic(fabric, device, port).trust = "pcp"


def _no_watchdog(fabric: Fabric, device: str, port: str) -> None:
    """No PFC watchdog on a port."""
    _port(fabric, device, port).watchdog = False


def _swapped(fabric: Fabric, device: str, port: str) -> None:
    """The cable in this port and the one in the device's next planned port are exchanged at the far ends."""
    ends = [end for end in fabric.wiring if end.device == device]
    if End(device, port) not in ends or len(ends) < 2:
        raise SetupError(f"no two cables to swap at {device}:{port}")
    one = End(device, port)
    other = ends[(ends.index(one) + 1) % len(ends)]
    far_one, far_other = fabric.wiring[one], fabric.wiring[other]
    fabric.wiring.update({one: far_other, far_other: one, other: far_one, far_one: other})


FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "mtu": _mtu,
        "dscp_class": _dscp_class,
        "buffer_model": _buffer_model,
        "nic_firmware": _nic_firmware,
        "pfc_priorities": _pfc_priorities,
        "no_dscp_map": _no_dscp_map,
        "trust": _trust,
        "no_watchdog": _no_watchdog,
        "swapped_cables": _swapped,
    }
)


def _switch(fabric: Fabric, device: str) -> Switch:
    if device not in fabric.switches:
        raise SetupError(f"the fabric has no switch {device!r}")
    return fabric.switches[device]


def _port(fabric: Fabric, device: str, port: str) -> SwitchPort:
    ports = _switch(fabric, device).ports
    if port not in ports:
        raise SetupError(f"{device} has no port {port!r}")
    return ports[port]


def _host(fabric: Fabric, device: str) -> Host:
    if device not in fabric.hosts:
        raise SetupError(f"the fabric has no host {device!r}")
    return fabric.hosts[device]


def _nic(fabric: Fabric, device: str, port: str) -> HostNic:
    nics = _host(fabric, device).nics
    if port not in nics:
        raise SetupError(f"{device} has no adapter {port!r}")
    return nics[port]
