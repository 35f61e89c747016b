"""ANTA catalogs: tests by Python module (`anta.tests.interfaces:`, nested ones too), each a class with its inputs or nothing.

What the tests look at is read in their own code (anta/tests). Traps: `filters.tags` is the only thing that ties a test to
devices, so one catalog holds the checks of several profiles; names of interfaces may be short (`eth1`); a version like `4.30`
without quotes is a number; an ignored interface wins over one with an MTU of its own; tests have defaults.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from auditor.baseline.formats import Collector, Format, Imported, Options
from auditor.yamldoc import Path_, YamlDocument

_SHORT = {"et": "Ethernet", "po": "Port-Channel", "lo": "Loopback", "vl": "Vlan"}
_NAME = re.compile(r"([A-Za-z][A-Za-z-]*)(\d+(?:/\d+)*(?:\.\d+)?)")
_OVERWRITE, _FILTERS = "result_overwrite", "filters"
_TAGGED = "only for devices tagged"
_PORT_TYPES = ("Ethernet", "Port-Channel")

_REASONS = {
    "VerifyLLDPNeighbors": "who is connected to whom belongs into the wiring plan, where the cabling rules look",
    "VerifyL2MTU": "counts the Ethernet MTU of bridged ports, and interface.mtu counts IP packets; write a line of your own",
    "VerifyRunningConfigDiffs": "needs no line: the rule lifecycle.unsaved asks it of every device",
    "VerifyTransceiversManufacturers": "no fact holds who made an optic",
}


def recognises(document: YamlDocument) -> bool:
    """Whether it maps Python modules to lists of tests, at least one of them ANTA's or called `Verify…`."""
    if not isinstance(document.data, dict):
        return False
    found = list(_tests(document.data, (), ""))
    return any(module.startswith("anta.") or name.startswith("Verify") for _, module, name, _ in found)


def read(document: YamlDocument, options: Options) -> Imported:
    """The lines of the tests that say something about our facts; every other test is left out with its reason."""
    out = Collector(document, options)
    for path, module, name, inputs in _tests(document.data, (), ""):
        reader = _READERS.get(name) if module.startswith("anta.tests") else None
        if not name:
            out.leave_out(path, module or "catalog", "is no list of tests, each a class with its inputs")
        elif reader is None:
            out.leave_out(path, name, _REASONS.get(name, "no fact holds what this test looks at"))
        elif not isinstance(inputs, dict | None):
            out.leave_out(path, name, "inputs must be a map")
        elif (reason := _elsewhere(inputs or {}, options.tags)) is not None:
            if options.tags and reason.startswith(_TAGGED):
                out.note(path, "not asked for: only for devices with other tags")
            else:
                out.leave_out(path, name, reason)
        else:
            reader(_Test(out, path, name, inputs or {}))
    return out.result()


def _tests(data: dict[str, Any], path: Path_, package: str) -> Iterator[tuple[Path_, str, str, Any]]:
    """(path, module, class, inputs) of every test; without a class where something else stands."""
    for key, value in data.items():
        module, here = f"{package}.{key.lstrip('.')}" if package else key, (*path, key)
        if isinstance(value, dict):
            yield from _tests(value, here, module)
        elif isinstance(value, list):
            for at, item in enumerate(value):
                if isinstance(item, dict) and len(item) == 1:
                    name, inputs = next(iter(item.items()))
                    yield (*here, at), module, name, inputs
                else:
                    yield (*here, at), module, "", item
        else:
            yield here, module, "", value


def _elsewhere(inputs: dict[str, Any], wanted: frozenset[str]) -> str | None:
    """Why a test is not about the devices of the profile, or None."""
    filters = inputs.get(_FILTERS)
    if filters is None or filters == {}:
        return None
    tags = filters.get("tags") if isinstance(filters, dict) else None
    if not isinstance(filters, dict) or set(filters) != {"tags"} or not isinstance(tags, list | None):
        return "filters: only a list of tags says which devices a test is for"
    if not tags or wanted & set(map(str, tags)):
        return None
    return f"{_TAGGED} {', '.join(map(str, tags))}: import those with --tag into a profile of their own"


