"""Named faults that can be put into a designed fabric before its captures are written.

Each is one thing that a person did wrong in one place: of a switch port, of a whole switch, of an adapter or a host, or of the
layers in which a setting lives. Its docstring says what is wrong; `auditor lab generate --help` prints the names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from types import MappingProxyType

from auditor.errors import SetupError
from auditor.lab.fabric import (
    CNP_DSCP,
    OLD_NIC_FIRMWARE,
    ROCE_DSCP,
    ROCE_PRIORITY,
    End,
    Fabric,
    Host,
    HostNic,
    Switch,
    SwitchPort,
)

Fault = Callable[[Fabric, str, str], None]
"""(fabric, device, port or an empty text) -> None; changes the fabric. Raises SetupError for what is not there."""


def inject(fabric: Fabric, fault: str, device: str, port: str = "") -> None:
    """Put one fault of `FAULTS` into the fabric; raises SetupError for an unknown fault, device or port."""
    try:
        change = FAULTS[fault]
    except KeyError:
        raise SetupError(f"no fault {fault!r}; there are: {', '.join(FAULTS)}") from None
    change(fabric, device, port)


def parse(text: str) -> tuple[str, str, str]:
    """`KIND:DEVICE` or `KIND:DEVICE:PORT` as fault, device, port; raises SetupError."""
    kind, _, place = text.partition(":")
    device, _, port = place.partition(":")
    if not kind or not device:
        raise SetupError(f"--fault {text!r}: wanted KIND:DEVICE or KIND:DEVICE:PORT")
    return kind, device, port


def _mtu(fabric: Fabric, device: str, port: str) -> None:
    """A switch port left at the Ethernet default."""
    _port(fabric, device, port).mtu = 1500


def _dscp_class(fabric: Fabric, device: str, _: str) -> None:
    """The RoCE code point leads to the default class in this switch's map."""
    _switch(fabric, device).dscp_to_tc[ROCE_DSCP] = 0


def _cnp_class(fabric: Fabric, device: str, _: str) -> None:
    """Congestion notifications share the class that they should slow down."""
    _switch(fabric, device).dscp_to_tc[CNP_DSCP] = ROCE_PRIORITY


def _class_to_group(fabric: Fabric, device: str, _: str) -> None:
    """The RoCE class leads to the lossy priority group in this switch's map."""
    _switch(fabric, device).to_group[ROCE_PRIORITY] = 0


def _class_to_queue(fabric: Fabric, device: str, _: str) -> None:
    """The RoCE class leads to the default queue in this switch's map."""
    _switch(fabric, device).to_queue[ROCE_PRIORITY] = 0


def _pause_to_queue(fabric: Fabric, device: str, _: str) -> None:
    """A pause for the RoCE priority stops another queue."""
    _switch(fabric, device).pause_to_queue[ROCE_PRIORITY] = 4


def _buffer_model(fabric: Fabric, device: str, _: str) -> None:
    """The switch computes its buffers by the dynamic model."""
    _switch(fabric, device).buffer_model = "dynamic"


def _ecn_thresholds(fabric: Fabric, device: str, _: str) -> None:
    """The marking thresholds are 1,024 times too high, far above the level at which ports pause."""
    ecn = _switch(fabric, device).ecn
    ecn.minimum, ecn.maximum = ecn.minimum << 10, ecn.maximum << 10


def _no_dscp_map(fabric: Fabric, device: str, port: str) -> None:
    """A switch port trusts nothing that its map could read: no DSCP map is bound to it."""
    _port(fabric, device, port).dscp_map = ""


def _lossy_group(fabric: Fabric, device: str, port: str) -> None:
    """The RoCE priority group of a port has no lossless profile."""
    _port(fabric, device, port).lossless = False


def _no_headroom(fabric: Fabric, device: str, port: str) -> None:
    """The profile of a port was made for a cable of 0 m and reserves nothing."""
    _port(fabric, device, port).profile_m = 0


def _small_headroom(fabric: Fabric, device: str, port: str) -> None:
    """A profile made by hand, with less headroom than two frames of RoCE."""
    _port(fabric, device, port).headroom = 4096


def _other_cable(fabric: Fabric, device: str, port: str) -> None:
    """The profile of a port was made for a shorter cable."""
    _port(fabric, device, port).profile_m = 1


def _pfc_priorities(fabric: Fabric, device: str, port: str) -> None:
    """A port pauses another priority too."""
    _end(fabric, device, port).pfc = (ROCE_PRIORITY, ROCE_PRIORITY + 1)


def _no_pfc(fabric: Fabric, device: str, port: str) -> None:
    """A port or adapter pauses no priority."""
    _end(fabric, device, port).pfc = ()


def _no_watchdog(fabric: Fabric, device: str, port: str) -> None:
    """No PFC watchdog on a port."""
    _port(fabric, device, port).watchdog = False


def _watchdog_queue(fabric: Fabric, device: str, port: str) -> None:
    """The PFC watchdog of a port watches another queue."""
    _port(fabric, device, port).watched = (ROCE_PRIORITY + 1,)


def _storm(fabric: Fabric, device: str, port: str) -> None:
    """The PFC watchdog of a port drops, because of a storm."""
    _port(fabric, device, port).stormed = True


def _no_ecn(fabric: Fabric, device: str, port: str) -> None:
    """The RoCE queue of a port marks nothing: no WRED profile is bound to it."""
    _port(fabric, device, port).ecn = False


def _unapplied(fabric: Fabric, device: str, port: str) -> None:
    """CONFIG_DB gives a port its lossless group, APPL_DB has not got it."""
    switch = _switch(fabric, device)
    switch.applied = deepcopy(switch)
    _port(fabric, device, port)
    switch.applied.ports[port].lossless = False


