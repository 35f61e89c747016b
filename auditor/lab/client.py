"""What a client needs to reach a running lab: an inventory that points at its ports, and a project folder around it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.errors import InventoryError, SetupError
from auditor.lab.server import LOOPBACK, Lab

_GENERATED = ("auditor.yaml", "inventory", "captures", "raw", "auditor.db", "auditor.db-wal", "auditor.db-shm")


def write_inventory(lab: Lab, directory: Path, project: Path | None = None) -> None:
    """Write `hosts.yaml` (and groups and defaults of the project) with every device of the lab at its loopback port.

    Roles, racks and the like come from `project`/inventory where the device stands there, else from the capture.
    """
    directory.mkdir(parents=True, exist_ok=True)
    known: Mapping[str, Any] = {}
    if project is not None:
        known = yamldoc.read(project / "inventory" / "hosts.yaml", InventoryError).data or {}
        for name in ("groups.yaml", "defaults.yaml"):
            if (project / "inventory" / name).exists():
                shutil.copyfile(project / "inventory" / name, directory / name)
    hosts: dict[str, Any] = {}
    for name, port in sorted(lab.ports.items()):
        recording = lab.recordings[name]
        host = dict(known.get(name) or {"data": {"platforms": list(recording.platforms), "role": recording.role}})
        hosts[name] = {**host, "hostname": LOOPBACK, "port": port, "username": lab.username}
    (directory / "hosts.yaml").write_text(yamldoc.dump(hosts), encoding="utf-8")


def write_project(lab: Lab, directory: Path, project: Path) -> None:
    """Copy a project folder to `directory`, with an inventory and collection settings that reach the lab.

    Captures and stored runs are not copied. Raises SetupError when `directory` lies inside the project.
    """
    if directory.resolve().is_relative_to(project.resolve()):
        raise SetupError(f"{directory} lies inside the project {project}")
    shutil.copytree(project, directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_GENERATED))
    write_inventory(lab, directory / "inventory", project)
    settings = dict(yamldoc.read(project / "auditor.yaml").data or {})
    settings["collection"] = {
        **(settings.get("collection") or {}),
        "known_hosts": [str(lab.known_hosts)],
        "ssh_config": None,
        "credentials": {"key_file": str(lab.client_key), "use_agent": False},
    }
    (directory / "auditor.yaml").write_text(yamldoc.dump(settings), encoding="utf-8")
