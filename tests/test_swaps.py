"""Two swapped values, or one on the wrong level, are told as one error; two mistakes are told as two."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stagec.change.flow_tests.witness import search_briefly
from stagec.check.fixes import fix_project
from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.sources.project.settings import Settings

EXAMPLES = Path(__file__).parents[1] / "registries"
AGENT = ".agent/issue-solver"
FIRST, SECOND, LAST = "initial.issue", "continuation.issue", "closure.issue"


def change(root: Path, file: str, make: Callable[[Any], None]) -> Project:
    path = root / AGENT / file
    if not path.exists():
        shutil.copytree(EXAMPLES / "issue-flow", root, dirs_exist_ok=True)
    data = json.loads(path.read_text(encoding="utf-8"))
    make(data)
    path.write_text(json.dumps(data, indent=2), encoding="utf-8")
    return Project(root, (root,), Settings())


def exchange(one: Any, other: Any, *path: str | int) -> None:
    """Let the members of two values that a path leads to change their places."""
    *way, last = path
    for key in way:
        one, other = one[key], other[key]
    one[last], other[last] = other[last], one[last]


def errors(project: Project) -> list[Diagnostic]:
    return [each for each in compile_project(project).diagnostics if each.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        (SECOND, LAST, ("stepKind",)),
        (FIRST, LAST, ("structuredGate",)),
        (FIRST, LAST, ("structuredGate", "allowedIntents")),
        (FIRST, SECOND, ("structuredGate", "handoffFields")),
        (FIRST, SECOND, ("outputSchemaRef",)),
        (FIRST, LAST, ("transitions",)),
        (SECOND, LAST, ("uvVariables",)),
    ],
    ids=lambda each: each[-1] if isinstance(each, tuple) else each,
)
def test_members_of_two_steps_that_are_swapped_are_one_error(
    one: str, other: str, path: tuple[str, ...], tmp_path: Path
) -> None:
    project = change(
        tmp_path, "steps_registry.json", lambda data: exchange(*(data["steps"][it] for it in (one, other)), *path)
    )
    (error,) = errors(project)
    assert error.folded >= 1
    assert {each.at.pointer[1] for each in error.related[:2]} == {one, other}
    assert [each.message for each in error.related[:2]] == ["this and the other value may be swapped"] * 2


def test_members_of_two_schemas_that_are_swapped_are_one_error(tmp_path: Path) -> None:
    project = change(
        tmp_path,
        "schemas/issue.schema.json",
        lambda data: exchange(data["$defs"][FIRST], data["$defs"][LAST], "required"),
    )
    assert [each.code for each in errors(project)] == ["STG276"]


def test_the_fix_exchanges_the_values(tmp_path: Path) -> None:
    project = change(
        tmp_path, "steps_registry.json", lambda data: exchange(data["steps"][SECOND], data["steps"][LAST], "stepKind")
    )
    right = json.loads((EXAMPLES / "issue-flow" / AGENT / "steps_registry.json").read_text(encoding="utf-8"))
    (after,) = fix_project(project, guesses=True).after.values()
    assert json.loads(after) == right


def test_a_mistake_beside_swapped_values_is_told(tmp_path: Path) -> None:
    def spoil(data: Any) -> None:
        exchange(data["steps"][SECOND], data["steps"][LAST], "stepKind")
        data["steps"][FIRST]["transitions"]["next"]["target"] = "nowhere"

    assert [each.code for each in errors(change(tmp_path, "steps_registry.json", spoil))] == ["STG201", "STG207"]


def test_two_mistakes_that_no_exchange_explains_are_told(tmp_path: Path) -> None:
    def spoil(data: Any) -> None:
        data["steps"][SECOND]["stepKind"] = "closure"
        data["validators"]["git-clean"]["failurePattern"] = "nothing"
        data["steps"][LAST]["outputSchemaRef"]["schema"] = "initial.nothing"

    told = errors(change(tmp_path, "steps_registry.json", spoil))
    assert len(told) == 3
    assert not any(each.message == "this and the other value may be swapped" for one in told for each in one.related)


def test_an_error_that_only_a_search_finds_is_no_part_of_a_swap(tmp_path: Path) -> None:
    project = change(
        tmp_path, "steps_registry.json", lambda data: exchange(data["steps"][SECOND], data["steps"][LAST], "stepKind")
    )
    write_blocked(tmp_path / "other")
    told = compile_project(project, search_briefly).diagnostics
    assert [each.code for each in told if each.severity is Severity.ERROR] == ["STG207", "STG650"]


def test_a_member_a_level_too_high_is_one_error_that_says_where_it_belongs(tmp_path: Path) -> None:
    project = change(
        tmp_path, "steps_registry.json", lambda data: data["steps"].update(c2=data["steps"][LAST].pop("c2"))
    )
    (error,) = errors(project)
    assert error.folded >= 1
    assert [(each.at.pointer, each.message) for each in error.related[:2]] == [
        (("steps", "c2"), "this may stand on the wrong level"),
        (("steps", LAST), "it may belong here"),
    ]
    right = json.loads((EXAMPLES / "issue-flow" / AGENT / "steps_registry.json").read_text(encoding="utf-8"))
    (after,) = fix_project(project, guesses=True).after.values()
    assert json.loads(after) == right


def test_a_member_a_level_too_low_is_one_error(tmp_path: Path) -> None:
    project = change(tmp_path, "steps_registry.json", lambda data: data["steps"].update(agentId=data.pop("agentId")))
    (error,) = errors(project)
    assert [each.at.pointer for each in error.related[:2]] == [("steps", "agentId"), ()]


def test_an_object_inside_itself_is_one_error(tmp_path: Path) -> None:
    project = change(tmp_path, "steps_registry.json", lambda data: data.update(steps={"steps": data["steps"]}))
    (error,) = errors(project)
    assert ("steps",) in [each.at.pointer for each in error.related]
    assert error.fix is None


def test_members_that_lost_their_indentation_are_one_error(tmp_path: Path) -> None:
    write_blocked(tmp_path)
    (tmp_path / "pipeline.json").unlink()
    text = "id: demo\nentry: a\nstages: ['stages/*.md']\ncontext:\n  mode:\n  type: string\nnext: {}\n"
    (tmp_path / "pipeline.yaml").write_text(text, encoding="utf-8")
    (error,) = errors(Project(tmp_path, (tmp_path,), Settings()))
    assert ("context", "type") in [each.at.pointer for each in error.related]


def test_a_mistake_beside_a_misplaced_member_is_told(tmp_path: Path) -> None:
    def spoil(data: Any) -> None:
        data["steps"]["c2"] = data["steps"][LAST].pop("c2")
        data["steps"][FIRST]["transitions"]["next"]["target"] = "nowhere"

    told = errors(change(tmp_path, "steps_registry.json", spoil))
    assert [each.code for each in told].count("STG201") == 1
    assert len(told) == 2


def test_two_mistakes_that_no_move_explains_are_told(tmp_path: Path) -> None:
    def spoil(data: Any) -> None:
        data["steps"]["c4"] = data["steps"][LAST].pop("c2")

    assert len(errors(change(tmp_path, "steps_registry.json", spoil))) == 2


def write_blocked(folder: Path) -> None:
    """Write a pipeline of which no run completes, although no rule finds an error in it."""
    head = {
        "id": "a",
        "name": "a",
        "description": "d",
        "allowedTools": [],
        "completionTool": "done_a",
        "completionSchema": {"type": "object"},
        "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
        "turnCap": 2,
        "resolutionPolicy": "fail",
    }
    pipeline = {"id": "demo", "entry": "a", "stages": ["stages/*.md"], "next": {}}
    blocked = {"context": {"mode": {"enum": ["slow"]}}, "gate": {"a": {"block": {"mode": "slow"}}}}
    (folder / "stages").mkdir(parents=True)
    (folder / "pipeline.json").write_text(json.dumps({**pipeline, **blocked}), encoding="utf-8")
    (folder / "stages" / "a.md").write_text(f"---\n{json.dumps(head)}\n---\nDo it. Call done_a.\n", encoding="utf-8")
