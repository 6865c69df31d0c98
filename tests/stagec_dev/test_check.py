from __future__ import annotations

from stagec_dev.tools.check import tasks


def test_fast_is_a_part_of_all() -> None:
    assert {task.name for task in tasks(fast=True)} <= {task.name for task in tasks(fast=False)}


def test_all_runs_every_tool() -> None:
    names = [task.name for task in tasks(fast=False)]
    assert names[:6] == ["ruff check", "ruff format", "mypy", "import contracts", "tests", "docs"]


def test_fast_leaves_out_what_takes_long() -> None:
    (tests,) = (task for task in tasks(fast=True) if task.name == "tests")
    assert "--ignore=tests/hostile" in tests.argv
