"""RDMA ports and how their network devices classify and pause: `rdma link`, `ibv_devinfo -v`, `mlnx_qos`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from auditor import canonical
from auditor.address import Layer
from auditor.dialects import ibv_devinfo as dialect
from auditor.dialects import mlnx_qos as qos
from auditor.facts import HostDscp, QosPort, RdmaPort, from_plain
from auditor.model import Fill, GapReason, Normalised, Parameter, Parser, Source, Unread

_SOFTWARE = ("rxe", "siw")
_NOT_NVIDIA = (*_SOFTWARE, "ionic", "bnxt_re")
_ANCHOR = r"^(?:link |\d+/\d+: )\S+/\d+:? "
_LINE = re.compile(r"^(?:link |\d+/\d+: )(\S+)/\d+:? (.*)$", re.MULTILINE)

_STATES = {"ACTIVE": "active", "DOWN": "down", "INIT": "init", "ARMED": "armed"}
_LINK_LAYERS = {"Ethernet": "ethernet", "InfiniBand": "infiniband"}

LANE_SPEEDS = {
    1: 2_500_000_000, 2: 5_000_000_000, 4: 10_000_000_000, 8: 10_000_000_000, 16: 14_000_000_000, 32: 25_000_000_000,
    64: 50_000_000_000, 128: 100_000_000_000, 256: 200_000_000_000,
}  # fmt: skip
"""Bits per second of one lane by the speed code of the InfiniBand specification (SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR,
XDR), as `ibv_devinfo` rounds them. The code is read because older releases print "invalid speed" for codes above 64."""


def rdma_netdevs(body: str) -> list[str]:
    """Network devices of the RDMA ports, from the text of `rdma link`; those of software devices are left out."""
    return _netdevs(body, _SOFTWARE, infiniband=True)


def qos_netdevs(body: str) -> list[str]:
    """Network devices that `mlnx_qos` can speak of: Ethernet, and not of another maker's RDMA driver."""
    return _netdevs(body, _NOT_NVIDIA, infiniband=False)


def ethernet_netdevs(body: str) -> list[str]:
    """Network devices of the Ethernet RDMA ports."""
    return _netdevs(body, _SOFTWARE, infiniband=False)


def _netdevs(body: str, without: tuple[str, ...], *, infiniband: bool) -> list[str]:
    """Names in their order, each once. An InfiniBand port is told by its LID, which Ethernet ports do not have."""
    names = []
    for device, rest in _LINE.findall(body):
        netdev = re.search(r"\bnetdev (\S+)", rest)
        if netdev is not None and not device.startswith(without) and (infiniband or not re.search(r"\blid \d", rest)):
            names.append(netdev.group(1))
    return list(dict.fromkeys(names))


