"""GPUs as their drivers see them: `nvidia-smi`, the fabric manager; from captures also the table of `nvidia-smi` and `amd-smi`.

`nvidia-smi` is asked for its log as XML, once: one spelling for every driver, where a query for named columns fails as a whole
when a driver lacks one of them. What hangs on load (clocks, the speed of the PCI link, the performance state) is volatile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from auditor.address import Layer
from auditor.canonical import nothing, pci
from auditor.dialects import amd_smi, nvidia_smi
from auditor.errors import NormaliseError
from auditor.facts import Firmware, Gpu
from auditor.model import Fill, GapReason, Normalised, Normaliser, Parameter, Parser, Source, Unread

_GENERATIONS = {
    "1": 2_500_000_000, "2": 5_000_000_000, "3": 8_000_000_000, "4": 16_000_000_000, "5": 32_000_000_000, "6": 64_000_000_000,
}  # fmt: skip
"""Transfers per second of a lane by generation of PCI Express, as its specification has them."""

_COLUMNS = {
    "uuid": "uuid", "product": "model", "performance_state": "performance_state", "link_generation": "link_speed",
    "fabric_state": "fabric_state", "fabric_status": "fabric_status",
}  # fmt: skip
"""Columns of `gpu` by the name of the field in the log."""
_FABRIC = ("fabric_state", "fabric_status")
"""Where `N/A` is an answer: the GPU has no part in an NVLink fabric."""


def _log(read: Callable[[str], nvidia_smi.Log]) -> Normaliser:
    def normalise(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
        try:
            found = read(body)
        except ValueError as error:
            reason = GapReason.TRUNCATED if "cut off" in str(error) else GapReason.UNPARSED
            yield Unread(Gpu, reason=reason, detail=str(error))
            yield Unread(Firmware, ("driver.gpu",), "version", reason, str(error))
            return
        if found.driver is not None:
            yield Firmware(component="driver.gpu", version=found.driver)
        for index, device in enumerate(found.devices):
            yield from _gpu(device, index if found.attached == len(found.devices) else None)
        if not found.whole:
            told = "does not say how many GPUs there are" if found.attached is None else f"announces {found.attached} GPUs"
            detail = f"{told} and shows {len(found.devices)}, the last one perhaps in part"
            yield Unread(Gpu, reason=GapReason.TRUNCATED, detail=detail)
            if found.driver is None:
                yield Unread(Firmware, ("driver.gpu",), "version", GapReason.TRUNCATED, detail)

    return normalise


def _gpu(device: nvidia_smi.Device, index: int | None) -> Iterator[Normalised]:
    address = pci(device.pci)
    known: dict[str, str] = {}
    complaint = next((text for text in device.values.values() if nvidia_smi.COMPLAINTS.fullmatch(text)), None)
    if complaint is not None:
        yield Unread(Gpu, (address,), None, GapReason.REJECTED, f"the driver says {complaint[:60]!r}")
    for name, column in _COLUMNS.items():
        text = device.values.get(name)
        if text is not None and not nothing(text) and not nvidia_smi.COMPLAINTS.fullmatch(text):
            known[name] = text
        elif complaint is None and device.whole and (text is None or name not in _FABRIC):
            detail = "this version of the driver does not print it" if text is None else f"the driver says {text[:60]!r}"
            yield Unread(Gpu, (address,), column, GapReason.UNSUPPORTED, detail)
    generation = known.get("link_generation")
    yield Gpu(
        pci=address,
        index=index,
        uuid=known.get("uuid"),
        model=known.get("product"),
        fabric_state=known["fabric_state"].lower() if "fabric_state" in known else None,
        fabric_status=known["fabric_status"].lower() if "fabric_status" in known else None,
        performance_state=known.get("performance_state"),
        link_speed=_GENERATIONS.get(generation) if generation else None,
    )
    yield from _vbios(f"gpu.{address}.vbios", device.values.get("vbios"), device.values.get("board"))


def _vbios(component: str, version: str | None, board: str | None) -> Iterator[Normalised]:
    told = {
        column: text
        for column, text in (("version", version), ("part_number", board))
        if text is not None and not nothing(text) and not nvidia_smi.COMPLAINTS.fullmatch(text)
    }
    if "version" in told:
        yield Firmware(component=component, **told)
    elif version is not None:
        reason = GapReason.UNSUPPORTED if nothing(version) else GapReason.REJECTED
        yield Unread(Firmware, (component,), "version", reason, f"the driver says {version[:60]!r}")


def smi_table(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Driver, numbers and names from the table. It does not say how many GPUs there are, so none is proven absent by it."""
    driver, listed = nvidia_smi.table(body)
    if driver is not None:
        yield Firmware(component="driver.gpu", version=driver)
    for gpu in listed:
        address = pci(gpu.pci)
        if gpu.product is None:
            yield Unread(Gpu, (address,), "model", GapReason.TRUNCATED, "the table cuts the name")
        yield Gpu(pci=address, index=gpu.index, model=gpu.product)


