"""What cannot be read is not told to be missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.sources.project.settings import Settings

PLAN = """---
id: plan
name: Plan
allowedTools: []
completionTool: submit_plan
completionSchema: {type: object}
retryPolicy: {maxAttempts: 1, backoff: none}
turnCap: 5
resolutionPolicy: fail
---
Make a plan, then call `submit_plan`.
"""
UNCLOSED = PLAN.replace("name: Plan", 'name: "Plan').replace("plan", "review")
TOOLS = "bundled: [Read]\ndiscovered: [run_tests]\n"
ABSENCE = {
    "STG608",
    "STG347",
    "STG340",
    "STG341",
    "STG342",
    "STG355",
    "STG374",
    "STG601",
    "STG602",
    "STG603",
    "STG604",
    "STG605",
}


def told(root: Path, files: dict[str, str]) -> list[str]:
    """Return the codes of the rules that speak of something that is not there."""
    overlay = {name: text.encode() for name, text in files.items()}
    named = tuple(root / name for name in files if "pipeline" in name or name.endswith(".md"))
    found = compile_project(Project(root, named, Settings(), overlay)).diagnostics
    return [each.code for each in found if each.code in ABSENCE]


@pytest.mark.parametrize(
    "pipeline",
    [
        "entry: review\n",
        "entry: plan\nnext: {plan: review}\n",
        "entry: plan\nnext: {plan: {stages: [plan, other], execution: parallel, join: review}}\n",
        "entry: plan\nchecks: {review: [{verdict: retry}]}\n",
        "entry: plan\n",
    ],
)
def test_a_stage_that_cannot_be_read_may_be_the_one_that_is_meant(tmp_path: Path, pipeline: str) -> None:
    files = {"pipeline.yaml": f"stages: ['*.md']\n{pipeline}", "tools.yaml": TOOLS, "plan.md": PLAN}
    assert told(tmp_path, {**files, "review.md": UNCLOSED}) == []


def test_what_a_broken_stage_leads_to_is_not_told_to_be_unreachable(tmp_path: Path) -> None:
    files = {"pipeline.yaml": "entry: plan\nstages: ['*.md']\n", "review.md": PLAN.replace("plan", "review")}
    assert told(tmp_path, {**files, "plan.md": UNCLOSED.replace("review", "plan")}) == []


def test_a_stage_in_which_the_id_is_missing_may_have_any(tmp_path: Path) -> None:
    nameless = PLAN.replace("id: plan\n", "")
    files = {"pipeline.yaml": "entry: plan\nstages: ['*.md']\nnext: {plan: nobody}\n", "plan.md": PLAN}
    assert told(tmp_path, {**files, "review.md": nameless}) == []


def test_a_route_that_cannot_be_read_may_lead_anywhere(tmp_path: Path) -> None:
    pipeline = "entry: plan\nstages: ['*.md']\nnext: {plan: {stages: review}}\n"
    files = {"pipeline.yaml": pipeline, "plan.md": PLAN, "review.md": PLAN.replace("plan", "review")}
    assert told(tmp_path, files) == []


def test_a_near_miss_of_a_stage_that_can_be_read_is_told_all_the_same(tmp_path: Path) -> None:
    pipeline = "entry: plan\nstages: ['*.md']\nnext: {plan: exceute}\n"
    files = {"pipeline.yaml": pipeline, "plan.md": PLAN, "execute.md": PLAN.replace("plan", "execute")}
    assert told(tmp_path, {**files, "review.md": UNCLOSED}) == ["STG341"]


@pytest.mark.parametrize("limit", ["maxParallel: some", "maxStageExecutions: many"])
def test_a_limit_that_cannot_be_read_is_not_taken_for_the_usual_one(tmp_path: Path, limit: str) -> None:
    cases = "[{when: {parsed.x: 1}, stages: []}, {stages: [a, b, c, d, e], execution: parallel, join: plan}]"
    stages = {f"{name}.md": PLAN.replace("plan", name) for name in ("plan", "a", "b", "c", "d", "e")}
    bound = "maxStageExecutions: 20\nmaxParallel: 5\n".replace(limit.partition(":")[0], "x-other")
    pipeline = f"entry: plan\nstages: ['*.md']\nnext: {{plan: {cases}}}\n{bound}{limit}\n"
    assert told(tmp_path, {**stages, "pipeline.yaml": pipeline}) == []
