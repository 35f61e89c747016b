"""What a designed switch answers about what hangs on its ports: modules, addresses, aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

from auditor.lab.answer import Answer, table
from auditor.lab.fabric import HOST_CABLE_M, End, Fabric, Switch, SwitchPort

_FLAGS = """Flags: A - active, I - inactive, Up - up, Dw - Down, N/A - not available,
       S - selected, D - deselected, * - not synced
"""


def answers(fabric: Fabric, switch: Switch) -> Iterator[Answer]:
    """Every command with its output. All ports are routed: no address is learned in a VLAN, and there is no aggregate."""
    ports = list(switch.ports.values())
    cabled = {port.name for port in ports if fabric.gbps(End(switch.name, port.name))}
    presence = [[port.name, "Present" if port.name in cabled else "Not present"] for port in ports]
    yield Answer("show interfaces transceiver presence", table(["Port", "Presence"], presence, right=False))
    yield Answer(
        "show interfaces transceiver eeprom", "\n".join(_module(switch, port, port.name in cabled) for port in ports) + "\n"
    )
    yield Answer("show mac", table(["No.", "Vlan", "MacAddress", "Port", "Type"], [], right=False) + _total(0, ""))
    gateway = [["10.64.255.1", "94:6d:ae:ff:ff:00", "eth0", "-"]]
    yield Answer("show arp", table(["Address", "MacAddress", "Iface", "Vlan"], gateway, right=False) + _total(1))
    yield Answer("show ndp", _neighbours(fabric, switch))
    yield Answer("show interfaces portchannel", _FLAGS + table(["No.", "Team Dev", "Protocol", "Ports"], [], right=False))


def _neighbours(fabric: Fabric, switch: Switch) -> str:
    """Far ends by their link-local addresses, as unnumbered routing finds them."""
    rows = []
    for name in switch.ports:
        far = fabric.wiring.get(End(switch.name, name))
        known = None if far is None else fabric.switches.get(far.device) or fabric.hosts[far.device].nics[far.port]
        if known is not None:
            rows.append([link_local(known.mac), known.mac, name, "-", "REACHABLE"])
    return table(["Address", "MacAddress", "Iface", "Vlan", "Status"], rows, right=False) + _total(len(rows))


def link_local(mac: str) -> str:
    """The address that an interface makes of its MAC (RFC 4291, appendix A)."""
    digits = mac.split(":")
    digits[0] = f"{int(digits[0], 16) ^ 2:02x}"
    return str(IPv6Address(f"fe80::{digits[0]}{digits[1]}:{digits[2]}ff:fe{digits[3]}:{digits[4]}{digits[5]}"))


def _total(rows: int, end: str = " ") -> str:
    return f"Total number of entries {rows}{end}\n"


def _module(switch: Switch, port: SwitchPort, present: bool) -> str:
    """The plug of one port, from its management interface (CMIS): copper towards hosts, a module for fibre elsewhere."""
    if not present:
        return f"{port.name}: SFP EEPROM Not detected\n"
    if port.length_m == HOST_CABLE_M:
        firmware, connector, length, part = "N/A", "No separable connector", f"{HOST_CABLE_M}.0", f"MCP4Y10-N{HOST_CABLE_M:03d}"
        technology, medium = "Copper cable unequalized", "passive_copper_media_interface"
    else:
        firmware, connector, length, part = "47.171.0", "MPO 1x12", "0.0", "MMS4X00-NM"
        technology, medium = "1310 nm EML", "sm_media_interface"
    return f"""{port.name}: SFP EEPROM detected
        Active Firmware: {firmware}
        CMIS Rev: 5.0
        Connector: {connector}
        Identifier: OSFP 8X Pluggable Transceiver
        Inactive Firmware: N/A
        Length Cable Assembly(m): {length}
        Media Interface Technology: {technology}
        Specification compliance: {medium}
        Vendor Date Code(YYYY-MM-DD Lot): 2025-03-11
        Vendor Name: NVIDIA
        Vendor OUI: 48-b0-2d
        Vendor PN: {part}
        Vendor Rev: A4
        Vendor SN: MT25{switch.number:04d}M{port.index:05d}
"""
