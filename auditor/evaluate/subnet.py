"""What a host that walked an InfiniBand subnet saw of it: rows of nodes and ports to what cabling joins with the plan."""

from __future__ import annotations

from dataclasses import replace

from auditor.address import Address
from auditor.checks.look import Look
from auditor.facts import IbNode, IbPort
from auditor.model import FabricPort, Fact, State


def fabric_ports(state: State) -> tuple[FabricPort, ...]:
    """Every node and every port that the walk lists, by GUID and number; nothing for a device that walked none."""
    nodes, ports = state.rows(IbNode), state.rows(IbPort)
    look = Look(state)
    found = [
        FabricPort(
            witness=state.device,
            guid=node.guid,
            kind=node.kind or "",
            description=node.description or "",
            node_ports=node.ports,
            fact=_first(look, node, "description", "kind"),
            collected_at=state.collected_at,
            whole=state.has_row(Address(IbPort.TABLE, (node.guid, "0"))) is False,
        )
        for _, node in sorted(nodes.items())
    ]
    found += [
        FabricPort(
            witness=state.device,
            guid=port.guid,
            port=port.port,
            port_guid=port.port_guid or "",
            peer_guid=port.peer_guid or "",
            peer_port=port.peer_port or "",
            peer_port_guid=port.peer_port_guid or "",
            peer_description=port.peer_description or "",
            width=port.width,
            speed=port.speed or "",
            rate=port.rate,
            state=port.state or "",
            fact=_first(look, port, "peer_guid", "peer_port_guid", "state", "rate"),
            collected_at=state.collected_at,
        )
        for _, port in sorted(ports.items())
    ]
    return tuple(found)


def _first(look: Look, row: IbNode | IbPort, *names: str) -> Fact | None:
    """The fact of the first of these columns that the row has, with the device that tells it."""
    column = next((name for name in names if getattr(row, name) is not None), None)
    return None if column is None else replace(look.fact(row.TABLE, row.key, column), device=look.state.device)
