from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from auditor.errors import ErrorList, PlanError
from auditor.plan.formats.ibnetdiscover import read

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
FIXTURE = Path(__file__).resolve().parents[3] / "fixtures" / "plans" / "ibnetdiscover" / "ibnetdiscover.txt"
TEXT = FIXTURE.read_text("utf-8")


def wrong(text: str) -> str:
    with pytest.raises((PlanError, ErrorList)) as caught:
        read(text.encode(), "ib.txt", {})
    return str(caught.value)


@pytest.mark.parametrize("lines", [14, 20, 26, 40, 60])
def test_an_output_that_was_cut_is_an_error(lines: int) -> None:
    assert "was cut" in wrong("\n".join(TEXT.splitlines()[:lines]) + "\n")


def test_a_cable_that_cannot_be_read_is_an_error_with_its_line() -> None:
    assert "ib.txt:13: is a cable that cannot be read" in wrong(TEXT.replace('[3]\t"H-0c42a103007d3330"[1]', '[3]\t"H-0c42a"[1]'))


def test_lines_that_contradict_each_other_are_an_error() -> None:
    changed = TEXT.replace('[1](c42a103007d1110) \t"S-946dae0300dd0100"[1]', '[1](c42a103007d1110) \t"S-946dae0300dd0100"[7]')
    assert "was cut" in wrong(changed) or "contradicts" in wrong(changed)


def test_other_output_in_between_is_left_out_and_said() -> None:
    found = read(("ibwarn: [7] something\n" + TEXT).encode(), "ib.txt", {})
    assert "ib.txt:1: is no line of ibnetdiscover, and is left out" in found.notes and len(found.links) == 7


def test_guids_can_be_left_out() -> None:
    assert {link.b.id for link in read(TEXT.encode(), "ib.txt", {"guids": "no"}).links} == {""}
    with pytest.raises(PlanError, match="guids must be yes or no"):
        read(TEXT.encode(), "ib.txt", {"guids": "maybe"})


def test_two_nodes_of_one_name_go_by_their_guids() -> None:
    found = read(TEXT.replace("ib-sp-a", "ib-lf-a").encode(), "ib.txt", {})
    switches = {end.device for link in found.links for end in (link.a, link.b) if end.port.isdigit() and not end.id}
    assert switches == {"S-946dae0300dd0100", "S-946dae0300dd0200", "S-946dae0300dd0300"}


@pytest.mark.parametrize("raw", [b"", b"# nothing\n", b"[1]\n", b"vendid=0x2c9\n" * 10])
def test_what_holds_no_node_is_one_error(raw: bytes) -> None:
    with pytest.raises(PlanError, match=r"^ib\.txt: "):
        read(raw, "ib.txt", {})


@pytest.mark.parametrize("file", ["superpod-ndr-40switch-582ca.txt", "lab-healthy-hdr.txt", "lab-cabling-faults-edr.txt"])
def test_every_cable_of_a_captured_fabric_is_there_once(file: str) -> None:
    path = SHARED / "captures" / "host" / "ibnetdiscover" / file
    if not path.exists():
        pytest.skip("no captures here")
    pairs, node = set(), ""
    for line in path.read_text("utf-8").splitlines():
        if head := re.match(r'(?:Switch|Ca)\s+\d+ "([SH]-\w+)"', line):
            node = head[1]
        elif (cable := re.match(r'\[(\d+)\].*?"([SH]-\w+)"\[(\d+)\]', line)) and "Aggregation" not in line:
            pairs.add(frozenset({(node, cable[1]), (cable[2], cable[3])}))
    aggregation = set(re.findall(r'Ca\s+\d+ "(H-\w+)"\s+# "Mellanox Technologies Aggregation', path.read_text("utf-8")))
    wanted = {pair for pair in pairs if not aggregation & {guid for guid, _ in pair}}
    assert len(read(path.read_bytes(), file, {}).links) == len(wanted)
