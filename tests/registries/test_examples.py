"""The example projects, and every output and program that the documentation shows of them."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import nursery
import pages
import pytest

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.cli.app import run
from stagec.core.diagnostic import Severity
from stagec.sources.project.settings import Settings

TOP = Path(__file__).parents[2]
EXAMPLES = TOP / "registries"
GUIDE = TOP / "docs" / "user-guide"
CLEAN = (
    *("code-review", "docs-repair", "file-review", "guest-book", "issue-flow", "project-flow", "reviewed-change"),
    "support-desk",
)


def compiled(name: str) -> Compilation:
    return compile_project(Project(EXAMPLES / name, (), Settings()))


@cache
def validated(*options: str) -> str:
    return nursery.run(("validate", *options), TOP, nursery.environment()).stdout.decode()


def fences(page: Path) -> list[str]:
    return [block.text for block in pages.blocks(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("name", CLEAN)
def test_an_example_is_clean_down_to_the_last_note(name: str) -> None:
    assert [(each.code, each.message) for each in compiled(name).diagnostics] == []


def test_the_stage_plan_has_nothing_but_two_facts_to_tell() -> None:
    told = [(each.severity, each.name) for each in compiled("wine-quality").diagnostics]
    assert told == [(Severity.NOTE, "external-input"), (Severity.NOTE, "unknown-verb")]


def test_every_example_is_held_by_a_test() -> None:
    assert {path.name for path in EXAMPLES.iterdir()} == {*CLEAN, "broken-on-purpose", "wine-quality"}


def test_the_documented_project_flow_has_its_fourteen_edges() -> None:
    (flow,) = compiled("project-flow").flows
    assert (len(flow.nodes), flow.edges) == (7, 14)


def test_the_readme_of_the_broken_example_lists_what_is_found() -> None:
    found = validated("registries/broken-on-purpose", "--format", "concise")
    assert found in fences(EXAMPLES / "broken-on-purpose" / "README.md")


@pytest.mark.parametrize("page", [TOP / "README.md", GUIDE / "diagnostics.md"], ids=str)
def test_every_diagnostic_that_a_page_shows_is_printed_like_that(page: Path) -> None:
    shown = [
        block for fence in fences(page) for block in fence.split("\n\n") if "\n --> " in block or "\n  --> " in block
    ]
    printed = validated("registries")
    missing = [block for block in shown if block.strip() not in printed]
    assert shown != []
    assert missing == []


def test_the_program_of_the_tour_runs() -> None:
    (program,) = [fence for fence in fences(GUIDE / "tour.md") if "import" in fence]
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=TOP,
        env={"PYTHONPATH": "compiler"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[0] for line in ended.stdout.splitlines()] == [each.code for each in compiled("").diagnostics]


def test_the_main_command_shows_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", str(EXAMPLES)]) == 1
    assert "Found 6 errors, 2 notes in 5 files" in capsys.readouterr().out
