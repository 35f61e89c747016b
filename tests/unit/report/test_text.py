from dataclasses import replace
from datetime import date

from auditor.model import Coverage, Gap, GapReason, Severity, Waiver
from auditor.report import Options, formats


def text(run, **options):
    return formats()["text"].render(run, Options(**options))


def test_a_healthy_run_takes_three_lines(healthy):
    lines = text(healthy).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("No cause found")
    assert "3 of 3 devices reached" in lines[1]
    assert "42 pass" in lines[2]
    assert "2 proven" in lines[2]


def test_causes_stand_worst_first_and_count_once(faulty):
    out = text(faulty)
    assert out.splitlines()[0] == "2 causes: 1 critical, 1 error"
    assert out.index("leaf-07 Ethernet16: MTU") < out.index("leaf-02: buffer model")


def test_a_cause_shows_devices_values_origin_and_the_line_that_proves_it(faulty):
    out = text(faulty)
    block = out[out.index("CRITICAL") : out.index("ERROR  leaf-02")]
    for part in (
        "leaf-07, gpu-03",
        "9100",
        "1500  (layer: applied)",
        "roce-leaf@2.1.0  baselines/roce-leaf/2.1.0.yaml:14",
        "leaf-07 · show interfaces status · lines 6-6 · 2031-03-04T05:06:08Z\n",
        "    |   Ethernet16    40,41,42,43     400G   1500    rs   etp3",
        "seen by    mtu.link_ends_differ: gpu-03 sends packets of 9000 bytes into a port of 1500",
        "config interface mtu Ethernet16 9100",
    ):
        assert part in block


def test_one_output_that_proves_two_findings_is_shown_once(faulty):
    assert text(faulty).count("show interfaces status · lines 6-6") == 1


def test_a_gap_is_told_once_and_not_also_as_a_cause(faulty):
    out = text(faulty)
    assert "leaf-09 is unreachable" not in out
    assert "leaf-09  unreachable: nothing of it was seen" in out
    assert "connection refused on port 22" in out


def test_crashed_rules_unverified_resolved_and_changes_are_listed(faulty):
    out = text(faulty)
    assert "mtu.other on leaf-01  the rule failed by itself: KeyError" in out
    assert "not examined this time (1)\n  lossless.watchdog_missing on leaf-09:queue[Ethernet0,3]" in out
    assert "Resolved (1)\n  firmware.os on leaf-01:system" in out
    assert "leaf-07  interface[Ethernet16].mtu@applied: 9100 -> 1500" in out


def test_a_run_without_causes_but_with_a_gap_is_not_called_fine(healthy):
    out = text(replace(healthy, gaps=(Gap("leaf-02", "interface", "s", GapReason.TRUNCATED, "no closing line"),)))
    assert out.splitlines()[0] == "No cause found in what was seen, but the run is incomplete: see below."
    assert "leaf-02  the answer is cut off: interface" in out


def test_a_run_that_judged_nothing_says_so(healthy):
    assert text(replace(healthy, coverage=Coverage())).startswith("Nothing was judged")


def test_device_text_reaches_the_screen_without_control_characters(healthy, make_finding, make_cause):
    evil = "\x1b[2J\x9b31m\u202eevil\x07"
    found = make_finding(observed=evil, message=evil, devices=(evil,))
    found = replace(found, evidence=(replace(found.evidence[0], excerpt=f"first\r\n{evil}"),))
    run = replace(
        healthy,
        findings=(found,),
        causes=(make_cause(title=evil),),
        gaps=(Gap(evil, "interface", "s", GapReason.UNPARSED, evil),),
        scope=evil,
    )
    out = text(run)
    assert "evil" in out
    assert all(char.isprintable() or char == "\n" for char in out)


