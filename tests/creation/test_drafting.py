"""What a draft takes over from agent files of each tool, and what it says of the rest."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from creation.test_starters import follow

from stagec.change.creation.conversion import Conversion
from stagec.change.creation.new_project import NewProject
from stagec.cli.app import run

Shown = pytest.CaptureFixture[str]
Drafting = Callable[..., NewProject]


@pytest.fixture
def draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drafting:
    """Return what drafts a project of some files in the folder `shop`."""
    root = tmp_path / "shop"
    root.mkdir()
    monkeypatch.chdir(root)

    def convert(files: dict[str, str], folder: str = ".", entry: str | None = None) -> NewProject:
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        return Conversion(root / folder, root / "flow", entry).convert()

    return convert


def agent(front: str, body: str = "Do it.\n") -> str:
    return f"---\n{front}\n---\n{body}"


def line_of(project: NewProject, stage: str, key: str) -> str:
    lines = project.files[f"stages/{stage}.md"].decode().splitlines()
    return next((line for line in lines if line.startswith(f"{key}:")), "")


def told(project: NewProject) -> list[tuple[str, str]]:
    return [(each.key, each.why) for each in project.losses]


@pytest.mark.parametrize(
    ("front", "allowed", "keys"),
    [
        ("tools: Read, Bash(git diff:*), LS, Task", "[Read, Bash]", ["tools"] * 3),
        ("tools: Read Grep", "[Read, Grep]", []),
        ("tools: [read, AskUserQuestion, KillBash]", "[TaskStop]", ["tools"] * 2),
        ("tools: mcp__docs__find, mcp__docs__*, mcp__web", "[find]", ["tools"]),
        ("tools: Read, Write\npermissionMode: plan", "[Read]", ["permissionMode"]),
        ("tools: Read, WebFetch", "[Read]", ["tools"]),
        ("description: y", "[] # yours to decide: the tools it may call; the file names none,", []),
        ("disallowedTools: Write, Edit", "[] # yours to decide: the tools it may call; the file allows all but", 1),
        ('tools: "*"', "[] # yours to decide: the tools it may call; the file allows all of them", []),
        ("tools: 5", "[]", []),
    ],
)
def test_tools_of_claude_code(front: str, allowed: str, keys: list[str] | int, draft: Drafting) -> None:
    settings = json.dumps({"permissions": {"deny": ["WebFetch"]}})
    description = "" if "description" in front else "description: y\n"
    given = {".claude/agents/x.md": agent(f"name: x\n{description}{front}"), ".claude/settings.json": settings}
    project = draft(given)
    assert line_of(project, "x", "allowedTools").startswith(f"allowedTools: {allowed}")
    assert [key for key, _ in told(project)] == (keys if isinstance(keys, list) else ["disallowedTools"])


@pytest.mark.parametrize(
    ("file", "front", "allowed"),
    [
        (
            ".github/agents/x.agent.md",
            "tools: ['Shell', edit, search/codebase, docs/find, a/*]",
            "[Bash, Edit, Grep, find]",
        ),
        (".github/agents/x.agent.md", "tools: ['*']", "[] # yours to decide"),
        (".github/chatmodes/x.chatmode.md", "tools: ['codebase', 'web', agent]", "[codebase, WebFetch]"),
        (".opencode/agent/x.md", "tools: {read: true, write: false, 'my*': true}", "[read]"),
        (".opencode/agents/x.md", "permission: {edit: deny, bash: {'git *': allow}, read: allow}", "[read]"),
        (".github/workflows/x.md", "on: push\ntools: {edit: , bash: [ls], github: {toolsets: [a]}}", "[Edit, Bash]"),
    ],
)
def test_tools_of_other_owners(file: str, front: str, allowed: str, draft: Drafting) -> None:
    project = draft({file: agent(f"description: y\n{front}")})
    assert line_of(project, "x", "allowedTools").startswith(f"allowedTools: {allowed}")


def test_what_a_stage_has_nothing_for_is_told_with_its_place(draft: Drafting) -> None:
    front = (
        "name: x\ndescription: Use it when: asked\ntools: Read\nmaxTurns: 7\nmodel: opus\neffort: high\ncolor: red\n"
        "background: true\nskills: a\nhooks: {Stop: []}\nid: y"
    )
    project = draft({".claude/agents/x.md": agent(front, "Say ${{ a }}.\n!`ls` and @docs/a.md\n")})
    assert [(each.line, each.key) for each in project.losses] == [
        (7, "effort"),
        (9, "background"),
        (10, "skills"),
        (11, "hooks"),
        (12, "id"),
        (14, "body"),
        (15, "body"),
        (15, "body"),
    ]
    text = project.files["stages/x.md"].decode()
    assert "\nturnCap: 7\n" in text
    assert "\ncolor: red\n" in text
    assert '\ndescription: "Use it when: asked"\n' in text


@pytest.mark.parametrize(
    ("file", "front", "policy", "lost"),
    [
        (".claude/agents/x.md", "model: opus", ["model: opus"], []),
        (".claude/agents/x.md", "model: inherit", [], []),
        (".claude/agents/x.md", "model: ' '", [], ["model"]),
        (".claude/agents/x.md", "model: 1", [], ["model"]),
        (".claude/agents/x.md", "model: {a: b}\ntemperature: cold", [], ["model", "temperature"]),
        (".github/agents/x.agent.md", "model: ['GPT-5 (copilot)', o3]", ["model: GPT-5 (copilot)"], ["model"]),
        (".github/agents/x.agent.md", "model: [o3]", ["model: o3"], []),
        (
            ".opencode/agent/x.md",
            "model: 'a/b:c'\ntemperature: 0.5",
            ["model: a/b:c", "temperature: 0.5"],
            [],
        ),
        (".opencode/agent/x.md", "temperature: 2.5", [], ["temperature"]),
        (".github/workflows/x.md", "on: push\nmodel: large", ["model: large"], ["on"]),
    ],
)
def test_the_model_of_an_agent_is_that_of_its_stage(
    file: str, front: str, policy: list[str], lost: list[str], draft: Drafting
) -> None:
    project = draft({file: agent(f"name: x\ndescription: y\n{front}")})
    lines = project.files["stages/x.md"].decode().splitlines()
    said = lines[lines.index("  policy:") + 1 :] if "  policy:" in lines else []
    assert [each.strip().replace('"', "") for each in said[: len(policy)]] == policy
    assert ("stagec:" in lines) is bool(policy)
    assert [each.key for each in project.losses if each.key not in {"tools", "name"}] == lost


def test_settings_that_guard_agents_are_told(draft: Drafting) -> None:
    settings = {"permissions": {"deny": ["Bash(rm:*)"], "ask": ["Edit"]}, "hooks": {"PreToolUse": []}, "model": "x"}
    project = draft(
        {
            ".claude/agents/x.md": agent("name: x\ndescription: y\ntools: Edit"),
            ".claude/settings.json": json.dumps(settings | {"hooks": {"Stop": [1]}}),
        }
    )
    assert [key for key, _ in told(project)] == ["ask", "deny", "hooks"]


def test_servers_count_where_they_are_and_inline_ones_are_written(draft: Drafting) -> None:
    servers = json.dumps({"mcpServers": {"docs": {"command": "docs"}}})
    front = "name: x\ndescription: y\ntools: mcp__docs__find, mcp__own__get, mcp__away__go\n"
    front += "mcpServers: [docs, {own: {command: a, type: stdio}}]"
    tools = draft({".claude/agents/x.md": agent(front), ".mcp.json": servers}).files["tools.yaml"].decode()
    assert "bundled: []\n" in tools
    assert "\n  - go # away\n" in tools
    assert 'mcp:\n  own: {"command": "a"}\n' in tools
    assert "find" not in tools


def test_a_server_is_known_by_the_name_that_claude_code_makes_of_it(draft: Drafting) -> None:
    servers = json.dumps({"mcpServers": {"my docs": {"command": "docs"}, "a__b": {"command": "b"}}})
    front = "name: x\ndescription: y\ntools: mcp__my_docs__find, mcp__a__b__get"
    project = draft({".claude/agents/x.md": agent(front), ".mcp.json": servers})
    assert line_of(project, "x", "allowedTools") == "allowedTools: [find, get]"
    assert line_of(project, "x", "mcpTools") == 'mcpTools: {"find": "my docs", "get": "a__b"}'
    assert "discovered" not in project.files["tools.yaml"].decode()


def test_tools_of_servers_that_do_not_count_where_the_draft_is_are_listed(draft: Drafting, tmp_path: Path) -> None:
    servers = json.dumps({"mcpServers": {"docs": {"command": "docs"}}})
    front = "name: x\ndescription: y\ntools: mcp__docs__find"
    draft({".claude/agents/x.md": agent(front), ".mcp.json": servers})
    tools = Conversion(Path(".claude").absolute(), tmp_path / "elsewhere").convert().files["tools.yaml"].decode()
    assert "\n  - find # docs\n" in tools


def test_pages_beside_workflows_are_none(draft: Drafting) -> None:
    files = {
        ".github/workflows/README.md": "# Notes\n",
        ".github/workflows/shared/x.md": agent("tools: {edit: }"),
        ".github/workflows/part.md": agent("tools: {edit: }"),
        ".github/workflows/daily.md": agent("on: daily"),
    }
    project = draft(files)
    assert [file for file in project.files if file.startswith("stages/")] == ["stages/daily.md"]
    assert [each.file for each in project.left_out] == [".github/workflows/README.md", ".github/workflows/part.md"]
    assert project.left_out[1].why == "it has no 'on', so it never runs"


def test_stages_that_wait_for_routes_have_answers_as_comments(draft: Drafting) -> None:
    files = {f".claude/agents/{name}.md": agent(f"name: {name}\ndescription: y") for name in ("a", "b")}
    scenario = draft(files).files["scenario.yaml"].decode()
    assert scenario.endswith("yet:\n  # b: [{complete: {summary: text}}]\n")


def test_a_body_that_looks_like_many_calls_takes_no_time(draft: Drafting) -> None:
    body = "@" + "." * 200_000 + "use " * 20_000 + "hand" + " " * 200_000 + "!`" * 20_000 + "{{" * 20_000
    project = draft({".claude/agents/a.md": agent("name: a\ndescription: y", body)})
    assert "stages/a.md" in project.files


def test_ids_are_free_and_changes_are_told(draft: Drafting) -> None:
    project = draft(
        {
            ".claude/agents/a.md": agent("name: Code Review\ndescription: y"),
            ".claude/agents/b.md": agent("name: code-review\ndescription: y"),
            ".github/agents/b.agent.md": agent("name: CodeReview\ndescription: y"),
        }
    )
    assert [file for file in project.files if file.startswith("stages/")] == [
        "stages/b.md",
        "stages/code-review.md",
        "stages/code-review-2.md",
    ]
    assert [key for key, _ in told(project)] == ["name"] * 3


HANDOFFS = """description: y
handoffs:
  - {{label: Go on, agent: {}, prompt: ''}}
  - {{label: Elsewhere, agent: nobody, prompt: ''}}"""


def test_handoffs_are_routes_and_those_that_lead_back_are_choices(draft: Drafting, capfd: Shown) -> None:
    names = ("a", "b", "c")
    files = {
        f".github/agents/{name}.agent.md": agent(HANDOFFS.format(after))
        for name, after in zip(names, ("b", "C", "a"), strict=True)
    }
    project = draft(files)
    pipeline = project.files["pipeline.yaml"].decode()
    assert "stages:\n  - stages/a.md\n  - stages/b.md\n  - stages/c.md\n" in pipeline
    assert '  a: b # .github/agents/a.agent.md:4 "Go on"\n' in pipeline
    assert "{when: {parsed.handoff: a}, stages: [a]}" in pipeline
    assert [why for _, why in told(project)] == ["no agent here is called 'nobody'"] * 3
    assert run(["init", "--from", ".", "flow"]) == 0
    assert follow(capfd.readouterr().out, capfd) == ["validate", "compile", "run", "graph"]


@pytest.mark.parametrize("entry", ["planner", "ship", "a"])
def test_a_draft_is_laid_out_as_stagec_lays_files_out(entry: str, draft: Drafting, capfd: Shown) -> None:
    draft(
        {
            ".claude/agents/planner.md": agent("name: planner\ndescription: y", "Use the b agent.\n"),
            ".claude/commands/ship.md": agent("description: y", COMMAND),
            ".github/agents/a.agent.md": agent(HANDOFFS.format("b")),
            ".github/agents/b.agent.md": agent(HANDOFFS.format("a")),
        }
    )
    assert run(["init", "--from", ".", "--entry", entry, "flow"]) == 0
    assert run(["format", "--check", "flow"]) == 0, capfd.readouterr().err


def test_an_imported_agent_comes_after_its_workflow(draft: Drafting) -> None:
    files = {
        ".github/workflows/daily.md": agent("on: push\nimports: [../agents/fixer.md, shared/a.md]"),
        ".github/agents/fixer.md": agent("description: y"),
    }
    project = draft(files)
    assert (
        '\n  daily: fixer # .github/workflows/daily.md:3 "imports: ../agents/fixer.md"\n'
        in project.files["pipeline.yaml"].decode()
    )
    assert told(project)[:1] == [("on", "belongs to the workflow: a stage has nothing for it")]


@pytest.mark.parametrize(
    "sentence",
    [
        "Hand over to the reviewer.",
        "Then hand it off to `reviewer`.",
        "Call the reviewer when you are done.",
        "Delegate to reviewer.",
        "Delegating to the **reviewer** saves time.",
        "Pass the result to the reviewer.",
        "Invoke reviewer.",
        "Ask @reviewer to look.",
        "@reviewer looks at it.",
        "Escalate to the reviewer.",
        "Use the reviewer agent.",
        "Run `/reviewer`, see /reviewer.",
        'Task(subagent_type="reviewer")',
        "Let the reviewer check it.",
        "Have the reviewer look.",
        "Send the diff\nto your reviewer.",
        "Return control to the reviewer.",
        "Get an approval from the reviewer.",
        "Use reviewer for all changes.",
        "When tests fail, the **reviewer** takes over.",
        "The reviewer agent goes first.",
        "Tests pass → reviewer",
        "Next step: `reviewer`",
        "Agent(reviewer)",
        "Read `.claude/agents/reviewer.md`.",
        "Ask [the one](reviewer.md).",
        "Do not stop before you call the reviewer.",
    ],
)
def test_delegation_is_found_as_people_write_it(sentence: str, draft: Drafting) -> None:
    project = draft(
        {
            ".claude/agents/writer.md": agent("name: writer\ndescription: y", f"Write.\n{sentence}\n"),
            ".claude/agents/reviewer.md": agent("name: reviewer\ndescription: y"),
        }
    )
    assert [(each.caller, each.callee) for each in project.hints] == [("writer", "reviewer")]


@pytest.mark.parametrize(
    "sentence",
    [
        "The reviewer reads it.",
        "Write to me@reviewer.org.",
        "Call reviewer-lists.",
        "Never call the reviewer.",
        "Don't delegate anything to the reviewer.",
        "Run reviewer:all and `import '@reviewer/a'`.",
        "Read docs/reviewer.md.",
        "Hand over to the reviewers.",
    ],
)
def test_a_name_alone_is_no_delegation(sentence: str, draft: Drafting) -> None:
    project = draft(
        {
            ".claude/agents/writer.md": agent("name: writer\ndescription: y", f"Write.\n{sentence}\n"),
            ".claude/agents/reviewer.md": agent("name: reviewer\ndescription: y"),
        }
    )
    assert project.hints == ()


def test_it_says_where_each_agent_was_put_and_a_copied_stage_is_laid_out(draft: Drafting, capfd: Shown) -> None:
    draft(
        {
            ".github/agents/a.agent.md": agent(HANDOFFS.format("b"), "Call the c.\n"),
            ".github/agents/b.agent.md": agent("description: y"),
            ".github/agents/c.agent.md": agent("description: y"),
            ".github/agents/d.agent.md": agent("description: y"),
        }
    )
    assert run(["init", "--from", ".", "--format", "json", "flow"]) == 0
    rows = json.loads(capfd.readouterr().out)["agents"]
    assert [(each["file"][15:16], each["stage"], each["listed"]) for each in rows] == [
        ("a", "stages/a.md", True),
        ("b", "stages/b.md", True),
        ("c", "stages/c.md", False),
        ("d", "stages/d.md", False),
    ]
    first, second, third, last = (each["message"] for each in rows)
    assert first == "it is the entry: it names the others most often"
    assert second.startswith("it comes after 'a': .github/agents/a.agent.md:")
    assert third == "'a' seems to call it: .github/agents/a.agent.md:7 \"Call the c\""
    assert last == "no file names it"
    stage = Path("flow/stages/b.md")
    lines = stage.read_text().splitlines()
    stage.write_text("\n".join([lines[0], lines[2], lines[1], *lines[3:], ""]))
    assert run(["format", "--check", "flow"]) == 1
    assert run(["init", "--from", "flow/stages", "again"]) == 0
    assert "stagec: note: d.md is stages/d.md, not listed in the pipeline: " in capfd.readouterr().err
    assert run(["format", "--check", "again"]) == 0


@pytest.mark.parametrize(("words", "number"), [("Run the docs.", 0), ("Use `docs`.", 1), ("Run the docs agent.", 1)])
def test_a_name_that_is_also_a_word_counts_where_it_is_marked(words: str, number: int, draft: Drafting) -> None:
    project = draft(
        {
            ".claude/agents/writer.md": agent("name: writer\ndescription: y", words),
            ".claude/agents/docs.md": agent("name: docs\ndescription: y"),
        }
    )
    assert len(project.hints) == number


def test_calls_are_hints_with_their_place_and_never_routes(draft: Drafting) -> None:
    body = "First.\nThen use the `Code Reviewer` agent, or @agent-fixer.\nSee a/fixer and /fixers.\n"
    project = draft(
        {
            ".claude/agents/planner.md": agent("name: planner\ndescription: y", body),
            ".claude/agents/reviewer.md": agent("name: code-reviewer\ndescription: y", "/fixer now, planner\n"),
            ".claude/agents/fixer.md": agent("name: fixer\ndescription: y\ntools: Agent(planner, nobody)"),
        }
    )
    assert [(each.caller, each.callee, each.line) for each in project.hints] == [
        ("fixer", "planner", 4),
        ("planner", "code-reviewer", 6),
        ("planner", "fixer", 6),
        ("code-reviewer", "fixer", 5),
    ]
    pipeline = project.files["pipeline.yaml"].decode()
    assert "entry: planner # yours to decide: it names the others most often\n" in pipeline
    assert "\nnext: {}\n" in pipeline
    assert "use the `Code Reviewer` agent" in pipeline


COMMAND = "Ship $1 and $ARGUMENTS[2] of $kind, $ARGUMENTS, $HOME.\n"


@pytest.mark.parametrize("name", ["ship", "/ship", "Ship"])
def test_a_named_command_begins_runs_with_its_arguments(name: str, draft: Drafting, capfd: Shown) -> None:
    files = {
        ".claude/agents/a.md": agent("name: a\ndescription: y"),
        ".claude/commands/ship.md": agent("description: y\narguments: [kind]", COMMAND),
        ".claude/skills/tdd/SKILL.md": agent("name: tdd\ndescription: y"),
    }
    project = draft(files, entry=name)
    assert (
        "Ship {{ctx.arg1}} and {{ctx.arg2}} of {{ctx.kind}}, {{ctx.arguments}}, $HOME."
        in project.files["stages/ship.md"].decode()
    )
    assert "\ncontext:\n  arg1: {type: string}\n" in project.files["pipeline.yaml"].decode()
    assert "stages/tdd.md" not in project.files
    assert run(["init", "--from", ".claude", "--entry", name, "flow"]) == 0
    assert follow(capfd.readouterr().out, capfd) == ["validate", "compile", "run", "graph"]


def test_an_entry_that_is_not_there_is_an_error_with_the_nearest_name(draft: Drafting, capfd: Shown) -> None:
    draft({".claude/agents/planner.md": agent("name: planner\ndescription: y")})
    assert run(["init", "--from", ".", "--entry", "planer", "flow"]) == 2
    assert "nothing here is called 'planer'; did you mean 'planner'?" in capfd.readouterr().err
    assert not Path("flow").exists()


def test_skills_become_stages_where_there_is_no_agent(draft: Drafting) -> None:
    project = draft({".claude/skills/tdd/SKILL.md": agent("description: y")})
    assert "stages/tdd.md" in project.files


def test_a_report_for_programs_has_what_was_lost(draft: Drafting, capfd: Shown) -> None:
    draft(
        {
            ".claude/agents/a.md": agent("name: A\ndescription: y\nmodel: x\ntools: Read", "Use the b agent.\n"),
            ".claude/agents/b.md": agent("name: b\ndescription: y\ntools: Read"),
            ".claude/agents/note.md": "Notes.\n",
        }
    )
    assert run(["init", "--from", ".claude", "--format", "json", "flow"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert report["created"] == ["pipeline.yaml", "scenario.yaml", "stages/a.md", "stages/b.md", "tools.yaml"]
    assert [(each["file"], each["line"], each["key"]) for each in report["lost"]] == [
        (".claude/agents/a.md", 2, "name"),
    ]
    assert [each["file"] for each in report["leftOut"]] == [".claude/agents/note.md"]
    assert [(each["caller"], each["callee"]) for each in report["hints"]] == [("a", "b")]
    assert report["next"][0] == "stagec validate flow"


@pytest.mark.parametrize("flags", [["--entry", "a"], ["--format", "json"]])
def test_options_for_folders_are_refused_elsewhere(flags: list[str], tmp_path: Path, capfd: Shown) -> None:
    path = tmp_path / "a.md"
    path.write_text(agent("name: a"), encoding="utf-8")
    assert run(["init", "--from", str(path), *flags]) == 2
    assert run(["init", *flags, str(tmp_path / "new")]) == 2
    assert "are for --from with a folder" in capfd.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\r\nname: x\r\ndescription: y: z\r\n---\r\nDo {{it}}.\r\n",
        agent("name: x\ndescription: y\ntools: {a: 1}\nhandoffs: 3\nmcpServers: {a: 1, b: [2]}\nmaxTurns: -1"),
        agent("name: [x]\ndescription: {a: b}\nagent: 5\narguments: 7\nmaxTurns: true\nskills: {}"),
        agent("name: x\ndescription: y\n? [a]\n: b"),
        agent('name: "a\\nb\\u2028c # \\u0007"\ndescription: "\\u0000"', '{{{{{}}}}}{{"{{"}}\n'),
        agent("name: 名前\ndescription: y\nhooks: x", "use the 名前 agent\n"),
        agent("name: done\ndescription: y\nkey: {completionTool: x}\nturncap: 5\nnext: [a]\ngate: 5"),
        "---\nname: x\ndescription: a---b\ntools: Read\n---\nDo it.\n",
        "---\nname: x\ndescription: y\n----\nDo it.\n",
        "```md\n---\nname: x\ndescription: y\n---\nDo it.\n```\n",
    ],
)
@pytest.mark.parametrize("file", [".claude/agents/x.md", ".github/agents/x.agent.md", ".opencode/agent/x.md", "x.md"])
def test_whatever_a_file_says_the_draft_validates_and_runs(file: str, text: str, draft: Drafting, capfd: Shown) -> None:
    files = {"other.md" if file == "x.md" else ".claude/agents/z.md": agent("name: z\ndescription: y\ntools: Read")}
    draft({file: text, **files})
    assert run(["init", "--from", ".", "new"]) == 0
    assert [each for each in follow(capfd.readouterr().out, capfd) if each != "graph"] == ["validate", "compile", "run"]


CORPUS = Path(os.environ.get("STAGEC_CORPUS", "."), "frontmatter")
EXPECTED = CORPUS / "expected-agent-files.json"
PLACES = json.loads(EXPECTED.read_text("utf-8"))["places"] if EXPECTED.is_file() else {}


@pytest.mark.skipif(not PLACES, reason="STAGEC_CORPUS is not set")
@pytest.mark.parametrize("file", PLACES)
def test_every_real_file_at_its_place_becomes_a_project_that_runs(file: str, draft: Drafting, capfd: Shown) -> None:
    path = Path(PLACES[file])
    path.parent.mkdir(parents=True)
    path.write_bytes((CORPUS / file).read_bytes())
    assert run(["init", "--from", ".", "flow"]) == 0
    assert follow(capfd.readouterr().out, capfd) == ["validate", "compile", "run", "graph"]