def rdma_link(groups: Mapping[str, list[dict[str, str]]], _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every RDMA port with its state and its network device, where it has one."""
    for row in groups.get("rows", []):
        key = (row["name"], row["port"])
        words = row.get("rest", "").split()
        pairs = dict(zip(words[::2], words[1::2], strict=False))
        state = _STATES.get(pairs.get("state", ""))
        yield RdmaPort(name=key[0], port=key[1], netdev=pairs.get("netdev"), state=state)
        if state is None:
            yield Unread(RdmaPort, key, "state", detail=f"no state: {pairs.get('state', '')[:40]!r}")
        if "physical_state" not in pairs:
            yield Unread(RdmaPort, key, "netdev", GapReason.TRUNCATED, "the line stops before the network device")


def ibv_devinfo(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """GUIDs, link layer, state, rate and active MTU of every port that programs can open."""
    short = ethernet = False
    for device in dialect.devices(body):
        short |= not device.verbose
        for port in device.ports:
            ethernet |= port.fields.get("link_layer") == "Ethernet"
            yield from _port(device, port)
        if not device.whole:
            detail = f"{device.name}: {len(device.ports)} of {device.fields.get('phys_port_cnt', '?')} ports are whole"
            yield Unread(RdmaPort, (device.name,), reason=GapReason.TRUNCATED, detail=detail)
    if short:
        for column in ("rate", "port_guid"):
            yield Unread(RdmaPort, (), column, GapReason.NOT_COLLECTED, "printed with -v only")
    elif ethernet:
        yield Unread(RdmaPort, (), "port_guid", GapReason.UNSUPPORTED, "an Ethernet port's GUID is not among what is printed")


def _port(device: dialect.Device, port: dialect.Port) -> Iterator[Normalised]:
    key = (device.name, port.number)
    values: dict[str, str | int | None] = {"name": device.name, "port": port.number}
    unread = []
    for column, read in _READ.items():
        try:
            values[column] = read(device, port)
        except ValueError as error:
            unread.append(Unread(RdmaPort, key, column, detail=str(error)))
    yield from_plain(RdmaPort, values)
    yield from unread


def _word(port: dialect.Port, label: str, words: Mapping[str, str]) -> str | None:
    text = port.fields.get(label)
    if text is None:
        return None
    word = text.removeprefix("PORT_").partition(" ")[0]
    if word not in words:
        raise ValueError(f"no {label}: {text[:60]!r}")
    return words[word]


def _node_guid(device: dialect.Device, _port: dialect.Port) -> str | None:
    return canonical.guid(device.fields["node_guid"]) if "node_guid" in device.fields else None


def _port_guid(_device: dialect.Device, port: dialect.Port) -> str | None:
    """GID 0 of an InfiniBand port is its subnet prefix and its GUID, printed in full; on Ethernet it is an address."""
    if port.fields.get("link_layer") != "InfiniBand" or 0 not in port.gids:
        return None
    parts = port.gids[0].split(":")
    if len(parts) != 8:
        raise ValueError(f"no GID in full: {port.gids[0][:60]!r}")
    return canonical.guid("".join(parts[4:]))


def _is_active(port: dialect.Port) -> bool:
    return port.fields.get("state", "").startswith("PORT_ACTIVE ")


def _rate(_device: dialect.Device, port: dialect.Port) -> int | None:
    """Bits per second: lanes times the speed of one, of which the code counts."""
    if not _is_active(port) or "active_speed" not in port.fields:
        return None
    width = re.fullmatch(r"(\d+)X \(\d+\)", port.fields.get("active_width", ""))
    code = re.search(r"\((\d+)\)$", port.fields["active_speed"])
    lane = LANE_SPEEDS.get(int(code.group(1))) if code is not None else None
    if width is None or lane is None:
        raise ValueError(f"no rate: {port.fields.get('active_width', '')[:30]!r} of {port.fields['active_speed'][:30]!r}")
    return int(width.group(1)) * lane


def _active_mtu(_device: dialect.Device, port: dialect.Port) -> int | None:
    if not _is_active(port) or "active_mtu" not in port.fields:
        return None
    found = re.fullmatch(r"(\d+) \(\d\)", port.fields["active_mtu"])
    if found is None:
        raise ValueError(f"no active MTU: {port.fields['active_mtu'][:60]!r}")
    return int(found.group(1))


_READ: Mapping[str, Callable[[dialect.Device, dialect.Port], str | int | None]] = {
    "state": lambda _device, port: _word(port, "state", _STATES),
    "link_layer": lambda _device, port: _word(port, "link_layer", _LINK_LAYERS),
    "node_guid": _node_guid,
    "port_guid": _port_guid,
    "rate": _rate,
    "active_mtu": _active_mtu,
}


def mlnx_qos(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Trust, PFC and the DSCP map of one network device."""
    netdev = parameters["netdev"]
    word, pfc, whole = qos.trust(body), None, True
    try:
        pfc = qos.pfc(body)
        whole = pfc is not None  # the table stands behind the map; without it the answer was cut, which its anchor tells
    except ValueError as error:
        yield Unread(QosPort, (netdev,), "pfc_priorities", detail=str(error))
    yield QosPort(
        port=netdev,
        trust=(word,) if word in ("dscp", "pcp") else None,
        pfc_priorities=None if pfc is None else tuple(priority for priority, on in pfc.items() if on),
    )
    if word == "none":
        yield Unread(QosPort, (netdev,), "trust", GapReason.UNSUPPORTED, "the driver keeps no trust state")
    elif word not in (None, "dscp", "pcp"):
        yield Unread(QosPort, (netdev,), "trust", detail=f"no trust state: {str(word)[:40]!r}")
    yield from _dscp_map(netdev, body, word, whole)


def _dscp_map(netdev: str, body: str, trust: str | None, whole: bool) -> Iterator[Normalised]:
    try:
        mapped = qos.dscp_map(body)
    except ValueError as error:
        yield Unread(HostDscp, (netdev,), detail=str(error))
        return
    for point, priorities in sorted((mapped or {}).items()):
        if len(priorities) == 1:
            yield HostDscp(netdev=netdev, dscp=str(point), priority=min(priorities))
        else:
            listed = ", ".join(map(str, sorted(priorities)))
            yield Unread(HostDscp, (netdev, str(point)), "priority", GapReason.CONFLICT, f"given to the priorities {listed}")
    if not whole:
        return
    if mapped is None and trust in ("pcp", "none"):
        yield Unread(HostDscp, (netdev,), reason=GapReason.UNSUPPORTED, detail=f"not printed while trust is {trust}")
    elif mapped is None:
        yield Unread(HostDscp, (netdev,), detail="no DSCP map in the answer, though trust is dscp")
    elif len(mapped) < qos.CODE_POINTS:
        # Without a file of its own in sysfs the driver lists only what was set, and which priority the rest has depends on it.
        detail = f"{len(mapped)} of {qos.CODE_POINTS} code points are listed"
        yield Unread(HostDscp, (netdev,), reason=GapReason.UNSUPPORTED, detail=detail)


_LAST_LINE = (
    r"^[ \t]++(?:GID\[ *\d+\]|phys_state|active_speed):[^\n]*+\s*+\Z"
    r"|\A(?![\s\S]*^[ \t]++max_mr_size:)[\s\S]*^[ \t]++link_layer:[^\n]*+\s*+\Z"
)
"""The last line of the last port: its link layer only where the answer is the short one."""

SOURCES = (
    Source(
        key="rdma_link", command="rdma link", aliases=("rdma link show",),
        fills=(Fill(RdmaPort, Layer.APPLIED, ("netdev", "state")),),
        parser=Parser.TTP, template="rdma_link", normalise=rdma_link, anchor=(_ANCHOR,), count=_ANCHOR, empty=True,
        proof={"rdma_port": r"^(?:link |\d+/\d+: ){0}/{1}[: ]"},
        proven_by="iproute2 of hosts with mlx5 and ionic adapters; rdma/link.c of iproute2",
    ),
    Source(
        key="ibv_devinfo", command="ibv_devinfo -v", aliases=("ibv_devinfo", "ibv_devinfo -vv"),
        fills=(Fill(RdmaPort, Layer.APPLIED, tuple(_READ)),),
        parser=Parser.TEXT, normalise=ibv_devinfo,
        anchor=(r"^hca_id:", _LAST_LINE),
        proof={"rdma_port": r"^hca_id:\s+{0}\s*$"},
        proven_by="ibv_devinfo of ConnectX-6 and ConnectX-6 Dx hosts and of siw; libibverbs/examples/devinfo.c of rdma-core",
    ),
    Source(
        key="mlnx_qos", command="mlnx_qos -i {netdev}", parameter=Parameter("netdev", ("rdma_link",), qos_netdevs),
        fills=(
            Fill(QosPort, Layer.APPLIED, ("trust", "pfc_priorities")),
            Fill(HostDscp, Layer.APPLIED, ("priority",)),
        ),
        parser=Parser.TEXT, normalise=mlnx_qos, anchor=(r"^Priority trust state:", r"^[ \t]+enabled(?:[ \t]+[01]){8}[ \t]*$"),
        proof={
            "qos_port.trust": r"^Priority trust state:", "qos_port.pfc_priorities": r"^\s+(?:priority +\d|enabled )",
            "host_dscp": r"^\s+prio:\d dscp:(?:\d+,)*0?{1},",
        },
        proven_by="mlnx_qos on ConnectX adapters; python/mlnx_qos and dcbnetlink.py of mlnx-tools; the kernel lets anyone ask "
        "(RTM_GETDCB)",
    ),
)  # fmt: skip
