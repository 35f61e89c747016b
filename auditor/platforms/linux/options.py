"""Firmware options of NVIDIA adapters, as they run and as the next start will have them: `mlxconfig`, else `mstconfig`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.address import Layer
from auditor.dialects import mlxconfig as dialect
from auditor.errors import NormaliseError
from auditor.facts import Firmware, NicOption
from auditor.model import Fill, GapReason, Normalised, Parameter, Parser, Privilege, Source, Unread
from auditor.platforms.linux.rdma import nvidia_functions

_LAYERS = {"Current": Layer.APPLIED, "Next Boot": Layer.NEXT_BOOT}


def mlxconfig(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every option of one adapter at both layers, and its part number. What is elided or not known is a gap, so nothing absent
    is taken from it."""
    try:
        options = dialect.options(body)
    except ValueError as error:
        raise NormaliseError("mlxconfig", "options", str(error)) from error
    pci = _pci(parameters["pci"], options.device)
    if not canonical.nothing(options.name):
        yield Firmware(component=f"nic.{pci}", part_number=options.name)
    for header, layer in _LAYERS.items():
        if header not in options.columns:
            asked = "does not support reading" in body
            reason = GapReason.UNSUPPORTED if asked else GapReason.NOT_COLLECTED
            detail = "the firmware does not tell" if asked else "printed with -e only"
            yield Unread(NicOption, (pci,), "value", reason, detail, layer)
            continue
        for name, values in options.values.items():
            yield layer, NicOption(pci=pci, name=name, value=values[header])
            if values[header] is None:
                yield Unread(NicOption, (pci, name), "value", GapReason.UNSUPPORTED, "the tool does not know it", layer)
        for name in options.arrays:
            yield Unread(NicOption, (pci, name), "value", GapReason.UNSUPPORTED, "an array, printed without values", layer)
        if options.unread:
            detail = f"{len(options.unread)} lines are no rows of the table; the first: {options.unread[0].strip()[:60]!r}"
            yield Unread(NicOption, (pci,), reason=GapReason.TRUNCATED, detail=detail, layer=layer)


def _pci(parameter: str, device: str) -> str:
    """The adapter's address: as it was asked for, else as the answer names it (file names of captures lose the dots)."""
    for text in (parameter, device, parameter.replace("_", ":", 2).replace("_", ".")):
        try:
            return canonical.pci(text)
        except ValueError:
            continue
    raise NormaliseError("mlxconfig", "Device", f"{device[:60]!r} is no PCI address")


def _source(key: str, command: str, others: tuple[str, ...], fallback_for: str = "") -> Source:
    return Source(
        key=key, command=command, aliases=others, fallback_for=fallback_for, privilege=Privilege.SUDO, seconds=30.0,
        parameter=Parameter("pci", ("rdma_pci",), nvidia_functions),
        fills=(
            Fill(NicOption, Layer.APPLIED, ("value",)), Fill(NicOption, Layer.NEXT_BOOT, ("value",)),
            Fill(Firmware, Layer.APPLIED, ("part_number",), whole=False),
        ),
        parser=Parser.TEXT, normalise=mlxconfig, anchor=(r"^Configurations:.*\bNext Boot\b",),
        proof={"nic_option": r"^[ \t]*\*?[ \t]*(?:RO[ \t]+)?{1}[ \t]", "firmware": r"^Name:"},
        proven_by="mlxconfig of ConnectX-5 and ConnectX-7; mlxcfg_ui.cpp of mstflint",
    )  # fmt: skip


SOURCES = (
    _source(
        "mlxconfig", "mlxconfig -d {pci} -e q",
        ("mlxconfig -e -d {pci} q", "mlxconfig -d {pci} -e query", "mlxconfig -d {pci} q", "mlxconfig -d {pci} query"),
    ),
    _source(
        "mstconfig", "mstconfig -d {pci} -e q",
        ("mstconfig -e -d {pci} q", "mstconfig -d {pci} -e query", "mstconfig -d {pci} q", "mstconfig -d {pci} query"),
        fallback_for="mlxconfig",
    ),
)  # fmt: skip
