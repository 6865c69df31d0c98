"""Places that bundled tools may not use: known through links, other names and cases, and by what they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stagec.core.json import Json
from stagec.runtime.world.tools.files import RUNS, FileTools, FolderLimits, Protection, WorkingFolder
from stagec.runtime.world.tools.toolbox import ToolError


def tools(root: Path, **places: str) -> FileTools:
    hidden = {str(root / place): what for place, what in places.items()}
    return FileTools(root, FolderLimits(entries=50), Protection(hidden))


def refusal(told: FileTools, tool: str, **given: Json) -> str:
    with pytest.raises(ToolError) as raised:
        told.call("r/a#1/1.0", tool, given)
    return str(raised.value)


@pytest.mark.parametrize("name", ["", "deep/er/", "linked/"])
def test_secrets_are_reached_by_no_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "er" if name == "deep/er/" else tmp_path / "real"
    folder.mkdir(parents=True)
    (folder / "key").write_text("secret")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "hard").hardlink_to(folder / "key")
    (tmp_path / "soft").symlink_to(folder / "key")
    told = tools(tmp_path, **{os.path.relpath(folder, tmp_path): "the secrets of stagec"})
    for path in ("hard", "soft", f"{name or 'real/'}key", str(folder / "key")):
        for tool in ("Read", "Write", "Edit"):
            given = {"path": path, "content": "x", "old_string": "s", "new_string": "x"}
            assert "the secrets of stagec" in refusal(told, tool, **given), (tool, path)
    assert told.call("r/a#1/1.0", "Grep", {"pattern": "secret"}) == "nothing is found"
    assert told.call("r/a#1/1.0", "Glob", {"pattern": "**/key"}) == "nothing is found"
    assert (folder / "key").read_text() == "secret"


def test_a_place_that_does_not_exist_yet_is_not_made(tmp_path: Path) -> None:
    assert "the secrets of stagec" in refusal(
        tools(tmp_path, s="the secrets of stagec"), "Write", path="s/k", content=""
    )
    assert os.listdir(tmp_path) == []


def test_a_folder_is_known_by_what_it_is_and_not_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "key").write_text("secret")
    told = WorkingFolder(tmp_path, FolderLimits(), Protection({str(tmp_path / "state"): "the secrets of stagec"}))
    located = told.locate("state2/key")
    (tmp_path / "state").rename(tmp_path / "state2")
    (tmp_path / "state").symlink_to("state2")
    with pytest.raises(ToolError, match="the secrets of stagec"):
        told.read(located)
    with pytest.raises(ToolError, match="the secrets of stagec"):
        told.write(located, b"x")


@pytest.mark.parametrize("where", ["repo.data", "bare.git", "a/b/c"])
def test_data_of_git_is_known_under_any_name(where: str, tmp_path: Path) -> None:
    for each in ("objects", "refs", "hooks"):
        (tmp_path / where / each).mkdir(parents=True)
    (tmp_path / where / "HEAD").write_text("ref: refs/heads/main\n")
    told = tools(tmp_path)
    for path in (f"{where}/HEAD", f"{where}/hooks/post-checkout", f"{where}/refs/x"):
        assert "the data of git" in refusal(told, "Write", path=path, content="x")
        assert "the data of git" in refusal(told, "Read", path=path) or not (tmp_path / path).exists()
    assert told.call("r/a#1/1.0", "Glob", {"pattern": "**"}) == "nothing is found"


def test_runs_beside_the_files_of_a_project_are_protected_and_the_files_are_not(tmp_path: Path) -> None:
    (tmp_path / "one.run").write_text("journal")
    told = FileTools(tmp_path, None, Protection({str(tmp_path): RUNS}))
    for path in ("one.run", "two.run", "one.run.messages/pause", "one.run.commands"):
        assert RUNS in refusal(told, "Write", path=path, content="x")
    assert told.call("r/a#1/1.0", "Write", {"path": "a.txt", "content": "x"}) == "wrote 1 bytes to a.txt"
    assert told.call("r/a#1/1.0", "Glob", {"pattern": "**"}) == "a.txt"


@pytest.mark.parametrize(
    "name", ["reports/a/b/checkpoints/x.json", "reports/a/b/.attempts/s-1/x", "reports/a/b/run.log"]
)
def test_checkpoints_are_no_files_of_tools(name: str, tmp_path: Path) -> None:
    assert "checkpoints" in refusal(tools(tmp_path), "Write", path=name, content="x")
    told = tools(tmp_path).call("r/a#1/1.0", "Write", {"path": "reports/checkpoints.md", "content": "x"})
    assert told == "wrote 1 bytes to reports/checkpoints.md"


def test_two_paths_that_differ_are_not_taken(tmp_path: Path) -> None:
    told = refusal(tools(tmp_path), "Write", path="shown", file_path="meant", content="x")
    assert told == "give one of 'path' or 'file_path', not several that differ"
