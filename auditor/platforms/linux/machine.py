"""What the machine and its operating system are: name, kernel, distribution, maker, model, BIOS version."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from auditor.address import Layer
from auditor.canonical import nothing
from auditor.errors import NormaliseError
from auditor.facts import Firmware, System
from auditor.model import Fill, GapReason, Normalised, Normaliser, Parser, Privilege, Source, Unread

_PLACEHOLDER = re.compile(r"to be filled by o\.?e\.?m\.?|default string|system (?:manufacturer|product name)", re.I)


def _stated(text: str) -> str | None:
    """A text of the machine's maker; None for what makers leave there when they state nothing."""
    text = text.strip()
    return None if nothing(text) or _PLACEHOLDER.fullmatch(text) else text


def _line(body: str, source: str) -> str:
    """The only line of an answer; raises NormaliseError when there are more or it is too long for a name or a version."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    if len(lines) != 1 or len(lines[0]) > 255:
        raise NormaliseError(source, "line", f"{len(lines)} lines, not one; the first: {lines[0][:80] if lines else ''}")
    return lines[0]


def _system(source: str, column: str) -> Normaliser:
    """A normaliser for an answer of one line that is one column of `system`."""

    def normalise(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
        yield System(**{column: _stated(_line(body, source))})

    return normalise


def bios_version(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`firmware[bios]` from the file of the kernel that holds its version."""
    yield from _bios(_line(body, "bios_version"))


def _bios(text: str) -> Iterator[Normalised]:
    version = _stated(text)
    if version is None:
        yield Unread(Firmware, ("bios",), "version", GapReason.UNSUPPORTED, f"the machine's maker wrote {text.strip()[:60]!r}")
    else:
        yield Firmware(component="bios", version=version)


def os_release(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Name, version and build of the distribution (os-release(5): assignments, quoted as a shell would)."""
    values: dict[str, str] = {}
    for line in body.splitlines():
        name, equals, quoted = line.strip().partition("=")
        if equals and not name.startswith("#"):
            try:
                values[name] = " ".join(shlex.split(quoted))
            except ValueError as error:
                raise NormaliseError("os_release", name, line[:80]) from error
    yield System(
        os_name=values.get("NAME") or values.get("ID"),
        os_version=values.get("VERSION_ID") or None,
        image_id=values.get("BUILD_ID") or None,
    )


def dmidecode(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """BIOS version, maker and model out of the blocks of `dmidecode`, of which the first of a kind counts."""
    blocks: dict[str, dict[str, str]] = {}
    for block in re.split(r"^Handle 0x[0-9A-Fa-f]+, .*$", body, flags=re.MULTILINE)[1:]:
        title, *lines = [line for line in block.splitlines() if line.strip()] or [""]
        pairs = (line.strip().partition(":") for line in lines)
        blocks.setdefault(title.strip(), {label: value.strip() for label, colon, value in pairs if colon})
    if "BIOS Information" in blocks:
        yield from _bios(blocks["BIOS Information"].get("Version", ""))
    else:
        yield Unread(Firmware, ("bios",), "version", GapReason.NOT_COLLECTED, "the answer holds no block BIOS Information")
    if "System Information" in blocks:
        system = blocks["System Information"]
        yield System(vendor=_stated(system.get("Manufacturer", "")), hardware_model=_stated(system.get("Product Name", "")))
    else:
        yield Unread(System, reason=GapReason.NOT_COLLECTED, detail="the answer holds no block System Information")


def _one_line(
    key: str, command: str, fill: Fill, normalise: Normaliser, *, proven_by: str, anchor: str = r"\S", alias: str = ""
) -> Source:
    """A source whose whole answer is one line, which is also what proves its cell."""
    return Source(
        key=key, command=command, fills=(fill,), parser=Parser.TEXT, normalise=normalise,
        anchor=(anchor,), proof={fill.row_type.TABLE: anchor}, seconds=5.0, proven_by=proven_by,
        aliases=(alias,) if alias else (),
    )  # fmt: skip


_DMI = "drivers/firmware/dmi-id.c of the Linux kernel: one text per file, mode 0444"

SOURCES = (
    _one_line(
        "hostname", "uname -n", Fill(System, Layer.APPLIED, ("hostname",)), _system("hostname", "hostname"),
        alias="hostname", anchor=r"^[A-Za-z0-9][\w.-]*$", proven_by="POSIX uname",
    ),
    _one_line(
        "kernel", "uname -r", Fill(System, Layer.APPLIED, ("kernel",)), _system("kernel", "kernel"),
        anchor=r"^\d+\.\d+\S*$", proven_by="POSIX uname",
    ),
    Source(
        key="os_release", command="cat /etc/os-release", aliases=("cat /usr/lib/os-release",),
        fills=(Fill(System, Layer.APPLIED, ("os_name", "os_version", "image_id")),),
        parser=Parser.TEXT, normalise=os_release, anchor=(r"^(?:ID|NAME)=",),
        proof={"system": r"^NAME=", "system.os_version": r"^VERSION_ID=", "system.image_id": r"^BUILD_ID="},
        proven_by="os-release(5)", seconds=5.0,
    ),
    _one_line(
        "bios_version", "cat /sys/class/dmi/id/bios_version", Fill(Firmware, Layer.APPLIED, ("version",), whole=False),
        bios_version, proven_by=_DMI,
    ),
    _one_line(
        "sys_vendor", "cat /sys/class/dmi/id/sys_vendor", Fill(System, Layer.APPLIED, ("vendor",)),
        _system("sys_vendor", "vendor"), proven_by=_DMI,
    ),
    _one_line(
        "product_name", "cat /sys/class/dmi/id/product_name", Fill(System, Layer.APPLIED, ("hardware_model",)),
        _system("product_name", "hardware_model"), proven_by=_DMI,
    ),
    Source(
        key="dmidecode", command="dmidecode -t bios -t system", aliases=("dmidecode",), privilege=Privilege.SUDO,
        fallback_for="bios_version",
        fills=(
            Fill(Firmware, Layer.APPLIED, ("version",), whole=False),
            Fill(System, Layer.APPLIED, ("vendor", "hardware_model")),
        ),
        parser=Parser.TEXT, normalise=dmidecode, anchor=(r"^# dmidecode ", r"^Handle 0x"),
        proof={
            "firmware": "^BIOS Information\n" + r"^\s+Version: ", "system": "^System Information",
            "system.vendor": "^System Information\n" + r"^\s+Manufacturer: ",
            "system.hardware_model": "^System Information\n" + r"^\s+Product Name: ",
        },
        proven_by="dmidecode 3.2 to 3.4 of Dell, HPE and Supermicro servers",
    ),
)  # fmt: skip
