"""Faults of switches, of their ports, and of the layers in which a setting of theirs lives."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from types import MappingProxyType

from auditor.lab import places
from auditor.lab.fabric import CNP_DSCP, ROCE_DSCP, ROCE_PRIORITY, Fabric
from auditor.lab.places import Fault


def _mtu(fabric: Fabric, device: str, port: str) -> None:
    """A switch port left at the Ethernet default."""
    places.port(fabric, device, port).mtu = 1500


def _dscp_class(fabric: Fabric, device: str, _: str) -> None:
    """The RoCE code point leads to the default class in this switch's map."""
    places.switch(fabric, device).dscp_to_tc[ROCE_DSCP] = 0


def _cnp_class(fabric: Fabric, device: str, _: str) -> None:
    """Congestion notifications share the class that they should slow down."""
    places.switch(fabric, device).dscp_to_tc[CNP_DSCP] = ROCE_PRIORITY


def _class_to_group(fabric: Fabric, device: str, _: str) -> None:
    """The RoCE class leads to the lossy priority group in this switch's map."""
    places.switch(fabric, device).to_group[ROCE_PRIORITY] = 0


def _class_to_queue(fabric: Fabric, device: str, _: str) -> None:
    """The RoCE class leads to the default queue in this switch's map."""
    places.switch(fabric, device).to_queue[ROCE_PRIORITY] = 0


def _pause_to_queue(fabric: Fabric, device: str, _: str) -> None:
    """A pause for the RoCE priority stops another queue."""
    places.switch(fabric, device).pause_to_queue[ROCE_PRIORITY] = 4


def _buffer_model(fabric: Fabric, device: str, _: str) -> None:
    """The switch computes its buffers by the dynamic model."""
    places.switch(fabric, device).buffer_model = "dynamic"


def _ecn_thresholds(fabric: Fabric, device: str, _: str) -> None:
    """The marking thresholds are 1,024 times too high, far above the level at which ports pause."""
    ecn = places.switch(fabric, device).ecn
    ecn.minimum, ecn.maximum = ecn.minimum << 10, ecn.maximum << 10


def _no_dscp_map(fabric: Fabric, device: str, port: str) -> None:
    """A switch port trusts nothing that its map could read: no DSCP map is bound to it."""
    places.port(fabric, device, port).dscp_map = ""


def _lossy_group(fabric: Fabric, device: str, port: str) -> None:
    """The RoCE priority group of a port has no lossless profile."""
    places.port(fabric, device, port).lossless = False


def _no_headroom(fabric: Fabric, device: str, port: str) -> None:
    """The profile of a port was made for a cable of 0 m and reserves nothing."""
    places.port(fabric, device, port).profile_m = 0


def _small_headroom(fabric: Fabric, device: str, port: str) -> None:
    """A profile made by hand, with less headroom than two frames of RoCE."""
    places.port(fabric, device, port).headroom = 4096


def _other_cable(fabric: Fabric, device: str, port: str) -> None:
    """The profile of a port was made for a shorter cable."""
    places.port(fabric, device, port).profile_m = 1


def _pfc_priorities(fabric: Fabric, device: str, port: str) -> None:
    """A port pauses another priority too."""
    places.end(fabric, device, port).pfc = (ROCE_PRIORITY, ROCE_PRIORITY + 1)


def _no_pfc(fabric: Fabric, device: str, port: str) -> None:
    """A port or adapter pauses no priority."""
    places.end(fabric, device, port).pfc = ()


def _no_watchdog(fabric: Fabric, device: str, port: str) -> None:
    """No PFC watchdog on a port."""
    places.port(fabric, device, port).watchdog = False


def _watchdog_queue(fabric: Fabric, device: str, port: str) -> None:
    """The PFC watchdog of a port watches another queue."""
    places.port(fabric, device, port).watched = (ROCE_PRIORITY + 1,)


def _storm(fabric: Fabric, device: str, port: str) -> None:
    """The PFC watchdog of a port drops, because of a storm."""
    places.port(fabric, device, port).stormed = True


def _no_ecn(fabric: Fabric, device: str, port: str) -> None:
    """The RoCE queue of a port marks nothing: no WRED profile is bound to it."""
    places.port(fabric, device, port).ecn = False


def _unapplied(fabric: Fabric, device: str, port: str) -> None:
    """CONFIG_DB gives a port its lossless group, APPL_DB has not got it."""
    switch = places.switch(fabric, device)
    switch.applied = deepcopy(switch)
    places.port(fabric, device, port)
    switch.applied.ports[port].lossless = False


def _unsaved(fabric: Fabric, device: str, port: str) -> None:
    """PFC of a port was enabled and never saved: the next reload is without it."""
    switch = places.switch(fabric, device)
    switch.saved = deepcopy(switch)
    places.port(fabric, device, port)
    switch.saved.ports[port].pfc = ()


def _no_saved_file(fabric: Fabric, device: str, _: str) -> None:
    """The file that the next reload would load is gone."""
    places.switch(fabric, device).file = False


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
