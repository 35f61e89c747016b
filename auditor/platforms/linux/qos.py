"""How a host's network devices classify, pause and answer congestion: `mlnx_qos`, `ethtool -a`, the driver's `ecn` folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.address import Layer
from auditor.dialects import mlnx_qos as dialect
from auditor.facts import HostDscp, HostQos, QosPort, from_plain
from auditor.model import Fill, GapReason, Normalised, Parameter, Parser, Source, Unread
from auditor.platforms.linux.rdma import ethernet_netdevs, qos_netdevs

_OWNERS = {"OS": "os", "Firmware": "firmware"}


def mlnx_qos(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Trust, PFC, the DSCP map and the owner of the settings of one network device."""
    netdev = parameters["netdev"]
    yield from _owner(netdev, body)
    word, pfc, whole = dialect.trust(body), None, True
    try:
        pfc = dialect.pfc(body)
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


def _owner(netdev: str, body: str) -> Iterator[Normalised]:
    word = dialect.dcbx(body)
    if word is None:
        yield Unread(HostQos, (netdev,), "dcbx_owner", GapReason.UNSUPPORTED, "the driver does not tell")
    elif word not in _OWNERS:
        yield Unread(HostQos, (netdev,), "dcbx_owner", detail=f"no owner of DCBX: {word[:40]!r}")
    else:
        yield HostQos(netdev=netdev, dcbx_owner=_OWNERS[word])


def _dscp_map(netdev: str, body: str, trust: str | None, whole: bool) -> Iterator[Normalised]:
    try:
        mapped = dialect.dscp_map(body)
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
    elif len(mapped) < dialect.CODE_POINTS:
        # Without a file of its own in sysfs the driver lists only what was set, and which priority the rest has depends on it.
        detail = f"{len(mapped)} of {dialect.CODE_POINTS} code points are listed"
        yield Unread(HostDscp, (netdev,), reason=GapReason.UNSUPPORTED, detail=detail)


def pause(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """802.3x pause of one network device. With auto-negotiation `RX` and `TX` are what is offered, not what came of it."""
    netdev = parameters["netdev"]
    said = dict(re.findall(r"^(Autonegotiate|[RT]X(?: negotiated)?):[ \t]*(\S+)[ \t]*$", body, re.MULTILINE))
    cells: dict[str, bool] = {}
    for column, label in (("global_pause_rx", "RX"), ("global_pause_tx", "TX")):
        word = said.get(f"{label} negotiated", said.get(label) if said.get("Autonegotiate") == "off" else None)
        if word in ("on", "off"):
            cells[column] = word == "on"
        elif word is None and said.get("Autonegotiate") == "on":
            detail = f"auto-negotiated, and what came of {label} is not printed"
            yield Unread(QosPort, (netdev,), column, GapReason.UNSUPPORTED, detail)
        else:
            yield Unread(QosPort, (netdev,), column, detail=f"no state of {label}: {str(word)[:40]!r}")
    yield from_plain(QosPort, {"port": netdev, **cells})


_ECN = re.compile(r"/ecn/(roce_np|roce_rp)/(enable/([0-7])|cnp_dscp):(.*)$", re.MULTILINE)


def ecn(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Priorities that answer marks (np) and that slow down (rp), and the DSCP of the notifications, out of one file each."""
    netdev = parameters["netdev"]
    enabled: dict[str, dict[int, str]] = {"roce_np": {}, "roce_rp": {}}
    dscp = ""
    for point, _, priority, value in _ECN.findall(body):
        if priority:
            enabled[point][int(priority)] = value.strip()
        else:
            dscp = value.strip()
    cells: dict[str, int | tuple[int, ...]] = {}
    for point, column in (("roce_np", "ecn_np"), ("roce_rp", "ecn_rp")):
        read = {priority: value for priority, value in enabled[point].items() if value in ("0", "1")}
        missing = [str(priority) for priority in range(dialect.PRIORITIES) if priority not in read]
        if missing:
            yield Unread(HostQos, (netdev,), column, detail=f"{point}: nothing said of the priorities {', '.join(missing)}")
        else:
            cells[column] = tuple(priority for priority, value in sorted(read.items()) if value == "1")
    if re.fullmatch(r"\d{1,2}", dscp) and int(dscp) < dialect.CODE_POINTS:
        cells["cnp_dscp"] = int(dscp)
    else:
        yield Unread(HostQos, (netdev,), "cnp_dscp", detail=f"no code point: {dscp[:40]!r}")
    yield from_plain(HostQos, {"netdev": netdev, **cells})


SOURCES = (
    Source(
        key="mlnx_qos", command="mlnx_qos -i {netdev}", parameter=Parameter("netdev", ("rdma_link",), qos_netdevs),
        fills=(
            Fill(QosPort, Layer.APPLIED, ("trust", "pfc_priorities")),
            Fill(HostDscp, Layer.APPLIED, ("priority",)),
            Fill(HostQos, Layer.APPLIED, ("dcbx_owner",)),
        ),
        parser=Parser.TEXT, normalise=mlnx_qos, anchor=(r"^Priority trust state:", r"^[ \t]+enabled(?:[ \t]+[01]){8}[ \t]*$"),
        proof={
            "qos_port.trust": r"^Priority trust state:", "qos_port.pfc_priorities": r"^\s+(?:priority +\d|enabled )",
            "host_dscp": r"^\s+prio:\d dscp:(?:\d+,)*0?{1},", "host_qos": r"^DCBX mode:",
        },
        proven_by="mlnx_qos on ConnectX adapters; python/mlnx_qos and dcbnetlink.py of mlnx-tools; the kernel lets anyone ask "
        "(RTM_GETDCB)",
    ),
    Source(
        key="ethtool_pause", command="ethtool -a {netdev}", aliases=("ethtool --show-pause {netdev}",),
        parameter=Parameter("netdev", ("rdma_link",), ethernet_netdevs),
        fills=(Fill(QosPort, Layer.APPLIED, ("global_pause_rx", "global_pause_tx")),),
        parser=Parser.TEXT, normalise=pause, anchor=(r"^Pause parameters for ", r"^TX:"),
        proof={"qos_port.global_pause_rx": r"^RX(?: negotiated)?:", "qos_port.global_pause_tx": r"^TX(?: negotiated)?:"},
        proven_by="netdev mails of qlge, ice and tg3; netlink/pause.c of ethtool; the kernel lets anyone ask "
        "(ETHTOOL_GPAUSEPARAM)",
    ),
    Source(
        key="ecn", command="grep -r . /sys/class/net/{netdev}/ecn", aliases=("grep -r . /sys/class/net/{netdev}/ecn/",),
        parameter=Parameter("netdev", ("rdma_link",), qos_netdevs),
        fills=(Fill(HostQos, Layer.APPLIED, ("cnp_dscp", "ecn_np", "ecn_rp")),),
        parser=Parser.TEXT, normalise=ecn, anchor=(r"/ecn/roce_np/", r"/ecn/roce_rp/"),
        proof={
            "host_qos.cnp_dscp": r"ecn/roce_np/cnp_dscp:", "host_qos.ecn_np": r"ecn/roce_np/enable/\d:1",
            "host_qos.ecn_rp": r"ecn/roce_rp/enable/\d:1",
        },
        proven_by="MLNX_OFED: en_sysfs.c and en_ecn.c of mlx5 (a number per file, mode 0444 and wider), its manual on explicit "
        "congestion notification, and the same files read by a script of a network plug-in",
    ),
)  # fmt: skip
