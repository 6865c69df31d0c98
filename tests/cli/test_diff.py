"""`stagec diff` lists what has changed in the meaning of flows: of plans, folders and revisions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import playable
import programs
import pytest

from stagec.cli.app import run
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.codec import DEEPEST
from stagec.ir.plan.document import Input
from stagec.sources import read
from stagec.sources.tree import Tree

Shown = pytest.CaptureFixture[str]
TOP = Path(__file__).parents[2]
REPAIR = TOP / "registries" / "docs-repair"
PAGE = """\
docs-repair: 2 changes
  ~  limit   node executions 8 → 9
  ~  prompt  check: prompt changed
               + Be kind.
     runs    worst case of steps 8 → 9
             worst case of turns 240 → 280
             shortest case of input tokens 44 → 45
"""


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
@programs.starts("git")
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with a project, changed since the last commit, and go there."""
    top = tmp_path / "top"
    shutil.copytree(REPAIR, top / "docs")
    git(top, "init", "-q", "-b", "main", ".")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "first")
    monkeypatch.chdir(top)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return top


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def change(top: Path) -> None:
    edit(top / "docs" / "pipeline.yaml", "maxStageExecutions: 8", "maxStageExecutions: 9")
    with (top / "docs" / "check.md").open("a") as file:
        file.write("Be kind.\n")


def shown_json(capfd: Shown, *arguments: str, status: int) -> Any:
    assert run(["diff", *arguments, "--format", "json"]) == status
    made = json.loads(capfd.readouterr().out)
    jsonschema.validate(made, json.loads((TOP / "schemas" / "diff.schema.json").read_bytes()))
    return made["flows"]


def test_a_revision_is_compared_with_what_is_there(repository: Path, capfd: Shown) -> None:
    assert run(["diff", "HEAD"]) == 0
    assert capfd.readouterr().out == ""
    change(repository)
    for old, new in (("HEAD", "."), ("main:", "docs"), ("HEAD:docs", "docs"), ("HEAD", "docs")):
        assert run(["diff", old, new]) == 1
        assert capfd.readouterr().out == PAGE


def test_two_revisions_are_compared_and_the_working_tree_stays(repository: Path, capfd: Shown) -> None:
    change(repository)
    git(repository, "commit", "-q", "-a", "-m", "second")
    edit(repository / "docs" / "pipeline.yaml", "maxStageExecutions: 9", "maxStageExecutions: 3")
    before = (repository / "docs" / "pipeline.yaml").read_bytes()
    assert run(["diff", "HEAD~1", "HEAD"]) == 1
    assert capfd.readouterr().out == PAGE
    assert (repository / "docs" / "pipeline.yaml").read_bytes() == before
    assert [each for each in os.listdir(repository.parent) if each.startswith("stagec-")] == []


def test_no_hook_and_no_filter_of_the_repository_is_started(repository: Path, capfd: Shown) -> None:
    trap = repository / "trap"
    (repository / ".gitattributes").write_text("*.md filter=trap diff=trap\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "attributes")
    for name in ("filter.trap.smudge", "filter.trap.clean", "filter.trap.process", "core.fsmonitor", "core.pager"):
        git(repository, "config", name, f"touch {trap}")
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        path = repository / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch {trap}\n")
        path.chmod(0o755)
    change(repository)
    assert run(["diff", "HEAD"]) == 1
    assert capfd.readouterr().out == PAGE
    assert not trap.exists()


def test_links_of_a_revision_are_left_out(repository: Path, capfd: Shown) -> None:
    (repository / "docs" / "own.md").symlink_to("/etc/passwd")
    (repository / "away").symlink_to("/")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "links")
    assert run(["diff", "HEAD~1", "HEAD"]) == 0
    assert capfd.readouterr().out == ""


def test_moved_and_reformatted_files_are_no_change(repository: Path, capfd: Shown) -> None:
    git(repository, "mv", "docs", "moved")
    edit(repository / "moved" / "pipeline.yaml", "  write: check\n", "\n  write:   check   # so it is\n")
    edit(
        repository / "moved" / "check.md", "required: [page, broken, faults]", 'required: ["page", "broken", "faults"]'
    )
    assert run(["diff", "HEAD:docs", "moved"]) == 0
    assert capfd.readouterr().out == ""


