"""`stagec breaking` tells which changes break runs in flight."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import playable
import pytest
from cli.test_diff import TOP, edit, repository

from stagec.change.comparison.situation import list_kinds
from stagec.cli.app import run
from stagec.ir.plan import dump
from stagec_dev.rule_pages import write_changes_page

Shown = pytest.CaptureFixture[str]
PAGE = """\
docs-repair: 1 breaking change
  CHG110  executions-lowered  the limit of node executions is 4 and was 8: a run in flight may be beyond it

docs-repair: 1 compatible change
  CHG217  prompt-changed  check: prompt changed
"""

__all__ = ["repository"]


def lower(top: Path) -> None:
    edit(top / "docs" / "pipeline.yaml", "maxStageExecutions: 8", "maxStageExecutions: 4")
    with (top / "docs" / "check.md").open("a") as file:
        file.write("Be kind.\n")


def shown_json(capfd: Shown, *arguments: str, status: int) -> Any:
    assert run(["breaking", *arguments, "--format", "json"]) == status
    made = json.loads(capfd.readouterr().out)
    jsonschema.validate(made, json.loads((TOP / "schemas" / "breaking.schema.json").read_bytes()))
    return made["flows"]


def test_nothing_is_broken_where_nothing_has_changed(repository: Path, capfd: Shown) -> None:
    assert run(["breaking", "--against", "HEAD"]) == 0
    assert capfd.readouterr().out == ""


def test_a_breaking_change_fails(repository: Path, capfd: Shown) -> None:
    lower(repository)
    for arguments in (["--against", "HEAD"], ["--against", "HEAD:docs", "docs"], ["--against", "HEAD", "docs"]):
        assert run(["breaking", *arguments]) == 1
        assert capfd.readouterr().out == PAGE


def test_the_page_of_the_guide_is_what_is_printed(repository: Path) -> None:
    guide = (TOP / "docs" / "user-guide" / "review.md").read_text()
    assert PAGE in guide


def test_an_allowed_code_breaks_nothing(repository: Path, capfd: Shown) -> None:
    lower(repository)
    assert run(["breaking", "--against", "HEAD", "--allow", "chg110"]) == 0
    assert "beyond it (allowed)" in capfd.readouterr().out
    [flow] = shown_json(capfd, "--against", "HEAD", "--allow", "CHG110", status=0)
    assert flow["class"] == "compatible"
    assert [(each["code"], each["allowed"]) for each in flow["changes"]] == [("CHG110", True), ("CHG217", False)]


@pytest.mark.parametrize("code", ["CHG999", "CHG217", "x", ""])
def test_only_codes_of_breaking_changes_can_be_allowed(repository: Path, capfd: Shown, code: str) -> None:
    assert run(["breaking", "--against", "HEAD", "--allow", code]) == 2
    assert "is not a code of a breaking change" in capfd.readouterr().err


def test_plans_are_judged(tmp_path: Path, capfd: Shown) -> None:
    old, new = playable.steps(), playable.steps(schema='{"type":"object"}', limit=21)
    for name, plan in (("old", old), ("new", new)):
        (tmp_path / name).write_bytes(dump(plan))
    [flow] = shown_json(capfd, str(tmp_path / "new"), "--against", str(tmp_path / "old"), status=0)
    assert (flow["flow"], flow["class"]) == ("writer", "additive")
    [flow] = shown_json(capfd, str(tmp_path / "old"), "--against", str(tmp_path / "new"), status=1)
    assert [each["code"] for each in flow["changes"]] == ["CHG110", "CHG120", "CHG120"]
    assert flow["changes"][1]["message"] == "node 'close' refuses answers that it accepted: {}"


def test_a_flow_that_is_gone_is_broken(tmp_path: Path, capfd: Shown) -> None:
    (tmp_path / "old").write_bytes(dump(playable.steps()))
    (tmp_path / "new").write_bytes(dump(playable.stages()))
    flows = shown_json(capfd, str(tmp_path / "new"), "--against", str(tmp_path / "old"), status=1)
    assert [(each["flow"], each["class"]) for each in flows] == [("reader", "additive"), ("writer", "breaking")]


def test_a_comment_has_the_classes(repository: Path, capfd: Shown) -> None:
    lower(repository)
    assert run(["breaking", "--against", "HEAD", "--format", "markdown"]) == 1
    shown = capfd.readouterr().out
    assert "**1 breaking change**\n\n- CHG110 executions-lowered: `the limit" in shown
    assert "- CHG217 prompt-changed: `check: prompt changed`" in shown


def test_every_kind_is_in_the_guide() -> None:
    path, text = write_changes_page()
    assert path.read_text(encoding="utf-8") == text, "run `python -m stagec_dev docs`"
    assert all(f"{each.code} {each.name}" in text or f"| {each.code} | {each.name}" in text for each in list_kinds())
