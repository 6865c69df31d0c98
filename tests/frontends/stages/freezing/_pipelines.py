"""Pipelines written in a few words, compiled as every project is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.ir.plan import Plan, dump, verify
from stagec.sources.project.settings import Settings

Freezing = Callable[..., Plan]


def compiled(root: Path, files: Mapping[str, str]) -> Compilation:
    """Compile a project that is only texts."""
    given = {name: text.encode() for name, text in files.items()}
    named = next(name for name in files if name.startswith("pipeline."))
    return compile_project(Project(root, (root / named,), Settings(), given))


def plan_of(root: Path, files: Mapping[str, str]) -> Plan:
    """Return the plan of the one pipeline of these files, which has no errors, once it was written and read again."""
    found = compiled(root, files)
    assert [each.message for each in found.diagnostics if each.severity is Severity.ERROR] == []
    (meaning,) = found.meanings
    plan = meaning.plan()
    data = dump(plan)
    assert verify(data).plan == plan
    return plan


def stage(name: str, **members: Json) -> dict[str, Any]:
    """Return a stage object; a member that is None is left out."""
    own = {"id": name, "body": f"Call submit_{name}.", "allowedTools": [], "turnCap": 1}
    completion = {"completionTool": f"submit_{name}", "completionSchema": {"type": "object"}}
    return {key: each for key, each in {**own, **completion, **members}.items() if each is not None}


FRONTMATTER: Mapping[str, str] = {
    "id": "plan",
    "name": "Plan it",
    "allowedTools": "[]",
    "completionTool": "submit",
    "completionSchema": "{type: object}",
    "retryPolicy": "{maxAttempts: 1, backoff: none}",
    "turnCap": "3",
    "resolutionPolicy": "fail",
}


def markdown(body: str = "Call submit.\n", **members: str) -> str:
    """Return the text of a Markdown stage, with some of its frontmatter written otherwise."""
    inside = "".join(f"{name}: {text}\n" for name, text in {**FRONTMATTER, **members}.items())
    return f"---\n{inside}---\n{body}"
