"""Adapters as further tools print them, read from captures: `ibstat`, `ibstatus`, `ibdev2netdev`, `niccli`, `nicctl` and others.

None of these is sent: what they say of NVIDIA adapters comes with less from the commands that are. Those of other makers need
root, and how one asks for a single port by its address is proven of Broadcom's alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor import canonical
from auditor.address import Layer
from auditor.canonical import printable
from auditor.dialects import mlnx_qos, niccli, nicctl
from auditor.facts import Firmware, Gid, HostDscp, HostQos, Interface, Nic, QosPort, RdmaPort, from_plain
from auditor.model import Fill, GapReason, Normalised, Parameter, Parser, Source, Unread
from auditor.platforms.infiniband import ibstat_ports
from auditor.platforms.linux import qos

_STATES = {"ACTIVE": "active", "DOWN": "down", "INIT": "init", "ARMED": "armed"}
_STATUS = re.compile(r"^Infiniband device '(\S+)' port (\d+) status:[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]+([a-z][\w ]*):[ \t]+(.*?)[ \t]*$", re.MULTILINE)
_LINK_LAYERS = {"Ethernet": "ethernet", "InfiniBand": "infiniband"}


def ibstatus(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """State, rate, link layer and first address of every port. The rate of a port that is down is a placeholder."""
    heads = list(_STATUS.finditer(body))
    ends = [*(head.start() for head in heads[1:]), len(body)]
    for head, end in zip(heads, ends, strict=True):
        name, port = head.groups()
        fields = dict(_FIELD.findall(body[head.end() : end]))
        state = _STATES.get(fields.get("state", "").partition(": ")[2])
        layer = _LINK_LAYERS.get(fields.get("link_layer", ""))
        rate = re.fullmatch(r"(\d+(?:\.\d+)?) Gb/sec(?: \(.*\))?", fields.get("rate", ""))
        active = state == "active" and rate is not None
        yield RdmaPort(
            name=name, port=port, state=state, link_layer=layer,
            rate=round(float(rate[1]) * 1_000_000_000) if active and rate is not None else None,
        )  # fmt: skip
        if state is None:
            detail = "no state of the port" if "state" not in fields else f"no state: {fields['state'][:40]!r}"
            reason = GapReason.NOT_COLLECTED if "state" not in fields else GapReason.UNPARSED
            yield Unread(RdmaPort, (name, port), "state", reason, detail)
            yield Unread(RdmaPort, (name, port), "rate", reason, f"{detail}, so its rate may be a placeholder")
        elif state == "active" and rate is None:
            yield Unread(RdmaPort, (name, port), "rate", detail=f"no rate: {fields.get('rate', '')[:40]!r}")
        if layer is None:
            yield Unread(RdmaPort, (name, port), "link_layer", detail=f"no link layer: {fields.get('link_layer', '')[:40]!r}")
        if "default gid" in fields:
            yield Gid(rdma_name=name, port=port, index="0", address=fields["default gid"].lower())


_PLAIN = re.compile(r"(\S+) port (\d+) ==> (\S+) \((?:Up|Down)\)")
_VERBOSE = re.compile(r"(\S+) (\S+) \(\S+ - ([^()]*)\)\s*(?:\S.*?)?\s*fw (\S+) port (\d+) \((\w+) *\) ==> (\S+) \((?:Up|Down)\)")


def ibdev2netdev(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Which network device each RDMA port has; with `-v` its adapter, part number, firmware and state too.

    The part number is that of the card's vital product data; it may be empty, or `NA` for a virtual function.
    """
    for line in filter(None, map(str.strip, body.splitlines())):
        if found := _PLAIN.fullmatch(line):
            yield RdmaPort(name=found[1], port=found[2], netdev=found[3])
        elif found := _VERBOSE.fullmatch(line):
            pci, name, part, firmware, port, state, netdev = found.groups()
            pci = canonical.pci(pci)
            part = "" if part.strip() == "NA" else part.strip()
            yield RdmaPort(name=name, port=port, netdev=netdev, pci=pci, state=_STATES.get(state))
            yield Nic(pci=pci, netdev=netdev, part_number=part or None)
            yield Firmware(component=f"nic.{pci}", version=firmware)
        else:
            yield Unread(RdmaPort, reason=GapReason.TRUNCATED, detail=f"no port with a network device: {line[:60]!r}")


_SHOWN = re.compile(r"^=+ show configuration for device (\S+) / (\S+?)=+[ \t]*$", re.MULTILINE)


