"""The baselines that come with the program, against the rules that it has."""

from __future__ import annotations

import re

import pytest

from auditor.baseline.document import Use, Vocabulary
from auditor.baseline.library import Library
from auditor.baseline.shipped import shipped_directory
from auditor.checks import rules
from auditor.errors import ErrorList
from auditor.model import Baseline, Fabric, Severity
from auditor.plan.fabric import parse_fabric

USUAL = "planes: {compute: {rdma_mtu: 4096, classes: [{name: roce, dscp: [26], priority: 3}]}}"
GROUPS = frozenset({"compute", "oob", "in_use", "host_facing", "fabric_facing"})
PROFILES = ("ethernet-fabric", "gpu-host", "oob-switch", "roce-core", "roce-leaf", "roce-spine", "starter")


def library(fabric: Fabric) -> Library:
    known = rules()
    types = {name: rule.params_type for name, rule in known.items() if rule.params_type is not None}
    return Library(None, Vocabulary(fabric, frozenset(known), types, GROUPS))


def resolve(profile: str) -> Baseline:
    return library(parse_fabric(USUAL)).resolve(profile, "1.0.0")


def test_these_profiles_are_shipped_and_the_page_about_them_names_each() -> None:
    assert {str(use) for use in library(parse_fabric(USUAL)).names()} == {f"{profile}@1.0.0" for profile in PROFILES}
    page = (shipped_directory() / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)@1\.0\.0` ", page, re.MULTILINE)) == set(PROFILES)


@pytest.mark.parametrize("profile", PROFILES)
def test_each_resolves_against_a_usual_fabric_with_params_that_their_rules_take(profile: str) -> None:
    found = resolve(profile)
    assert found.expectations
    assert all(line.why for line in found.expectations)
    assert all(value.why for value in found.params.values())


def test_the_class_of_the_fabric_decides_the_priority() -> None:
    fabric = parse_fabric(USUAL.replace("priority: 3", "priority: 5"))
    wanted = {line.id: line.value for line in library(fabric).resolve("roce-leaf", "1.0.0").expectations}
    assert wanted["lossless.roce_pfc"] == 5
    assert wanted["mtu.compute"] == 9100


def test_switches_say_nothing_of_the_numbers_that_are_the_sites_own_business() -> None:
    for profile in ("roce-core", "roce-leaf", "roce-spine"):
        assert {line.at.table for line in resolve(profile).expectations} == {"interface", "qos_port"}


def test_starting_values_are_information_only() -> None:
    starter = resolve("starter")
    assert {line.severity for line in starter.expectations} == {Severity.INFORMATION}
    assert {rules()[name].severity for name in starter.params} == {Severity.INFORMATION}


def test_without_the_intent_the_line_that_lacks_it_is_named() -> None:
    with pytest.raises(ErrorList, match=r"fabric\.yaml has no \$fabric\.compute"):
        library(Fabric()).resolve("roce-leaf", "1.0.0", file="assignments.yaml", line=3)


def test_no_profile_extends_one_that_is_not_shipped() -> None:
    extended = {use for profile in PROFILES for use in re.findall(r"[\w-]+@[\d.]+", _extends(profile))}
    assert extended <= {str(Use(profile, "1.0.0")) for profile in PROFILES}


def _extends(profile: str) -> str:
    text = (shipped_directory() / profile / "1.0.0.yaml").read_text(encoding="utf-8")
    return "".join(re.findall(r"^extends: (.*)$", text, re.MULTILINE))
