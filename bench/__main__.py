"""`make bench`: prints what a device costs, and fails when a promised ratio is broken."""

from __future__ import annotations

import json
import subprocess
import sys

from bench.cabling import Mended
from bench.chain import PODS, Chain
from bench.fabric import Rules
from bench.impact import Asked
from bench.nccl_log import LogCost
from bench.stages import STAGES, Cost
from bench.topology import Told

SIZES = (1, 2, 4)
DIGEST_SHARE, JOINED_SHARE, GROWTH = 1 / 50, 1 / 2, 1.5
CHAIN_SECONDS, MEND_SECONDS = 5.0, 1.0
RULE_SECONDS, RULE_MEGABYTES = 10.0, 1000.0
SHAPES_SECONDS = 30.0
LOG_BYTES, LOG_SECONDS, LOG_MEGABYTES = 50_000_000, 10.0, 200.0
IMPACT_SIZES, IMPACT_SECONDS, IMPACT_DEVICES = (2, 8), 30.0, 1760


def main() -> int:
    costs = [_measured(pods) for pods in SIZES]
    print("CPU per device, from a capture into SQLite (milliseconds)\n")
    print(f"{'devices':>8} {'links':>6} " + "".join(f"{stage:>13}" for stage in STAGES) + f"{'all':>10}{'memory':>14}")
    for cost in costs:
        each = [1000 * cost.seconds[stage] / cost.devices for stage in STAGES]
        memory = f"{cost.peak / cost.devices / 1024:.0f} KB"
        print(
            f"{cost.devices:>8} {cost.links:>6} "
            + "".join(f"{value:>13.2f}" for value in each)
            + f"{sum(each):>10.2f}{memory:>14}"
        )
    more = (costs[-1].peak - costs[0].peak) / (costs[-1].devices - costs[0].devices)
    print(f"\neach further device: {more / 1024:.0f} KB of peak memory, all answers and outcomes held at once")
    from bench.ratios import measure

    found = measure()
    print(f"collect live over SSH on loopback, login included: {1000 * found['live']:.1f} ms of CPU per device\n")
    chains = [_chain(size) for size in SIZES]
    print("CPU of the priority chain over all links of the reference fleet, and of larger ones\n")
    print(f"{'links':>8}{'seconds':>10}{'us per link':>13}")
    for chain in chains:
        print(f"{chain.links:>8}{chain.seconds:>10.2f}{1e6 * chain.seconds / chain.links:>13.1f}")
    print()
    judged = [_judged(size) for size in SIZES]
    print("CPU of all link, fabric and peer rules over the same fleets, and memory with the facts of all ends\n")
    print(f"{'devices':>8}{'links':>8}{'link, fabric':>14}{'peer':>8}{'us per link':>13}{'memory':>10}")
    for of in judged:
        times = f"{of.link_seconds:>12.2f} s{of.peer_seconds:>6.2f} s{1e6 * of.seconds / of.links:>13.1f}"
        print(f"{of.devices:>8}{of.links:>8}{times}{of.megabytes:>7.0f} MB")
    print()
    mended = [_mended(size) for size in SIZES]
    print("CPU of the work orders where every host of the fleet is wired one rail further: plain cables, and breakouts\n")
    print(f"{'links':>8}{'wrong':>8}" + f"{'seconds':>10}{'growth':>8}" * 2)
    for one in mended:
        growth = [one.seconds / mended[0].seconds, one.split_seconds / mended[0].split_seconds]
        print(f"{one.links:>8}{one.wrong:>8}{one.seconds:>10.2f}{growth[0]:>7.2f}x{one.split_seconds:>10.2f}{growth[1]:>7.2f}x")
    print()
    told = _told()
    print(
        f"fingerprints of {told.hosts} topology dumps: {1000 * told.seconds / told.hosts:.1f} ms of CPU each; "
        f"{told.shapes - 1} odd ones told in {1000 * told.words_seconds:.0f} ms\n"
    )
    asked = [_asked(size) for size in IMPACT_SIZES]
    for one in asked:
        print(f"impact of a version on {one.devices} stored devices: {1000 * one.seconds / one.devices:.1f} ms of CPU per device")
    print()
    log = _log(LOG_BYTES)
    print(
        f"a job's log of {log.size / 1e6:.0f} MB, {log.lines} lines of {log.hosts} hosts interleaved, read and judged: "
        f"{log.seconds:.1f} s of CPU, {log.memory / 1e6:.0f} MB\n"
    )
    small, large = (sum(cost.seconds.values()) / cost.devices for cost in (costs[0], costs[-1]))
    checks = [
        _gate("unchanged state by digest / by DeepDiff", found["digest"] / found["deepdiff"], DIGEST_SHARE),
        _gate("commands joined on one exec channel / one channel each", found["joined"] / found["separate"], JOINED_SHARE),
        _gate(f"CPU per device at {SIZES[-1]}x / at {SIZES[0]}x", large / small, GROWTH),
        _gate("CPU seconds of the priority chain, reference fleet", chains[0].seconds, CHAIN_SECONDS),
        _gate(
            f"the same per link at {SIZES[-1]}x / at {SIZES[0]}x",
            chains[-1].seconds / chains[-1].links / (chains[0].seconds / chains[0].links),
            GROWTH,
        ),
        _gate("CPU seconds of all link, fabric and peer rules, reference fleet", judged[0].seconds, RULE_SECONDS),
        _gate("MB of memory for them, the facts of all ends included", judged[0].megabytes, RULE_MEGABYTES),
        *(
            _gate(
                f"CPU per link at {size}x / at {SIZES[0]}x",
                of.seconds / of.links / (judged[0].seconds / judged[0].links),
                GROWTH,
            )
            for size, of in zip(SIZES[1:], judged[1:], strict=True)
        ),
        _gate("CPU seconds of the work orders, reference fleet", mended[0].seconds, MEND_SECONDS),
        _gate(
            f"the same per link at {SIZES[-1]}x / at {SIZES[0]}x",
            mended[-1].seconds / mended[-1].links / (mended[0].seconds / mended[0].links),
            GROWTH,
        ),
        _gate(
            f"the same with breakouts at {SIZES[-1]}x / at {SIZES[0]}x",
            mended[-1].split_seconds / mended[-1].links / (mended[0].split_seconds / mended[0].links),
            GROWTH,
        ),
        _gate(f"CPU seconds of {told.hosts} topology fingerprints, one core", told.seconds, SHAPES_SECONDS),
        _gate(
            f"CPU seconds of impact on {IMPACT_DEVICES} devices, one core",
            asked[-1].seconds / asked[-1].devices * IMPACT_DEVICES,
            IMPACT_SECONDS,
        ),
        _gate(
            f"the same per device at {asked[-1].devices} / at {asked[0].devices} devices",
            asked[-1].seconds / asked[-1].devices / (asked[0].seconds / asked[0].devices),
            GROWTH,
        ),
        _gate(f"CPU seconds of a log of {LOG_BYTES / 1e6:.0f} MB", log.seconds, LOG_SECONDS),
        _gate("MB of memory for it", log.memory / 1e6, LOG_MEGABYTES),
        _gate("row sets written by an unchanged second night", float(sum(cost.written for cost in costs)), 0.0),
    ]
    return 0 if all(checks) else 1


