"""Nothing is written where nobody asked for it: traps of each kind at each place that a command writes to."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from stagec.cli.app import run

TOP = Path(__file__).parents[2]
REVIEW = TOP / "registries" / "code-review"
SERVER = str(TOP / "tests" / "world" / "server.py")
FIXABLE = """{
  "agentId": "small", "version": "1.0.0", "c1": "steps", "entryStep": "initial.issue",
  "steps": {"initial.issue": {"stepId": "initial.isue"}}
}
"""
AGENT = "---\nname: a\ndescription: b\ntools: Read\n---\n\nDo it.\n"
VICTIM = b"mine\n"


class Place(NamedTuple):
    """A file that a command writes; `is_named` tells that it is on the command line."""

    command: tuple[str, ...]
    file: str
    is_named: bool = True


PLACES = {
    "a plan": Place(("compile", ".", "-o", "out.json"), "out.json"),
    "a plan in a folder": Place(("compile", ".", "-o", "plans/"), "plans/code-review.plan.json", is_named=False),
    "a drawing": Place(("graph", ".", "-o", "out.mmd"), "out.mmd"),
    "a report": Place(("validate", ".", "--output", "out.txt"), "out.txt"),
    "a stage": Place(("init", "--from", "agent.md", "--force", "-o", "out.md"), "out.md"),
    "a lock": Place(("tools", "lock", "."), "tools.lock.json", is_named=False),
    "a fix": Place(("validate", "--fix", "--select", "step-key-mismatch", "."), "steps_registry.json", is_named=False),
}
TRAPS = ("link out", "dangling link out", "link to a folder out", "link to a device", "pipe", "folder", "socket")
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and links are those of POSIX")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a project that every command can be run on."""
    root = tmp_path / "project"
    shutil.copytree(REVIEW, root)
    (root / "agent.md").write_text(AGENT)
    (root / "plans").mkdir()
    (root / "tools.lock.json").unlink()
    servers = {"files": {"command": sys.executable, "args": [SERVER, "polite"]}}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Make a file that lies outside the project."""
    (tmp_path / "outside").mkdir()
    path = tmp_path / "outside" / "victim"
    path.write_bytes(VICTIM)
    path.chmod(0o600)
    return path


def prepare(place: Place) -> bytes:
    """Write the file that is read before it is written, where there is one; return what it then holds."""
    if place.file == "steps_registry.json":
        Path(place.file).write_text(FIXABLE)
    return Path(place.file).read_bytes() if Path(place.file).exists() else b""


def trap(path: Path, how: str, victim: Path) -> None:
    path.unlink(missing_ok=True)
    targets = {
        "link out": victim,
        "dangling link out": victim.with_name("new"),
        "link to a folder out": victim.parent,
        "link to a device": Path("/dev/zero"),
    }
    if how in targets:
        path.symlink_to(targets[how])
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    else:
        import socket

        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.path.relpath(path))


def left_behind(tmp_path: Path) -> list[Path]:
    return [each for each in tmp_path.rglob(".stagec-*") if not each.is_dir()]


@pytest.mark.parametrize(
    ("place", "how"),
    [(place, how) for place in PLACES for how in TRAPS if (place, "folder" in how) != ("a plan", True)],
)
def test_a_trap_is_refused_and_nothing_outside_changes(
    project: Path, victim: Path, tmp_path: Path, place: str, how: str
) -> None:
    prepare(PLACES[place])
    trap(project / PLACES[place].file, how, victim)
    before = os.lstat(project / PLACES[place].file)
    status = run(PLACES[place].command)
    assert status in ({0, 1, 2} if place == "a fix" else {2})  # what cannot be read is not fixed
    assert os.lstat(project / PLACES[place].file).st_ino == before.st_ino
    assert victim.read_bytes() == VICTIM
    assert [each.name for each in victim.parent.iterdir()] == ["victim"]
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("place", PLACES)
def test_a_second_name_of_a_file_outside_is_let_go(project: Path, victim: Path, tmp_path: Path, place: str) -> None:
    data = prepare(PLACES[place])
    victim.write_bytes(data or VICTIM)
    path = project / PLACES[place].file
    path.unlink(missing_ok=True)
    os.link(victim, path)
    run(PLACES[place].command)
    assert path.read_bytes() != (data or VICTIM)
    assert victim.read_bytes() == (data or VICTIM)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("place", PLACES)
def test_a_link_within_a_folder_is_followed_where_a_user_names_it(project: Path, place: str) -> None:
    before = prepare(PLACES[place])
    path = project / PLACES[place].file
    kept = path.with_name("kept")
    kept.write_bytes(before or VICTIM)
    path.unlink(missing_ok=True)
    path.symlink_to("kept")
    status = run(PLACES[place].command)
    assert path.is_symlink()
    assert (kept.read_bytes() != (before or VICTIM)) == PLACES[place].is_named
    assert PLACES[place].is_named or status in {1, 2}


def test_a_folder_that_a_user_names_may_be_a_link(project: Path, victim: Path) -> None:
    (project / "plans").rmdir()
    (project / "plans").symlink_to(victim.parent)
    assert run(("compile", ".", "-o", "plans")) == 0
    assert (victim.parent / "code-review.plan.json").is_file()


def test_plans_are_written_all_or_not_at_all(project: Path, victim: Path) -> None:
    shutil.copytree(TOP / "registries" / "docs-repair", project / "more")
    (project / "plans" / "docs-repair.plan.json").symlink_to(victim)
    assert run(("compile", ".", "-o", "plans/")) == 2
    assert os.listdir(project / "plans") == ["docs-repair.plan.json"]


@pytest.mark.parametrize("how", TRAPS)
def test_a_plan_that_is_compared_with_a_trap_is_out_of_date(
    project: Path, victim: Path, capfd: pytest.CaptureFixture[str], how: str
) -> None:
    trap(project / "plans" / "code-review.plan.json", how, victim)
    assert run(("compile", ".", "-o", "plans/", "--check")) == 1
    assert "  out of date: it is not a readable plan\n" in capfd.readouterr().err


@pytest.mark.parametrize("link", [".stagec", ".stagec/runs"])
@pytest.mark.parametrize(
    "command",
    ["run out.json", "runs list", "runs show x", "runs export x", "resume x", "runs replay x", "runs cancel x"],
)
def test_runs_are_not_kept_behind_a_link_out(
    project: Path, victim: Path, capfd: pytest.CaptureFixture[str], command: str, link: str
) -> None:
    assert run(("compile", ".", "-o", "out.json")) == 0
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(victim.parent)
    capfd.readouterr()
    assert run(command.split()) == 2
    assert "leads out of this folder" in capfd.readouterr().err
    assert [each.name for each in victim.parent.iterdir()] == ["victim"]


@pytest.mark.parametrize("place", [name for name, place in PLACES.items() if place.is_named])
def test_a_full_disk_is_told(project: Path, capfd: pytest.CaptureFixture[str], place: str) -> None:
    command = [each if each != PLACES[place].file else "/dev/full" for each in PLACES[place].command]
    more = ["--format", "mermaid"] if place == "a drawing" else []
    assert run([*command, *more]) == 2
    assert "cannot write '/dev/full': No space left on device" in capfd.readouterr().err
