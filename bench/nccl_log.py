"""Cost of reading and judging the log of a job: 50 MB, the ranks of 128 hosts interleaved, as one launcher writes them."""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

HOSTS, GPUS = 128, 8


@dataclass(frozen=True, slots=True)
class LogCost:
    """What one log took. `memory` is what the process grew by at its peak, over what it had before, in bytes."""

    size: int
    lines: int
    hosts: int
    connections: int
    seconds: float
    memory: int

    @classmethod
    def of(cls, size: int, hosts: int) -> LogCost:
        """Write a log of at least `size` bytes, then read and judge it."""
        from auditor.workflows.nccl import check

        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            file = Path(folder) / "job.log"
            write(file, size, hosts)
            before, started = _peak(), time.process_time()
            done = check([str(file)])
            seconds = time.process_time() - started
            if done.verdict != "accepted" or done.share.crossing:
                raise RuntimeError(f"a healthy job is {done.verdict}: {done.run.gaps[:3]} {done.run.findings[:3]}")
            read = done.log.files[0]
            return cls(read.size, read.lines, len(done.log.hosts), done.share.judged, seconds, _peak() - before)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def write(file: Path, size: int, hosts: int) -> None:
    """A healthy job: rank by rank in itself, any order between ranks, with as many communicators as fill the size."""
    chance = random.Random(7)
    written = 0
    with file.open("w", encoding="ascii") as out:
        number = 0
        while written < size:
            speakers = [_rank(host, gpu, hosts, number) for host in range(hosts) for gpu in range(GPUS)]
            number += 1
            while speakers:
                at = chance.randrange(len(speakers))
                burst = [line for _, line in zip(range(chance.randrange(1, 40)), speakers[at], strict=False)]
                if not burst:
                    speakers[at] = speakers[-1]
                    speakers.pop()
                    continue
                written += out.write("".join(burst))


def _rank(host: int, gpu: int, hosts: int, number: int) -> Iterator[str]:
    """What one rank says while communicator `number` starts."""
    rank, size = host * GPUS + gpu, hosts * GPUS
    head = f"gpu-{host + 1:04}:{4000 + gpu}:{4500 + gpu} [{gpu}] NCCL INFO"
    pointer, key = f"0x55{number:04x}{rank:06x}", f"0x{number + 1:016x}"
    facts = f"cudaDev {gpu} nvmlDev {gpu} busId {gpu + 1}d000 commId {key}"
    if number == 0:
        devices = " ".join(f"[{index}]mlx5_{index}:1/IB" for index in range(GPUS))
        yield f"{head} NCCL_IB_GID_INDEX set by environment to 3.\n"
        yield f"{head} NET/IB : Using {devices} [RO]; OOB eth0:10.0.{host // 250}.{host % 250}<0>\n"
        yield f"{head} Using network IB\n"
    yield f"{head} ncclCommInitRank comm {pointer} rank {rank} nranks {size} {facts} - Init START\n"
    yield f"{head} comm {pointer} rank {rank} nRanks {size} nNodes {hosts} localRanks {GPUS} localRank {gpu} MNNVL 0\n"
    trees = " ".join(f"[{channel}] {rank + 1}/-1/-1->{rank}->{rank - 1}" for channel in range(16))
    yield f"{head} Trees {trees}\n"
    after, before = (rank + GPUS) % size, (rank - GPUS) % size
    for channel in range(gpu, 16, GPUS):
        yield f"{head} Channel {channel:02}/0 : {before}[{gpu}] -> {rank}[{gpu}] [receive] via NET/IB/{gpu}/GDRDMA\n"
        yield f"{head} Channel {channel:02}/0 : {rank}[{gpu}] -> {after}[{gpu}] [send] via NET/IB/{gpu}/GDRDMA\n"
    near = host * GPUS + (gpu + 1) % GPUS
    for channel in range(16):
        yield f"{head} Channel {channel:02}/0 : {rank}[{gpu}] -> {near}[{(gpu + 1) % GPUS}] via P2P/IPC\n"
    yield f"{head} Connected all rings, use ring PXN 0 GDR 1\n"
    yield f"{head} ncclCommInitRank comm {pointer} rank {rank} nranks {size} {facts} - Init COMPLETE\n"


if __name__ == "__main__":
    print(json.dumps(asdict(LogCost.of(int(sys.argv[1]), HOSTS))))
