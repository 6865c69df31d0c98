"""What settings, hooks and servers of Claude Code say, whatever stands in them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
from campaigns import choose

from stagec.check.pipeline import Project, compile_project, list_families
from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.languages.agent_files.hooks import list_scripts, read_hooks
from stagec.languages.agent_files.permission_rules import split_mcp_name
from stagec.languages.agent_files.workflows import resolve_import
from stagec.sources.project.settings import Settings

AT = Place("settings.json", ("hooks",))


def entry(command: object, **more: Json) -> Json:
    return {"PreToolUse": [{"hooks": [{"type": "command", "command": command, **more}]}]}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("./a.sh", "a.sh"),
        ("  ./a.sh --x", "a.sh"),
        ("$CLAUDE_PROJECT_DIR/a.sh", "a.sh"),
        ("${CLAUDE_PROJECT_DIR}/b/../a.sh;true", "a.sh"),
        ('"$CLAUDE_PROJECT_DIR"/a.sh "x y"', "a.sh"),
        ('"$CLAUDE_PROJECT_DIR/a b.sh" x', "a b.sh"),
        ("bash ./a.sh", "a.sh"),
        (".claude/hooks/a.sh", ".claude/hooks/a.sh"),
        ("python3 .claude/a.py", ".claude/a.py"),
        ("a.sh", None),
        ("./a*.sh", None),
        ("./$X.sh", None),
        ("./a.sh`x`", None),
        ("$CLAUDE_PROJECT_DIR_OLD/a.sh", None),
        ("$CLAUDE_PROJECT_DIR/../a.sh", None),
        ("./node_modules/.bin/a", None),
        ("${CLAUDE_PLUGIN_ROOT}/a.sh", None),
        ("bash -c './a.sh'", None),
        ("", None),
        (5, None),
    ],
)
def test_which_script_a_command_runs(command: object, script: str | None) -> None:
    found = [each.name for each in list_scripts(read_hooks(entry(command), AT), is_plugin=False)]
    assert found == ([] if script is None else [script])


def test_a_command_with_arguments_is_a_path_as_it_is() -> None:
    assert [*list_scripts(read_hooks(entry("./a.sh --x", args=[]), AT), is_plugin=False)] == []
    assert [each.name for each in list_scripts(read_hooks(entry("./a.sh", args=["x"]), AT), is_plugin=False)] == [
        "a.sh"
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mcp__a", ("a", None)),
        ("mcp__a__b", ("a", "b")),
        ("mcp__a_b__c__d", ("a_b", "c__d")),
        ("mcp__", None),
        ("mcp_a", None),
        ("Read", None),
    ],
)
def test_names_of_tools_of_servers(name: str, expected: object) -> None:
    assert split_mcp_name(name) == expected


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("shared/a.md", "app/.github/workflows/shared/a.md"),
        ("/docs/a.md", "docs/a.md"),
        (".github/agents/a.md", "app/.github/agents/a.md"),
        ("../agents/a.md", "app/.github/agents/a.md"),
        ("a.md#Part", "app/.github/workflows/a.md"),
        ("a.md?", None),
        ("owner/repo/a.md@v1", None),
        ("https://x.example/a.md", None),
        ("${{ inputs.a }}", None),
        ("../../../../a.md", None),
        ("", None),
    ],
)
def test_what_a_workflow_imports(written: str, meant: str | None) -> None:
    assert resolve_import(written, "app/.github/workflows/x.md") == meant


VALUES: tuple[Json, ...] = (
    *(None, True, 0, -1, 1.5, 10**30, "", "x", "${env:A}", "*", "a,b", "mcp__", "mcp____", "((", "))", "(", ")"),
    *([], [None], [[]], {}, {"": None}, {"a": {"b": [1]}}, ["x", 5, {}], "\u0000", "é" * 5, "@x.md", "Bash(" * 50),
)
KEYS = [
    "permissions",
    "allow",
    "ask",
    "deny",
    "defaultMode",
    "additionalDirectories",
    "hooks",
    "PreToolUse",
    "PostToolUse",
    "matcher",
    "type",
    "command",
    "timeout",
    "mcpServers",
    "url",
    "args",
    "env",
    "headers",
    "disabled",
    "sandbox",
    "filesystem",
    "denyRead",
    "statusLine",
    "name",
    "description",
    "tools",
    "handoffs",
    "agents",
    "label",
    "agent",
    "prompt",
    "applyTo",
    "imports",
    "uses",
    "path",
    "on",
    "permissions",
    "contents",
    "safe-outputs",
    "strict",
    "mode",
    "permission",
    "color",
    "steps",
    "temperature",
    "model",
    "mcp-servers",
    "skills",
    "/",
    "~",
]
MARKDOWN = (
    *(".claude/agents/a.md", ".claude/skills/a/SKILL.md", ".claude/commands/a.md", ".github/agents/a.agent.md"),
    *(".github/chatmodes/a.chatmode.md", ".github/prompts/a.prompt.md", ".github/instructions/a.instructions.md"),
    *(".opencode/agent/a.md", ".opencode/command/a.md", ".github/workflows/a.md", ".cursor/rules/a.mdc"),
    *("CLAUDE.md", "AGENTS.md"),
)


class HostileFiles:
    """Makes projects with values of wrong types in every place that a rule looks at."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def value(self, depth: int = 0) -> Json:
        chance = self._random.random()
        if depth < 3 and chance < 0.35:
            count = self._random.randint(0, 3)
            return self.map(count, depth) if chance < 0.2 else [self.value(depth + 1) for _ in range(count)]
        return self._random.choice(VALUES)

    def map(self, count: int, depth: int = 0) -> dict[str, Json]:
        return {self._random.choice(KEYS): self.value(depth + 1) for _ in range(count)}

    def settings(self) -> Json:
        hook = {"type": self._random.choice(["command", "http", 5]), "command": self.value(2), "timeout": self.value(3)}
        hooks = [{"matcher": self.value(2), "hooks": [hook, self.value()]}, self.value()]
        rules = {each: [self.value(2) for _ in range(3)] for each in ("allow", "deny", "ask")}
        made: dict[str, Json] = {"permissions": rules, "hooks": {"PreToolUse": hooks, "Stop": hooks}}  # type: ignore[dict-item]
        return self._random.choice([made, {**made, **self.map(4)}, self.map(6), self.value()])

    def write(self, root: Path) -> None:
        def put(file: str, text: str) -> None:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text, encoding="utf-8")

        def dump(make: Callable[[], Json]) -> str:
            return json.dumps(make())

        put(".claude/settings.json", dump(self.settings))
        put("a/.claude/settings.local.json", dump(self.settings))
        servers: Json = {"a": self.map(4), "workspace": self.value()}
        put(".mcp.json", json.dumps({"mcpServers": self._random.choice([servers, self.value()])}))
        put("p/.mcp.json", dump(self.value))
        put("p/.claude-plugin/plugin.json", "{}")
        put("p/hooks/hooks.json", dump(self.settings))
        put(".github/workflows/a.lock.yml", "a: 1")
        for file in MARKDOWN:
            members = "".join(f"{json.dumps(key)}: {json.dumps(each)}\n" for key, each in self.map(6).items())
            put(file, f"---\n{members}---\nBody @x.md `@` ```\n@y.md")


