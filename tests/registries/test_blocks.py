"""Every command that a page shows is executed in a project of its kind, or its block says in its first line why not."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nursery
import programs
import pytest

TOP = Path(__file__).parents[2]
REASON = re.compile(r" not run: \S.*")
FENCE = re.compile(
    r"^(?P<lead>`{3,})(?P<kind>\w*)(?P<words>[^\n]*)\n(?P<text>.*?)^(?P=lead)$", re.DOTALL | re.MULTILINE
)
HERE = (
    "agent-files",
    "errors",
    "format",
    "graph",
    "handbook",
    "migrate",
    "review",
    "rights",
    "validate",
)
"""The pages of the user guide whose commands are executed here."""


MORE = {
    "errors": ("broken-on-purpose", "registries/broken-on-purpose"),
    "format": ("code-review/stages", "stages"),
    "rights": ("support-desk", "registries/support-desk"),
}
"""What a page has in its project besides, by the place that it is copied from and the one where it is."""


class Line(NamedTuple):
    """A command of a page, and what the page says that it prints, if it says so."""

    command: str
    printed: str | None


def page(name: str) -> str:
    return (TOP / "docs" / "user-guide" / f"{name}.md").read_text(encoding="utf-8")


def lines(text: str) -> Iterator[Line]:
    for fence in FENCE.finditer(text):
        if fence["kind"] not in {"console", "sh"} or REASON.fullmatch(fence["words"]):
            continue
        if not fence["text"].startswith("$ "):
            yield from (Line(line, None) for line in fence["text"].splitlines() if line)
            continue
        for part in re.split(r"^\$ ", fence["text"], flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield Line(command, printed)


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def stagec(folder: Path, words: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return nursery.run(words.split(), folder, nursery.environment(), text)


@pytest.fixture(scope="module")
@programs.starts("git")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with flows of each kind, four revisions, two tags, three plans and a run."""
    top = tmp_path_factory.mktemp("project")
    shutil.copytree(TOP / "registries" / "docs-repair", top / "agents" / "docs")
    shutil.copytree(TOP / "registries" / "code-review", top / "agents" / "review")
    shutil.copytree(TOP / "registries" / "project-flow" / ".agent" / "project-lead", top / ".agent" / "iterator")
    git(top, "init", "-q")
    for number in range(4):
        (top / "count.txt").write_text(str(number))
        git(top, "add", "-A")
        git(top, "commit", "-qm", str(number))
    for tag in ("v1", "v1.2"):
        git(top, "tag", tag)
    for name in ("old", "new", "deployed"):
        stagec(top, f"compile agents/docs -o {name}.plan.json")
    stagec(top, "compile agents/review -o review.plan.json")
    scenario = (top / "agents" / "review" / "scenario.yaml").read_text()
    (top / "scenario.yaml").write_text(re.sub("^pace.*$", "", scenario, flags=re.MULTILINE))  # nobody waits for a model
    stagec(top, "run review.plan.json --run demo --scenario scenario.yaml")
    return top


@pytest.mark.parametrize("name", HERE)
def test_the_commands_of_a_page_can_be_given_where_it_says(name: str, project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    if name in MORE:
        shutil.copytree(TOP / "registries" / MORE[name][0], folder / MORE[name][1])
    shown = [*lines(page(name))]
    assert shown != []
    for line in shown:
        own, _, rest = re.split(r"\s+#", line.command)[0].partition(" | ")
        command, _, read = own.partition(" < ")
        assert command.startswith("stagec "), line.command
        text = (folder / read.strip()).read_bytes() if read else b""
        ended = stagec(folder, command.removeprefix("stagec ").replace("'", ""), text)
        told = ended.stderr.decode()
        assert ended.returncode in {0, 1}, f"{line.command}\n{told}"
        assert "stagec: error" not in told, f"{line.command}\n{told}"
        if line.printed and not rest:
            assert ended.stdout.decode() == line.printed, line.command


def test_a_block_that_is_not_run_says_why() -> None:
    for path in (TOP / "README.md", *sorted((TOP / "docs").glob("*.md")), *sorted((TOP / "docs/user-guide").glob("*"))):
        for fence in FENCE.finditer(path.read_text(encoding="utf-8")):
            if "not run" in fence["words"]:
                assert REASON.fullmatch(fence["words"]), f"{path.name}: {fence['words']}"


def lower(folder: Path) -> None:
    """Change what the pages about changes speak of: fewer executions, and the prompt of one stage."""
    pipeline, check = folder / "agents" / "docs" / "pipeline.yaml", folder / "agents" / "docs" / "check.md"
    pipeline.write_text(pipeline.read_text().replace("maxStageExecutions: 8", "maxStageExecutions: 4"))
    check.write_text(check.read_text() + "Be kind.\n")


def test_what_the_page_of_reviews_shows_of_a_change_is_printed(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    lower(folder)
    shown = [fence["text"] for fence in FENCE.finditer(page("review")) if fence["kind"] == "text"]
    commands = ("review --against main", "breaking --against main", "diff main")
    assert shown == [stagec(folder, command).stdout.decode() for command in commands]


def test_json_of_a_page_is_json() -> None:
    """Fragments of documents are members, which YAML reads as they stand."""
    for path in sorted((TOP / "docs").rglob("*.md")):
        if path.parent.name in {"decisions", "rules"}:
            continue
        for fence in FENCE.finditer(path.read_text(encoding="utf-8")):
            if fence["kind"] == "json" and fence["text"].startswith(("{", "[")):
                json.loads(fence["text"])
