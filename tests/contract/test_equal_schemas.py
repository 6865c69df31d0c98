"""Equal schemas in several places: what follows from them is found out once, and each is told at its own place."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.memo import KeptAnswers
from stagec.ir import freeze
from stagec.sources.contract import conflict
from stagec.sources.project.settings import Settings

FIT = {"type": "object", "required": ["found"], "properties": {"found": {"const": 1}}}
UNFIT = {"type": "object", "required": ["found"], "properties": {"found": {"type": "string", "enum": [7]}}}


def write(root: Path, *schemas: Any) -> None:
    names = [f"s{at}" for at in range(len(schemas))]
    for name, schema in zip(names, schemas, strict=True):
        (root / f"{name}.md").write_text(
            f"---\nid: {name}\nname: {name}\nallowedTools: []\ncompletionTool: submit_{name}\n"
            f"completionSchema: {json.dumps(schema)}\nretryPolicy: {{maxAttempts: 1, backoff: none}}\n"
            f"turnCap: 5\nresolutionPolicy: fail\n---\nWork. Call submit_{name}.\n"
        )
    following = dict(pairwise(names))
    (root / "pipeline.yaml").write_text(
        json.dumps({"id": "p", "entry": "s0", "stages": [f"{name}.md" for name in names], "next": following})
    )


def check(root: Path, kept: KeptAnswers | None = None) -> Compilation:
    return compile_project(Project(root, (root,), Settings()), kept=kept)


def test_equal_faulty_schemas_are_each_told_at_their_own_place(tmp_path: Path) -> None:
    write(tmp_path, UNFIT, FIT, UNFIT, FIT)
    kept = KeptAnswers()
    first, again = check(tmp_path, kept), check(tmp_path, kept)
    found = [each for each in first.diagnostics if each.code == "STG316"]
    assert [each.at.file for each in found] == ["s0.md", "s2.md"]
    assert {related.at.file for each in found for related in each.related} <= {"s0.md", "s2.md"}
    assert all(related.at.file == each.at.file for each in found for related in each.related)
    assert again.diagnostics == first.diagnostics


def test_equal_schemas_are_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"bundle": 0, "emptiness": 0}
    bundle, find_emptiness = freeze.bundle, conflict._find_emptiness

    def count_bundles(*given: Any) -> str:
        counts["bundle"] += 1
        return bundle(*given)

    def count_emptiness(*given: Any) -> Any:
        counts["emptiness"] += 1
        return find_emptiness(*given)

    monkeypatch.setattr(freeze, "bundle", count_bundles)
    monkeypatch.setattr(conflict, "_find_emptiness", count_emptiness)
    write(tmp_path, *[FIT] * 6)
    (meaning,) = check(tmp_path).meanings
    plan = meaning.plan()
    assert counts == {"bundle": 1, "emptiness": 1}
    assert {f"s{at}.md" for at in range(6)} < {*plan.sources}


@pytest.mark.parametrize("others", [(1, True), (1, 1.0), (0, False), (1, "1"), (None, "null")])
def test_schemas_that_are_equal_in_python_only_are_told_apart(tmp_path: Path, others: tuple[Any, Any]) -> None:
    write(tmp_path, *({**FIT, "properties": {"found": {"const": each}}} for each in others))
    (meaning,) = check(tmp_path).meanings
    plan = meaning.plan()
    texts = [plan.contents[each] for node in plan.nodes.values() if (each := getattr(node.act, "schema", None))]
    assert [repr(json.loads(each)["properties"]["found"]["const"]) for each in texts] == [*map(repr, others)]
