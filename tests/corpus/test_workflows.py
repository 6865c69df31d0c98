"""The corpus: real orchestrator files, and single faults of small ones with the answer of climpt."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.sources.project.settings import Settings

FILE = ".agent/workflow.json"
OLD, NEW = "1.13.27", "1.14.0"
RELEASES = {"w1-1.13": OLD, "w3-issue-source": NEW}
"""The release that each generation of files was written for; the one between was never released."""

UNDATED = {"guide-56d4a60", "workflow-merge-edab441"}
"""The files in which nothing is there that only one release has."""


def read(*path: str) -> Any:
    """Return what a file of the corpus holds."""
    return json.loads(Path(os.environ["STAGEC_CORPUS"], *path).read_text(encoding="utf-8"))


def workflows() -> list[dict[str, Any]]:
    """Return the rows about real files."""
    return read("workflows", "index.json")["workflows"] if "STAGEC_CORPUS" in os.environ else []


def cases() -> list[dict[str, Any]]:
    """Return the rows about single faults that concern orchestrator files."""
    every = read("boot-rules", "cases.json")["cases"] if "STAGEC_CORPUS" in os.environ else []
    return [each for each in every if each["base"] == "loader" or any(slug.startswith("wf.") for slug in each["slugs"])]


def validate(root: Path, select: tuple[str, ...] | None = None) -> tuple[Diagnostic, ...]:
    """Return what is told of a project."""
    return compile_project(Project(root, (), Settings(select=select))).diagnostics


def write(root: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def slugs(found: Diagnostic) -> set[str]:
    return {each.removeprefix("climpt-1.14:") for each in found.origin}


@pytest.mark.parametrize("row", workflows(), ids=lambda row: row["name"])
def test_a_file_that_its_release_loads_has_no_error_and_the_reverse(tmp_path: Path, row: dict[str, Any]) -> None:
    write(tmp_path, {FILE: read("workflows", row["file"])})
    unfound = "STG2157"  # the schemas that files name are not in the corpus
    errors = [each for each in validate(tmp_path) if each.severity is Severity.ERROR and each.code != unfound]
    release = RELEASES.get(row["generation"])
    refused = release is not None and not row["loader"][release]["valid"]
    assert bool(errors) is refused, errors


@pytest.mark.parametrize("row", workflows(), ids=lambda row: row["name"])
def test_only_a_file_of_no_release_is_told_its_format(tmp_path: Path, row: dict[str, Any]) -> None:
    write(tmp_path, {FILE: read("workflows", row["file"])})
    told = {each.code for each in validate(tmp_path)} & {"STG2101", "STG2102"}
    assert told == ({"STG2102"} if row["name"] in UNDATED else set())


def apply(files: dict[str, Any], edits: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Make the edits, and yield where each is."""
    for edit in edits:
        *way, last = [key.replace("~1", "/").replace("~0", "~") for key in edit["at"].split("/")[1:]]
        owner = files[edit["file"]]
        for key in way:
            owner = owner[int(key)] if isinstance(owner, list) else owner[key]
        if edit.get("remove"):
            del owner[last]
        else:
            owner[last] = edit["value"]
        yield edit["file"], last


@pytest.mark.parametrize("row", cases(), ids=lambda row: row["id"])
def test_a_single_fault_is_told_by_its_rule(tmp_path: Path, row: dict[str, Any]) -> None:
    files = read("boot-rules", "cases.json")["bases"][row["base"]]
    write(tmp_path / "base", files)
    edited = list(apply(files, row["edits"]))
    write(tmp_path / "edited", files)
    known = {(each.code, each.message) for each in validate(tmp_path / "base")}
    fresh = [each for each in validate(tmp_path / "edited") if (each.code, each.message) not in known]
    loud = [each for each in fresh if each.severity is not Severity.NOTE]
    if row["stagec"] == "silent":
        assert loud == []
    elif row["stagec"] == "report":
        told = [each for each in loud if slugs(each) & set(row["slugs"])]
        assert told, fresh
        assert {each.at.file for each in told} <= {*(file for file, _ in edited), FILE}


def project(root: Path) -> Path:
    """Make the project of the released files with the released agents."""
    corpus = Path(os.environ["STAGEC_CORPUS"])
    folder = root / ".agent"
    folder.mkdir()
    for name, row in (("workflow.json", "workflow-7cf14ef"), ("workflow-merge.json", "workflow-merge-8ebd464")):
        shutil.copyfile(corpus / "workflows" / f"{row}.json", folder / name)
    for agent in (corpus / "agents").glob("*-56d4a60"):
        shutil.copytree(agent, folder / agent.name.removesuffix("-56d4a60"))
    return root


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="the corpus is not here")
def test_the_released_files_have_these_findings(tmp_path: Path) -> None:
    found = [each for each in validate(project(tmp_path)) if "workflow" in each.at.file]
    counts: dict[str, int] = {}
    for each in found:
        for slug in slugs(each):
            counts[slug] = counts.get(slug, 0) + 1
    assert counts["wf.template-dead"] == 4
    assert counts["wf.handoff-agent"] == 2


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="the corpus is not here")
def test_what_climpt_does_not_read_is_told_when_it_is_asked_for(tmp_path: Path) -> None:
    found = validate(project(tmp_path), ("STG95",))
    assert {each.code for each in found} == {"STG951", "STG952"}
