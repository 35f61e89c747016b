"""Maps device jobs: in this process, or over worker processes whose death costs nothing but time."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from auditor.evaluate import job as unit
from auditor.model import DeviceJob, DeviceOutcome


def run_jobs(jobs: Iterable[DeviceJob], processes: int = 0) -> Iterator[DeviceOutcome]:
    """Yield the outcome of each job as it is done. `processes` 0 runs them here, one after another.

    Jobs are taken from the iterable as workers become free, so that collection and analysis overlap. The order of the
    outcomes is that of completion.
    """
    if processes <= 0:
        yield from map(_attempt, jobs)
    else:
        yield from _Pool(processes).run(jobs)


def _attempt(job: DeviceJob) -> DeviceOutcome:
    try:
        return unit.run(job)
    except Exception as error:
        return unit.unreached(job, f"{type(error).__name__}: {error}")


def _executor(processes: int) -> ProcessPoolExecutor:
    # forkserver: collection threads run in this process, and a fork would copy their locks
    return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("forkserver"))


def _alone(job: DeviceJob) -> DeviceOutcome:
    """A job whose pool died runs once more in a worker of its own, so that only the guilty one is lost."""
    with _executor(1) as pool:
        try:
            return pool.submit(_attempt, job).result()
        except BrokenProcessPool:
            return unit.unreached(job, "its worker process died twice")


class _Pool:
    """A process pool that is made anew when a worker dies. Keeps two jobs per worker in flight."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self.pool = _executor(processes)
        self.waiting: dict[Future[DeviceOutcome], DeviceJob] = {}

    def run(self, jobs: Iterable[DeviceJob]) -> Iterator[DeviceOutcome]:
        """Outcomes in the order of completion."""
        try:
            for job in jobs:
                self._submit(job)
                yield from self._finished(None if len(self.waiting) >= 2 * self.processes else 0)
            while self.waiting:
                yield from self._finished(None)
        finally:
            self.pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, job: DeviceJob) -> None:
        try:
            future = self.pool.submit(_attempt, job)
        except BrokenProcessPool:
            self.pool.shutdown(wait=False, cancel_futures=True)
            self.pool = _executor(self.processes)
            future = self.pool.submit(_attempt, job)
        self.waiting[future] = job

    def _finished(self, timeout: float | None) -> Iterator[DeviceOutcome]:
        done, _ = wait(self.waiting, timeout=timeout, return_when=FIRST_COMPLETED)
        for future in done:
            job = self.waiting.pop(future)
            try:
                yield future.result()
            except BrokenProcessPool:
                yield _alone(job)
