"""A file of a project that cannot be read is named with the reason, and nobody says "there is no such" instead."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from rights import ordinary_rights

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.sources.project.configuration import configure

REGISTRIES = Path(__file__).parents[2] / "registries"
EXAMPLES = ("code-review", "docs-repair", "issue-flow", "project-flow")
UNREAD = ("scenario.yaml", "README.md", ".flow-test.yaml")
"""How files of the examples end that no front end reads; neither is what lies in `climpt`."""
FILES = [
    (example, str(file.relative_to(REGISTRIES / example)))
    for example in EXAMPLES
    for file in sorted((REGISTRIES / example).rglob("*"))
    if file.is_file() and not file.name.endswith(UNREAD) and "climpt" not in file.parts
]
REASONS = {
    "utf-16": "STG104",
    "utf-16-be": "STG104",
    "utf-32": "STG104",
    "pipe": "STG101",
    "link out": "STG102",
    "dangling link": "STG101",
    "link to itself": "STG101",
    "no right": "STG101",
    "folder": "STG101",
    "socket": "STG101",
    "device": "STG102",
}
MISSING = {"STG262", "STG340", "STG341", "STG342", "STG353", "STG355", "STG376", "STG377", "STG502"}
"""Rules that say there is no such thing."""


def bind(path: Path) -> None:
    """Make a socket; its name may be longer than an address of one can be."""
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


MAKE: dict[str, Callable[[Path], None]] = {"pipe": os.mkfifo, "folder": Path.mkdir, "socket": bind}


def spoil(path: Path, how: str, outside: Path) -> None:
    """Make a file one that cannot be read."""
    data = path.read_bytes()
    if how.startswith("utf"):
        path.write_bytes(data.decode().encode(how))
        return
    if how == "no right":
        path.chmod(0)
        return
    path.unlink()
    if how in MAKE:
        MAKE[how](path)
        return
    outside.write_bytes(data)
    targets = {"link out": outside, "device": "/dev/null", "dangling link": "nowhere", "link to itself": path.name}
    path.symlink_to(targets[how])


def found(root: Path) -> tuple[Diagnostic, ...]:
    return compile_project(Project(root, (), configure((root,), root).settings)).diagnostics


def errors(root: Path) -> list[Diagnostic]:
    return [each for each in found(root) if each.severity is Severity.ERROR]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and links are those of POSIX")
@pytest.mark.parametrize("how", REASONS)
@pytest.mark.parametrize(("example", "file"), FILES)
def test_the_cause_is_named(tmp_path: Path, example: str, file: str, how: str) -> None:
    root = tmp_path / "project"
    shutil.copytree(REGISTRIES / example, root)
    spoil(root / file, how, tmp_path / "outside")
    with ordinary_rights():
        told = {(each.code, each.at.file) for each in found(root)}
    assert (REASONS[how], file) in told
    assert {code for code, _ in told} & MISSING == set()


STAGE = """---
id: {id}
name: A
allowedTools: []
completionTool: done
completionSchema: {{type: object}}
retryPolicy: {{maxAttempts: 1, backoff: none}}
turnCap: 5
resolutionPolicy: fail
---

Do it.
"""
Spoil = Callable[[Path], None]


def pipeline(root: Path, text: str, **stages: str) -> None:
    root.mkdir()
    (root / "pipeline.yaml").write_text(f"id: p\n{text}\n")
    for name, id_ in stages.items():
        (root / f"{name}.md").write_text(STAGE.format(id=id_))


def test_a_file_whose_name_is_not_the_stage_s_id_is_named_too(tmp_path: Path) -> None:
    root = tmp_path / "project"
    pipeline(root, "entry: first\nnext: {first: second}", a="first", b="second")
    spoil(root / "b.md", "pipe", tmp_path / "outside")
    assert {(each.code, each.at.file) for each in errors(root)} == {("STG101", "b.md")}


def test_a_file_that_nothing_can_mean_is_no_stage(tmp_path: Path) -> None:
    root = tmp_path / "project"
    pipeline(root, "entry: first\nnext: {first: second}", a="first", b="second", readme="x")
    spoil(root / "readme.md", "pipe", tmp_path / "outside")
    assert errors(root) == []


@pytest.mark.parametrize("how", ["pipe", "link out", "dangling link", "link to itself"])
def test_a_pipeline_around_a_stage_that_somebody_names_is_not_passed_over(tmp_path: Path, how: str) -> None:
    root = tmp_path / "project"
    pipeline(root, "entry: first", a="first")
    spoil(root / "pipeline.yaml", how, tmp_path / "outside")
    project = Project(root, (root / "a.md",), configure((root,), root).settings)
    assert REASONS[how] in {each.code for each in compile_project(project).diagnostics}
