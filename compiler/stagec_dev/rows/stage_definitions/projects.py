"""Write stages, pipelines and configurations as projects that are only texts, and see what stagec says of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.diagnostic import Diagnostic
from stagec.frontends.stages.document import REQUIRED
from stagec.pipeline import Compilation, Project, compile_project
from stagec.plan.document import Plan
from stagec.project.settings import Settings

CODE = ("id", "body", "allowedTools", "turnCap", "completionTool", "completionSchema")
"""What a stage object can say."""
_FILLED: Mapping[str, Any] = {
    "name": "A stage",
    "allowedTools": [],
    "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
    "resolutionPolicy": "fail",
}


def diagnose_files(files: Mapping[str, str], named: Iterable[str] = ()) -> tuple[Diagnostic, ...]:
    """Return what stagec says of a project that is only texts; without names it looks for the files by itself."""
    with TemporaryDirectory() as folder:
        return _compile(Path(folder), files, named).diagnostics


def freeze_pipeline(document: Mapping[str, Any]) -> tuple[tuple[Diagnostic, ...], Plan]:
    """Return what stagec says of a pipeline that holds its stages as objects, and its plan, even with errors."""
    with TemporaryDirectory() as folder:
        compilation = _compile(Path(folder), {"pipeline.json": json.dumps(document)})
        (meaning,) = compilation.meanings
        return compilation.diagnostics, meaning.plan()


def _compile(folder: Path, files: Mapping[str, str], named: Iterable[str] = ()) -> Compilation:
    overlay = {file: text.encode("utf-8", "surrogatepass") for file, text in files.items()}
    root = folder.resolve()
    paths = tuple(root / file for file in (named or files))
    return compile_project(Project(root, paths, Settings(), overlay))


def machine(stages: Any, entry: Any, **members: Any) -> dict[str, Any]:
    """Return a pipeline that holds its stages as objects."""
    return {"id": "row", "entry": entry, "stages": stages, **members}


def minimal(name: str) -> dict[str, Any]:
    """Return a stage object that nothing is wrong with."""
    tool = "hand_in_" + "".join(each if each.isalnum() else "_" for each in name)
    schema = {"type": "object", "title": name}
    made = {"id": name, "body": f"Call {tool}.", "allowedTools": [], "turnCap": 1}
    return {**made, "completionTool": tool, "completionSchema": schema}


def list_named(following: Any) -> tuple[str, ...]:
    """Return the stages that a route names, each once; its join is not among them."""
    given = following if isinstance(following, dict) else {}
    listed = given.get("nextStages", given.get("stages"))
    return tuple(dict.fromkeys(each for each in listed if isinstance(each, str))) if isinstance(listed, list) else ()


def context_of(declared: Any) -> dict[str, Any]:
    """Return what a pipeline says of the context whose names a row lists."""
    if not isinstance(declared, dict):
        return {}
    names = (*declared.get("required", ()), *declared.get("optional", ()))
    return {"context": {name: {} for name in names}}


def markdown(stage: Mapping[str, Any], filled: Iterable[str] = ()) -> str:
    """Return a stage object as a Markdown file; of the members it lacks, those to be filled are."""
    given = {key: each for key, each in stage.items() if key not in {"body", "next"}}
    given |= {key: _FILLED[key] for key in filled if key in _FILLED and key not in given}
    if "next" in stage:
        given["stagec"] = {"next": stage["next"]}
    lines = "".join(f"{json.dumps(key)}: {json.dumps(each)}\n" for key, each in given.items())
    return f"---\n{lines}---\n{stage.get('body', 'Do it.')}\n"


def lacking(stage: Mapping[str, Any]) -> list[str]:
    """Return the required members that a Markdown stage does not have."""
    return [each for each in REQUIRED if each not in stage]


def slug_of_file(name: str) -> str:
    """Return the file in which a Markdown stage of some name lies."""
    return f"stages/{name}.md"
