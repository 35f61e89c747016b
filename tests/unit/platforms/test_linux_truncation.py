"""Answers about cables that stop: wherever the cut is, nothing wrong is read, and a cut inside a line is noticed."""

import pytest

from auditor.facts import to_plain
from auditor.model import GapReason
from auditor.parse import parse_output
from auditor.platforms.linux import PLATFORM
from tests.unit.platforms.linux_host import output, recorded

WHOLE = {
    "lldpctl_text": ("lldpctl", "details"),
    "lldpctl_keyvalue": ("lldpctl -f keyvalue", "repeated_keys_and_dots"),
    "ip_link_brief": ("ip -br link", "bond_infiniband_and_down"),
    "ethtool_private_flags": ("ethtool --show-priv-flags ens15f0", "ice"),
    "ip_neigh_text": ("ip neigh", "states"),
    "bonding": ("cat /proc/net/bonding/bond1", "lacp_one_of_four_carries"),
}


@pytest.mark.parametrize("source", WHOLE)
def test_a_cut_at_any_character_of_a_recorded_answer_changes_no_value(source):
    command, case = WHOLE[source]
    body = recorded(source, case)

    def read(text):
        parsed = parse_output(output(command, text, exit_status=0), PLATFORM.source(source), PLATFORM)
        return {(row.TABLE, row.key): to_plain(row) for _, row in parsed.rows}, parsed.gaps

    whole, _ = read(body)
    assert whole
    for at in range(1, len(body) - 1):
        rows, gaps = read(body[:at])
        for key, row in rows.items():
            assert all(whole[key][column] == value for column, value in row.items()), body[:at]
        if rows != whole and body[at - 1] != "\n":
            assert any(gap.reason in (GapReason.TRUNCATED, GapReason.UNPARSED) for gap in gaps), body[:at]
