"""`python -m bench.side_by_side [FOLDER] [--write PAGE]`: which facts three tools see in the same captures.

FOLDER holds `<eos, nxos or junos>/<device>/<command>.<txt, json or xml>` and `SOURCES.tsv` with the columns `file` and `command`.
Each reads each file on its own: ntc-templates by its TextFSM template, NAPALM by its real driver over a device that
knows this one answer, auditor by the platform's parser. A fact is seen in a file when at least one row has a value for it.
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lxml import etree

from auditor.errors import AuditorError
from auditor.model import Platform
from auditor.platforms import platforms
from auditor.workflows.parse import parse_text

TEMPLATES = {"eos": "arista_eos", "nxos": "cisco_nxos", "junos": "juniper_junos"}

FACTS = {
    "system.os_version": "system version", "system.hardware_model": "model", "system.serial": "serial number",
    "interface.enabled": "administrative state", "interface.up": "operational state", "interface.speed": "speed",
    "interface.mtu_shown": "MTU, as a number", "interface.mtu": "MTU as IP packet", "interface.frame_bytes": "MTU as frame",
    "interface.fec": "FEC", "interface.error_disabled": "switched off by the device", "interface.description": "description",
    "neighbour.system": "LLDP system name", "neighbour.port_id": "LLDP port id", "neighbour.port_kind": "kind of the port id",
    "neighbour.chassis": "LLDP chassis id", "neighbour.chassis_kind": "kind of the chassis id",
    "neighbour.management_address": "LLDP management address", "neighbour.port_description": "LLDP port description",
    "optic.type": "module type", "optic.serial": "module serial", "optic.part_number": "module part number",
    "dscp_map.traffic_class": "DSCP to class", "queue.ecn_min_bytes": "ECN threshold", "queue.scheduler": "scheduler",
    "qos_port.trust": "trust", "qos_port.pfc_priorities": "PFC priorities",
}  # fmt: skip

NTC = {
    "version": "system.os_version", "image": "system.os_version", "os": "system.os_version", "junos_version": "system.os_version",
    "model": "system.hardware_model", "platform": "system.hardware_model", "serial": "system.serial",
    "serial_number": "system.serial", "chassis_serial_number": "system.serial",
    "link_status": "interface.up", "protocol_status": "interface.up", "status": "interface.up",
    "admin_state": "interface.enabled", "mtu": "interface.mtu_shown", "speed": "interface.speed", "bandwidth": "interface.speed",
    "description": "interface.description", "neighbor_name": "neighbour.system", "neighbor_interface": "neighbour.port_id",
    "chassis_id": "neighbour.chassis",
    "mgmt_address": "neighbour.management_address",
}  # fmt: skip
"""Fields of templates as our facts; of modules they are named apart, in MODULES."""

MODULES = {"type": "optic.type", "serial": "optic.serial", "part_number": "optic.part_number"}

GETTERS = {
    "os_version": "system.os_version", "model": "system.hardware_model", "serial_number": "system.serial",
    "is_enabled": "interface.enabled", "is_up": "interface.up", "speed": "interface.speed", "mtu": "interface.mtu_shown",
    "description": "interface.description", "remote_system_name": "neighbour.system", "remote_port": "neighbour.port_id",
    "remote_chassis_id": "neighbour.chassis", "remote_port_description": "neighbour.port_description",
}  # fmt: skip

EMPTY = ("", None, "Unknown", "N/A", -1, -1.0, 0, 0.0, [], {})

Seen = Mapping[str, set[str]]


class Missing(Exception):
    """The device does not know this answer."""


def by_template(kind: str, command: str, body: str) -> set[str]:
    """Our facts in what ntc-templates gives. Its speeds and states are texts, and counted all the same."""
    from ntc_templates.parse import parse_output

    rows = parse_output(TEMPLATES[kind], command, body)
    names = MODULES if "transceiver" in command else NTC
    return {names[key] for row in rows for key, value in row.items() if key in names and value not in EMPTY}


def by_getter(kind: str, command: str, body: str) -> set[str]:
    """Our facts in what NAPALM's getters give."""
    driver = {"eos": _eos, "nxos": _nxos, "junos": _junos}[kind](command, body)
    found: set[str] = set()
    for name in ("get_facts", "get_interfaces", "get_lldp_neighbors_detail"):
        try:
            found |= set(_named(getattr(driver, name)()))
        except Exception:
            continue  # it asks for what this capture does not hold, or cannot read it
    return found


def by_auditor(platform: Platform, command: str, body: str) -> set[str]:
    """Our facts in what the platform's parser gives."""
    rows = parse_text(platform.name, command, body, None)["rows"]
    found = {f"{row['table']}.{column}" for row in rows for column, value in row.items() if value not in ("", None)}
    return found | ({"neighbour.port_id"} if any(row["table"] == "neighbour" for row in rows) else set())


def _named(answer: Any) -> Iterator[str]:
    if isinstance(answer, Mapping):
        for key, value in answer.items():
            if key in GETTERS and (isinstance(value, bool) or value not in EMPTY):
                yield GETTERS[key]
            yield from _named(value)
    elif isinstance(answer, list):
        for item in answer:
            yield from _named(item)


