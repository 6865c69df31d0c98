"""A conflict that git could not merge is one error, in any file that is read, and nothing follows from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_paths import PATHS, write_kind
from campaigns import sample
from patience import ends

from stagec.check.pipeline import Project, compile_project
from stagec.cli.app import run
from stagec.core.diagnostic import Diagnostic
from stagec.core.place import Place
from stagec.sources.project.settings import Settings
from stagec.sources.read import find_conflict

REGISTRIES = Path(__file__).parents[2] / "registries"
CONFLICT = "<<<<<<< HEAD\n{}=======\n{}>>>>>>> feature\n"


def _list_files() -> Iterator[tuple[Path, str]]:
    for folder in sorted(REGISTRIES.iterdir()):
        if folder.is_dir() and folder.name != "broken-on-purpose":
            trees = compile_project(Project(folder, (), Settings())).trees
            yield from ((folder, file) for file, tree in trees.items() if tree.data)


def _name(each: Diagnostic) -> tuple[str, str, str]:
    return each.code, each.at.file, each.message


@pytest.mark.parametrize("where", ["everywhere", "at the end", "in the middle"])
def test_a_conflict_in_a_file_of_an_example_is_one_error(where: str) -> None:
    known: dict[Path, set[tuple[str, str, str]]] = {}
    for folder, file in sample(tuple(_list_files()), 15, full=15):
        if folder not in known:
            known[folder] = set(map(_name, compile_project(Project(folder, (), Settings())).diagnostics))
        text = (folder / file).read_text(encoding="utf-8")
        lines = [f"{line}\n" for line in text.splitlines()]
        half = len(lines) // 2
        middle = "".join([*lines[:half], CONFLICT.format("", "".join(lines[half : half + 1])), *lines[half + 1 :]])
        ended = "".join([*lines, CONFLICT.format("a\n", "b\n")])
        conflicting = {"everywhere": CONFLICT.format(text, text), "at the end": ended, "in the middle": middle}[where]
        found = compile_project(Project(folder, (), Settings(), {file: conflicting.encode()}))
        told = [each for each in map(_name, found.diagnostics) if each not in known[folder]]
        assert [each[:2] for each in told] == [("STG118", file)], (folder, file)


@pytest.mark.parametrize("kind", sorted(PATHS))
@pytest.mark.parametrize("where", ["everywhere", "at the end"])
def test_a_conflict_in_an_agent_file_is_one_error(kind: str, where: str, tmp_path: Path) -> None:
    file = write_kind(tmp_path, kind)
    before = set(map(_name, compile_project(Project(tmp_path, (), Settings())).diagnostics))
    text = (tmp_path / file).read_text(encoding="utf-8")
    conflicting = CONFLICT.format(text, text) if where == "everywhere" else text + CONFLICT.format("a\n", "b\n")
    (tmp_path / file).write_text(conflicting, encoding="utf-8")
    found = map(_name, compile_project(Project(tmp_path, (), Settings())).diagnostics)
    assert [each[:2] for each in found if each not in before] == [("STG118", file)]


def test_a_prompt_with_a_conflict_is_not_compiled(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for source in (REGISTRIES / "docs-repair").iterdir():
        text = source.read_text(encoding="utf-8")
        is_prompt = source.name == "write.md"
        (tmp_path / source.name).write_text(text + CONFLICT.format("a\n", "b\n") * is_prompt, encoding="utf-8")
    assert run(["compile", str(tmp_path), "-o", str(tmp_path / "plans") + "/"]) == 1
    assert "STG118" in capfd.readouterr().err
    assert not (tmp_path / "plans").exists()


def test_an_agent_with_a_conflict_becomes_no_stage(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_kind(tmp_path, "claude-agent")
    (tmp_path / ".claude/agents/one.md").write_text(
        "---\nname: one\ndescription: x\n---\n" + CONFLICT.format("a\n", "b\n"), encoding="utf-8"
    )
    assert run(["init", "--from", str(tmp_path), str(tmp_path / "flow"), "--format", "json"]) == 0
    (left,) = json.loads(capfd.readouterr().out)["leftOut"]
    assert (left["file"], left["message"][:15]) == (".claude/agents/one.md", "line 5: STG118:")


def test_line_ends_of_other_systems_count(tmp_path: Path) -> None:
    text = CONFLICT.format("a\n", "b\n").replace("\n", "\r\n")
    found = find_conflict("a.yaml", f"x: 1\r\n{text}", is_prose=False)
    assert found is not None
    assert (found.at, [place for place, _ in found.related]) == (
        Place("a.yaml", range=(6, 13)),
        [Place("a.yaml", range=(23, 30)), Place("a.yaml", range=(35, 42))],
    )


def test_many_markers_take_no_longer_than_others() -> None:
    with ends():
        for text in ("<<<<<<< a\n" * 90_000, "<<<<<<< a\n=======\n" * 50_000, CONFLICT.format("", "") * 20_000):
            find_conflict("a.md", text + ">>>>>>>", is_prose=True)
