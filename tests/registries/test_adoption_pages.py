"""The page about adopting stagec: its suppressions work, and the baseline that it shows is what is written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nursery
import pages

from stagec.check.pipeline import Project, compile_project, list_families
from stagec.sources.project.settings import Settings

GUIDE = Path(__file__).parents[2] / "docs" / "user-guide"
PAGE = (GUIDE / "adopt.md").read_text(encoding="utf-8")
SUPPRESSING, _, BASELINE = PAGE.partition("\n## Suppress a finding\n")[2].partition("\n## What a baseline is\n")


def test_the_files_of_the_page_about_suppressions_have_no_finding_left(tmp_path: Path) -> None:
    for block in pages.blocks(SUPPRESSING):
        if block.words:
            pages.write(tmp_path, block)
    found = compile_project(Project(tmp_path, (), Settings()))
    assert (found.diagnostics, found.suppressed) == ((), 3)


def test_rules_that_the_page_names_are_called_so() -> None:
    names = {rule.code: rule.name for family in list_families() for rule in family.rules()}
    told = dict(re.findall(r"^\| `(STG\d+)` ([\w-]+) \|", PAGE, re.MULTILINE))
    assert {code: names[code] for code in told} == told
    assert set(re.findall(r"STG\d{3}", PAGE)) <= names.keys()


def test_the_baseline_of_the_page_is_what_is_written(tmp_path: Path) -> None:
    shown = next(block.text for block in pages.blocks(BASELINE) if block.kind == "json")
    pages.write(tmp_path, pages.Block("yaml", "ci/pipeline.yaml", "entry: plan\nstages: [{}]\nowner: platform\n"))
    nursery.run(["baseline", "write"], tmp_path, nursery.environment())
    written = json.loads((tmp_path / "stagec-baseline.json").read_text(encoding="utf-8"))
    entries = written["findings"]["ci/pipeline.yaml"]
    written["findings"]["ci/pipeline.yaml"] = [each for each in entries if each["member"] == "/owner"]
    assert json.loads(shown) == written