def rdma_qos(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """What the script prints of every network device: parts of `mlnx_qos`, the driver's `ecn` folder, both defaults of ToS."""
    heads = list(_SHOWN.finditer(body))
    ends = [*(head.start() for head in heads[1:]), len(body)]
    for head, end in zip(heads, ends, strict=True):
        netdev, rdma = head.groups()
        block = body[head.end() : end]
        trust, pfc = mlnx_qos.trust(block), mlnx_qos.pfc(block)
        yield QosPort(
            port=netdev,
            trust=(trust,) if trust in ("dscp", "pcp") else None,
            pfc_priorities=None if pfc is None else tuple(priority for priority, on in pfc.items() if on),
        )
        yield from qos.ecn(re.sub(r"^.*?(/sys/class/net/\S+) = ", r"\1:", block, flags=re.MULTILINE), {"netdev": netdev})
        tos = re.search(r"^cma_roce_tos: (\d{1,3})[ \t]*$", block, re.MULTILINE)
        tclass = re.search(r"/tc/1/traffic_class = Global tclass=(\d{1,3})[ \t]*$", block, re.MULTILINE)
        cells = {name: int(found[1]) for name, found in (("rdma_tos", tos), ("global_tclass", tclass)) if found is not None}
        yield from_plain(RdmaPort, {"name": rdma, "port": "1", **cells})


def niccli_list(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Addresses of every port of Broadcom's; the older list has the firmware, the newer one the network device."""
    for adapter in niccli.adapters(body):
        yield Nic(pci=adapter.pci, mac=adapter.mac, netdev=adapter.netdev or None)
        if adapter.firmware:
            yield Firmware(component=f"nic.{adapter.pci}", version=adapter.firmware)


def niccli_qos(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """PFC and the mapped code points of one port, which is named by its PCI address or by a number of the tool's own."""
    name = parameters.get("device", "")
    try:
        port = canonical.pci(name.replace("_", ":", 2).replace("_", "."))
    except ValueError:
        detail = f"{printable(name, 40)!r} is the tool's own number of a port, and the answer names none"
        for row_type, column in ((QosPort, "pfc_priorities"), (HostDscp, "priority")):
            yield Unread(row_type, (name,), column, GapReason.NOT_COLLECTED, detail)
        return
    pfc = niccli.pfc(body)
    yield QosPort(port=port, pfc_priorities=pfc)
    for dscp, priority in sorted(niccli.dscp_map(body).items()):
        yield HostDscp(netdev=port, dscp=str(dscp), priority=priority)
    detail = "code points without an entry in the application table are not printed"
    yield Unread(HostDscp, (port,), reason=GapReason.UNSUPPORTED, detail=detail)


def nicctl_qos(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """What every adapter trusts, the priority of its code points, and the priorities with PFC."""
    for nic in nicctl.nics(body):
        said = nic.status
        priorities = said.get("PFC no-drop priorities")
        kind = said.get("Classification type")
        yield QosPort(
            port=nic.pci,
            trust=("dscp",) if kind == "DSCP" else None,
            pfc_priorities=None if priorities is None else canonical.number_list(priorities.replace(" ", "")),
        )
        if kind != "DSCP":
            yield Unread(QosPort, (nic.pci,), "trust", detail=f"no classification that is known: {str(kind)[:40]!r}")
        if priorities is None:
            yield Unread(QosPort, (nic.pci,), "pfc_priorities", GapReason.TRUNCATED, "the answer stops before PFC")
        for dscp, priority in sorted((nic.dscp or {}).items()):
            yield HostDscp(netdev=nic.pci, dscp=str(dscp), priority=priority)
        if len(nic.dscp or {}) < mlnx_qos.CODE_POINTS:
            yield Unread(HostDscp, (nic.pci,), reason=GapReason.TRUNCATED, detail="not every code point is in the answer")


def nicctl_dcqcn(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The DSCP of the congestion notifications of every adapter whose congestion control is on."""
    for nic in nicctl.nics(body):
        dscp = nic.status.get("DSCP value used for CNP", "")
        if nic.status.get("Status") == "Enabled" and re.fullmatch(r"\d{1,2}", dscp):
            yield HostQos(netdev=nic.pci, cnp_dscp=int(dscp))
        else:
            disabled = nic.status.get("Status") == "Disabled"
            reason = GapReason.UNSUPPORTED if disabled else GapReason.TRUNCATED
            detail = "congestion control is off, and then no DSCP is printed" if disabled else "no DSCP of notifications"
            yield Unread(HostQos, (nic.pci,), "cnp_dscp", reason, detail)


def nicctl_port(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """MAC address, speed and error correction of every port as they are. Pause counts for a link only where its kind is not PFC.

    The MTU is that of the port, larger than what the network device sends, so it is not read.
    """
    for nic in nicctl.nics(body):
        said = nic.status
        yield Nic(pci=nic.pci, mac=canonical.mac(said["MAC address"]) if "MAC address" in said else None)
        up = said.get("Operational status") == "UP"
        yield Interface(
            name=nic.pci,
            speed=canonical.speed(said["speed"]) if up and "speed" in said else None,
            fec=canonical.fec(said["FEC type"]) if up and "FEC type" in said else None,
        )
        if nic.spec.get("Pause type") == "PFC":
            yield QosPort(port=nic.pci, global_pause_rx=False, global_pause_tx=False)
        if not up:
            whole = "Operational status" in said
            reason = GapReason.UNSUPPORTED if whole else GapReason.TRUNCATED
            detail = "the port is down" if whole else "the answer stops before what the port really does"
            for column in ("speed", "fec"):
                yield Unread(Interface, (nic.pci,), column, reason, detail)


def nicctl_lif(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """MAC address of every network device, from the JSON form."""
    for nic in data.get("nic", ()) if isinstance(data, dict) else ():
        for lif in nic.get("lif", ()):
            name, mac = lif.get("status", {}).get("name"), lif.get("spec", {}).get("mac_address")
            if isinstance(name, str) and isinstance(mac, str):
                yield Interface(name=name, mac=canonical.mac(mac))


_IBSTAT = r"^CA '{0}'" + "\n" + r"^\s+Port {1}:"
_BLOCK = r"^\s*NIC\s*: \S+\s+\({0}\)"
_PORTS = ("port_guid", "node_guid", "link_layer", "state", "rate")

SOURCES = (
    Source(
        key="ibstat", command="ibstat", sent=False, fills=(Fill(RdmaPort, Layer.APPLIED, _PORTS, whole=False),),
        parser=Parser.TEXT, normalise=ibstat_ports, anchor=(r"^CA '", r"^\s+Link layer: "),
        proof={
            "rdma_port": _IBSTAT, "rdma_port.state": _IBSTAT + "\n" + r"^\s+State:",
            "rdma_port.rate": _IBSTAT + "\n" + r"^\s+Rate:",
        },
        proven_by="ibstat of hosts with ConnectX-3 to ConnectX-7; infiniband-diags/ibstat.c of rdma-core",
    ),
    Source(
        key="ibstatus", command="ibstatus", sent=False,
        fills=(
            Fill(RdmaPort, Layer.APPLIED, ("state", "link_layer", "rate"), whole=False),
            Fill(Gid, Layer.APPLIED, ("address",), whole=False),
        ),
        parser=Parser.TEXT, normalise=ibstatus, anchor=(_STATUS.pattern, r"^\s+link_layer:"),
        proof={"rdma_port": r"^Infiniband device '{0}' port {1} status:", "gid": r"^Infiniband device '{0}' port {1} status:"},
        proven_by="ibstatus of a ConnectX-3 and of an H100 host; infiniband-diags/scripts/ibstatus.in of rdma-core",
    ),
    Source(
        key="ibdev2netdev", command="ibdev2netdev", aliases=("ibdev2netdev -v",), sent=False,
        fills=(
            Fill(RdmaPort, Layer.APPLIED, ("netdev", "pci", "state"), whole=False),
            Fill(Nic, Layer.APPLIED, ("netdev", "part_number"), whole=False),
            Fill(Firmware, Layer.APPLIED, ("version",), whole=False),
        ),
        parser=Parser.TEXT, normalise=ibdev2netdev, anchor=(r" port \d+ .*==> \S+ \((?:Up|Down)\)",),
        proof={"rdma_port": r"^(?:\S+ )?{0} (?:\(.*)?port {1} ", "nic": r"^{0} ", "firmware": r"^{0} "},
        shown=lambda component: component.removeprefix("nic."),
        proven_by="ibdev2netdev of MLNX_OFED hosts with ConnectX-5 to ConnectX-7, plain and with -v",
    ),
    Source(
        key="rdma_qos", command="rdma-qos.sh q", sent=False,
        aliases=("./rdma-qos.sh q", "set-rdma-qos.sh q", "./set-rdma-qos.sh q", "rdma-qos query"),
        fills=(
            Fill(QosPort, Layer.APPLIED, ("trust", "pfc_priorities"), whole=False),
            Fill(HostQos, Layer.APPLIED, ("cnp_dscp", "ecn_np", "ecn_rp"), whole=False),
            Fill(RdmaPort, Layer.APPLIED, ("rdma_tos", "global_tclass"), whole=False),
        ),
        parser=Parser.TEXT, normalise=rdma_qos, anchor=(_SHOWN.pattern, r"^QOS for rdma: "),
        proof={
            "qos_port": r"^=+ show configuration for device {0} ", "host_qos": r"^=+ show configuration for device {0} ",
            "rdma_port": r"^=+ show configuration for device \S+ / {0}=",
        },
        proven_by="the script of a network plug-in (set-rdma-qos.sh) and its output on a ConnectX host",
    ),
    Source(
        key="niccli_list", command="niccli --list_devices",
        aliases=("niccli --list", "niccli --listdev", "niccli -list", "niccli --list devices"), sent=False,
        fallback_for="ethtool_i",
        fills=(
            Fill(Nic, Layer.APPLIED, ("mac", "netdev"), whole=False), Fill(Firmware, Layer.APPLIED, ("version",), whole=False),
        ),
        parser=Parser.TEXT, normalise=niccli_list, anchor=(r"^\s*1 ?\) \S",),
        proof={"nic": r"(?i)PCI Address\s*: {0}", "firmware": r"^\s+BoardId\s+MAC Address\s+FwVersion"},
        proven_by="niccli of a BCM57508 (version 227) and of BCM57608 hosts",
    ),
    Source(
        key="niccli_qos", command="niccli --dev {device} qos --ets --show", sent=False,
        aliases=("niccli -dev {device} qos --ets --show", "niccli -i {device} qos --ets --show"),
        parameter=Parameter("device", (), lambda _body: ()),
        fills=(
            Fill(QosPort, Layer.APPLIED, ("pfc_priorities",), whole=False),
            Fill(HostDscp, Layer.APPLIED, ("priority",), whole=False),
        ),
        parser=Parser.TEXT, normalise=niccli_qos, anchor=(r"^IEEE 8021QAZ PFC TLV:", r"^TC Rate Limit:"),
        proof={"qos_port": r"^\s+PFC enabled:", "host_dscp": r"^\s+DSCP: {1}\s*$"},
        proven_by="niccli of a BCM57608 host; bnxt_setupcc.sh, which asks by PCI address",
    ),
    Source(
        key="nicctl_qos", command="nicctl show qos", sent=False,
        fills=(
            Fill(QosPort, Layer.APPLIED, ("trust", "pfc_priorities"), whole=False),
            Fill(HostDscp, Layer.APPLIED, ("priority",), whole=False),
        ),
        parser=Parser.TEXT, normalise=nicctl_qos, anchor=(r"^\s*NIC\s*: ", r"^\s*PFC no-drop priorities\s*:"),
        proof={"qos_port": _BLOCK, "host_dscp": _BLOCK + "\n" + r"^\s*DSCP\s*: \d"},
        proven_by="nicctl of Pollara hosts, set up and as delivered",
    ),
    Source(
        key="nicctl_dcqcn", command="nicctl show dcqcn", sent=False,
        fills=(Fill(HostQos, Layer.APPLIED, ("cnp_dscp",), whole=False),),
        parser=Parser.TEXT, normalise=nicctl_dcqcn, anchor=(r"^\s*NIC\s*: ", r"^\s*Status\s*: \w"),
        proof={"host_qos": _BLOCK + "\n" + r"^\s*DSCP value used for CNP"},
        proven_by="nicctl of a Pollara host",
    ),
    Source(
        key="nicctl_port", command="nicctl show port", sent=False,
        fills=(
            Fill(Nic, Layer.APPLIED, ("mac",), whole=False), Fill(Interface, Layer.APPLIED, ("speed", "fec"), whole=False),
            Fill(QosPort, Layer.APPLIED, ("global_pause_rx", "global_pause_tx"), whole=False),
        ),
        parser=Parser.TEXT, normalise=nicctl_port, anchor=(r"^\s*NIC\s*: ", r"^-{40,}[ \t]*$"),
        proof={"nic": _BLOCK, "interface": _BLOCK, "qos_port": _BLOCK},
        proven_by="nicctl of Pollara and Salina adapters",
    ),
    Source(
        key="nicctl_lif", command="nicctl show lif --json", aliases=("nicctl show lif -j",), sent=False,
        fills=(Fill(Interface, Layer.APPLIED, ("mac",), whole=False),),
        parser=Parser.JSON, normalise=nicctl_lif, proof={"interface": "/nic"},
        proven_by="nicctl of a Pollara host",
    ),
)  # fmt: skip
