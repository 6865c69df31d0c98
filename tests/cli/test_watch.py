"""What a command looked at is looked at again, and the command is executed again when an answer has changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nursery
import pytest
from cli.conftest import CLEAN, Run

from stagec.check.pipeline import Project, compile_project
from stagec.core import change_watch
from stagec.core.change_watch import ChangeWatch
from stagec.core.observations import Recording
from stagec.sources.project.configuration import configure

EXAMPLES = Path(__file__).parents[2] / "registries"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Write a project in a folder of its own, with another beside it."""
    top = tmp_path / "above" / "project"
    for number, folder in enumerate((top, tmp_path / "other")):
        prompt = folder / "prompts" / "steps" / "initial" / "a" / "f_default.md"
        prompt.parent.mkdir(parents=True)
        prompt.write_text(f"Do number {number}.\n")
        (folder / "steps_registry.json").write_text(CLEAN)
    return top


def check(top: Path) -> ChangeWatch:
    """Check a project, and watch what that has looked at."""
    with Recording() as seen:
        configuration = configure((top,))
        compile_project(Project(configuration.root, (top,), configuration.settings))
    return ChangeWatch(seen.observations)


def rewrite(path: Path, text: str) -> None:
    """Write a text of the same length, and leave no trace of it in size and times."""
    status = path.stat()
    path.write_text(text.ljust(status.st_size)[: status.st_size])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def save_as_editors_do(path: Path) -> None:
    """Write another file and give it the name of the first."""
    new = path.with_name("new~")
    new.write_text("other")
    new.replace(path)