@pytest.mark.parametrize("seed", range(choose(6, whole=60)))
def test_wrong_types_everywhere_are_no_crash_and_every_finding_has_a_file(seed: int, tmp_path: Path) -> None:
    HostileFiles(seed).write(tmp_path)
    family = next(each for each in list_families() if each.name == "agent_files")
    settings = replace(Settings(), extend_select=tuple(rule.code for rule in family.rules()))
    found = compile_project(Project(tmp_path, (), settings))
    assert all(each.at.file in found.trees for each in found.diagnostics)


def test_a_huge_settings_file_is_judged_in_time(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    rules = [f"bash(x{number})" for number in range(2_000)]
    hooks = [{"matcher": "bash|edit" * 10, "hooks": [{"type": "command", "command": "./x.sh"}]}] * 500
    given = {"permissions": {"deny": rules, "allow": ["Bash(" + "(" * 10_000]}, "hooks": {"PreToolUse": hooks}}
    (tmp_path / ".claude/settings.json").write_text(json.dumps(given), encoding="utf-8")
    found = compile_project(Project(tmp_path, (), Settings(budgets=Budgets())))
    assert {each.code for each in found.diagnostics} == {"STG3151", "STG3155", "STG3157"}


def test_many_denials_of_many_tools_take_no_time(tmp_path: Path) -> None:
    (tmp_path / ".claude/agents").mkdir(parents=True)
    tools = ", ".join(f"mcp__s__t{number}" for number in range(1_000))
    head = f"---\nname: a\ndescription: A.\ntools: {tools}\n---\nDo it.\n"
    (tmp_path / ".claude/agents/a.md").write_text(head, encoding="utf-8")
    deny = [*(f"mcp__s__*x{number}*" for number in range(1_000)), "mcp__s__t1*"]
    given = json.dumps({"permissions": {"deny": deny}})
    (tmp_path / ".claude/settings.json").write_text(given, encoding="utf-8")
    start = process_time()
    found = compile_project(Project(tmp_path, (), Settings()))
    assert process_time() - start < 20
    assert {each.code for each in found.diagnostics} >= {"STG3153"}
