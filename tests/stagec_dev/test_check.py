from __future__ import annotations

from stagec_dev.checkout import ROOT
from stagec_dev.tools.check import tasks


def test_fast_is_a_part_of_all() -> None:
    assert {task.name for task in tasks(fast=True)} <= {task.name for task in tasks(fast=False)}


def test_all_runs_every_tool() -> None:
    names = [task.name for task in tasks(fast=False)]
    assert names[:5] == ["ruff check", "ruff format", "mypy", "tests", "docs"]


def test_fast_runs_folders_of_tests_that_are_there_and_no_campaigns() -> None:
    (tests,) = (task for task in tasks(fast=True) if task.name == "tests")
    named = {word for word in tests.argv if word.startswith("tests/")}
    slow = {f"tests/{folder}" for folder in (ROOT / ".ci" / "slow").read_text(encoding="utf-8").split()}
    assert len(named) > 3
    assert all((ROOT / folder).is_dir() for folder in named | slow)
    assert named & slow <= {"tests/laws"}
