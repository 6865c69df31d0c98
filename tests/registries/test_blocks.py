"""Every command that a page shows is executed in the order of the page, or its block says why not."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import jsonschema_rs
import nursery
import pages
import programs
import pytest
import yaml

TOP = Path(__file__).parents[2]
REASON = re.compile(r"not run: \S.*")
PART = re.compile(r"part of (?P<file>\S+)")
ECHO = re.compile(r"echo '(?P<text>.*)' >> (?P<file>\S+)")
AGENT = '---\nname: {}\ndescription: "Use it after a change."\ntools: Read, Grep\n---\nYou review changes.\n'


class Setting(NamedTuple):
    """The folder in which the commands of a page are given: a repository or not, and what is in it before."""

    repository: bool = False
    copies: tuple[tuple[str, str], ...] = ()  # of an example, and where it is
    first: str = ""  # a command
    agents: tuple[str, ...] = ()  # files of agents


SETTINGS = {
    "adopt": Setting(),
    "agent-files": Setting(repository=True),
    "bounds": Setting(
        copies=(
            ("docs-repair", "registries/docs-repair"),
            ("wine-quality", "registries/wine-quality"),
            ("docs-repair", "agents/writer"),
            ("code-review", "agents/review"),
        ),
        first="compile registries -o plans/",
    ),
    "errors": Setting(repository=True, copies=(("broken-on-purpose", "registries/broken-on-purpose"),)),
    "format": Setting(repository=True, copies=(("code-review/stages", "stages"),)),
    "ci": Setting(repository=True),
    "from-agent-files": Setting(agents=(".claude/agents/code-reviewer.md", "agents/bug-fixer.md")),
    "getting-started": Setting(agents=(".claude/agents/code-reviewer.md",)),
    "graph": Setting(repository=True),
    "handbook": Setting(repository=True),
    "migrate": Setting(repository=True),
    "orchestrator": Setting(),
    "paths": Setting(copies=(("docs-repair", "registries/docs-repair"),), first="init demo"),
    "plans": Setting(copies=(("docs-repair", "docs-repair"), ("project-flow/.agent/project-lead", ".agent/iterator"))),
    "review": Setting(repository=True),
    "rights": Setting(repository=True, copies=(("support-desk", "registries/support-desk"),)),
    "test": Setting(first="init demo"),
    "validate": Setting(
        repository=True,
        copies=(
            ("broken-on-purpose", "registries/broken-on-purpose"),
            ("issue-flow/.agent/issue-solver", ".agent/issue-solver"),
        ),
    ),
}
"""The pages of the user guide whose commands are executed here."""


class Line(NamedTuple):
    """A command of a page, and what the page says that it prints, if it says so."""

    command: str
    printed: str


def page(name: str) -> str:
    return (TOP / "docs" / "user-guide" / f"{name}.md").read_text(encoding="utf-8")


def lines(text: str) -> Iterator[Line]:
    if not text.startswith("$ "):
        yield from (Line(line, "") for line in text.splitlines() if line)
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield Line(command, printed)


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def stagec(folder: Path, words: list[str], text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return nursery.run(words, folder, nursery.environment(), text)


def expand(folder: Path, word: str) -> list[str]:
    """Return the files that a pattern of a command matches, or else the word."""
    found = sorted(path.relative_to(folder).as_posix() for path in folder.glob(word)) if "*" in word else []
    return found or [word]


def give(folder: Path, line: Line) -> None:
    """Execute a command as a shell does; fail unless it can be given there and prints what the page shows."""
    if echo := ECHO.fullmatch(line.command):
        with (folder / echo["file"]).open("a", encoding="utf-8") as file:
            file.write(f"{echo['text']}\n")
        return
    own, _, rest = re.split(r"\s+#", line.command)[0].partition(" | ")
    command, _, read = own.partition(" < ")
    program, *words = shlex.split(command)
    if program == "mkdir":
        (folder / words[-1]).mkdir(parents=True)
        return
    assert program == "stagec", line.command
    text = (folder / read.strip()).read_bytes() if read else b""
    ended = stagec(folder, [each for word in words for each in expand(folder, word)], text)
    told = ended.stderr.decode()
    assert ended.returncode in {0, 1}, f"{line.command}\n{told}"
    if line.printed and not rest:
        pages.expect(ended.stdout.decode() + told, line.printed)
    else:
        assert "stagec: error" not in told, f"{line.command}\n{told}"


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
        stagec(top, ["compile", "agents/docs", "-o", f"{name}.plan.json"])
    stagec(top, ["compile", "agents/review", "-o", "review.plan.json"])
    scenario = (top / "agents" / "review" / "scenario.yaml").read_text()
    (top / "scenario.yaml").write_text(re.sub("^pace.*$", "", scenario, flags=re.MULTILINE))  # nobody waits for a model
    stagec(top, ["run", "review.plan.json", "--run", "demo", "--scenario", "scenario.yaml"])
    return top


@pytest.mark.parametrize("name", SETTINGS)
def test_the_commands_of_a_page_do_what_it_shows(name: str, project: Path, tmp_path: Path) -> None:
    folder, setting = tmp_path / "project", SETTINGS[name]
    if setting.repository:
        shutil.copytree(project, folder)
    else:
        folder.mkdir()
    for example, place in setting.copies:
        shutil.copytree(TOP / "registries" / example, folder / place)
    for place in setting.agents:
        pages.write(folder, pages.Block("markdown", place, AGENT.format(Path(place).stem)))
    if setting.first:
        assert stagec(folder, setting.first.split()).returncode == 0
    given = 0
    for block in pages.blocks(page(name)):
        if block.words and not REASON.fullmatch(block.words) and not PART.fullmatch(block.words):
            pages.write(folder, block)
        elif block.kind in {"console", "sh"} and not block.words:
            for line in lines(block.text):
                give(folder, line)
                given += 1
    assert given > 0


def read_everything() -> Iterator[tuple[str, pages.Block]]:
    for path in (TOP / "README.md", *sorted((TOP / "docs").glob("*.md")), *sorted((TOP / "docs/user-guide").glob("*"))):
        yield from ((path.name, block) for block in pages.blocks(path.read_text(encoding="utf-8")))


def test_a_block_that_is_not_run_says_why() -> None:
    said = [(name, block.words) for name, block in read_everything() if "not run" in block.words]
    assert [(name, words) for name, words in said if not REASON.fullmatch(words)] == []


def test_a_block_with_commands_is_called_so() -> None:
    """No other block begins with a command, which nobody would execute."""
    other = [each for each in read_everything() if each[1].kind not in {"console", "sh"}]
    assert [name for name, block in other if re.match(r"(\$ )?(stagec|pip|python3?) ", block.text)] == []


def is_part(part: object, whole: object) -> bool:
    """Tell whether a value has all members of another one, as they are there."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and is_part(value, whole[name]) for name, value in part.items())
    return part == whole


