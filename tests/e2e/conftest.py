"""A copy of the mini-pod, its captures at chosen times, and the command run in this process."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import main

FIXTURE = Path(__file__).parents[2] / "fixtures" / "fabrics" / "mini-pod"


@dataclass
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON document on stdout."""
        found: dict[str, Any] = json.loads(self.out)
        return found


Auditor = Callable[..., Answer]


@pytest.fixture
def auditor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Auditor:
    def run(*words: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["auditor", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return Answer(int(ended.value.code or 0), shown.out, shown.err)

    return run


@dataclass
class Pod:
    """A project folder made of the mini-pod."""

    folder: Path

    def capture(self, kind: str, hour: int, devices: Sequence[str] = ()) -> str:
        """A copy of a capture taken at this hour of one day; with `devices`, of these alone."""
        target = self.folder / "captures" / f"{kind}-{hour}"
        shutil.copytree(FIXTURE / "captures" / kind, target)
        for file in target.glob("*/device.yaml"):
            text = re.sub(r"(collected_at: '?)[0-9T:-]+", rf"\g<1>2026-05-01T{hour:02}:00:00", file.read_text())
            file.write_text(text)
        for folder in target.iterdir() if devices else ():
            if folder.name not in devices:
                shutil.rmtree(folder)
        return str(target)

    def output(self, capture: str, device: str, command: str) -> Path:
        """The file that holds the answer to a command."""
        import yaml

        folder = Path(capture) / device
        listed = yaml.safe_load((folder / "device.yaml").read_text()).get("outputs", [])
        return next(folder / item["file"] for item in listed if item["command"] == command)


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    folder = tmp_path / "pod"
    shutil.copytree(FIXTURE, folder, ignore=shutil.ignore_patterns("captures"))
    (folder / "captures").mkdir()
    return Pod(folder)
