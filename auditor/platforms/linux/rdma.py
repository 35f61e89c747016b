"""RDMA ports: `rdma link`, `ibv_devinfo -v`, and what sysfs says of their bus and their traffic class."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping

from auditor import canonical
from auditor.address import Layer
from auditor.dialects import ibv_devinfo as dialect
from auditor.facts import Gid, HostDscp, HostQos, QosPort, RdmaPort, from_plain
from auditor.model import Fill, GapReason, Normalised, Parameter, Parser, Source, Unread
from auditor.platforms.linux import gids

_SOFTWARE = ("rxe", "siw")
_NOT_NVIDIA = (*_SOFTWARE, "ionic", "bnxt_re", "irdma", "efa", "hns", "mana", "erdma", "qedr", "cxgb4", "vmw_pvrdma")
_START = r"^(?:link |\d+/\d+: )"
_LINE = re.compile(_START + r"(\S+)/(\d+):? (.*)$", re.MULTILINE)
"""The second form is that of iproute2 before 4.20."""

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
    for device, _, rest in _LINE.findall(body):
        netdev = re.search(r"\bnetdev (\S+)", rest)
        if netdev is not None and not device.startswith(without) and (infiniband or not re.search(r"\blid \d", rest)):
            names.append(netdev.group(1))
    return list(dict.fromkeys(names))


_QOS = ((QosPort, "trust"), (QosPort, "pfc_priorities"), (HostDscp, None), (HostQos, None))
_OTHER_MAKER = "mlnx_qos and the ecn folder speak of NVIDIA adapters; no source reads those of other makers"


def rdma_link(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every RDMA port with its state and its network device, where it has one: a name, then pairs of words."""
    rows = _LINE.findall(body)
    for name, port, rest in rows:
        words = rest.split()
        pairs = dict(zip(words[::2], words[1::2], strict=False))
        state = _STATES.get(pairs.get("state", ""))
        yield RdmaPort(name=name, port=port, netdev=pairs.get("netdev"), state=state)
        if state is None:
            yield Unread(RdmaPort, (name, port), "state", detail=f"no state: {pairs.get('state', '')[:40]!r}")
        if "physical_state" not in pairs:
            yield Unread(RdmaPort, (name, port), "netdev", GapReason.TRUNCATED, "the line stops before the network device")
    for netdev in sorted({*ethernet_netdevs(body)} - {*qos_netdevs(body)}):
        for row_type, column in _QOS:
            yield Unread(row_type, (netdev,), column, GapReason.UNSUPPORTED, _OTHER_MAKER, Layer.APPLIED)
    begun = len(re.findall(_START, body, re.MULTILINE))
    if begun != len(rows):
        yield Unread(RdmaPort, detail=f"{begun} ports begin in the answer, {len(rows)} were read")