def values(whole: object) -> Iterator[object]:
    yield whole
    inside = whole.values() if isinstance(whole, dict) else whole if isinstance(whole, list) else ()
    for each in inside:
        yield from values(each)


PARTS = [(name, block) for name, block in read_everything() if PART.fullmatch(block.words)]


@pytest.mark.parametrize(("name", "block"), PARTS, ids=lambda each: each if isinstance(each, str) else "")
def test_a_part_of_a_file_is_in_it(name: str, block: pages.Block) -> None:
    """Parts are members of objects, or elements of a list, which YAML reads as they stand, also those of JSON."""
    told = PART.fullmatch(block.words)
    assert told is not None
    part, whole = yaml.safe_load(block.text), yaml.safe_load((TOP / told["file"]).read_text(encoding="utf-8"))
    for each in part if isinstance(part, list) else [part]:
        assert any(is_part(each, value) for value in values(whole)), f"{name}: {each}"


def test_a_host_starts_a_command_that_there_is() -> None:
    """The settings of editors and of hosts of agents name stagec and the command behind it."""
    starts = re.compile(r"\"stagec\"(?!\s*:)\W+(?:\"?arg\w*\"?\W+)?\"(\w+)\"(?!\s*:)")
    named = [found for _, block in read_everything() if not block.words for found in starts.findall(block.text)]
    assert len(named) >= 5
    assert {*named} == {"lsp", "mcp"}


def test_settings_of_editors_name_one_server_and_the_languages_it_reads() -> None:
    """Every word that is like the name of the server is it, and each language is there."""
    settings = [block.text for name, block in read_everything() if name == "editors.md" and '"lsp"' in block.text]
    assert len(settings) == 5
    for text in settings:
        assert {word for word in re.findall(r"\w+", text) if get_close_matches(word, ["stagec", "lsp"])} == {
            "stagec",
            "lsp",
        }
        assert {*re.findall(r"\b(json|yaml|markdown)\b", text.lower())} == {"json", "yaml", "markdown"}, text


def test_a_setting_of_an_extension_is_one_of_its_manifest() -> None:
    manifest = json.loads((TOP / "compiler" / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    known = manifest["contributes"]["configuration"]["properties"]
    given = [
        json.loads(block.text) for name, block in read_everything() if name == "editors.md" and block.kind == "json"
    ]
    own = [each for each in given if "lsp" not in each]
    assert len(own) == 1
    jsonschema_rs.validate({"properties": known, "additionalProperties": False}, own[0])


def lower(folder: Path) -> None:
    """Change what the pages about changes speak of: fewer executions, and the prompt of one stage."""
    pipeline, check = folder / "agents" / "docs" / "pipeline.yaml", folder / "agents" / "docs" / "check.md"
    pipeline.write_text(pipeline.read_text().replace("maxStageExecutions: 8", "maxStageExecutions: 4"))
    check.write_text(check.read_text() + "Be kind.\n")


def test_what_the_page_of_reviews_shows_of_a_change_is_printed(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    lower(folder)
    shown = [block.text for block in pages.blocks(page("review")) if block.kind == "text"]
    commands = ("review --against main", "breaking --against main", "diff main")
    assert shown == [stagec(folder, command.split()).stdout.decode() for command in commands]
