"""Named faults that can be put into a designed fabric before its captures are written.

Each is one thing that a person did wrong in one place: of a switch or its port, of a host or its adapter, of a cable. Its
docstring says what is wrong; `auditor lab generate --help` prints the names.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from auditor.errors import SetupError
from auditor.lab.cable_faults import CABLE_FAULTS
from auditor.lab.fabric import Fabric
from auditor.lab.host_faults import HOST_FAULTS, NIC_FAULTS
from auditor.lab.places import Fault
from auditor.lab.switch_faults import PORT_FAULTS, SWITCH_FAULTS

GROUPS: Mapping[str, Mapping[str, Fault]] = MappingProxyType(
    {
        "Faults of a switch (KIND:DEVICE)": SWITCH_FAULTS,
        "Faults of a switch port (KIND:DEVICE:PORT)": PORT_FAULTS,
        "Faults of an adapter (KIND:DEVICE:PORT)": NIC_FAULTS,
        "Faults of a host (KIND:DEVICE, some with an adapter)": HOST_FAULTS,
        "Faults of cables (KIND:DEVICE:PORT, or all of a device)": CABLE_FAULTS,
    }
)
"""All faults by what they are faults of."""

FAULTS: Mapping[str, Fault] = MappingProxyType({name: fault for group in GROUPS.values() for name, fault in group.items()})
"""All faults by name."""


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
