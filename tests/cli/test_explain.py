"""`stagec explain`: the page of a rule, with an example that is wrong and the same one right."""

from __future__ import annotations

import json

import pytest

from stagec.check.pipeline import list_families
from stagec.cli.app import run

Shown = pytest.CaptureFixture[str]


def explain(shown: Shown, *words: str) -> str:
    assert run(["explain", *words]) == 0
    return shown.readouterr().out


def test_a_page_marks_the_wrong_place_and_shows_the_change(capsys: Shown) -> None:
    page = explain(capsys, "STG212")
    wrong, _, right = page.partition("## A wrong example")[2].partition("## The same, right")
    assert wrong.splitlines()[1].startswith("error[STG212] intent-drift: the schema enum of step")
    marked, marks = next(
        pair for pair in zip(wrong.splitlines(), wrong.splitlines()[1:], strict=False) if "^" in pair[1]
    )
    assert marked[marks.index("^") : marks.rindex("^") + 1] == '["next"]'
    assert "stagec explain" not in wrong
    assert {line[0] for line in right.splitlines() if line} >= {"+", "-", "@"}


def test_a_page_fits_a_terminal_of_80_columns(capsys: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "0")
    right = explain(capsys, "STG235").partition("## The same, right")[2]
    assert [line for line in right.splitlines() if len(line) > 80] == []


def test_a_page_in_markdown_fences_its_example(capsys: Shown) -> None:
    page = explain(capsys, "STG212", "--format", "markdown")
    assert page.startswith("# STG212 intent-drift\n\n")
    assert page.count("\n```text\nerror[STG212]") == page.count("\n```diff\n") == 1


def test_every_rule_has_an_example(capsys: Shown) -> None:
    every = {rule.code for family in list_families() for rule in family.rules()}
    found = json.loads(explain(capsys, "--format", "json"))
    assert {each["code"] for each in found} == every
    assert [each["code"] for each in found if not each["example"]["findings"] or not each["example"]["change"]] == []