def _measured(pods: int) -> Cost:
    """The cost of a fleet, from a fresh process."""
    done = subprocess.run([sys.executable, "-m", "bench.stages", str(pods)], stdout=subprocess.PIPE, check=True)
    cost = Cost(**json.loads(done.stdout))
    if not cost.passed:
        raise RuntimeError("the fleet was not judged: nothing passed, so nothing was measured")
    return cost


def _chain(size: int) -> Chain:
    """The cost of the priority chain over a fleet of this many times the reference, from a fresh process."""
    done = subprocess.run([sys.executable, "-m", "bench.chain", str(PODS * size)], stdout=subprocess.PIPE, check=True)
    return Chain(**json.loads(done.stdout))


def _judged(size: int) -> Rules:
    """The cost of link, fabric and peer rules over a fleet of this many times the reference, from a fresh process."""
    done = subprocess.run([sys.executable, "-m", "bench.fabric", str(PODS * size)], stdout=subprocess.PIPE, check=True)
    return Rules(**json.loads(done.stdout))


def _mended(size: int) -> Mended:
    """The cost of work orders over a fleet of this many times the reference, from a fresh process."""
    done = subprocess.run([sys.executable, "-m", "bench.cabling", str(PODS * size)], stdout=subprocess.PIPE, check=True)
    return Mended(**json.loads(done.stdout))


def _told() -> Told:
    """The cost of the topologies of the reference fleet, from a fresh process."""
    done = subprocess.run([sys.executable, "-m", "bench.topology"], stdout=subprocess.PIPE, check=True)
    return Told(**json.loads(done.stdout))


def _asked(pods: int) -> Asked:
    """The cost of asking for an impact on a fleet of this many pods, from a fresh process."""
    done = subprocess.run([sys.executable, "-m", "bench.impact", str(pods)], stdout=subprocess.PIPE, check=True)
    return Asked(**json.loads(done.stdout))


def _log(size: int) -> LogCost:
    """The cost of a job's log of this size, from a fresh process."""
    done = subprocess.run([sys.executable, "-m", "bench.nccl_log", str(size)], stdout=subprocess.PIPE, check=True)
    return LogCost(**json.loads(done.stdout))


def _gate(name: str, value: float, most: float) -> bool:
    good = value <= most
    print(f"{'ok' if good else 'BROKEN':<8}{name}: {value:.4g} (at most {most:.4g})")
    return good


if __name__ == "__main__":
    sys.exit(main())