def test_flows_are_matched_by_name(repository: Path, capfd: Shown) -> None:
    edit(repository / "docs" / "pipeline.yaml", "id: docs-repair", "id: renamed")
    flows = shown_json(capfd, "HEAD", status=1)
    assert [(each["flow"], each["action"], each["changes"]) for each in flows] == [
        ("docs-repair", "removed", []),
        ("renamed", "added", []),
    ]
    assert [each["flow"] for each in shown_json(capfd, "HEAD", "--flow", "renamed", status=1)] == ["renamed"]
    assert run(["diff", "HEAD", "--flow", "nobody"]) == 3


def test_plans_are_compared(tmp_path: Path, capfd: Shown) -> None:
    old, new = playable.steps(), playable.steps(limit=30, command="exit 1")
    for name, plan in (("old", old), ("new", new)):
        (tmp_path / name).write_bytes(dump(plan))
    [flow] = shown_json(capfd, str(tmp_path / "old"), str(tmp_path / "new"), status=1)
    assert [(each["topic"], each["before"], each["after"]) for each in flow["changes"]][:1] == [("executions", 20, 30)]
    assert [(each["topic"], each["name"]) for each in flow["changes"]][1:] == [("validator", "checked")]
    assert run(["diff", str(tmp_path / "old"), str(tmp_path / "old")]) == 0


def test_a_comment_holds_what_people_wrote_as_code(tmp_path: Path, capfd: Shown) -> None:
    old = playable.steps()
    odd = {"a`b": "draft", "<img src=x>": "close", "```\n# heading": "close", "": "draft"}
    for name, plan in (("old", old), ("new", replace(old, entries=odd))):
        (tmp_path / name).write_bytes(dump(plan))
    assert run(["diff", str(tmp_path / "old"), str(tmp_path / "new"), "--format", "markdown"]) == 1
    shown = capfd.readouterr().out
    assert "``entry a`b added: draft``" in shown
    assert "`entry <img src=x> added: close`" in shown
    assert not any(line.startswith("# heading") for line in shown.splitlines())


@pytest.mark.parametrize("named", ["nothing", "HEAD:gone", "--", "HEAD^{nothing}", "a\nb", "-x", "HEAD:../x"])
def test_what_is_not_there_is_trouble(repository: Path, capfd: Shown, named: str) -> None:
    assert run(["diff", "--", named, "docs"]) == 2
    assert capfd.readouterr().err.startswith("stagec: error: ")


def test_a_path_that_a_revision_lacks_is_told_with_the_way_out(repository: Path, capfd: Shown) -> None:
    (repository / "docs").rename(repository / "pages")
    assert run(["diff", "HEAD", "pages"]) == 2
    assert capfd.readouterr().err == (
        "stagec: error: revision 'HEAD' has no 'pages'\nstagec: help: 'HEAD:PATH' names another path in it\n"
    )
    assert run(["diff", "HEAD:docs", "pages"]) == 0


@pytest.mark.parametrize("line", [["diff", "-", "-"], ["breaking", "-", "--against", "-"]])
def test_standard_input_is_one_side_only(line: list[str], capfd: Shown) -> None:
    assert run(line) == 2
    assert capfd.readouterr().err == "stagec: error: both sides are '-': standard input has one plan\n"


def test_a_flow_with_errors_is_trouble(repository: Path, capfd: Shown) -> None:
    edit(repository / "docs" / "pipeline.yaml", "  write: check\n", "  write: chekc\n")
    assert run(["diff", "HEAD"]) == 2
    told = capfd.readouterr().err
    assert "flow 'docs-repair' of '.' has no plan" in told
    assert "pipeline.yaml" in told
    (repository / "docs" / "pipeline.yaml").write_text("id: {")
    assert run(["diff", "HEAD"]) == 2
    assert "cannot be read" in capfd.readouterr().err


@pytest.fixture
def spans(repository: Path) -> Path:
    """Change the project, whose configuration says how much a model reads and writes and what it costs."""
    (repository / "stagec.toml").write_text(
        '[models]\ndefault = "own:x"\n[cost]\nprices = "mine.toml"\n'
        'input-tokens = "500..2000"\noutput-tokens = "50..500"\n'
    )
    (repository / "mine.toml").write_text('as-of = "2026-11-01"\n[models."own:*"]\ninput = 1\noutput = 10\n')
    edit(repository / "docs" / "check.md", "turnCap: 10", "turnCap: 30")
    return repository


