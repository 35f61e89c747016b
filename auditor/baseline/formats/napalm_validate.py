"""NAPALM validate files: a list of getters, each with what its answer should hold, in the getter's own shape.

How NAPALM reads a value (napalm/base/validate.py): a text that begins with `<` or `>` is a bound, `a<->b` a range, `t%n` the
number n give or take t percent; any other text is *searched* in the answer as a regular expression, so `4.4.2` accepts
`14.4.21`; what is no text is compared as it is. Here a text must be the whole value, and each line whose meaning that narrows
says so. `_mode: strict` (nothing else may be there) has no counterpart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from auditor import canonical
from auditor.baseline.formats import Collector, Format, Imported, Options, leaves
from auditor.facts import TABLES, schema
from auditor.yamldoc import Path_, YamlDocument

_METHODS = re.compile(r"get_[a-z0-9_]+|ping|traceroute|is_alive")
_BOUND = re.compile(r"(<=|>=|<|>)(\d{1,18}(?:\.\d{1,9})?)")
_RANGE = re.compile(r"\s*(-?\d{1,18}(?:\.\d{1,9})?)\s*<->\s*(-?\d{1,18}(?:\.\d{1,9})?)\s*")
_TOLERANCE = re.compile(r"(\d{1,6})%(\d{1,18})")
_PLAIN = re.compile(r"[^\\^$*+?{}\[\]|]+")
"""Texts without a sign that only a pattern has. Brackets alone group nothing: `7.0(3)I2(2d)` is a version."""

_FACTS = {
    "os_version": "os_version", "hostname": "hostname", "vendor": "vendor", "model": "hardware_model", "serial_number": "serial",
}  # fmt: skip
_INTERFACE = {
    "is_up": "up", "is_enabled": "enabled", "description": "description", "mtu": "mtu", "speed": "speed", "mac_address": "mac",
}  # fmt: skip
_MOMENTS = ("uptime", "last_flapped")
_SIGNS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_PER_DEVICE = "names one device: assign this profile to that one alone"
_ONE = {
    "hostname": _PER_DEVICE,
    "serial": _PER_DEVICE,
    "vendor": "the name that NAPALM's driver gives: compare with what `auditor parse` shows",
    "hardware_model": "the name that NAPALM's driver gives: compare with what `auditor parse` shows",
    "mtu": "NAPALM passes on the device's number, this fact counts the largest IP packet: they differ where the device counts "
    "the Ethernet header (Junos, IOS XR)",
}
_REASONS = {
    "get_lldp_neighbors": "who is connected to whom belongs into the wiring plan, where the cabling rules look",
    "get_lldp_neighbors_detail": "who is connected to whom belongs into the wiring plan, where the cabling rules look",
    "get_config": "NAPALM itself does not look at it",
    "ping": "sends traffic, and auditor only reads",
    "traceroute": "sends traffic, and auditor only reads",
}


def recognises(document: YamlDocument) -> bool:
    """Whether it is a list of maps of which one names a getter."""
    data = document.data
    return isinstance(data, list) and any(isinstance(item, dict) and any(map(_METHODS.fullmatch, item)) for item in data)


def read(document: YamlDocument, options: Options) -> Imported:
    """The lines of `get_facts` and `get_interfaces`; every other check is left out with its reason."""
    out = Collector(document, options)
    for at, item in enumerate(document.data):
        if not isinstance(item, dict):
            out.leave_out((at,), f"item {at + 1}", "is no map of a getter to what its answer should hold")
            continue
        for getter, wanted in item.items():
            reader = _READERS.get(getter)
            if reader is None or not isinstance(wanted, dict):
                counted = f"{getter} (values: {leaves(wanted)})" if isinstance(wanted, dict) else getter
                reason = _REASONS.get(getter, "no fact holds what this method answers")
                out.leave_out(
                    (at,) if len(item) == 1 else (at, getter),
                    counted,
                    reason if reader is None else "what the answer should hold is no map",
                )
            elif "_kwargs" in wanted:
                out.leave_out((at, getter, "_kwargs"), getter, "_kwargs: the answer to other arguments is another fact")
            else:
                reader(out, (at, getter), wanted)
    return out.result()


def _facts(out: Collector, path: Path_, wanted: dict[str, Any]) -> None:
    _strict(out, path, wanted, "get_facts")
    for key, written in _checks(wanted):
        if key == "interface_list":
            _interface_list(out, (*path, key), written)
        elif key in _FACTS:
            _line(out, (*path, key), ("system", "", _FACTS[key]), written)
        else:
            out.leave_out((*path, key), f"get_facts.{key}", _unknown(key))


def _interfaces(out: Collector, path: Path_, wanted: dict[str, Any]) -> None:
    _strict(out, path, wanted, "get_interfaces")
    for name, fields in _checks(wanted):
        here = (*path, name)
        if not name:
            out.leave_out(here, "get_interfaces", "an empty text is no name of an interface")
            continue
        if not isinstance(fields, dict):
            out.leave_out(here, f"get_interfaces.{name}", "is no map of what is wanted of the interface")
            continue
        _strict(out, here, fields, f"get_interfaces.{name}")
        for key, written in _checks(fields):
            if key in _INTERFACE:
                _line(out, (*here, key), ("interface", name, _INTERFACE[key]), written)
            else:
                out.leave_out((*here, key), f"get_interfaces.{name}.{key}", _unknown(key))


def _interface_list(out: Collector, path: Path_, written: Any) -> None:
    names = written.get("list") if isinstance(written, dict) else None
    if not isinstance(names, list):
        out.leave_out(path, "get_facts.interface_list", "NAPALM wants the names below `list:`")
        return
    _strict(out, path, written, "get_facts.interface_list")
    for key in written:
        if key not in ("list", "_mode"):
            out.leave_out((*path, key), f"get_facts.interface_list.{key}", "NAPALM looks at `list:` only")
    for at, name in enumerate(names):
        here = (*path, "list", at)
        if isinstance(name, str) and _PLAIN.fullmatch(name):
            remark = "the interface is there, by this very name"
            out.add(here, ("interface", name, "enabled"), "present", True, _why(out, here), remark)
        else:
            out.leave_out(here, f"get_facts.interface_list: {name!r}", "no name of one interface")


_READERS: dict[str, Callable[[Collector, Path_, dict[str, Any]], None]] = {"get_facts": _facts, "get_interfaces": _interfaces}


def _checks(wanted: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, written) for key, written in wanted.items() if key not in ("_mode", "_name")]


def _strict(out: Collector, path: Path_, wanted: dict[str, Any], what: str) -> None:
    if "_mode" in wanted:
        out.leave_out((*path, "_mode"), f"{what}._mode", "no operator says that nothing else may be there")


def _unknown(key: str) -> str:
    return "what a moment looked like is no intent" if key in _MOMENTS else "no fact holds it"


def _why(out: Collector, path: Path_) -> str:
    return f"was checked with NAPALM ({path[1]}, line {out.source.line(*path)} of {out.file})"


def _line(out: Collector, path: Path_, address: tuple[str, str, str], written: Any) -> None:
    table, _, column = address
    kind = schema(TABLES[table]).columns[column].kind
    try:
        operator, value, remark = demand(written, kind, mac=column == "mac", scale=10**6 if column == "speed" else 1)
    except ValueError as problem:
        out.leave_out(path, ".".join(map(str, path[1:])), str(problem))
        return
    if out.add(path, address, operator, value, _why(out, path), remark) and column in _ONE:
        out.note(path, f"{table}.{column}: {_ONE[column]}")


def demand(written: Any, kind: str, *, mac: bool = False, scale: int = 1) -> tuple[str, Any, str]:
    """(operator, value, what it no longer accepts) of a value as NAPALM takes it, for a column of a kind.

    `scale` is what one unit of NAPALM's is in ours. Raises ValueError in words where there is no such line.
    """
    if isinstance(written, dict | list) or written is None:
        raise ValueError("is no single value")
    if kind == "bool":
        if not isinstance(written, bool):
            raise ValueError(f"NAPALM never finds {written!r} equal to true or false; write true or false without quotes")
        return "eq", written, ""
    if kind == "str":
        return _text(written, mac)
    return _number(written, kind, scale)


def _text(written: Any, mac: bool) -> tuple[str, Any, str]:
    if not isinstance(written, str):
        raise ValueError(f"{written!r} stands without quotes, so NAPALM never finds it in a text; put it in quotes")
    if written.startswith(("<", ">")) or written.count("<->") == 1 or _TOLERANCE.fullmatch(written):
        raise ValueError(f"{written!r} compares numbers, and this fact is a text; for versions write a line with `version`")
    if mac:
        return "eq", canonical.mac(written), ""
    if written and _PLAIN.fullmatch(written):
        return "eq", written, "NAPALM searched for it anywhere in the text; now it is the whole text"
    try:
        re.compile(written)
    except re.error as problem:
        raise ValueError(f"{written!r} is no regular expression, for NAPALM neither: {problem}") from None
    bare = re.sub(r"\\.|\[[^\]]*\]", "", written)
    if not written or "|" in bare:
        opened, closed = False, False
    else:
        opened, closed = written.startswith("^"), bare.endswith("$")
    if opened and closed:
        return "matches", written, ""
    if opened or closed:
        whole = written + ".*" if opened else ".*" + written
        return "matches", whole, "NAPALM searched with one end open; the open end is written out"
    return "matches", written, "NAPALM searched for it anywhere in the text; now it must match the whole text"


def _number(written: Any, kind: str, scale: int) -> tuple[str, Any, str]:
    whole = kind == "int"
    if isinstance(written, bool):
        raise ValueError(f"wants a number, not {written!r}")
    if isinstance(written, int | float):
        if not math.isfinite(written):
            raise ValueError(f"wants a number, not {written!r}")
        return "eq", _exact(Decimal(repr(written)), whole, scale), ""
    if not isinstance(written, str):
        raise ValueError(f"wants a number, not {written!r}")
    if found := _BOUND.fullmatch(written):
        sign, bound = found.group(1), Decimal(found.group(2)) * scale
        if not whole:
            return _SIGNS[sign], float(bound), ""
        if bound != int(bound):
            sign = sign[0] + "="
        return _SIGNS[sign], math.ceil(bound) if sign[0] == ">" else math.floor(bound), ""
    if found := _RANGE.fullmatch(written):
        return "between", _between(Decimal(found.group(1)) * scale, Decimal(found.group(2)) * scale, whole), ""
    if found := _TOLERANCE.fullmatch(written):
        middle = Decimal(found.group(2)) * scale
        spread = middle * int(found.group(1)) / 100
        return "between", _between(middle - spread, middle + spread, whole), ""
    if re.fullmatch(r"\d{1,18}", written):
        value = _exact(Decimal(written), whole, scale)
        return "eq", value, "NAPALM searched for these digits anywhere in the number; now it is the number"
    raise ValueError(f"{written!r} searches in the digits of a number; write a number or a bound like '>=9000'")


def _exact(number: Decimal, whole: bool, scale: int) -> int | float:
    number *= scale
    if scale != 1 and number <= 0:
        raise ValueError("NAPALM's drivers say 0 or -1 where they do not know it")
    if not whole:
        return float(number)
    if number != int(number):
        raise ValueError(f"{number} is no whole number, and this fact is one")
    return int(number)


def _between(low: Decimal, high: Decimal, whole: bool) -> tuple[int | float, int | float]:
    return (math.ceil(low), math.floor(high)) if whole else (float(low), float(high))


FORMAT = Format("napalm", "NAPALM validate file", recognises, read)
