"""The theorem of `what-is-proved.md`: each rule that it rests on forbids what really fails, and each test is there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from properties.soundness.free import some_fail
from properties.soundness.free_registries import Made
from rules.conftest import _write

from stagec.change.flow_tests.witness import search_briefly
from stagec.check.pipeline import Compilation, Project, compile_project, list_families
from stagec.core.diagnostic import Severity
from stagec.core.value import replace
from stagec.ir.plan.act import Prompt
from stagec.ir.plan.document import Plan
from stagec.sources.project.settings import Settings
from stagec_dev.checkout import ROOT
from stagec_dev.rule_pages import read_sections

PAGE = ROOT / "docs" / "user-guide" / "what-is-proved.md"
ROW = re.compile(r"^\| (?P<statement>\d[^|]*) \| (?P<rules>[^|]*) \| `(?P<test>tests/[^`]*)` \|$", re.MULTILINE)
ROWS = list(ROW.finditer(PAGE.read_text(encoding="utf-8")))
CODES = sorted({code for row in ROWS for code in re.findall(r"STG\d{3,4}", row["rules"])})
NOTHING = Made({}, Counter(), {}, {})


def test_every_statement_has_its_rules_and_its_test() -> None:
    assert {row["statement"][0] for row in ROWS} == set("1234567")
    assert [row["test"] for row in ROWS if not (ROOT / row["test"]).exists()] == []


def test_the_rules_are_errors() -> None:
    severities = {rule.code: rule.severity for family in list_families() for rule in family.rules()}
    assert [code for code in CODES if severities.get(code) is not Severity.ERROR] == []


@pytest.mark.parametrize("code", CODES)
def test_what_a_rule_forbids_fails(code: str, tmp_path: Path) -> None:
    (spec,) = (ROOT / "tests" / "rules").glob(f"*/{code.lower()}_*.md")
    for at, section in enumerate(read_sections(spec)):
        root = tmp_path / str(at)
        root.mkdir()
        for block in section.inputs:
            _write(root, block)
        found = compile_project(Project(root, (), Settings()), search_briefly)
        if any(each.code == code and each.severity is Severity.ERROR for each in found.diagnostics) and fails(found):
            return
    pytest.fail(f"no example of {code} fails")


def fails(found: Compilation) -> bool:
    """Tell whether a project has no plan, or one with runs that fail, or that never come somewhere."""
    plans = [prompted(meaning.plan()) for meaning in found.meanings]
    return not plans or any(some_fail(plan, NOTHING, Random(1)) for plan in plans)  # noqa: S311


def prompted(plan: Plan) -> Plan:
    """Return a plan whose prompts are there; many examples leave them out."""
    nodes = {
        name: replace(node, act=replace(node.act, prompt=())) if isinstance(node.act, Prompt) else node
        for name, node in plan.nodes.items()
    }
    return replace(plan, nodes=nodes)
