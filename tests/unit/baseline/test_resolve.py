from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.baseline.assignments import read_assignments
from auditor.baseline.document import Use, Vocabulary
from auditor.baseline.library import Library
from auditor.baseline.resolve import Resolver, resolve_uses
from auditor.errors import ErrorList
from auditor.model import Device

LEAF = Device("leaf-01", ("sonic",), role="leaf")
HOST = Device("gpu-01", ("linux",), role="gpu_host")
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def test_devices_with_the_same_assignments_share_their_baselines(tmp_path: Path) -> None:
    file = tmp_path / "baselines" / "leaf" / "1.0.0.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("profile: leaf\nversion: 1.0.0\n")
    listed = tmp_path / "assignments.yaml"
    listed.write_text("assignments:\n- {select: {role: leaf}, use: [leaf@1.0.0]}\n")
    resolver = Resolver(Library(tmp_path / "baselines", Vocabulary(), shipped=tmp_path), read_assignments(listed))
    (one,), (other,) = (resolver.uses_for(Device(name, ("sonic",), role="leaf"), NOW) for name in ("leaf-01", "leaf-02"))
    assert resolver.baselines(one) is resolver.baselines(other)
    assert resolver.baselines(one)[0].profile == "leaf"
    assert resolver.uses_for(HOST, NOW) == ((),)
    assert resolver.baselines(()) == ()


def test_errors_of_all_baselines_of_a_device_come_at_once_and_name_the_assignment(tmp_path: Path) -> None:
    library = Library(tmp_path, Vocabulary(), shipped=tmp_path)
    with pytest.raises(ErrorList) as caught:
        resolve_uses(library, [Use("a", "1.0.0", "assignments.yaml", 3), Use("b", "1.0.0", "assignments.yaml", 4)])
    assert [str(error).partition(": ")[0] for error in caught.value.errors] == ["assignments.yaml:3", "assignments.yaml:4"]
