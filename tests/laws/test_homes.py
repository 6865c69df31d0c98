"""Every rule of the specification's sections A to C has a home in stagec."""

from __future__ import annotations

import json

import pytest

from stagec.pipeline import list_families
from stagec_dev.checkout import specification

_ELSEWHERE = {"reg.unreadable", "gate.no-value"}
"""Slugs with these prefixes that the specification lists in its later sections."""


def slugs() -> set[str]:
    """Return the slugs of sections A to C: the shape, the cross references and the typed checks of a registry."""
    folder = specification()
    if folder is None or not (folder / "steps-registry.rules.json").is_file():
        pytest.skip("no specification: set STAGEC_SPEC, or STAGEC_CORPUS with the specification beside it")
    told = json.loads((folder / "steps-registry.rules.json").read_bytes())["rules"]
    return {each["slug"] for each in told if each["slug"].startswith(("reg.", "xref.", "step.", "gate."))} - _ELSEWHERE


def test_every_slug_is_the_origin_of_a_rule() -> None:
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
