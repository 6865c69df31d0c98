"""Every rule of the specifications of step registries and stage plans has a home in stagec; most have one in a rule."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from stagec.check.pipeline import list_families
from stagec_dev.checkout import specification

CHECKOUT = Path(__file__).parents[2]
_ELSEWHERE = {"reg.unreadable", "gate.no-value"}
"""Slugs with these prefixes that the specification lists in its later sections."""


_OUT_OF_SCOPE = ("tool.", "label.", "wf.")
"""Slugs about what is no part of a registry: sections L and M."""


def slugs() -> set[str]:
    """Return the slugs of sections A to C: the shape, the cross references and the typed checks of a registry."""
    told = every_slug()
    return {each for each in told if each.startswith(("reg.", "xref.", "step.", "gate."))} - _ELSEWHERE


def every_slug() -> set[str]:
    """Return every slug of the specification of step registries."""
    folder = specification()
    if folder is None or not (folder / "steps-registry.rules.json").is_file():
        pytest.skip("no specification: set STAGEC_SPEC, or STAGEC_CORPUS with the specification beside it")
    sections = json.loads((folder / "steps-registry.rules.json").read_bytes()).values()
    return {str(each["slug"]) for section in sections for each in section}


def test_every_slug_of_shape_is_the_origin_of_a_rule() -> None:
    known = {
        origin.removeprefix("steps-registry:")
        for family in list_families()
        for rule in family.rules()
        for origin in rule.origin
    }
    homeless = sorted(slugs() - known)
    assert homeless == [], f"{len(homeless)} of {len(slugs())} slugs have no home yet"


def test_every_origin_of_these_sections_is_a_slug() -> None:
    named = {
        origin.removeprefix("steps-registry:")
        for family in list_families()
        for rule in family.rules()
        for origin in rule.origin
        if origin.startswith(
            ("steps-registry:reg.", "steps-registry:xref.", "steps-registry:step.", "steps-registry:gate.")
        )
    }
    assert sorted(named - slugs() - _ELSEWHERE) == []


def test_every_slug_is_the_origin_of_a_rule_or_has_a_line_in_the_decision() -> None:
    page = (CHECKOUT / "docs" / "decisions" / "0009-rules-without-a-rule.md").read_text(encoding="utf-8")
    written = set(re.findall(r"`([a-z0-9]+\.[\w.-]+)`", page))
    known = {
        origin.rpartition(":")[2] for family in list_families() for rule in family.rules() for origin in rule.origin
    }
    told = {each for each in every_slug() if not each.startswith(_OUT_OF_SCOPE)}
    assert sorted(told - known - written) == []


def stage_protocol_slugs() -> set[str]:
    """Return the slugs in the tables of the specification of stage plans, and those that its section 9 names."""
    folder = specification()
    if folder is None or not (folder / "stage-protocol.rules.md").is_file():
        pytest.skip("no specification: set STAGEC_SPEC, or STAGEC_CORPUS with the specification beside it")
    text = (folder / "stage-protocol.rules.md").read_text(encoding="utf-8").partition("## 11.")[0]
    rows = re.findall(r"^\| ([a-z][a-z0-9-]+(?: / [a-z0-9-]+)*) \|", text, re.MULTILINE)
    named = re.findall(r"`((?:manifest|checkpoint)-[a-z-]+)` error", text)
    return {slug for row in rows for slug in row.split(" / ")} - {"slug"} | {*named}


def test_every_slug_of_stage_plans_is_the_origin_of_a_rule_or_has_a_line_in_the_decision() -> None:
    page = (CHECKOUT / "docs" / "decisions" / "0009-rules-without-a-rule.md").read_text(encoding="utf-8")
    written = set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE))
    known = {
        origin.removeprefix("stage-protocol:")
        for family in list_families()
        for rule in family.rules()
        for origin in rule.origin
    }
    slugs = stage_protocol_slugs()
    assert len(slugs) > 80, "the tables are read otherwise than they are written"
    assert sorted(slugs - known - written) == []


def climpt_slugs() -> set[str]:
    """Return the slugs of the specification of climpt 1.14, without those of orchestrator files."""
    folder = specification()
    if folder is None or not (folder / "climpt-1.14.rules.json").is_file():
        pytest.skip("no specification: set STAGEC_SPEC, or STAGEC_CORPUS with the specification beside it")
    rules = json.loads((folder / "climpt-1.14.rules.json").read_bytes())["rules"]
    return {str(each["slug"]) for each in rules if not each["slug"].startswith(_OUT_OF_SCOPE)}


def test_every_slug_of_climpt_1_14_is_the_origin_of_a_rule_or_has_a_line_in_the_decision() -> None:
    page = (CHECKOUT / "docs" / "decisions" / "0009-rules-without-a-rule.md").read_text(encoding="utf-8")
    written = set(re.findall(r"`([a-z0-9]+\.[\w.-]+)`", page))
    known = {
        origin.rpartition(":")[2] for family in list_families() for rule in family.rules() for origin in rule.origin
    }
    slugs = climpt_slugs()
    assert len(slugs) >= 50, "the rules are read otherwise than they are written"
    assert sorted(slugs - known - written) == []