def test_colours_appear_only_when_asked_for(faulty, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in text(faulty)
    coloured = text(faulty, colour=True)
    assert "\x1b[1;31m" in coloured


def test_lines_fit_the_width_and_hang_below_their_text(faulty, make_finding):
    wide = replace(faulty, findings=(make_finding(message="word " * 60), *faulty.findings[:2]))
    lines = text(wide, width=60).splitlines()
    assert max(map(len, lines)) <= 60
    assert any(line.startswith(" " * 13 + "word") for line in lines)


def test_without_a_width_no_line_is_wrapped(faulty, make_finding):
    long = replace(faulty, findings=(make_finding(message="word " * 60), *faulty.findings[:2]))
    assert any("word word" in line and len(line) > 300 for line in text(long).splitlines())


def test_a_cause_with_hundreds_of_findings_alike_is_one_block(healthy, make_finding, make_cause):
    found = [make_finding(object_=f"leaf-{n}:interface[Ethernet0]", devices=(f"leaf-{n}",)) for n in range(300)]
    found = [replace(item, evidence=(replace(item.evidence[0], device=item.devices[0]),)) for item in found]
    out = text(replace(healthy, findings=tuple(found), causes=(make_cause("c", *(item.fingerprint for item in found)),)))
    assert len(out.splitlines()) < 20
    assert "and 292 more" in out
    assert "objects    300: leaf-0:interface[Ethernet0], " in out
    assert out.count("| ") == 1
    assert "and 299 more places that show it" in out


def test_a_cause_seen_in_many_ways_stays_readable(healthy, make_finding, make_cause):
    found = [make_finding(object_=f"leaf-07:queue[Ethernet0,{n}]", observed=str(n)) for n in range(40)]
    out = text(replace(healthy, findings=tuple(found), causes=(make_cause("c", *(item.fingerprint for item in found)),)))
    assert len(out.splitlines()) < 40
    assert "and 35 more findings of this cause" in out


def test_waived_causes_stand_apart_and_do_not_count(healthy, make_finding, make_cause):
    found = make_finding(waiver={"owner": "net", "reason": "old cable", "expires": "2031-06-01"}, status="waived")
    out = text(replace(healthy, findings=(found,), causes=(make_cause(waived=True, status="waived"),)))
    assert out.startswith("No cause found")
    assert "Waived (1)" in out
    assert "owner net, reason old cable" in out


def test_a_cause_below_error_is_still_a_cause(healthy, make_finding, make_cause):
    found = make_finding(severity=Severity.WARNING)
    out = text(replace(healthy, findings=(found,), causes=(make_cause(severity=Severity.WARNING),)))
    assert out.startswith("1 cause: 1 warning")


def test_a_regressed_cause_says_so_and_since_when(healthy, make_finding, make_cause):
    found = make_finding(status="regressed", first_seen="2031-01-01T00:00:00+00:00")
    out = text(replace(healthy, findings=(found,), causes=(make_cause(status="regressed"),)))
    assert "regressed, first seen 2031-01-01" in out


def test_a_waived_gap_does_not_make_the_run_incomplete_and_stays_visible(healthy):
    gap = Gap("leaf-02", "queue", "pfcwd", GapReason.PERMISSION, "sudo wants a password")
    waiver = Waiver("net", "no sudo there", date(2031, 6, 1), gap="leaf-02:queue")
    out = text(replace(healthy, gaps=(gap,), waivers=(waiver,)))
    assert out.startswith("No cause found: everything that was judged")
    assert "Waived (1)\n  leaf-02: the login may not run the command: queue" in out


def test_objects_of_one_device_stand_in_the_order_of_its_ports_without_its_name(faulty, make_finding, make_cause):
    ports = ("Ethernet12", "Ethernet4", "Ethernet0")
    found = [
        replace(make_finding(object_=f"leaf-07:interface[{port}]"), fingerprint=port, devices=("leaf-07",)) for port in ports
    ]
    run = replace(faulty, findings=tuple(found), causes=(make_cause("c", *ports),))
    assert "3: interface[Ethernet0], interface[Ethernet4], interface[Ethernet12]\n" in text(run)


def test_many_notes_stand_under_one_heading(healthy):
    out = text(replace(healthy, notes=tuple(f"leaf-01/f{at}.txt: unknown" for at in range(30))))
    assert out.count("Note") == 1
    assert "Notes (30)" in out
    assert "and 20 more" in out


def test_a_long_command_does_not_hide_the_place_in_its_answer(healthy, make_finding, make_cause):
    found = make_finding()
    command = "grep -rs " + " ".join(f"--include=file{at}" for at in range(100)) + " . /sys/devices"
    found = replace(found, evidence=(replace(found.evidence[0], command=command, locator="line 17"),))
    out = text(replace(healthy, findings=(found,), causes=(make_cause(),)))
    line = next(line for line in out.splitlines() if "line 17" in line)
    assert "grep -rs --include=file0" in line and " … " in line and ". /sys/devices · line 17" in line
