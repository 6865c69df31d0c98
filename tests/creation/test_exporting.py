"""Stages become agent files that their tool reads whole, and become the same stages again."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.change.creation.conversion import Conversion
from stagec.change.creation.exporting import OWNERS, ExportedAgents, export_stages
from stagec.check.pipeline import Project, compile_project, read_documents
from stagec.cli.app import run
from stagec.core.json import object_of
from stagec.sources.project.settings import Settings

Shown = pytest.CaptureFixture[str]
STAGE = {
    "id": "check",
    "name": "Check it",
    "allowedTools": ["Read", "Write", "find", "odd"],
    "completionTool": "submit",
    "completionSchema": {"type": "object", "properties": {"count": {"type": "integer"}}},
    "retryPolicy": {"maxAttempts": 3, "backoff": "none"},
    "turnCap": 5,
    "resolutionPolicy": "fail",
    "color": "red",
    "owner": "me",
    "tags": ["a"],
}


def write(root: Path, files: Mapping[str, bytes | str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def stage(body: str = "Do {{ctx.task}}.\n", **members: object) -> str:
    front = "".join(f"{key}: {json.dumps(each)}\n" for key, each in {**STAGE, **members}.items() if each is not None)
    return f"---\n{front}---\n{body}"


def export(root: Path, owner: str, path: str = ".") -> ExportedAgents:
    return export_stages(read_documents(Project(root, (root / path,), Settings())), OWNERS[owner])


def told(made: ExportedAgents) -> list[str]:
    return [each.key for each in made.losses]


def test_an_agent_of_claude_code_has_what_it_can_say(tmp_path: Path) -> None:
    servers = json.dumps({"mcpServers": {"my docs": {"command": "x"}}})
    pipeline = "entry: check\nid: p\nnext: {check: []}\n"
    check = stage(mcpTools={"find": "my docs"})
    write(tmp_path, {"pipeline.yaml": pipeline, "check.md": check, ".mcp.json": servers})
    made = export(tmp_path, "claude")
    assert made.files["check.md"].decode() == (
        '---\nname: check\ndescription: "Carries out the stage Check it."\n'
        "tools: [Read, Write, mcp__my_docs__find]\nmaxTurns: 5\ncolor: red\n---\n\nDo {{ctx.task}}.\n"
    )
    assert set(told(made)) == {
        *("name", "description", "allowedTools", "completionSchema", "retryPolicy", "tags", "owner", "body")
    }
    assert {each.line for each in made.losses if each.key == "tags"} == {12}


def test_a_policy_is_lost_and_that_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"check.md": stage(stagec={"policy": {"model": "opus", "temperature": 0}})})
    made = export(tmp_path, "claude")
    assert [each.why for each in made.losses if each.key == "policy"] == [
        "is lost: an agent asks the model of its session"
    ]
    assert b"opus" not in made.files["check.md"]


def test_an_agent_of_copilot_has_what_it_can_say(tmp_path: Path) -> None:
    write(tmp_path, {"check.md": stage(description="a --- b")})
    made = export(tmp_path, "copilot", "check.md")
    text = made.files["check.agent.md"].decode()
    assert 'description: "a \\x2d\\x2d\\x2d b"\ntools: [read, edit, find, odd]\n---\n' in text
    assert {"allowedTools", "turnCap", "color"} <= set(told(made))


def test_routes_become_handoffs_where_there_are_any(tmp_path: Path) -> None:
    routes = "next: {a: b, b: [{when: {parsed.count: 1}, stages: [a]}, {stages: []}]}"
    pipeline = f"entry: a\nid: p\nmaxStageExecutions: 9\n{routes}\n"
    write(tmp_path, {"pipeline.yaml": pipeline, "a.md": stage(id="a"), "b.md": stage(id="b")})
    copilot, claude = export(tmp_path, "copilot"), export(tmp_path, "claude")
    assert (
        'handoffs:\n  - {label: Continue with b, agent: b, prompt: "Continue."}\n'
        in copilot.files["a.agent.md"].decode()
    )
    assert [each.why.split()[0] for each in copilot.losses if each.key == "next"] == ["lost"]
    assert [each.why.split()[0] for each in claude.losses if each.key == "next"] == ["is", "is"]


def test_an_agent_without_tools_has_none_and_no_finding(tmp_path: Path) -> None:
    write(tmp_path, {"check.md": stage(allowedTools=[], description="y")})
    write(
        tmp_path,
        {f".claude/agents/{name}": text for name, text in export(tmp_path, "claude", "check.md").files.items()},
    )
    found = compile_project(Project(tmp_path, (tmp_path / ".claude",), Settings()))
    assert [each.code for each in found.diagnostics] == []
    assert found.suppressed == 1


def test_the_command_writes_nothing_over_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"check.md": stage()})
    assert run(["export", "check.md", "--to", "copilot"]) == 0
    shown = capfd.readouterr()
    assert shown.out == "Created 1 file in '.github/agents':\n  check.agent.md\n"
    assert "stagec: note: check.md:3: name: is lost" in shown.err
    before = Path(".github/agents/check.agent.md").read_bytes()
    assert run(["export", "check.md", "--to", "copilot"]) == 2
    assert "exists: nothing was written" in capfd.readouterr().err
    assert Path(".github/agents/check.agent.md").read_bytes() == before
    assert run(["export", "check.md", "--to", "claude", "-o", "out"]) == 0
    assert [each.name for each in Path("out").iterdir()] == ["check.md"]


@pytest.mark.parametrize("text", ["", "# Notes\n", "---\nname: a\n---\n", "---\nid: a\n"])
def test_without_a_stage_nothing_is_written(text: str, tmp_path: Path, capfd: Shown) -> None:
    write(tmp_path, {"a.md": text})
    assert run(["export", str(tmp_path), "--to", "claude", "-o", str(tmp_path / "out")]) == 3
    assert "holds no stage" in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize(
    "text",
    [
        stage(id="../../evil"),
        stage(id="A B", name=[1], description={"a": 1}, allowedTools={"a": 1}, turnCap="x", color=["red"]),
        stage(id="x", allowedTools=[1, "", "a\n---\nb", "AskUserQuestion"], mcpTools={"find": 3}, hooks=5),
        stage(id="x", completionTool=5, completionSchema=True, stagec={"next": 5, "checks": "x"}),
        stage('\ufeff{{ {{ctx.a {{"{{"}} ---\n---\n', id="x", description="\u2028\x85---"),
    ],
)
def test_whatever_a_stage_says_a_file_of_one_name_is_written(owner: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, {"stage.md": text})
    made = export(tmp_path, owner, "stage.md")
    assert len(made.files) == 1
    assert "/" not in next(iter(made.files))
    root = tmp_path / "again"
    write(root, {f"{OWNERS[owner].folder}/{name}": given for name, given in made.files.items()})
    found = compile_project(Project(root, (root,), Settings()))
    told = {each.code for each in found.diagnostics if each.code.startswith(("STG1", "STG310"))}
    assert told <= {"STG119"}  # what nobody sees in a stage nobody sees in its agent


WORDS = st.text(alphabet="abcXY é-_:{}\"'", min_size=1, max_size=12)
BODIES = st.text(alphabet="ab {}\"'$-#`\\\n<é@/", max_size=60)
NAMES = st.from_regex(r"[a-z]{1,6}(?:[ -][A-Za-z]{1,4}){0,2}", fullmatch=True)
CLAUDE = st.sampled_from(["Read", "Edit", "Write", "Bash(git:*)", "Grep", "mcp__docs__find", "mcp__a__get", "WebFetch"])
COPILOT = st.sampled_from(["read", "edit", "shell", "search/codebase", "docs/find", "web", "todo", "runTests"])
AGENTS = {"claude": (CLAUDE, ".claude/agents/{}.md"), "copilot": (COPILOT, ".github/agents/{}.agent.md")}


@settings(max_examples=choose(25, whole=120), deadline=None)
@given(st.data())
@pytest.mark.parametrize("owner", OWNERS)
def test_a_draft_that_is_exported_gives_the_same_draft_again(owner: str, data: st.DataObject) -> None:
    tools, place = AGENTS[owner]
    agents = data.draw(st.lists(st.tuples(NAMES, WORDS, st.lists(tools, max_size=5), BODIES), min_size=1, max_size=3))
    files = {
        place.format(f"f{at}"): f"---\nname: {json.dumps(name)}\ndescription: {json.dumps(about)}\n"
        f"tools: {json.dumps(allowed)}\n---\n{body}"
        for at, (name, about, allowed, body) in enumerate(agents)
    }
    top = Path(tempfile.mkdtemp())
    try:
        write(top / "one", {**files, ".mcp.json": '{"mcpServers": {"docs": {"command": "x"}}}'})
        first = Conversion(top / "one", top / "one").convert()
        write(top / "one", first.files)
        made = export(top / "one", owner, "pipeline.yaml")
        others = [export(top / "one", owner, file).files for file in first.files if file.startswith("stages/")]
        again = {name: text for each in (made.files, *others) for name, text in each.items()}
        write(top / "two", {f"{OWNERS[owner].folder}/{name}": text for name, text in again.items()})
        found = compile_project(Project(top / "two", (top / "two",), Settings()))
        assert [each.code for each in found.diagnostics] == []
        second = Conversion(top / "two", top / "two").convert()
        assert said(second.files) == said(first.files)
    finally:
        shutil.rmtree(top)


def said(files: Mapping[str, bytes]) -> dict[str, tuple[object, str]]:
    """Return the tools and the prompt of each stage."""
    from stagec.core.budgets import Budgets
    from stagec.sources.read import Sources

    found = {}
    for file in sorted(files):
        tree = Sources(Path("/nowhere"), Budgets(), {file: files[file]}).tree(file, "file")
        if file.startswith("stages/") and tree is not None and tree.body is not None:
            found[file] = (object_of(tree.value)["allowedTools"], tree.data.decode()[slice(*tree.body)])
    return found
