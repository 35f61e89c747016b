from dataclasses import replace
from xml.etree import ElementTree

from auditor.model import Coverage, Gap, GapReason, Severity
from auditor.report import Options, formats


def suite(run, **options):
    text = formats()["junit"].render(run, Options(**options))
    return ElementTree.fromstring(text.encode()).find("testsuite")


def names(element):
    return [(case.get("classname"), case.get("name")) for case in element]


def test_one_failing_case_per_cause_and_no_mirror_of_a_gap(faulty):
    found = suite(faulty)
    assert found.get("failures") == "2"
    assert not [case for case in found if "c-9" in case.get("name")]


def test_names_are_unique_and_do_not_hold_values(faulty, make_finding):
    before = names(suite(faulty))
    assert len(set(before)) == len(before)
    changed = replace(
        faulty,
        causes=tuple(replace(cause, title=cause.title + " now 1400") for cause in faulty.causes),
        findings=tuple(replace(finding, observed="1400") for finding in faulty.findings),
    )
    assert names(suite(changed)) == before


def test_a_clean_run_has_one_passing_case(healthy):
    found = suite(replace(healthy, gaps=()))
    assert [len(case) for case in found] == [0]
    assert (found.get("tests"), found.get("failures"), found.get("errors")) == ("1", "0", "0")


def test_what_could_not_be_seen_is_an_error_and_what_is_declared_is_skipped(faulty):
    found = suite(faulty)
    errors = [case.find("error").get("message") for case in found if case.find("error") is not None]
    assert errors == ["unreachable: nothing of it was seen", "the rule crashed: KeyError: 'x'"]
    skipped = [case.find("skipped").get("message") for case in found if case.find("skipped") is not None]
    assert len(skipped) == 2
    assert found.get("skipped") == "2"


def test_a_cause_below_the_threshold_passes_with_its_text(healthy, make_finding, make_cause):
    found = (make_finding(severity=Severity.WARNING),)
    run = replace(healthy, gaps=(), findings=found, causes=(make_cause(severity=Severity.WARNING),))
    calm, strict = suite(run), suite(run, fail_on=Severity.WARNING)
    assert calm.get("failures") == "0"
    assert "1500" in calm[0].find("system-out").text
    assert strict.get("failures") == "1"
    assert calm[0].get("name") == strict[0].get("name")


def test_a_waived_cause_is_skipped_with_its_terms(healthy, make_finding, make_cause):
    found = make_finding(status="waived", waiver={"owner": "net"})
    case = suite(replace(healthy, findings=(found,), causes=(make_cause(waived=True),)))[0]
    assert "owner net" in case.find("skipped").get("message")


def test_nothing_judged_is_no_green_suite(healthy):
    assert suite(replace(healthy, gaps=(), coverage=Coverage())).get("errors") == "1"


def test_hostile_text_gives_well_formed_xml(healthy, make_finding, make_cause):
    evil = "\x00\x1b]]><x a='1'>&\ufffe\ud800\x0b"
    found = make_finding(observed=evil, message=evil, devices=(evil,), object_=evil)
    run = replace(
        healthy,
        findings=(replace(found, evidence=(replace(found.evidence[0], excerpt=evil),)),),
        causes=(make_cause("c", found.fingerprint, title=evil, root=evil),),
        gaps=(Gap(evil, "interface", "s", GapReason.UNPARSED, evil),),
    )
    case = suite(run)[0]
    assert "]]><x a='1'>&" in case.find("failure").text


def test_the_evidence_is_in_the_failure(faulty):
    texts = [case.find("failure").text for case in suite(faulty) if case.find("failure") is not None]
    assert any("Ethernet16    40,41,42,43     400G   1500" in text for text in texts)
