"""ibdiagnet's `.topo`: a block for each system, a line for each of its cables; mostly every cable stands in both its blocks.

```text
MQM9700 leaf-1                                        system type, name, and maybe CFG: board=modifier,…
   P1 -4x-100G-> HCA_8 host-1 mlx5_0/P1               port, width and speed of one lane, type, name and port of the far end
```

As `ibtopodiff` reads it (ibutils, `IBFabric::parseTopology`): blanks and tabs separate, `#` begins a line of comment, an empty
line ends a block, and names of systems hold no slash. ibdiagnet itself also writes blocks without an empty line between them.
The type of a system must be known to the tool; a plan has it in the columns `a_model` and `b_model`, where it has it at all.

Ports are written as on the panel there, `P33` and `mlx5_0/P1`; a plan calls them `33` and, where the adapter has one port only,
`mlx5_0`. Boards of large switches (`L3/P5`) and adapters by number (`U1/P1`) keep their names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from auditor import canonical
from auditor.errors import PlanError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.document import REQUIRED
from auditor.plan.formats import (
    Imported,
    ImportedDevice,
    PlanFormat,
    decode,
    devices_of,
    in_order,
    lost,
    without_shared_ports,
    write_speed,
)  # fmt: skip
from auditor.plan.formats.collector import Collector

UNKNOWN_TYPE = "UNKNOWN"
"""Written for a system whose type the plan does not say; ibdiagnet knows no such system."""

_ARROW = r"-(?:(?P<width>\d{1,2})[xX]-)?(?:(?P<lane>[0-9.]{1,6})G?-|(?P<word>[A-Za-z]+\d*)-)?>"
_CABLE = re.compile(rf"[ \t]*([^ \t]+)[ \t]+{_ARROW}[ \t]+([^ \t]+)[ \t]+([^ \t]+)[ \t]+([^ \t]+)[ \t]*")
_SYSTEM = re.compile(r"[ \t]*([^ \t]+)[ \t]+([^ \t]+)(?:[ \t]+(CFG:.*))?[ \t]*")
_ADAPTER = r"mlx\d+_\w+|ibp\w+"
_LANES = tuple(sorted({*canonical.INFINIBAND_LANES.values()}))


def sniff(raw: bytes, _name: str) -> bool:
    """Whether the first lines are a system and a cable of it."""
    lines = raw[:65536].decode("utf-8-sig", "replace").split("\n")
    told = [line.rstrip("\r") for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return len(told) > 1 and _SYSTEM.fullmatch(told[0]) is not None and any(map(_CABLE.fullmatch, told[1:50]))


def read(raw: bytes, name: str, _options: Mapping[str, str]) -> Imported:
    """The cables of all blocks, each once."""
    out = Collector(name)
    system: tuple[str, str] | None = None
    lines = [text.rstrip("\r") for text in decode(raw, name).split("\n")]
    if not any(map(_CABLE.fullmatch, lines)):
        raise PlanError("holds no cable as ibdiagnet writes it, like P1 -4x-100G-> HCA_8 host-1 mlx5_0/P1", name)
    several = _several_ports(lines)
    for line, text in enumerate(lines, 1):
        if not text.strip(" \t"):
            system = None
        elif text.lstrip(" \t").startswith("#"):
            continue
        elif cable := _CABLE.fullmatch(text):
            if system is None:
                out.fail("is a cable, but no system stands above it", line)
            else:
                _cable(out, system, cable, line, several)
        elif found := _SYSTEM.fullmatch(text):
            kind, device, boards = found.groups()
            system = kind, device
            _system(out, kind, device, line)
            if boards:
                out.note(f"{boards.strip()}: which boards a system has is left out", line)
        else:
            out.fail(f"is neither a system nor a cable of one: {canonical.printable(text.strip(), 60)!r}", line)
    return out.result()


def _system(out: Collector, kind: str, device: str, line: int) -> None:
    out.device(ImportedDevice(device, hardware_model="" if kind == UNKNOWN_TYPE else kind), line)


def _several_ports(lines: list[str]) -> frozenset[tuple[str, str]]:
    """(system, adapter) of adapters that show another port than their first."""
    found, system = set(), ""
    for text in lines:
        cable = _CABLE.fullmatch(text)
        if cable is None:
            head = _SYSTEM.fullmatch(text)
            system = head.group(2) if head else ""
            continue
        for device, port in ((system, cable.group(1)), (cable.group(6), cable.group(7))):
            name, _, number = port.rpartition("/")
            if name and number != "P1":
                found.add((device, name))
    return frozenset(found)


def _port_here(device: str, port: str, several: frozenset[tuple[str, str]]) -> str:
    """A port as a plan writes it."""
    if found := re.fullmatch(r"P(\d+)", port):
        return found.group(1)
    if found := re.fullmatch(rf"({_ADAPTER})/P(\d+)", port):
        return f"{found[1]}/{found[2]}" if (device, found[1]) in several else found[1]
    return port


def _port_there(port: str) -> str:
    """A port as it is written on the panel."""
    if re.fullmatch(r"[0-9]+", port):
        return f"P{port}"
    if found := re.fullmatch(rf"({_ADAPTER})(?:/([0-9]+))?", port):
        return f"{found[1]}/P{found[2] or 1}"
    return port


def _cable(out: Collector, system: tuple[str, str], cable: re.Match[str], line: int, several: frozenset[tuple[str, str]]) -> None:
    port, _, _, _, far_type, far, far_port = cable.groups()
    _system(out, far_type, far, line)
    columns = {"a_device": system[1], "a_port": _port_here(system[1], port, several)}
    columns |= {"b_device": far, "b_port": _port_here(far, far_port, several)}
    columns |= {f"{side}_model": kind for side, kind in (("a", system[0]), ("b", far_type)) if kind != UNKNOWN_TYPE}
    try:
        speed = _speed(cable)
    except ValueError:
        out.note("the speed on the arrow is none that is known, and is left out", line)
    else:
        columns |= {"speed": write_speed(speed)} if speed else {}
    out.add(columns, line)


def _speed(cable: re.Match[str]) -> int | None:
    """Bits per second over all lanes; None where the arrow does not say the speed of a lane. Four lanes unless it says."""
    width, lane, word = int(cable["width"] or 4), cable["lane"], cable["word"]
    if word:
        return canonical.infiniband_rate(f"{width}x{word}")
    if lane and canonical.speed(f"{lane}G") not in _LANES:
        raise ValueError(f"no speed of a lane: {lane}")
    return width * canonical.speed(f"{lane}G") if lane else None


def write(plan: Plan) -> tuple[str, tuple[str, ...]]:
    """A block for each device, every cable in both, speeds over four lanes, or over fewer where only that is a speed."""
    plan = replace(plan, links=tuple(replace(link, a=_on_panel(link.a), b=_on_panel(link.b)) for link in plan.links))
    without_shared_ports(plan, FORMAT.title)
    devices, blocks = devices_of(plan.links), defaultdict[str, list[tuple[PlanEnd, PlanLink]]](list)
    for link in in_order(plan.links):
        for end in (link.a, link.b):
            _refuse(plan, end, link)
            blocks[end.device].append((end, link))
    types = {name: device.hardware_model or UNKNOWN_TYPE for name, device in devices.items()}
    for name, kind in types.items():
        if re.search(r"[/\s]|^#", kind):
            raise PlanError(f"{name}: a type of system holds no blank and no slash: {kind!r}", plan.file or plan.name)
    lines = []
    for name in sorted(blocks, key=canonical.natural):
        lines.append(f"{types[name]} {name}")
        for end, link in sorted(blocks[name], key=lambda item: canonical.natural(item[0].port)):
            far = link.other(end)
            lines.append(f"   {end.port} -{_arrow(link.speed) or ''}> {types[far.device]} {far.device} {far.port}")
        lines.append("")
    unsaid = any(link.speed is not None and _arrow(link.speed) is None for link in plan.links)
    return "\n".join(lines), lost(plan, FORMAT.carries - ({"speed"} if unsaid else set()))


def _on_panel(end: PlanEnd) -> PlanEnd:
    return replace(end, port=_port_there(end.port))


def _refuse(plan: Plan, end: PlanEnd, link: PlanLink) -> None:
    for text, signs in ((end.device, r"[/\s]"), (end.port, r"\s|^#")):
        if re.search(signs, text):
            message = f"{text!r} cannot be written: blanks, and slashes in the name of a system, mean something else here"
            raise PlanError(message, plan.file or plan.name, link.line)


def _arrow(speed: int | None) -> str | None:
    """`4x-100G-` for 400G; None for what no number of lanes gives."""
    for width in (4, 2, 1, 8, 12):
        if speed is not None and speed % width == 0 and speed // width in _LANES:
            return f"{width}x-{speed / width / 10**9:g}G-"
    return None


FORMAT = PlanFormat(
    name="topo",
    title="ibdiagnet .topo",
    suffixes=(".topo",),
    sniff=sniff,
    read=read,
    write=write,
    carries=frozenset({*REQUIRED, "speed", "a_model", "b_model"}),
    note="Cables between InfiniBand systems as ibdiagnet -w writes and -t compares them; no blanks in names.",
)
