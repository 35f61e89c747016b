import pytest

from auditor.checks.lossless.headroom import LARGEST_RDMA_MTU, need

DEFAULTS = """
  10000    5m   16384   SN4280
  25000    5m   17408   SN4280
 100000    5m   37888   SN4280
 200000    5m   43008   SN4280
 400000    5m   73728   SN4280
  10000   40m   16384   SN4280
 100000   40m   43008   SN4280
 200000   40m   51200   SN4280
 400000   40m   91136   SN4280
 100000  300m   75776   SN4280
 200000  300m  118784   SN4280
 400000  300m  225280   SN4280
 100000 2000m  293888   SN4280
 200000 2000m  555008   SN4280
 800000    5m   95232   SN5610N
 800000   40m  132096   SN5610N
 800000  300m  411648   SN5610N
 400000 1000m  610304   SN5610N
 100000  300m   76800   7050-QX32
 100000  300m   96928   7260CX3
 100000    5m   68580   Z9332F
 400000 2000m 1498092   Z9332F
 400000  300m  331776   7800R3
"""
"""Speed in Mbit/s, cable length, headroom of the vendor's default profile (pg_profile_lookup.ini of sonic-buildimage), switch."""


@pytest.mark.parametrize("line", DEFAULTS.strip().splitlines(), ids=lambda line: " ".join(line.split()))
def test_default_profiles_of_vendors_hold_the_lower_bound(line):
    speed, length, headroom, _ = line.split()
    wanted = need(int(speed) * 10**6, float(length.removesuffix("m")), LARGEST_RDMA_MTU, 9100)
    assert wanted.least <= int(headroom)


def test_the_bound_is_the_cable_both_ways_and_two_frames():
    wanted = need(100 * 10**9, 300.0, 4096, 9100)
    assert (wanted.cable, wanted.frame, wanted.least) == (37_500, 4_158, 45_816)


def test_the_standards_reaction_is_added_for_speeds_that_it_names():
    assert need(100 * 10**9, 300.0, 4096, 9100).worst == 45_816 + 394 * 64
    assert need(800 * 10**9, 300.0, 4096, 9100).worst is None


def test_frames_are_no_larger_than_the_port_lets_through():
    assert need(100 * 10**9, 0.0, 4096, 1500).frame == 1_518
    assert need(100 * 10**9, 0.0, 4096, None).frame == 4_158
