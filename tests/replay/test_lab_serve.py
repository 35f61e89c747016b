"""What `auditor lab up` runs: a lab until somebody interrupts it, with a client's project beside it."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from auditor import settings
from auditor.collect import inventory
from auditor.errors import SetupError
from auditor.lab.client import write_project
from auditor.lab.serve import serve
from auditor.lab.server import Lab

MINI = Path(__file__).parents[2] / "fixtures" / "fabrics" / "mini-pod"


def test_a_served_project_reaches_every_device_of_the_lab(tmp_path: Path) -> None:
    stop = threading.Event()
    ports: dict[str, int] = {}

    def ready(lab: Lab) -> None:
        ports.update(lab.ports)
        found = inventory.load(tmp_path / "pod" / "inventory")
        assert {device.name: device.port for device in found.devices} == ports
        assert {device.address for device in found.devices} == {"127.0.0.1"}
        assert found.device("leaf-01").role == "leaf"
        assert found.device("gpu-01").rack == "R01"
        collection = settings.load(tmp_path / "pod").collection
        assert collection.known_hosts == (lab.known_hosts,)
        assert collection.credentials.key_file == lab.client_key
        assert not (tmp_path / "pod" / "captures").exists()
        assert (tmp_path / "pod" / "plan" / "plan.csv").read_bytes() == (MINI / "plan" / "plan.csv").read_bytes()
        stop.set()

    serve(MINI / "captures" / "clean", MINI, {"leaf-02": "down"}, ready, client=tmp_path / "pod", stop=stop)
    assert len(ports) == 14


def test_without_a_project_the_inventory_says_what_the_capture_says(tmp_path: Path) -> None:
    stop = threading.Event()

    def ready(lab: Lab) -> None:
        found = inventory.load(tmp_path)
        assert found.device("spine-02").platforms == ("sonic",)
        assert found.device("spine-02").role == "spine"
        assert len(found.devices) == len(lab.ports)
        stop.set()

    serve(MINI / "captures" / "clean", ready=ready, client=tmp_path, stop=stop)


def test_a_project_is_never_written_into_itself(tmp_path: Path) -> None:
    with Lab(MINI / "captures" / "clean") as lab, pytest.raises(SetupError):
        write_project(lab, MINI / "inventory", MINI)


def test_devices_get_consecutive_ports_from_a_base(tmp_path: Path) -> None:
    with Lab(MINI / "captures" / "clean", {"gpu-01": "down"}) as lab:
        base = lab.ports["gpu-01"]
    try:
        with Lab(MINI / "captures" / "clean", base_port=base) as lab:
            assert [lab.ports[name] for name in sorted(lab.ports)] == list(range(base, base + 14))
    except SetupError as taken:
        pytest.skip(str(taken))


def test_a_signal_ends_it_and_removes_its_files(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom auditor.lab.serve import serve\n"
        "serve(Path(sys.argv[1]), ready=lambda lab: print(lab.directory, flush=True))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(MINI / "captures" / "clean")],
        stdout=subprocess.PIPE, text=True, cwd=MINI.parents[2], env={**os.environ, "PYTHONPATH": str(MINI.parents[2])},
    )  # fmt: skip
    assert process.stdout is not None
    directory = Path(process.stdout.readline().strip())
    assert directory.is_dir()
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    process.stdout.close()
    assert not directory.exists()