def _eos(command: str, body: str) -> Any:
    from napalm.eos import EOSDriver

    bare, text = command.removesuffix(" | json"), not command.endswith("| json")
    neutral = {"show hostname": {"hostname": "", "fqdn": ""}, "show interfaces": {"interfaces": {}}}

    class Node:
        def run_commands(self, commands: list[str], encoding: str = "json", **_: Any) -> list[Any]:
            out = []
            for one in (" ".join(command.split()) for command in commands):
                if one == bare and text == (encoding == "text"):
                    out.append({"output": body} if text else json.loads(body))
                elif one in neutral:
                    out.append(neutral[one])
                else:
                    raise Missing(one)
            return out

    driver = EOSDriver("device", "", "")
    driver.device = Node()
    return driver


def _nxos(command: str, body: str) -> Any:
    from napalm.nxos import NXOSDriver

    bare, text = command.removesuffix(" native").removesuffix(" | json"), "| json" not in command
    neutral = {"show interface": {"TABLE_interface": {"ROW_interface": []}}, "show hostname": {"hostname": ""},
               "show inventory": {"TABLE_inv": {"ROW_inv": []}}}  # fmt: skip

    class Api:
        def show(self, one: str, raw_text: bool = False) -> Any:
            if one == bare and text == raw_text:
                return body if text else json.loads(body)
            if one in neutral and not raw_text:
                return neutral[one]
            raise Missing(one)

    driver = NXOSDriver("device", "", "")
    driver.device = Api()
    return driver


def _junos(command: str, body: str) -> Any:
    from jnpr.junos.device import Device
    from napalm.junos import JunOSDriver

    class Canned(Device):  # type: ignore[misc]
        transform = None

        def execute(self, rpc_cmd: Any, **_: Any) -> Any:
            same = rpc_cmd.tag == "get-interface-information" and command == "show interfaces | display xml"
            same |= "lldp" in rpc_cmd.tag and "lldp" in command and command.endswith("| display xml")
            if not same:
                raise Missing(rpc_cmd.tag)
            return _plain(etree.fromstring(body.encode()))

    driver = JunOSDriver("device", "", "", optional_args={"ssh_config_file": os.devnull})
    driver.device = Canned(host="device", gather_facts=False)
    driver.device.connected = True
    driver.device.facts = {"switch_style": "VLAN_L2NG"}
    return driver


def _plain(root: Any) -> Any:
    """The reply's content without namespaces, as ncclient hands it to PyEZ."""
    for element in root.iter():
        if isinstance(element.tag, str):
            element.tag = etree.QName(element).localname
    return root[0] if root.tag == "rpc-reply" else root


def captures(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """(kind, file, command, body) of every capture of a platform for which NAPALM has a driver."""
    with (folder / "SOURCES.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            kind = row["file"].split("/")[0]
            if kind in TEMPLATES:
                yield kind, row["file"], row["command"], (folder / row["file"]).read_text(errors="replace")


def compare(folder: Path) -> dict[str, dict[str, dict[str, set[str]]]]:
    """kind -> fact -> tool -> files in which the tool sees the fact."""
    own = {platform.napalm: platform for platform in platforms().values() if platform.napalm}
    found: dict[str, dict[str, dict[str, set[str]]]] = {}
    for kind, file, command, body in captures(folder):
        tools: dict[str, Callable[[], Iterable[str]]] = {
            "ntc-templates": lambda: by_template(kind, command, body),  # noqa: B023 - called below, in this round
            "NAPALM": lambda: by_getter(kind, command, body),  # noqa: B023
        }
        if kind in own:
            tools["auditor"] = lambda: by_auditor(own[kind], command, body)  # noqa: B023
        for tool, read in tools.items():
            facts = found.setdefault(kind, defaultdict(lambda: defaultdict(set)))
            try:
                seen = read()
            except Exception as error:
                if tool == "auditor" and not isinstance(error, AuditorError):
                    raise
                continue  # no template, no getter, no such command
            for fact in set(FACTS) & set(seen):
                facts[fact][tool].add(file)
    return found


def table(found: Mapping[str, Mapping[str, Mapping[str, set[str]]]]) -> str:
    """The comparison as a table: of the captures in which any tool sees a fact, in how many each does."""
    lines = ["| fact | platform | captures | ntc-templates | NAPALM getters | auditor |", "| --- | --- | --- | --- | --- | --- |"]
    for fact, words in FACTS.items():
        for kind, facts in found.items():
            tools = facts.get(fact, {})
            if any(tools.values()):
                counts = [str(len(tools.get(tool, ())) or "–") for tool in ("ntc-templates", "NAPALM", "auditor")]
                lines.append(f"| {words} | {kind} | {len(set().union(*tools.values()))} | {' | '.join(counts)} |")
    return "\n".join(lines) + "\n"


def write(file: Path, text: str) -> None:
    """Put the table between the marks of a page."""
    start, end = "<!-- side by side -->", "<!-- end -->"
    before, _, rest = file.read_text().partition(start)
    file.write_text(f"{before}{start}\n\n{text}\n{end}{rest.partition(end)[2]}")


def main() -> int:
    logging.disable()
    beside = Path(__file__).resolve().parents[2] / "shared"
    options = argparse.ArgumentParser(prog="python -m bench.side_by_side")
    options.add_argument(
        "folder", nargs="?", type=Path, default=Path(os.environ.get("AUDITOR_SHARED", beside), "captures", "switch")
    )
    options.add_argument("--write", type=Path, metavar="PAGE")
    chosen = options.parse_args()
    if not chosen.folder.is_dir():
        print(f"{chosen.folder} is no folder of captures")
        return 2
    text = table(compare(chosen.folder))
    if chosen.write:
        write(chosen.write, text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
