"""What a command says depends neither on the folder in which it runs nor on the one that is named, but for prefixes."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stagec.cli.app import run
from stagec.ir.plan import verify
from stagec.sources.project.find import AGENTS

EXAMPLES = Path(__file__).parents[2] / "registries"
AGENT = f"{AGENTS}/broken"
WHOLE = f"{AGENTS}/issue-solver"
HERE = [".", AGENTS, AGENT, f"{AGENT}/prompts"]
"""Folders to stand in."""
Shown = pytest.CaptureFixture[str]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository without a configuration: a clean agent, and one with mistakes in two of its files."""
    (tmp_path / ".git").mkdir()
    shutil.copytree(EXAMPLES / "issue-flow" / AGENTS, tmp_path / AGENTS)
    shutil.copytree(tmp_path / WHOLE, tmp_path / AGENT)
    for file in ("steps_registry.json", "agent.json"):
        path = tmp_path / AGENT / file
        text = path.read_text().replace('"issue-solver"', '"broken"')
        path.write_text(text.replace("{", '{"strange": 1,', 1))
    return tmp_path


@pytest.fixture(params=HERE)
def here(repository: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder of the repository."""
    folder = repository / request.param
    monkeypatch.chdir(folder)
    return folder


def find_named(folder: Path, text: str) -> set[Path]:
    """Return the files whose names, as seen from a folder, stand before a line and a column."""
    names = re.findall(r"(?:^|--> |::: )(\S+?):\d+:\d+", text, re.MULTILINE)
    return {Path(os.path.normpath(folder / name)) for name in names}


@pytest.mark.parametrize("form", ["text", "concise"])
def test_places_can_be_opened_from_here(repository: Path, here: Path, form: str, capfd: Shown) -> None:
    run(["validate", "--format", form, os.path.relpath(repository / AGENTS)])
    shown = find_named(here, capfd.readouterr().out)
    assert shown >= {repository / AGENT / "agent.json", repository / AGENT / "steps_registry.json"}
    assert all(each.is_file() for each in shown)


def test_json_has_the_name_from_the_root_and_the_one_from_here(repository: Path, here: Path, capfd: Shown) -> None:
    run(["validate", "--format", "json", os.path.relpath(repository / AGENTS)])
    found = list(_list_places(json.loads(capfd.readouterr().out)["diagnostics"]))
    assert found
    for each in found:
        assert Path(os.path.normpath(here / each["path"])) == repository / each["file"]


def _list_places(diagnostics: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for each in diagnostics:
        yield each
        yield from each["related"]


@pytest.mark.parametrize("named", [".", AGENTS, AGENT])
def test_what_is_found_does_not_follow_what_is_named(repository: Path, here: Path, named: str, capfd: Shown) -> None:
    run(["validate", "--format", "json", os.path.relpath(repository / named)])
    told = json.loads(capfd.readouterr().out)["diagnostics"]
    run(["validate", "--format", "json", "--root", str(repository), str(repository / AGENT)])
    expected = json.loads(capfd.readouterr().out)["diagnostics"]
    assert [each for each in told if each["file"].startswith(AGENT)] == expected
    assert here


@pytest.mark.parametrize("named", [".", AGENTS, WHOLE])
def test_a_plan_has_one_digest(repository: Path, here: Path, named: str, tmp_path: Path) -> None:
    plans = [tmp_path / "first.json", tmp_path / "other.json"]
    for path, at in zip(plans, (repository / WHOLE, repository / named), strict=True):
        assert run(["compile", "--flow", "issue-solver", os.path.relpath(at), "-o", str(path)]) == 0
    assert len({verify(path.read_bytes()).digest for path in plans}) == 1
    assert here


def test_a_difference_names_files_from_the_root_as_git_does(repository: Path, here: Path, capfd: Shown) -> None:
    path = repository / AGENT / "steps_registry.json"
    path.write_text(re.sub(r'"stepKind": "\w+",', "", path.read_text()))
    run(["validate", "--extend-select", "STG901", "--diff", os.path.relpath(path)])
    assert f"--- a/{AGENT}/steps_registry.json\n" in capfd.readouterr().out
    assert here


def test_bounds_name_files_from_here(repository: Path, here: Path, capfd: Shown) -> None:
    run(["bounds", os.path.relpath(repository / WHOLE)])
    assert os.path.relpath(repository / WHOLE / "steps_registry.json") in capfd.readouterr().out
    assert here
