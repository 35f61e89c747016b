"""Firmware of adapters as it runs and as the next start will load it: `devlink dev info`; from captures NVIDIA's flash tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.address import Layer
from auditor.canonical import printable
from auditor.dialects import devlink, mlxfwmanager, mlxlink, mstflint
from auditor.errors import NormaliseError
from auditor.facts import Firmware, RdmaPort
from auditor.model import Fill, GapReason, Normalised, Parameter, Parser, Source, Unread

_NAMES = {"mlx5_core": "fw.version", "ionic": "fw"}
"""The name under which a driver tells the version that its `ethtool -i` prints too. Other drivers name several parts (`fw.mgmt`,
`fw.undi` …), of which none is that text."""

_NO_VERSION = ("0.0.0000", "255.255.65535")
"""What mlx5 says when it could not read one (its `mlx5_fw_version_query`)."""


def devlink_dev_info(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Running and stored version and the parameter-set id of every PCI function whose driver tells them.

    A virtual function has a driver and nothing else; one whose driver knows of no stored version has none to come.
    """
    for device in devlink.devices(body):
        bus, _, place = device.handle.partition("/")
        name = _NAMES.get(device.fields.get("driver", ""))
        if bus != "pci" or name is None or not (device.running or device.fixed):
            continue
        component = f"nic.{canonical.pci(place)}"
        yield Firmware(
            component=component,
            version=_version(device.running.get(name)),
            pending_version=_version(device.stored.get(name)),
            psid=device.fixed.get("fw.psid"),
        )
        if device.stored.get(name) in _NO_VERSION:
            detail = f"the driver could not read it: {device.stored[name]}"
            yield Unread(Firmware, (component,), "pending_version", GapReason.UNSUPPORTED, detail)


def _version(text: str | None) -> str | None:
    return None if text in _NO_VERSION else text