ROWS = """\
| what runs take | before | after |
|---|---:|---:|
| worst case of turns | 240 | 400 |
| worst case of input tokens | 480,000 | 800,000 |
| worst case of output tokens | 120,000 | 200,000 |
| worst case of cost | $1.68 | $2.80 |
"""


@pytest.mark.usefixtures("spans")
def test_a_comment_says_what_a_change_costs_by_spans_and_prices(capfd: Shown) -> None:
    assert run(["diff", "HEAD", "docs", "--format", "markdown"]) == 1
    assert capfd.readouterr().out.endswith(f"\n{ROWS}")


def test_another_table_of_prices_changes_the_row_of_the_cost_alone(spans: Path, capfd: Shown) -> None:
    (spans / "other.toml").write_text('as-of = "2026-11-01"\n[models."own:*"]\ninput = 2\noutput = 20\n')
    assert run(["diff", "HEAD", "docs", "--format", "markdown", "--prices", "other.toml"]) == 1
    assert capfd.readouterr().out.endswith(ROWS.replace("$1.68 | $2.80", "$3.36 | $5.60"))
    assert run(["diff", "HEAD", "docs", "--format", "markdown", "--model", "nobody:y"]) == 1
    assert capfd.readouterr().out.endswith(ROWS.rpartition("| worst case of cost")[0])
    [flow] = shown_json(capfd, "HEAD", "docs", status=1)
    assert [(each["figure"], each["case"]) for each in flow["figures"]] == [
        ("turns", "worst"),
        ("inputTokens", "worst"),
        ("outputTokens", "worst"),
        ("dollars", "worst"),
    ]


def test_inputs_and_edges_are_told_in_words(repository: Path, capfd: Shown) -> None:
    edit(
        repository / "docs" / "pipeline.yaml",
        "entry: write",
        "entry: write\ncontext: {topic: {type: string}, issue: {type: integer}}",
    )
    edit(
        repository / "docs" / "pipeline.yaml",
        "    - {when: {parsed.broken: true}, stages: [repair]}",
        "    - {stages: [repair]}",
    )
    assert run(["diff", "HEAD"]) == 1
    told = capfd.readouterr().out
    assert "input issue added: required\n" in told
    assert "check: edge removed: ok: parsed.broken = true → repair\n" in told
    assert "check: edge added: ok → repair\n" in told


def test_a_default_as_deep_as_a_plan_allows_is_printed(tmp_path: Path, capfd: Shown) -> None:
    """The change has more around it than the plan: what the default is, and whether it is required."""
    deep: Json = "bottom"
    for _ in range(DEEPEST):
        deep = [deep]
    plan = playable.steps()
    sides = (tmp_path / "old.plan.json", tmp_path / "new.plan.json")
    for path, inputs in zip(
        sides, (plan.inputs, {**plan.inputs, "deep": Input(required=False, default=deep)}), strict=True
    ):
        path.write_bytes(dump(replace(plan, inputs=inputs)))
    [flow] = shown_json(capfd, *map(str, sides), status=1)
    assert [each["after"]["default"] for each in flow["changes"]] == [deep]


def make_sides(tmp_path: Path) -> tuple[Path, Path]:
    """Make two copies of a project that differ in one stage."""
    old, new = tmp_path / "old", tmp_path / "new"
    for each in (old, new):
        shutil.copytree(REPAIR, each)
    with (new / "check.md").open("a") as file:
        file.write("Be kind.\n")
    return old, new


@pytest.mark.parametrize("words", [("diff",), ("review", "--against")])
def test_texts_that_both_sides_have_are_read_once(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = make_sides(tmp_path)
    parsed: Counter[str] = Counter()

    def count(file: str, *others: Any) -> Tree:
        parsed[file] += 1
        return parse(file, *others)

    parse = read._parse
    monkeypatch.setattr(read, "_parse", count)
    run([*words, str(old), str(new)])
    assert parsed["check.md"] == 2
    assert {times for file, times in parsed.items() if file != "check.md"} == {1}


def test_each_side_keeps_its_own_budgets(tmp_path: Path, capfd: Shown) -> None:
    old, new = make_sides(tmp_path)
    shutil.copyfile(old / "check.md", new / "check.md")
    (new / "stagec.toml").write_text("budgets.depth = 1\n")
    assert run(["diff", str(old), str(new)]) == 2
    assert "STG1" in capfd.readouterr().err