class _Test:
    """One test with its inputs: where it stands, and how lines are made of it."""

    def __init__(self, out: Collector, path: Path_, name: str, inputs: dict[str, Any]) -> None:
        self.out, self.path, self.name = out, path, name
        self.inputs = {key: value for key, value in inputs.items() if key not in (_FILTERS, _OVERWRITE)}
        overwrite = inputs.get(_OVERWRITE)
        told = overwrite.get("description") if isinstance(overwrite, dict) else None
        place = f"{name}, line {out.source.line(*path)} of {out.file}"
        self.why = f"{told.strip()} ({place})" if isinstance(told, str) and told.strip() else f"was checked with ANTA ({place})"

    def at(self, *steps: str | int) -> Path_:
        return (*self.path, self.name, *steps)

    def add(self, path: Path_, name: str, column: str, value: Any, remark: str = "", *, selects: bool = False) -> None:
        """One line on interfaces."""
        self.out.add(path, ("interface", name, column), "eq", value, self.why, remark, selects=selects)

    def left(self, path: Path_, reason: str, what: str = "") -> None:
        self.out.leave_out(path, f"{self.name}{what and ' '}{what}", reason)

    def others(self, *known: str) -> bool:
        """Leave the test out when it has inputs beside the known ones: they may limit what it says."""
        odd = [key for key in self.inputs if key not in known]
        if odd:
            self.left(self.path, f"what the input {odd[0]!r} means is not known")
        return bool(odd)

    def interfaces(self) -> Iterator[tuple[Path_, str, dict[str, Any]]]:
        """(path, name, inputs) of every entry of `interfaces`."""
        entries = self.inputs.get("interfaces")
        if not isinstance(entries, list):
            self.left(self.path, "has no list of interfaces")
            return
        for at, entry in enumerate(entries):
            here = self.at("interfaces", at)
            name = _interface(entry.get("name")) if isinstance(entry, dict) else None
            if name is None:
                self.left(here, "an entry wants the name of an interface")
            else:
                yield here, name, entry


def _interface(written: Any) -> str | None:
    """The long name of an interface, as ANTA completes it; None when it is no name."""
    found = _NAME.fullmatch(written) if isinstance(written, str) else None
    if found is None:
        return None
    word, number = found.groups()
    full = next((full for short, full in _SHORT.items() if word.lower().startswith(short)), word[0].upper() + word[1:])
    return full + number


def _versions(test: _Test) -> None:
    versions, address = test.inputs.get("versions"), ("system", "", "os_version")
    if test.others("versions"):
        return
    if not isinstance(versions, list) or not versions:
        test.left(test.path, "has no list of versions")
        return
    odd = next((version for version in versions if not isinstance(version, str)), None)
    if odd is not None:
        test.left(test.at("versions"), f"{odd!r} is a number and no version; put it in quotes")
    elif len(versions) == 1:
        test.out.add(test.at("versions"), address, "eq", versions[0], test.why)
    else:
        test.out.add(test.at("versions"), address, "in", tuple(versions), test.why)