def flint(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The firmware in the flash of one adapter, and the one that runs."""
    try:
        found = mstflint.firmware(body)
    except ValueError as error:
        raise NormaliseError("mstflint", "FW Version", str(error)) from error
    component = f"nic.{_pci(parameters['pci'], 'mstflint')}"
    yield Firmware(component=component, version=found.running, pending_version=found.stored, psid=found.psid)


def _pci(name: str, source: str) -> str:
    """The address that an adapter was asked by (file names of captures lose the dots)."""
    for text in (name, name.replace("_", ":", 2).replace("_", ".")):
        try:
            return canonical.pci(text)
        except ValueError:
            continue
    raise NormaliseError(source, "device", f"{printable(name, 60)!r} is no PCI address, and the answer names none")


def mlxfwmanager_text(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Part, parameter-set id and versions of every adapter."""
    yield from _devices(mlxfwmanager.devices(body))


def mlxfwmanager_xml(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The same from the XML form."""
    try:
        devices = mlxfwmanager.xml_devices(body)
    except ValueError as error:
        reason = GapReason.TRUNCATED if "cut off" in str(error) else GapReason.UNPARSED
        yield Unread(Firmware, reason=reason, detail=str(error))
        return
    yield from _devices(devices)


def _devices(devices: list[mlxfwmanager.Device]) -> Iterator[Normalised]:
    for device in devices:
        try:
            component = f"nic.{canonical.pci(device.name)}"
        except ValueError:
            named = printable(device.name, 60)
            detail = f"{device.part_number or 'an adapter'} is named by its device node {named!r}, not by its PCI address"
            yield Unread(Firmware, (f"nic.{named}",), reason=GapReason.NOT_COLLECTED, detail=detail)
            continue
        yield Firmware(
            component=component, version=device.running, pending_version=device.stored, part_number=device.part_number,
            psid=device.psid,
        )  # fmt: skip
        if device.running is None:
            yield Unread(Firmware, (component,), "version", GapReason.REJECTED, "the tool could not read this adapter")


def mlxlink_port(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The firmware that runs and the rate of an active port; the answer itself names neither port nor adapter.

    Its state is that of the cable (an active link of InfiniBand may still wait for its subnet manager), so it is not read.
    """
    sections = mlxlink.sections(body)
    operational, tool = sections.get("Operational Info", {}), sections.get("Tool Information", {})
    device = parameters.get("device", "")
    if operational.get("Speed", "").startswith("NVLink"):
        for row_type in (Firmware, RdmaPort):
            yield Unread(row_type, (device,), reason=GapReason.UNSUPPORTED, detail="an NVLink of a GPU or a switch, no adapter")
        return
    version = tool.get("Firmware Version")
    try:
        component = f"nic.{_pci(device, 'mlxlink')}"
    except NormaliseError:
        yield from _rate(device, operational)
        return
    if version is not None and not canonical.nothing(version):
        yield Firmware(component=component, version=version)


def _rate(device: str, operational: Mapping[str, str]) -> Iterator[Normalised]:
    try:
        rate = mlxlink.rate(operational)
    except ValueError as error:
        yield Unread(RdmaPort, (device, "1"), "rate", detail=str(error))
        return
    yield RdmaPort(name=device, port="1", rate=rate)


_BOTH = ("version", "pending_version", "psid")
_DEVLINK = r"^pci/{0}:" + "\n"
_FW = r"^\s+fw(?:\.version)? "
_NAMED = r"^\s+PCI Device Name:\s+{0}"

SOURCES = (
    Source(
        key="devlink_dev_info", command="devlink dev info",
        fills=(Fill(Firmware, Layer.APPLIED, _BOTH, whole=False),),
        parser=Parser.TEXT, normalise=devlink_dev_info, anchor=(r"^[\w.-]+/\S+:[ \t]*$",), empty=True,
        proof={
            "firmware": _DEVLINK + r"^\s+running:" + "\n" + _FW,
            "firmware.pending_version": _DEVLINK + r"^\s+stored:" + "\n" + _FW,
            "firmware.psid": _DEVLINK + r"^\s+fw\.psid ",
        },
        shown=lambda component: component.removeprefix("nic."),
        proven_by="devlink on an ionic host; mlx5.rst and devlink-info.rst of the kernel's documentation, netdev mails of mlx5; "
        "the kernel lets anyone ask (DEVLINK_CMD_INFO_GET)",
    ),
    # What devlink tells for all adapters at once, these read with root's rights through the window to the flash of one adapter
    # at a time, which its driver uses too. So nothing asks for them.
    Source(
        key="mstflint", command="mstflint -d {pci} q", sent=False,
        aliases=(
            "mstflint -d {pci} query", "mstflint -d {pci} q full", "mstflint -d {pci} query full", "flint -d {pci} q",
            "flint -d {pci} query", "flint -d {pci} q full", "flint -d {pci} query full",
        ),
        parameter=Parameter("pci", ("rdma_pci",), lambda _body: ()),
        fills=(Fill(Firmware, Layer.APPLIED, _BOTH, whole=False),),
        parser=Parser.TEXT, normalise=flint, anchor=(r"^FW Version(?:\(Running\))?:", r"^PSID:"),
        proof={
            "firmware": r"^FW Version:", "firmware.version": r"^FW Version\(Running\):|^FW Version:", "firmware.psid": r"^PSID:",
        },
        proven_by="mstflint of ConnectX-5, ConnectX-6 Dx and ConnectX-6 Lx; subcommands.cpp of mstflint",
    ),
    Source(
        key="mlxfwmanager", command="mlxfwmanager --query", aliases=("mlxfwmanager", "mstfwmanager --query", "mlxup --query"),
        sent=False,
        fills=(Fill(Firmware, Layer.APPLIED, (*_BOTH, "part_number"), whole=False),),
        parser=Parser.TEXT, normalise=mlxfwmanager_text, anchor=(r"^Device #\d+:",),
        proof={
            "firmware": _NAMED, "firmware.version": _NAMED + "\n" + r"^\s+FW \(Running\)|^\s+FW ",
            "firmware.pending_version": _NAMED + "\n" + r"^\s+FW ",
        },
        shown=lambda component: component.removeprefix("nic."),
        proven_by="mlxfwmanager of ConnectX-3, ConnectX-6 Lx and BlueField; mlxup of ConnectX-7 with an image that waits",
    ),
    Source(
        key="mlxfwmanager_xml", command="mlxfwmanager --query-format XML",
        aliases=("mlxfwmanager --query --query-format XML", "mlxup --query --query-format XML"), sent=False,
        fills=(Fill(Firmware, Layer.APPLIED, (*_BOTH, "part_number"), whole=False),),
        parser=Parser.TEXT, normalise=mlxfwmanager_xml, anchor=(r"<Devices\b",),
        proof={"firmware": r'<Device\b[^>]*pciName="{0}"'}, shown=lambda component: component.removeprefix("nic."),
        proven_by="mlxfwmanager of ConnectX-6 Lx; mlxfwmanager_common of mstflint",
    ),
    Source(
        key="mlxlink", command="mlxlink -d {device}", sent=False,
        aliases=("mlxlink -d {device} -m", "mlxlink -d {device} -m -c", "mlxlink -d {device} -m -c -e", "mlxlink -d {device} -c"),
        parameter=Parameter("device", (), lambda _body: ()),
        fills=(Fill(Firmware, Layer.APPLIED, ("version",), whole=False), Fill(RdmaPort, Layer.APPLIED, ("rate",), whole=False)),
        parser=Parser.TEXT, normalise=mlxlink_port, anchor=(r"^Operational Info[ \t]*$", r"^MFT Version\s*: "),
        proof={"firmware": r"^Firmware Version\s*: ", "rdma_port": r"^Speed\s*: "},
        proven_by="mlxlink of BlueField-3, of an EDR adapter and of a B200",
    ),
)  # fmt: skip
