"""Single faults of small projects of climpt 1.14.0: each is told where it was made, by a rule that knows its source."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic
from stagec.core.place import Pointer
from stagec.sources.project.settings import Settings

OF_WORKFLOWS = "wf."
"""How the slugs begin of faults in `workflow.json`: they are judged with the rules of the orchestrator."""
AGENT = ".agent/fixture-agent/"
SETTINGS = ".agent/climpt/config/"
PROMPT = "steps-registry:path.prompt-file"
"""Rows add steps without their prompts, which upstream does not look for."""
Files = Mapping[str, Any]


def load() -> Any:
    folder = os.environ.get("STAGEC_CORPUS")
    return json.loads(Path(folder, "boot-rules", "cases.json").read_bytes()) if folder else {"bases": {}, "cases": []}


ROWS = load()
CASES = [row for row in ROWS["cases"] if not any(slug.startswith(OF_WORKFLOWS) for slug in row["slugs"])]
JUDGED = [row for row in CASES if row["base"] in {"boot", "crossrefs", "settings"}]
every_case = pytest.mark.parametrize("row", JUDGED, ids=[row["id"] for row in JUDGED])


def read_base(name: str) -> dict[str, Any]:
    """Return the files of a base; settings are those of the agent of the base `boot`, which has none of its own."""
    files = deepcopy(ROWS["bases"][name])
    if name == "crossrefs":
        complete(files[f"{AGENT}steps_registry.json"])
    if name == "settings":
        files |= {file: each for file, each in ROWS["bases"]["boot"].items() if file.startswith(AGENT)}
        files[f"{SETTINGS}README.json"] = {}
    if name == "boot":
        files |= ROWS["bases"]["settings"]
    return files


def complete(registry: Any) -> None:
    """Add what the registry lacks on purpose, so that its references alone are judged."""
    for key, step in registry["steps"].items():
        address = {"c1": "steps", "c2": key.partition(".")[0], "c3": "default", "edition": "default"}
        step |= {"name": key, "kind": "work", "address": address, "uvVariables": [], "usesStdin": False}
    for guard in registry["validationSteps"].values():
        guard |= {"name": "V", "address": {"c2": "retry", "c3": "issue"}}


def edited(files: dict[str, Any], edits: list[Any]) -> dict[str, Any]:
    for edit in edits:
        way = pointer_of(edit["at"])
        if not way:
            files.pop(edit["file"], None)
            if "value" in edit:
                files[edit["file"]] = edit["value"]
            continue
        owner = files[edit["file"]]
        for key in way[:-1]:
            owner = owner[key]
        if edit.get("remove"):
            owner.pop(way[-1])
        else:
            owner[way[-1]] = edit["value"]
    return files


def pointer_of(text: str) -> Pointer:
    return tuple(
        int(each) if each.isdecimal() else each.replace("~1", "/").replace("~0", "~") for each in text.split("/")[1:]
    )


def judge(root: Path, files: Files) -> tuple[Diagnostic, ...]:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return compile_project(Project(root, (root,), Settings())).diagnostics


def mark(found: tuple[Diagnostic, ...]) -> set[tuple[str, str, Pointer]]:
    return {(each.code, each.at.file, each.at.pointer) for each in found}


def is_about(found: Diagnostic, slugs: list[str]) -> bool:
    return bool({origin.partition(":")[2] for origin in found.origin} & {*slugs})


def touches(found: Diagnostic, edits: list[Any]) -> bool:
    """Tell whether a finding or what explains it lies in what an edit changed, or around it."""
    places = [found.at, *(each.at for each in found.related)]
    for edit in edits:
        changed = pointer_of(edit["at"])
        for at in places:
            size = min(len(changed), len(at.pointer))
            if (at.file == edit["file"] and at.pointer[:size] == changed[:size]) or not changed:
                return True
    return False


@pytest.mark.skipif(not JUDGED, reason="STAGEC_CORPUS is not set")
@every_case
def test_a_fault_is_answered_as_it_should_be(row: Any, tmp_path: Path) -> None:
    base = judge(tmp_path / "base", read_base(row["base"]))
    assert "STG154" not in {each.code for each in base}
    found = judge(tmp_path / "edited", edited(read_base(row["base"]), row["edits"]))
    added = [each for each in found if (each.code, each.at.file, each.at.pointer) not in mark(base)]
    told = [each for each in added if is_about(each, row["slugs"])]
    if row["stagec"] == "report":
        assert any(touches(each, row["edits"]) for each in told), [(each.code, each.message) for each in added]
    if row["stagec"] == "silent":
        severe = [each for each in added if each.severity != "note" and PROMPT not in each.origin]
        assert [(each.code, each.message) for each in severe] == []