def move_away(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace_by_link(path: Path, target: Path) -> None:
    move_away(path)
    path.symlink_to(target)


REGISTRY = "steps_registry.json"
PROMPT = "prompts/steps/initial/a/f_default.md"
CHANGES: dict[str, Callable[[Path], object]] = {
    "a file is written": lambda top: (top / REGISTRY).write_text("{}"),
    "a file grows": lambda top: (top / PROMPT).write_text("Do number 0.\nmore"),
    "the same size and times": lambda top: rewrite(top / REGISTRY, "{}"),
    "an editor saves": lambda top: save_as_editors_do(top / PROMPT),
    "a file is removed": lambda top: (top / PROMPT).unlink(),
    "a file is created": lambda top: (top / "agent.json").write_text("{}"),
    "a file is renamed": lambda top: move_away(top / REGISTRY),
    "only the case of a name changes": lambda top: (top / REGISTRY).rename(top / "Steps_Registry.json"),
    "a file becomes a link": lambda top: replace_by_link(top / PROMPT, top.parents[1] / "other" / PROMPT),
    "a folder becomes a link": lambda top: replace_by_link(top / "prompts", top.parents[1] / "other" / "prompts"),
    "a folder is moved": lambda top: move_away(top / "prompts"),
    "a folder is made": lambda top: (top / "schemas").mkdir(),
    "patterns leave files out": lambda top: (top / ".gitignore").write_text("*\n"),
    "a configuration": lambda top: (top / "stagec.toml").write_text("ignore = ['STG1']\n"),
    "a configuration above": lambda top: (top.parent / "stagec.toml").write_text("ignore = ['STG1']\n"),
    "the project becomes a link": lambda top: replace_by_link(top, top.parents[1] / "other"),
    "a folder above becomes a link": lambda top: replace_by_link(top.parent, top.parents[1] / "elsewhere"),
    "a repository begins": lambda top: (top.parent / ".git").mkdir(),
}


@pytest.mark.parametrize("youth", [-1e9, 1e9], ids=["old files", "young files"])
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(change: str, youth: float, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_watch, "_YOUNG", youth)
    seen = check(top)
    assert not seen.has_changed()
    assert not seen.has_changed()
    CHANGES[change](top)
    assert seen.has_changed()


QUIET: dict[str, Callable[[Path], object]] = {
    "nothing": lambda _: None,
    "new times": lambda top: os.utime(top / REGISTRY, ns=(1, 1)),
    "the same text": lambda top: (top / REGISTRY).write_text(CLEAN),
    "another mode": lambda top: (top / PROMPT).chmod(0o600),
    "somewhere else": lambda top: (top.parent / "notes").write_text("x"),
    "it comes and goes": lambda top: [(top / "new").touch(), (top / "new").unlink()],
}


@pytest.mark.parametrize("change", QUIET)
def test_what_changes_no_answer_is_no_change(change: str, top: Path) -> None:
    seen = check(top)
    assert not seen.has_changed()
    QUIET[change](top)
    assert not seen.has_changed()


def test_a_change_while_the_project_was_checked_is_seen(top: Path) -> None:
    with Recording() as recorded:
        configuration = configure((top,))
        compile_project(Project(configuration.root, (top,), configuration.settings))
        rewrite(top / REGISTRY, "{}")
    assert ChangeWatch(recorded.observations).has_changed()


class Watched:
    """A process that watches: what it prints is read up to a text."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def read_until(self, text: str) -> str:
        """Return what is printed up to a line with a text."""
        assert self.process.stdout is not None
        shown = ""
        while text not in shown:
            line = self.process.stdout.readline()
            assert line, f"ended with {self.process.wait()}: {shown}"
            shown += line.decode()
        return shown


@contextmanager
def watching(folder: Path, *arguments: str) -> Iterator[Watched]:
    command = [sys.executable, "-m", "stagec", *arguments, "--watch"]
    process = subprocess.Popen(
        command, cwd=folder, env=nursery.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    try:
        yield Watched(process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_validate_checks_again_until_it_is_interrupted(project: Path) -> None:
    with watching(project, "validate") as watched:
        assert "All clear" in watched.read_until("Ctrl-C ends")
        (project / "steps_registry.json").write_text('{"agentId": }\n')
        assert "STG" in watched.read_until("Ctrl-C ends")
        (project / "stagec.toml").write_text("nonsense")
        assert "stagec: error: stagec.toml:1" in watched.read_until("Ctrl-C ends")
        (project / "stagec.toml").unlink()
        save_as_editors_do(project / "steps_registry.json")
        (project / "steps_registry.json").write_text(CLEAN)
        assert "All clear" in watched.read_until("All clear")
        watched.process.send_signal(signal.SIGINT)
        assert watched.read_until("interrupted").endswith("stagec: interrupted\n")
        assert watched.process.wait(10) == 130


def test_a_project_can_begin_while_it_is_watched(tmp_path: Path) -> None:
    with watching(tmp_path, "validate") as watched:
        assert "nothing to check" in watched.read_until("Ctrl-C ends")
        (tmp_path / "steps_registry.json").write_text('{"agentId": }\n')
        watched.read_until("Found 1 error")


def test_graph_draws_again(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    drawing = tmp_path_factory.mktemp("elsewhere") / "drawing.mmd"
    with watching(project, "graph", "-o", str(drawing)) as watched:
        watched.read_until("Ctrl-C ends")
        assert "initial.b" not in drawing.read_text()
        (project / "steps_registry.json").write_text(CLEAN.replace("initial.a", "initial.b"))
        watched.read_until("Ctrl-C ends")
        assert "initial.b" in drawing.read_text()


def test_nobody_reads_any_more(project: Path) -> None:
    with watching(project, "validate") as watched:
        watched.read_until("Ctrl-C ends")
        assert watched.process.stdout is not None
        watched.process.stdout.close()
        assert watched.process.wait(10) == 0


@pytest.mark.parametrize(
    "arguments", [("validate", "--fix"), ("validate", "--diff"), ("validate", "-", "--stdin-filename", "x.json")]
)
def test_what_cannot_be_repeated_is_refused(arguments: tuple[str, ...], run: Run, project: Path) -> None:
    assert project
    ended = run(*arguments, "--watch")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"--watch checks files again and again" in ended.stderr


def test_a_run_is_not_watched(run: Run, project: Path) -> None:
    assert project
    ended = run("graph", "--run", "one", "--watch")
    assert ended.returncode == 2
    assert b"excludes --run" in ended.stderr