def _l3_mtu(test: _Test) -> None:
    if test.others("mtu", "ignored_interfaces", "specific_mtu"):
        return
    ignored = test.inputs.get("ignored_interfaces")
    ignored = [] if ignored is None else ignored
    entries = test.inputs.get("specific_mtu") or []
    general = test.inputs.get("mtu", 1500)
    shaped = isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
    if not shaped or not isinstance(ignored, list) or not all(isinstance(item, str) for item in ignored):
        test.left(test.path, "specific_mtu is no list of maps, or ignored_interfaces no list of names")
        return
    specific: dict[str, tuple[Path_, Any]] = {}
    for at, entry in enumerate(entries):
        for written, mtu in entry.items():
            here, name = test.at("specific_mtu", at, written), _interface(written)
            if name is None:
                test.left(here, f"{written!r} is no name of an interface")
            elif _ignored(name, ignored):
                test.left(here, "has no effect: ANTA ignores the interface", name)
            else:
                if name in specific:
                    test.left(specific[name][0], "has no effect: a later entry replaces it", name)
                specific[name] = (here, mtu)
    for name, (here, mtu) in specific.items():
        remark = "ANTA skips an interface that is missing or bridged; this line does not"
        test.add(here, name, "mtu", mtu, remark)
    excepted = [name for name, (_, mtu) in specific.items() if mtu != general]
    excepted += [item for item in ignored if item.startswith(_PORT_TYPES) or (_interface(item) or "").startswith(_PORT_TYPES)]
    if excepted:
        test.left(
            test.path,
            f"does not hold for {excepted[0]}, and a line cannot leave an interface out: give the others a port group of "
            "their own in fabric.yaml and write a line for it",
            f"mtu: {general}",
        )
        return
    default = "" if "mtu" in test.inputs else "ANTA's default; "
    remark = f"{default}ANTA checks routed interfaces, this line the planned ports: look at those that are bridged"
    test.add(test.at("mtu") if "mtu" in test.inputs else test.path, "@in_use", "mtu", general, remark, selects=True)
    test.left(
        test.path, "no fact says which interfaces are routed, so the line is about planned ports only", "on other interfaces"
    )


def _ignored(name: str, items: list[str]) -> bool:
    kind = re.split(r"\d", name, maxsplit=1)[0]
    return any(item == kind or _interface(item) == name for item in items)


def _speed(test: _Test) -> None:
    if test.others("interfaces"):
        return
    for here, name, entry in test.interfaces():
        speed = entry.get("speed")
        if isinstance(speed, bool) or not isinstance(speed, int | float) or not math.isfinite(speed) or not 1 <= speed <= 1000:
            test.left(here, "speed must be 1 to 1000 (Gbit/s)", name)
            continue
        test.add((*here, "speed"), name, "speed", round(speed * 10**9))
        test.out.note(here, "ANTA also wanted full duplex, which no fact holds: above 1 Gbit/s there is nothing else")
        if entry.get("auto") is True:
            test.add((*here, "auto"), name, "autoneg", True)
        for key in entry:
            if key not in ("name", "speed", "auto", "description"):
                test.left((*here, key), "no fact counts the lanes in use" if key == "lanes" else "is not known", f"{name} {key}")


def _status(test: _Test) -> None:
    if test.others("interfaces"):
        return
    wanted = {"up": {"enabled": True, "up": True}, "down": {"enabled": True, "up": False}, "adminDown": {"enabled": False}}
    for here, name, entry in test.interfaces():
        status, protocol = entry.get("status"), entry.get("line_protocol_status")
        if status not in ("up", "down", "adminDown"):
            test.left(here, "status must be up, down or adminDown", name)
            continue
        if protocol is not None and (status, protocol) != ("up", "up"):
            test.left((*here, "line_protocol_status"), "the facts know up and down only", f"{name} line_protocol_status")
            if status == "up":
                continue
        for column, value in wanted[status].items():
            test.add((*here, "status"), name, column, value)


def _error_disabled(test: _Test) -> None:
    if test.others("interfaces"):
        return
    names = test.inputs.get("interfaces")
    if names is None:
        test.add(test.path, "*", "error_disabled", False, selects=True)
        return
    for at, written in enumerate(names if isinstance(names, list) else [names]):
        name = _interface(written)
        if name is None:
            test.left(test.at("interfaces", at), "an entry wants the name of an interface")
        else:
            test.add(test.at("interfaces", at), name, "error_disabled", False)


_READERS: dict[str, Callable[[_Test], None]] = {
    "VerifyEOSVersion": _versions,
    "VerifyL3MTU": _l3_mtu,
    "VerifyInterfacesSpeed": _speed,
    "VerifyInterfacesStatus": _status,
    "VerifyInterfaceErrDisabled": _error_disabled,
}

FORMAT = Format("anta", "ANTA catalog", recognises, read)
