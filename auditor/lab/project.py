"""Writes a designed fabric as a project folder with captures: inventory, intent, baselines, wiring plan, outputs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.lab import linux, sonic
from auditor.lab.answer import Answer
from auditor.lab.fabric import Fabric, Host, Size, Switch, design
from auditor.lab.faults import inject
from auditor.lab.profiles import ASSIGNMENTS, FABRIC, MODEL, profiles
from auditor.lab.sonic_db import HWSKU

CLEAN_AT = datetime(2026, 3, 2, 2, 0, tzinfo=UTC)
"""When the clean captures say they were taken; faulty ones are a day later."""

Injection = tuple[str, str, str]
"""Fault, device, port (or an empty text)."""


def generate(directory: Path, size: Size, captures: Mapping[str, Iterable[Injection]] | None = None) -> Fabric:
    """Write a project folder: `captures/<name>` for each name with its faults (default: `clean` without any).

    The wiring plan and everything else describe the healthy fabric, which is returned. Files that exist are overwritten,
    others stay. Raises SetupError for faults that do not fit the fabric, before anything is written.
    """
    healthy = design(size)
    designs = {name: design(size) for name in captures or ("clean",)}
    for name, faults in (captures or {}).items():
        for fault in faults:
            inject(designs[name], *fault)
    _write(
        directory / "auditor.yaml", "# Settings of this project; everything not said here has its default.\nplan: plan/plan.csv\n"
    )
    _write(directory / "fabric.yaml", FABRIC)
    _write_inventory(directory / "inventory", healthy)
    _write(directory / "plan" / "plan.csv", plan_text(healthy))
    for (profile, version), text in profiles(next(iter(healthy.hosts.values()))).items():
        _write(directory / "baselines" / profile / f"{version}.yaml", text)
    _write(directory / "baselines" / "assignments.yaml", ASSIGNMENTS)
    for at, (name, fabric) in enumerate(designs.items()):
        write_capture(directory / "captures" / name, fabric, CLEAN_AT + timedelta(days=at))
    return healthy


def write_capture(directory: Path, fabric: Fabric, taken_at: datetime) -> None:
    """Write the outputs of all devices as a capture folder."""
    for name, switch in fabric.switches.items():
        answers = sonic.answers(fabric, switch, taken_at.timestamp())
        _write_device(directory / name, "sonic", switch.role, f"admin@{name}:~$ ", answers, taken_at)
    for name, host in fabric.hosts.items():
        _write_device(directory / name, "linux", "gpu_host", f"ops@{name}:~$ ", linux.answers(fabric, host), taken_at)


def plan_text(fabric: Fabric) -> str:
    """The wiring plan in its native form."""
    header = [
        "a_device",
        "a_port",
        "b_device",
        "b_port",
        "plane",
        "rail",
        "speed",
        "label",
        "type",
        "length_m",
        "a_rack",
        "b_rack",
        "a_id",
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for cable in fabric.plan:
        host = fabric.hosts.get(cable.a.device)
        a = host or fabric.switches[cable.a.device]
        kind, pci = ("DAC", host.nics[cable.a.port].pci) if host else ("400GBASE-DR4", "")
        b = fabric.switches[cable.b.device]
        writer.writerow(
            [*cable.a, *cable.b, cable.plane, cable.rail, "400G", cable.label, kind, cable.length_m, a.rack, b.rack, pci]
        )
    return out.getvalue()


def _write_inventory(directory: Path, fabric: Fabric) -> None:
    """Nornir's SimpleInventory. Addresses are those of the management network."""
    hosts: dict[str, Any] = {}
    for switch in fabric.switches.values():
        hosts[switch.name] = _inventory_entry(switch, switch.role, 64)
    for host in fabric.hosts.values():
        hosts[host.name] = _inventory_entry(host, "gpu_host", 65)
    groups: dict[str, Any] = {
        role: {"platform": "sonic", "data": {"role": role, "hardware_model": HWSKU}}
        for role in dict.fromkeys(switch.role for switch in fabric.switches.values())
    }
    groups["gpu_host"] = {"platform": "linux", "data": {"role": "gpu_host", "hardware_model": MODEL}}
    _write(directory / "hosts.yaml", yamldoc.dump(hosts))
    _write(directory / "groups.yaml", yamldoc.dump(groups))
    _write(directory / "defaults.yaml", yamldoc.dump({"data": {"site": "lab"}}))


def _inventory_entry(device: Switch | Host, group: str, network: int) -> dict[str, Any]:
    place = {key: value for key, value in (("pod", device.pod), ("rack", device.rack)) if value}
    address = f"10.{network}.{device.number >> 8}.{device.number & 255}"
    return {"hostname": address, "groups": [group], "data": place}


def _write_device(directory: Path, platform: str, role: str, prompt: str, answers: Iterable[Answer], taken_at: datetime) -> None:
    outputs = []
    for command, body, status in answers:
        file = _file_name(command, body)
        _write(directory / file, body)
        outputs.append(json.dumps({"file": file, "command": command, "exit": status}))
    head = {"platforms": [platform], "role": role, "prompt": prompt, "collected_at": taken_at.isoformat()}
    _write(directory / "device.yaml", yamldoc.dump(head) + "outputs:\n" + "".join(f"  - {line}\n" for line in outputs))


def _file_name(command: str, body: str) -> str:
    """The command with every run of other than letters and digits as `_`, cut to 180 characters, and a suffix by content."""
    try:
        kind = "json" if isinstance(json.loads(body), dict | list) else "txt"
    except ValueError:
        kind = "txt"
    return re.sub(r"[^A-Za-z0-9]+", "_", command).strip("_")[:180] + "." + kind


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")


MINI_POD = Size(hosts=4, nics=8, leaves=8, spines=2)
"""The pod of the demonstration: 32 GPUs, a leaf per rail, two spines."""

MINI_POD_CAPTURES: Mapping[str, tuple[Injection, ...]] = {
    "clean": (),
    "faulty": (
        ("mtu", "leaf-03", "Ethernet4"),
        ("dscp_class", "leaf-05", ""),
        ("buffer_model", "leaf-07", ""),
        ("nic_firmware", "gpu-04", ""),
    ),
}
"""Its captures: nothing wrong, and four mismatches on four devices."""
