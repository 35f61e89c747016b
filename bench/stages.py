"""CPU time of each stage and peak memory for one fleet; run in a process of its own so that memory can be read."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from auditor import __version__
from auditor.cabling.links import build_wiring
from auditor.checks import rules
from auditor.collect.capture import CaptureCollector
from auditor.evaluate import job as unit
from auditor.evaluate import links
from auditor.model import DeviceOutcome, Result
from auditor.store import Store, open_store
from bench import fleet

STAGES = ("collect", "parse", "evaluate", "prove", "links", "store", "store again")


@dataclass
class Cost:
    """`seconds`: CPU of the whole fleet by stage. `peak`: bytes of memory above what the imports took.

    `written` are the row sets that an unchanged second night wrote.
    """

    pods: int
    devices: int = 0
    links: int = 0
    passed: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    peak: int = 0
    written: int = 0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - started


def peak_bytes() -> int:
    """The most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(pods: int) -> Cost:
    """Audit a healthy fleet of this many pods twice, from its capture into a new SQLite store."""
    cost = Cost(pods)
    with TemporaryDirectory() as home:
        folder = Path(home)
        project = fleet.make(folder / "project", pods)
        before = peak_bytes()
        cost.devices, cost.links = len(project.devices), len(project.plan.links)
        with cost.stage("collect"):
            collected = list(
                CaptureCollector(folder / "project" / "captures" / "clean").collect(list(project.devices.values()), None)
            )
        jobs = fleet.jobs(project, collected)
        outcomes = []
        for job in jobs:
            outcomes.append(unit.run(job))
            for name, seconds in outcomes[-1].seconds.items():
                cost.seconds[name] = cost.seconds.get(name, 0.0) + seconds
        with cost.stage("links"):
            ends = {(end.device, end.port): end for outcome in outcomes for end in outcome.ends}
            planned = build_wiring(project.plan, ends, project.devices).links
            judged = links.judge(planned, project.fabric, {}, frozenset(project.devices), ())
        cost.passed = sum(len(result.passed) for outcome in outcomes for result in outcome.results)
        cost.passed += sum(len(result.passed) for result in judged.results)
        store = open_store(f"sqlite:///{folder / 'auditor.db'}", folder / "raw")
        bodies = [output.body for item in collected for output in item.outputs]
        results = [result for outcome in outcomes for result in outcome.results] + judged.results
        with cost.stage("store"):
            keep(store, "night-1", bodies, outcomes, results)
        previous = store.previous_digests_of(project.devices)
        again = [unit.run(replace(job, previous=previous.get(job.device.name, {}))) for job in jobs]
        cost.written = sum(len(outcome.row_sets) for outcome in again)
        later = [replace(outcome, collected_at=outcome.collected_at + timedelta(days=1)) for outcome in again]
        with cost.stage("store again"):
            keep(store, "night-2", bodies, later, results)
        store.close()
        cost.peak = peak_bytes() - before
    return cost


def keep(store: Store, run: str, bodies: list[str], outcomes: list[DeviceOutcome], results: list[Result]) -> None:
    """Store one run."""
    store.begin_run(run, datetime.now(UTC), "all", __version__, "bench")
    for body in bodies:
        store.put_raw(body)
    store.save_outcomes(run, outcomes)
    store.finish_run(run, datetime.now(UTC), results, [], None, frozenset(rules()), only=())


if __name__ == "__main__":
    json.dump(asdict(measure(int(sys.argv[1]))), sys.stdout)
