"""What `ethtool` says of an adapter: driver, firmware, error correction, private flags of the driver."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.address import Layer
from auditor.facts import Firmware, Interface, Nic, NicFlag
from auditor.model import Fill, GapReason, Normalised, Parameter, Parser, Source, Unread
from auditor.platforms.linux.rdma import ethernet_netdevs, rdma_netdevs


def _labels(body: str) -> dict[str, str]:
    """Values by label of an answer that is nothing but `label: value` lines, of which the first of a label counts.

    Read without a template: a host answers two of these per adapter, and compiling one takes 4 ms each time.
    """
    values: dict[str, str] = {}
    for line in body.splitlines():
        label, colon, value = line.partition(":")
        if colon:
            values.setdefault(label.strip(), value.strip())
    return values


def ethtool_i(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Driver and firmware of the PCI function behind a network device; nothing for one that has none (a bond).

    `driver.nic` is NVIDIA's driver; others are `driver.nic.<driver>`, since most hosts run two and only one version each.
    """
    values = _labels(body)
    driver = values.get("driver", "").partition("[")[0].strip()  # over InfiniBand: mlx5_core[ib_ipoib]
    try:
        pci = canonical.pci(values.get("bus-info", ""))
    except ValueError:  # none, or another bus: virtio0, vmbus …
        return
    yield Nic(pci=pci, driver=driver or None, netdev=parameters["netdev"])
    component, firmware = f"nic.{pci}", values.get("firmware-version", "")
    # A bracket holds NVIDIA's parameter-set id (PSID). Other makers' texts are several versions in one.
    found = re.fullmatch(r"(\S+) \(([A-Z]{2,4}_?[A-Z0-9_]+)\)", firmware)
    if found is not None:
        yield Firmware(component=component, version=found.group(1), psid=found.group(2))
    elif canonical.nothing(firmware):
        yield Unread(Firmware, (component,), "version", GapReason.UNSUPPORTED, f"the driver {driver} prints none")
    else:
        yield Firmware(component=component, version=firmware)
    if driver and not canonical.nothing(values.get("version", "")):
        name = "driver.nic" if driver == "mlx5_core" else f"driver.nic.{driver}"
        yield Firmware(component=name, version=values["version"])


def ethtool_show_fec(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The error correction in use. `None` in use is no answer while more than that is allowed: the link may be down.

    The labels changed over the years: `Configured` gained `Supported/`, `encoding` became `encodings`.
    """
    values = _labels(body)
    netdev = parameters["netdev"]
    active = values.get("Active FEC encoding", values.get("Active FEC encodings", ""))
    configured = values.get("Configured FEC encodings", values.get("Supported/Configured FEC encodings", "")).split()
    if active == "None" and set(configured) - {"None", "Off"}:
        detail = f"none in use of {' '.join(configured)[:60]}: without a link the driver cannot tell"
        yield Unread(Interface, (netdev,), "fec", GapReason.UNSUPPORTED, detail)
        return
    try:
        yield Interface(name=netdev, fec=canonical.fec(active))
    except ValueError as error:
        yield Unread(Interface, (netdev,), "fec", detail=str(error))


def private_flags(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every private flag of one network device. A driver without any answers that it has none, which ends as unsupported."""
    netdev = parameters["netdev"]
    for line in body.splitlines():
        found = re.fullmatch(r"(\S(?:.*\S)?)\s*: (on|off)\s*", line)
        if found is not None:
            yield NicFlag(netdev=netdev, name=found.group(1), value=found.group(2) == "on")
        elif line.strip() and not line.startswith("Private flags for "):
            yield Unread(NicFlag, (netdev,), reason=GapReason.TRUNCATED, detail=f"no flag with on or off: {line.strip()[:60]!r}")


def pci_netdevs(body: str) -> list[str]:
    """Ethernet devices on the PCI bus, from the JSON of `ip -j -d link`; representors of virtual functions are left out.

    Before iproute2 5.14 the bus is not printed; then those without a kind of their own (bond, vlan, veth …) count.
    """
    links = [link for link in json.loads(body) if isinstance(link, dict) and link.get("link_type") == "ether"]
    if any("parentbus" in link for link in links):
        links = [link for link in links if link.get("parentbus") == "pci"]
    else:
        links = [link for link in links if not (isinstance(link.get("linkinfo"), dict) and "info_kind" in link["linkinfo"])]
    return [
        link["ifname"]
        for link in links
        if isinstance(link.get("ifname"), str) and not re.match(r"(?:c\d+)?pf\d+[vs]f\d", str(link.get("phys_port_name", "")))
    ]


SOURCES = (
    Source(
        key="ethtool_i", command="ethtool -i {netdev}", parameter=Parameter("netdev", ("rdma_link",), rdma_netdevs),
        fills=(
            Fill(Nic, Layer.APPLIED, ("driver", "netdev"), whole=False),
            Fill(Firmware, Layer.APPLIED, ("version", "psid"), whole=False),
        ),
        parser=Parser.TEXT, normalise=ethtool_i, anchor=(r"^driver: ", r"^supports-priv-flags: "),
        proof={
            "nic": r"^bus-info: ", "nic.driver": r"^driver: ", "firmware": r"^(?:firmware-)?version: ",
            "firmware.psid": r"^firmware-version: ",
        },
        proven_by="ethtool with mlx5_core, ionic, bnxt_en and ice; the kernel lets anyone ask (ETHTOOL_GDRVINFO)",
    ),
    Source(
        key="ethtool_show_fec", command="ethtool --show-fec {netdev}",
        parameter=Parameter("netdev", ("rdma_link",), ethernet_netdevs),
        fills=(Fill(Interface, Layer.APPLIED, ("fec",)),),
        parser=Parser.TEXT, normalise=ethtool_show_fec,
        anchor=(r"^FEC parameters for ", r"^Active FEC encodings?:"),
        proof={"interface.fec": r"^(?:Supported/)?Configured FEC|^Active FEC"},
        proven_by="ethtool's netlink/fec.c; netdev mails of ice and fbnic; the kernel lets anyone ask (ETHTOOL_GFECPARAM)",
    ),
    Source(
        key="ethtool_private_flags", command="ethtool --show-priv-flags {netdev}",
        parameter=Parameter("netdev", ("ip_link",), pci_netdevs),
        fills=(Fill(NicFlag, Layer.APPLIED, ("value",)),),
        parser=Parser.TEXT, normalise=private_flags, anchor=(r"^Private flags for ", r": (?:on|off)[ \t]*$"),
        proof={"nic_flag": r"^{1}\s*: "}, seconds=5.0,
        proven_by="ethtool with ice, i40e; ethtool 6.1 on a driver without flags; netlink/privflags.c of ethtool; the kernel "
        "lets anyone ask (ETHTOOL_MSG_PRIVFLAGS_GET)",
    ),
)  # fmt: skip