def ibv_devinfo(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """GUIDs, link layer, state, rate, active MTU and address table of every port that programs can open."""
    short = ethernet = False
    devices = list(dialect.devices(body))
    for device in devices:
        short |= not device.verbose
        for port in device.ports:
            ethernet |= port.fields.get("link_layer") == "Ethernet"
            yield from _port(device, port)
        yield from gids.of_device(device)
        if not device.whole:
            detail = f"{device.name}: {len(device.ports)} of {device.fields.get('phys_port_cnt', '?')} ports are whole"
            for row_type in (RdmaPort, Gid):
                yield Unread(row_type, (device.name,), reason=GapReason.TRUNCATED, detail=detail)
    last = devices[-1].ports[-1:] if devices and devices[-1].verbose else []
    if last and re.search(r"\n[ \t]*\n\s*\Z", body) is None:
        detail = "the blank line behind its last address is missing: there may be more"
        yield Unread(Gid, (devices[-1].name, last[0].number), reason=GapReason.TRUNCATED, detail=detail)
    if short:
        for table, column in ((RdmaPort, "rate"), (RdmaPort, "port_guid"), (Gid, "address"), (Gid, "kind")):
            yield Unread(table, (), column, GapReason.NOT_COLLECTED, "printed with -v only")
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


_TCLASS = r"tclass=\d+[ \t]*$"
_NO_FILE = r"^cat: \S+/traffic_class: No such file or directory$"
_TCLASS_OF = r"^\S*infiniband/([^/\s:]+)/tc/(\d+)/traffic_class:(.*)$"


def rdma_pci(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """PCI address of every RDMA device, read where its link in sysfs leads. Software devices have none."""
    for device, pci in _on_pci(body):
        yield RdmaPort(name=device, port="1", pci=pci)


def nvidia_functions(body: str) -> list[str]:
    """PCI addresses of the RDMA devices that may be NVIDIA's, from the text of `ls -l /sys/class/infiniband`."""
    return list(dict.fromkeys(pci for device, pci in _on_pci(body) if not device.startswith(_NOT_NVIDIA)))


def _on_pci(body: str) -> Iterator[tuple[str, str]]:
    for line in body.splitlines():
        left, _, target = line.partition(" -> ")
        path, _, device = target.strip().rpartition("/infiniband/")
        if device and left.endswith(f" {device}"):
            with contextlib.suppress(ValueError):  # on another bus, or on none
                yield device, canonical.pci(path.rpartition("/")[2])


def roce_devices(body: str) -> list[str]:
    """RDMA devices that may be NVIDIA's, are on Ethernet and have only port 1, from the text of `rdma link`."""
    ports: dict[str, set[str]] = {}
    for device, port, rest in _LINE.findall(body):
        if not device.startswith(_NOT_NVIDIA) and not re.search(r"\blid \d", rest):
            ports.setdefault(device, set()).add(port)
    return [device for device, numbers in ports.items() if numbers == {"1"}]


def rdma_tclass(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The traffic class that the driver writes over that of every ordinary queue pair of the device. An empty file: none; no
    such file: a driver that cannot, hence none either."""
    if body.strip() and re.search(_NO_FILE, body, re.MULTILINE) is None:
        yield _tclass(parameters["rdma"], "1", body)


def rdma_tclass_all(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The same for every port of a listing, in which only ports with a traffic class stand."""
    lines: dict[tuple[str, str], list[str]] = {}
    for device, port, line in re.findall(_TCLASS_OF, body, re.MULTILINE):
        lines.setdefault((device, port), []).append(line)
    for (device, port), text in lines.items():
        yield _tclass(device, port, "\n".join(text))


def _tclass(device: str, port: str, text: str) -> Normalised:
    """With a line for all, rules for single addresses (`src_ip=…,tclass=…`) are not looked at; without it they count."""
    found = re.search(rf"^Global {_TCLASS}", text, re.MULTILINE)
    value = None if found is None else int(found.group().split("=")[1])
    if value is not None and value < 256:
        return RdmaPort(name=device, port=port, global_tclass=value)
    if value is None and re.search(rf"^(?:src|dst)_ip6?=.*,{_TCLASS}", text, re.MULTILINE):
        detail = "none for all, but rules for single addresses"
        return Unread(RdmaPort, (device, port), "global_tclass", GapReason.UNSUPPORTED, detail)
    return Unread(RdmaPort, (device, port), "global_tclass", detail=f"no traffic class: {text.strip()[:60]!r}")


def cma_roce_tos(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The default type of service of RDMA-CM on port 1, a bare number."""
    tos = int(body)
    if not 0 <= tos < 256:
        raise ValueError(f"no type of service: {tos}")
    yield RdmaPort(name=parameters["rdma"], port="1", rdma_tos=tos)


_DEVICE = r"^hca_id:\s+{0}\s*$"
_PORT = _DEVICE + "\n" + r"^\s+port:\s+{1}\s*$" + "\n"
_LAST_LINE = (
    r"^[ \t]++(?:GID\[ *\d+\]|phys_state|active_speed):[^\n]*+\s*+\Z"
    r"|\A(?![\s\S]*^[ \t]++max_mr_size:)[\s\S]*^[ \t]++link_layer:[^\n]*+\s*+\Z"
)
"""The last line of the last port: its link layer only where the answer is the short one."""

SOURCES = (
    Source(
        key="rdma_link", command="rdma link", aliases=("rdma link show",),
        fills=(Fill(RdmaPort, Layer.APPLIED, ("netdev", "state")),),
        parser=Parser.TEXT, normalise=rdma_link, anchor=(_LINE.pattern,), empty=True,
        proof={"rdma_port": r"^(?:link |\d+/\d+: ){0}/{1}[: ]"},
        proven_by="iproute2 of hosts with mlx5 and ionic adapters; rdma/link.c of iproute2",
    ),
    Source(
        key="ibv_devinfo", command="ibv_devinfo -v", aliases=("ibv_devinfo", "ibv_devinfo -vv"),
        fills=(Fill(RdmaPort, Layer.APPLIED, tuple(_READ)), Fill(Gid, Layer.APPLIED, gids.COLUMNS)),
        parser=Parser.TEXT, normalise=ibv_devinfo,
        anchor=(r"^hca_id:", _LAST_LINE),
        proof={
            "rdma_port": _PORT.rstrip("\n"), "rdma_port.node_guid": _DEVICE + "\n" + r"^\s+node_guid:",
            "rdma_port.state": _PORT + r"^\s+state:",
            "rdma_port.link_layer": _PORT + r"^\s+link_layer:", "rdma_port.active_mtu": _PORT + r"^\s+active_mtu:",
            "rdma_port.rate": _PORT + r"^\s+active_speed:", "rdma_port.port_guid": _PORT + r"^\s+GID\[ *0\]:",
            "gid": _PORT + r"^\s+GID\[ *{2}\]:",
        },
        proven_by="ibv_devinfo of ConnectX-6 and ConnectX-6 Dx hosts and of siw; libibverbs/examples/devinfo.c of rdma-core",
    ),
    Source(
        key="rdma_pci", command="ls -l /sys/class/infiniband",
        aliases=(
            "ls -l /sys/class/infiniband/", "ls -la /sys/class/infiniband", "ls -la /sys/class/infiniband/",
            "ls -al /sys/class/infiniband", "ls -al /sys/class/infiniband/",
        ),
        fills=(Fill(RdmaPort, Layer.APPLIED, ("pci",), whole=False),),
        parser=Parser.TEXT, normalise=rdma_pci, anchor=(r"^total \d+$|^l.* -> ",),
        proof={"rdma_port": r" {0} -> "},
        proven_by="hosts with ConnectX-4 to ConnectX-7; the kernel links a class device to its place on the bus "
        "(Documentation/filesystems/sysfs.rst)",
    ),
    Source(
        key="rdma_tclass", command="cat /sys/class/infiniband/{rdma}/tc/1/traffic_class",
        parameter=Parameter("rdma", ("rdma_link",), roce_devices),
        fills=(Fill(RdmaPort, Layer.APPLIED, ("global_tclass",)),),
        parser=Parser.TEXT, normalise=rdma_tclass, empty=True, ok_status=(0, 1), anchor=(f"{_TCLASS}|{_NO_FILE}",),
        proof={"rdma_port": _TCLASS},
        proven_by="MLNX_OFED: main.c of mlx5_ib (nothing while it is not set, mode 0644); NVSHMEM reads the same file",
    ),
    # All ports at once, as captures hold it: `grep . infiniband/*/tc/1/traffic_class`. A device has to be asked one by one.
    Source(
        key="rdma_tclass_all", command="rdma_traffic_class", sent=False,
        fills=(Fill(RdmaPort, Layer.APPLIED, ("global_tclass",)),),
        parser=Parser.TEXT, normalise=rdma_tclass_all, anchor=(_TCLASS_OF,),
        proof={"rdma_port": r"infiniband/{0}/tc/{1}/traffic_class:"},
        proven_by="the same file, behind the path that grep prints",
    ),
    # Reading it makes directories in configfs, so nothing asks for it.
    Source(
        key="cma_roce_tos", command="cma_roce_tos -d {rdma}", aliases=("cma_roce_tos -d {rdma} -p 1",), sent=False,
        parameter=Parameter("rdma", ("rdma_link",), lambda _body: ()),
        fills=(Fill(RdmaPort, Layer.APPLIED, ("rdma_tos",)),),
        parser=Parser.TEXT, normalise=cma_roce_tos, anchor=(r"^\d+\s*$",), proof={"rdma_port": r"^\d+"},
        proven_by="cma_roce_tos of MLNX_OFED; cma_roce_tos of mlnx-tools",
    ),
)  # fmt: skip
