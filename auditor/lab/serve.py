"""Runs a lab until somebody interrupts it: what `auditor lab up` does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

from auditor.lab.client import write_inventory, write_project
from auditor.lab.server import Lab


def serve(
    directory: Path,
    project: Path | None = None,
    misbehaviours: Mapping[str, str] | None = None,
    ready: Callable[[Lab], None] | None = None,
    *,
    base_port: int = 0,
    client: Path | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Serve the capture in `directory` until SIGINT or SIGTERM comes or `stop` is set; `ready` is told when all ports listen.

    `client` is a folder to write for whoever connects: with `project` a project folder that reaches the lab, else an
    inventory. It is complete before `ready` is called. Raises what `Lab` raises.
    """
    stop = stop or threading.Event()

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    own = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)} if own else {}
    try:
        with Lab(directory, misbehaviours, base_port=base_port) as lab:
            if client is not None and project is not None:
                write_project(lab, client, project)
            elif client is not None:
                write_inventory(lab, client)
            if ready is not None:
                ready(lab)
            while not stop.wait(0.5):
                pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