def _unsaved(fabric: Fabric, device: str, port: str) -> None:
    """PFC of a port was enabled and never saved: the next reload is without it."""
    switch = _switch(fabric, device)
    switch.saved = deepcopy(switch)
    _port(fabric, device, port)
    switch.saved.ports[port].pfc = ()


def _no_saved_file(fabric: Fabric, device: str, _: str) -> None:
    """The file that the next reload would load is gone."""
    _switch(fabric, device).file = False


def _nic_firmware(fabric: Fabric, device: str, port: str) -> None:
    """All adapters of a host (or one, by its netdev) run last year's firmware."""
    for nic in _nics(fabric, device, port):
        nic.firmware = OLD_NIC_FIRMWARE


def _trust(fabric: Fabric, device: str, port: str) -> None:
    """An adapter classifies by VLAN priority."""
    _nic(fabric, device, port).trust = "pcp"


def _nic_class(fabric: Fabric, device: str, port: str) -> None:
    """An adapter puts the RoCE code point into the default priority."""
    _nic(fabric, device, port).moved[ROCE_DSCP] = 0


def _pause(fabric: Fabric, device: str, port: str) -> None:
    """An adapter has 802.3x pause on, which stops all priorities."""
    _nic(fabric, device, port).pause = True


def _nic_ecn(fabric: Fabric, device: str, port: str) -> None:
    """An adapter has congestion control off for the RoCE priority."""
    nic = _nic(fabric, device, port)
    nic.slows = tuple(priority for priority in nic.slows if priority != ROCE_PRIORITY)


def _cnp_dscp(fabric: Fabric, device: str, port: str) -> None:
    """An adapter sends congestion notifications with the code point of its traffic."""
    _nic(fabric, device, port).cnp_dscp = ROCE_DSCP


def _nccl_class(fabric: Fabric, device: str, _: str) -> None:
    """The DSCP stands where the collective library wants the traffic class."""
    _host(fabric, device).nccl["NCCL_IB_TC"] = str(ROCE_DSCP)


def _nccl_unset(fabric: Fabric, device: str, _: str) -> None:
    """The collective library of a host is told no traffic class."""
    del _host(fabric, device).nccl["NCCL_IB_TC"]


def _next_boot(fabric: Fabric, device: str, port: str) -> None:
    """With the next start all adapters of a host (or one) become InfiniBand."""
    for nic in _nics(fabric, device, port):
        nic.next_boot["LINK_TYPE_P1"] = "IB(1)"


def _second_owner(fabric: Fabric, device: str, _: str) -> None:
    """Another agent of the host sets PFC: lldpad is enabled."""
    _host(fabric, device).services += ("lldpad.service",)


def _swapped(fabric: Fabric, device: str, port: str) -> None:
    """The cable in this port and the one in the device's next planned port are exchanged at the far ends."""
    ends = [end for end in fabric.wiring if end.device == device]
    if End(device, port) not in ends or len(ends) < 2:
        raise SetupError(f"no two cables to swap at {device}:{port}")
    one = End(device, port)
    other = ends[(ends.index(one) + 1) % len(ends)]
    far_one, far_other = fabric.wiring[one], fabric.wiring[other]
    fabric.wiring.update({one: far_other, far_other: one, other: far_one, far_one: other})


SWITCH_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "dscp_class": _dscp_class,
        "cnp_class": _cnp_class,
        "class_to_group": _class_to_group,
        "class_to_queue": _class_to_queue,
        "pause_to_queue": _pause_to_queue,
        "buffer_model": _buffer_model,
        "ecn_thresholds": _ecn_thresholds,
        "no_saved_file": _no_saved_file,
    }
)
"""Faults of a whole switch."""

PORT_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "mtu": _mtu,
        "no_dscp_map": _no_dscp_map,
        "lossy_group": _lossy_group,
        "no_headroom": _no_headroom,
        "small_headroom": _small_headroom,
        "other_cable": _other_cable,
        "pfc_priorities": _pfc_priorities,
        "no_pfc": _no_pfc,
        "no_watchdog": _no_watchdog,
        "watchdog_queue": _watchdog_queue,
        "storm": _storm,
        "no_ecn": _no_ecn,
        "unapplied": _unapplied,
        "unsaved": _unsaved,
    }
)
"""Faults of a switch port; `pfc_priorities` and `no_pfc` of an adapter too."""

NIC_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "trust": _trust,
        "nic_class": _nic_class,
        "nic_ecn": _nic_ecn,
        "cnp_dscp": _cnp_dscp,
        "pause": _pause,
        "swapped_cables": _swapped,
    }
)
"""Faults of one adapter; `swapped_cables` of any port."""

HOST_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "nic_firmware": _nic_firmware,
        "next_boot": _next_boot,
        "nccl_class": _nccl_class,
        "nccl_unset": _nccl_unset,
        "second_owner": _second_owner,
    }
)
"""Faults of a whole host; `nic_firmware` and `next_boot` of one adapter where it is named."""

FAULTS: Mapping[str, Fault] = MappingProxyType({**SWITCH_FAULTS, **PORT_FAULTS, **NIC_FAULTS, **HOST_FAULTS})


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


def _nics(fabric: Fabric, device: str, port: str) -> list[HostNic]:
    return [_nic(fabric, device, port)] if port else list(_host(fabric, device).nics.values())


def _end(fabric: Fabric, device: str, port: str) -> SwitchPort | HostNic:
    return _nic(fabric, device, port) if device in fabric.hosts else _port(fabric, device, port)