def gpu_names(body: str) -> Iterable[str]:
    """PCI addresses of the GPUs in the XML log."""
    return [pci(text) for text in re.findall(r'<gpu id="([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])">', body)]


def nvlink(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """How many NVLinks of one GPU run."""
    found = list(nvidia_smi.nvlinks(body))
    address = parameters.get("gpu", "")
    if len(found) != 1:
        raise NormaliseError("nvidia_smi_nvlink", address, f"{len(found)} GPUs in the answer about one")
    links = found[0]
    if links.strange is not None:
        yield Unread(Gpu, (address,), "nvlinks_up", detail=f"no state of a link: {links.strange[:60]!r}")
    elif links.states or links.silent:
        yield Gpu(pci=address, nvlinks_up=links.up)
    else:
        yield Unread(Gpu, (address,), "nvlinks_up", GapReason.UNSUPPORTED, "the driver lists no NVLinks of this GPU")


def by_number(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Answers about all GPUs by number and UUID: without PCI addresses nobody can say which GPU is meant."""
    count = len(re.findall(r"^GPU \d{1,3}: ", body, re.MULTILINE))
    detail = f"names {count} GPUs by number, not by PCI address; ask by address: nvidia-smi nvlink -s -i ADDRESS"
    yield Unread(Gpu, column="nvlinks_up", reason=GapReason.NOT_COLLECTED, detail=detail)


def fabric_manager(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Version of the fabric manager that is installed."""
    found = re.findall(_MANAGER, body, re.MULTILINE)
    if len(found) != 1:
        raise NormaliseError("fabric_manager", "version", f"{len(found)} versions")
    yield Firmware(component="fabric_manager", version=found[0])


def amd_firmware(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Firmware of AMD GPUs, which this answer knows by their number only."""
    for number, versions in amd_smi.firmware(body).items():
        for name, version in versions.items():
            component = f"gpu.{number}.{name.lower()}"
            if nothing(version):
                yield Unread(Firmware, (component,), "version", GapReason.UNSUPPORTED, f"the driver says {version!r}")
            else:
                yield Firmware(component=component, version=version)


def amd_topology(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """AMD GPUs and how many others each one reaches over XGMI."""
    kinds = amd_smi.topology(body).get("LINK TYPE", {})
    columns = {address for row in kinds.values() for address in row}
    if not kinds or columns != set(kinds):
        yield Unread(Gpu, reason=GapReason.TRUNCATED, detail=f"{len(kinds)} of {len(columns)} rows in the table of link types")
    for address, row in kinds.items():
        if set(row.values()) <= {"SELF", "XGMI", "PCIE"}:
            yield Gpu(pci=pci(address), nvlinks_up=sum(kind == "XGMI" for kind in row.values()))
        else:
            yield Unread(Gpu, (pci(address),), "nvlinks_up", detail="a kind of link that is not known")


def _shown(key: str) -> str:
    """How the log writes the address in a key: `00000000:3B:00.0`. Other keys as they are."""
    found = re.fullmatch(r"(?:gpu\.)?([0-9a-f]{4,8}):([0-9a-f:.]+?)(?:\.vbios)?", key)
    return key if found is None else f"{found.group(1):0>8}:{found.group(2)}".upper()


_SEEN = ("index", "uuid", "model", "performance_state", "link_speed", "fabric_state", "fabric_status")
_DRIVER = Fill(Firmware, Layer.APPLIED, ("version", "part_number"), whole=False, only=("driver.gpu",))
_MANAGER = r"^\s*Fabric Manager version is\s*:\s*(\d[\w.-]*)\s*$"


def _proof(gpu: str, labels: Mapping[str, str], vbios: str) -> dict[str, str]:
    """Where the cells of one GPU stand: below the line that names it."""
    own = {f"gpu.{column}": f"{gpu}\n{label}" for column, label in labels.items()}
    return {"gpu": gpu, "firmware.version": f"{gpu}\n{vbios}", **own}


SOURCES = (
    Source(
        key="nvidia_smi", command="nvidia-smi -q -x", aliases=("nvidia-smi -x -q", "nvidia-smi --query --xml-format"),
        fills=(Fill(Gpu, Layer.APPLIED, _SEEN), _DRIVER), parser=Parser.TEXT, normalise=_log(nvidia_smi.xml),
        anchor=(r"<nvidia_smi_log>",), shown=_shown, seconds=45.0,
        proof=_proof(
            '<gpu id="{0}"',
            {
                "uuid": "<uuid>", "model": "<product_name>", "performance_state": "<performance_state>",
                "link_speed": "<current_link_gen>", "fabric_state": "<fabric>\n<state>", "fabric_status": "<fabric>\n<status>",
            },
            "<vbios_version>",
        ),
        proven_by="driver 535 of an A100, schema 12; 10 and 13 in the tests of telegraf; GPUs stand in their order",
    ),
    Source(
        key="nvidia_smi_text", command="nvidia-smi -q", aliases=("nvidia-smi --query",), fallback_for="nvidia_smi", sent=False,
        fills=(Fill(Gpu, Layer.APPLIED, _SEEN), _DRIVER), parser=Parser.TEXT, normalise=_log(nvidia_smi.log),
        anchor=(r"^=+NVSMI LOG=+", r"^Driver Version +: "), shown=_shown,
        proof=_proof(
            "^GPU {0}",
            {
                "uuid": "^ +GPU UUID ", "model": "^ +Product Name ", "performance_state": "^ +Performance State ",
                "link_speed": "^ +PCIe Generation\n^ +Current ", "fabric_state": "^ +Fabric\n^ +State ",
                "fabric_status": "^ +Fabric\n^ +Status ",
            },
            "^ +VBIOS Version ",
        ),
        proven_by="driver 535 of a host with eight H100",
    ),
    Source(
        key="nvidia_smi_table", command="nvidia-smi", fallback_for="nvidia_smi", sent=False,
        fills=(Fill(Gpu, Layer.APPLIED, ("index", "model"), whole=False), _DRIVER), parser=Parser.TEXT, normalise=smi_table,
        anchor=(r"\bDriver Version: \d", r"^\|\s+\d+ .*\| +[0-9A-Fa-f]{4,8}:"), shown=_shown,
        proof={"gpu": "{0}", "firmware": r"\bDriver Version: "},
        proven_by="driver 550 of a host with eight H100",
    ),
    Source(
        key="nvidia_smi_nvlink", command="nvidia-smi nvlink -s -i {gpu}", parameter=Parameter("gpu", ("nvidia_smi",), gpu_names),
        fills=(Fill(Gpu, Layer.APPLIED, ("nvlinks_up",)),), parser=Parser.TEXT, normalise=nvlink,
        anchor=(r"^GPU \d+: .* \(UUID: ",), proof={"gpu": r"^\s+Link \d+: "}, seconds=15.0, counts=True,
        proven_by="an A100 with twelve links; nvidia-smi nvlink -h: the GPU by its PCI address; links that are off: gpud",
    ),
    Source(
        key="nvidia_smi_by_number", command="nvidia-smi nvlink -s", aliases=("nvidia-smi nvlink --status", "nvidia-smi -L"),
        fills=(Fill(Gpu, Layer.APPLIED, ("nvlinks_up",), whole=False),), parser=Parser.TEXT, normalise=by_number, sent=False,
        anchor=(r"^GPU \d+: .* \(UUID: ",), proof={"gpu": r"^GPU \d+: "}, proven_by="a host with eight A100",
    ),
    Source(
        key="fabric_manager", command="nv-fabricmanager --version",
        fills=(Fill(Firmware, Layer.APPLIED, ("version",), whole=False, only=("fabric_manager",)),), parser=Parser.TEXT,
        normalise=fabric_manager, anchor=(_MANAGER,), proof={"firmware": _MANAGER},
        proven_by="version 450.102.04 on a DGX A100; 535.161.08 in the tests of gpud",
    ),
    Source(
        key="amd_firmware", command="amd-smi firmware",
        fills=(Fill(Firmware, Layer.APPLIED, ("version",), whole=False, only=("gpu",)),), parser=Parser.TEXT,
        normalise=amd_firmware, anchor=(r"^GPU: \d",), sent=False, proof={"firmware": r"^\s+FW_VERSION: "},
        proven_by="the first of eight MI355X",
    ),
    Source(
        key="amd_topology", command="amd-smi topology", fills=(Fill(Gpu, Layer.APPLIED, ("nvlinks_up",), whole=False),),
        parser=Parser.TEXT, normalise=amd_topology, anchor=(r"^LINK TYPE TABLE:",), sent=False,
        proof={"gpu": "^LINK TYPE TABLE\n^{0} "}, proven_by="a host with eight MI355X",
    ),
)  # fmt: skip
