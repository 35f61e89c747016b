"""The wheel works where the checkout is not: in a fresh environment, from another folder."""

import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MINI_POD = ROOT / "fixtures" / "fabrics" / "mini-pod"


def run(command, folder, ok=(0,)):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "AUDITOR_", "VIRTUAL_ENV"))}
    done = subprocess.run(list(map(str, command)), cwd=folder, env=clean, capture_output=True, text=True, timeout=110)
    assert done.returncode in ok, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a fresh environment in which only the wheel is installed; the dependencies are those of this one."""
    folder = tmp_path_factory.mktemp("elsewhere")
    run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder / "dist", ROOT], folder)
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    (wheel,) = (folder / "dist").glob("auditor-*.whl")
    run([sys.executable, "-m", "pip", "--python", folder / "venv", "install", "-q", "--no-deps", wheel], folder)
    (own,) = (folder / "venv" / "lib").glob("python*/site-packages")
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    (own / "dependencies.pth").write_text("\n".join(sorted(paths)))
    return folder


@pytest.fixture
def auditor(home):
    return home / "venv" / "bin" / "auditor"


def test_it_is_the_wheel_that_runs(home):
    done = run([home / "venv" / "bin" / "python", "-c", "import auditor; print(auditor.__file__)"], home)
    assert Path(done.stdout.strip()).is_relative_to(home / "venv")


def test_help_names_the_commands_and_the_exit_codes(home, auditor):
    text = run([auditor, "--help"], home).stdout
    assert "check" in text
    assert "Exit codes:" in text


def test_the_shipped_baselines_are_found(home, auditor):
    shipped = [path.parent.name for path in (ROOT / "baselines").glob("*/*.yaml")]
    assert shipped
    text = run([auditor, "baseline", "list"], home).stdout
    assert all(profile in text for profile in shipped)


@pytest.mark.parametrize("capture,code", [("clean", 0), ("faulty", 1)])
def test_a_capture_is_checked_with_the_shipped_templates(home, auditor, tmp_path, capture, code):
    project = shutil.copytree(MINI_POD, tmp_path / "pod")
    command = [auditor, "-C", project, "check", "--from", project / "captures" / capture, "--format", "json", "--no-store"]
    report = json.loads(run(command, tmp_path, ok=(code,)).stdout)
    assert report["coverage"]["results"]["pass"] > 100
    assert len(report["causes"]) == (4 if code else 0)
