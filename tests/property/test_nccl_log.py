"""Laws of reading logs: order between ranks, files and damage change nothing that they should not."""

import random
from io import BytesIO
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.canonical import printable
from auditor.checks.nccl.log import LOG_RULES
from auditor.checks.nccl.log_seen import gaps
from auditor.checks.nccl.log_view import RailOf
from auditor.dialects.nccl_job import Log
from auditor.dialects.nccl_log import Reader
from auditor.model import RuleContext, Verdict

LINES = (Path(__file__).parents[2] / "fixtures" / "nccl_log" / "two-hosts.log").read_text().splitlines()
BODY = "\n".join(LINES).encode()


def read(*bodies: bytes) -> Log:
    reader = Reader()
    for number, body in enumerate(bodies):
        reader.read(BytesIO(body), f"{number}.log")
    return reader.finish()


def said(log: Log) -> set[tuple[str, str, str]]:
    return {
        (rule.id, str(judgement.object), str(judgement.verdict))
        for rule in LOG_RULES
        for judgement in rule.function(log, RuleContext(params=RailOf(lambda host, nic: None)))
    }


WHOLE = said(read(BODY + b"\n"))


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 5))
def test_any_interleaving_over_any_files_says_the_same(chance: random.Random, files: int) -> None:
    ranks: dict[str, list[str]] = {}
    for line in LINES:
        ranks.setdefault(line.split(" ")[0], []).append(line)
    queues = list(ranks.values())
    mixed = []
    while queues:
        queue = chance.choice(queues)
        mixed.append(queue.pop(0))
        queues = [each for each in queues if each]
    shares: list[list[str]] = [[] for _ in range(files)]
    for line in mixed:
        shares[int(line.split(":")[1]) % files].append(line)
    log = read(*("".join(f"{line}\n" for line in share).encode() for share in shares))
    assert said(log) == WHOLE
    assert not [gap for gap in gaps(log) if "no line of NCCL" not in gap.detail]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(BODY)))
def test_a_log_cut_anywhere_is_never_whole_and_accuses_nobody(at: int) -> None:
    log = read(BODY[:at])
    whole = not BODY[at:].strip()
    assert whole or gaps(log)
    assert not [item for item in said(log) if item[2] == Verdict.FAIL]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(BODY) - 1), st.binary(max_size=12)), max_size=30))
def test_bytes_strewn_over_a_log_crash_nothing(strewn: list[tuple[int, bytes]]) -> None:
    body = bytearray(BODY)
    for at, piece in strewn:
        body[at : at + len(piece)] = piece
    log = read(bytes(body))
    for rule in LOG_RULES:
        for judgement in rule.function(log, RuleContext()):
            for item in judgement.deviation.evidence if judgement.deviation else ():
                assert printable(item.excerpt, 1000) == item.excerpt
    assert all(gap.detail for gap in gaps(log))
