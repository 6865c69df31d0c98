"""A repository with agent files of several tools, and mistakes in its settings, hooks, servers and frontmatter."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from properties.mutants.projects import Change, Pointer, Project, drop, put, reach, rename, value_at
from properties.mutants.slips import Operators
from properties.mutants.words import misspell

SETTINGS, SERVERS = ".claude/settings.json", ".mcp.json"
_HOOK = {"type": "command", "command": "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh"}
_DATA: Mapping[str, Any] = {
    SETTINGS: {
        "model": "opus",
        "cleanupPeriodDays": 14,
        "outputStyle": "Explanatory",
        "includeCoAuthoredBy": False,
        "enabledPlugins": {"formatter@acme": True},
        "statusLine": {"type": "command", "command": "date"},
        "permissions": {
            "defaultMode": "acceptEdits",
            "additionalDirectories": ["../shared"],
            "allow": ["Bash(npm run test:*)", "Edit(/src/**)", "WebFetch(domain:example.com)", "mcp__files__read"],
            "ask": ["Bash(git push:*)"],
            "deny": ["Read(./.env)", "Edit(.git/**)", "Bash(rm -rf:*)", "WebSearch"],
        },
        "hooks": {
            "PreToolUse": [{"matcher": "Bash", "hooks": [_HOOK]}, {"matcher": "Edit|Write", "hooks": [_HOOK]}],
            "PostToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "npx eslint"}]}],
            "Stop": [{"hooks": [{"type": "prompt", "prompt": "Is all done?"}]}],
        },
    },
    SERVERS: {
        "mcpServers": {
            "files": {"command": "server-files", "args": ["."], "env": {"KEY": "${KEY}"}},
            "docs": {"type": "http", "url": "https://example.com/mcp"},
        }
    },
}
_TEXTS: Mapping[str, str] = {
    ".claude/agents/reviewer.md": (
        "---\nname: reviewer\ndescription: Reviews changes.\ntools: Read, Grep, Edit, mcp__files__read\n"
        "model: sonnet\n---\nReview.\n"
    ),
    ".claude/hooks/guard.sh": "exit 0\n",
    "CLAUDE.md": "See @docs/style.md and @README.txt.\n",
    "docs/style.md": "Use tabs.\n",
    "README.txt": "Read me.\n",
    ".github/agents/planner.agent.md": (
        "---\ndescription: Plans.\ntools: [read, agent]\nagents: [coder]\nhandoffs:\n"
        "  - {label: Go, agent: coder, prompt: Write it.}\n---\nPlan.\n"
    ),
    ".github/instructions/ts.instructions.md": "---\napplyTo: '**/*.ts'\n---\nUse strict.\n",
    ".github/workflows/triage.md": (
        "---\non: issues\npermissions:\n  contents: read\n  issues: read\nimports:\n  - shared/tone.md\n---\nTriage.\n"
    ),
    ".github/workflows/shared/tone.md": "Be brief.\n",
    ".opencode/agent/review.md": (
        "---\ndescription: Reviews.\nmode: subagent\nsteps: 5\ntools: {bash: false}\npermission: {edit: deny}\n"
        "---\nReview.\n"
    ),
}


def write_repository(root: Path) -> None:
    """Write a repository in which nothing is wrong."""
    for file, text in {**_TEXTS, **{file: json.dumps(data, indent=2) for file, data in _DATA.items()}}.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")


_TYPED = (
    *(("model",), ("cleanupPeriodDays",), ("outputStyle",), ("includeCoAuthoredBy",), ("enabledPlugins",)),
    *(("statusLine",), ("permissions", "additionalDirectories", 0), ("permissions", "deny"), ("permissions", "allow")),
)


def mistyped_settings(project: Project, _chance: Random) -> Iterator[Change]:
    for path in _TYPED:
        for new in (7.5 if path != ("cleanupPeriodDays",) else "14", None):
            yield project.change(SETTINGS, put(project.data(SETTINGS), path, new), path)


def at(
    file: str, pattern: tuple[str | int, ...], *spells: Callable[[Any, Random], Any]
) -> Callable[..., Iterator[Change]]:
    """Return the operator that writes what is at some places of a file otherwise."""

    def change(project: Project, chance: Random) -> Iterator[Change]:
        for path in reach(project.data(file), *pattern):
            old = value_at(project.data(file), path)
            for new in (spell(old, chance) for spell in spells):
                if new != old:
                    yield project.change(file, put(project.data(file), path, new), path, words=(str(old), str(new)))

    return change


_RULE = ("permissions", "*", "*")


def _lower(given: str, _chance: Random) -> str:
    return given[0].lower() + given[1:]


def _cut(given: str, _chance: Random) -> str:
    return given.removesuffix(")")


def _empty(given: str, _chance: Random) -> str:
    return f"{given.partition('(')[0]}()" if "(" in given else given


def _other_tool(given: str, _chance: Random) -> str:
    return given.replace("Edit(", "Write(", 1).replace("Bash(", "Bash(command:", 1)


def _misspelt_tool(given: str, chance: Random) -> str:
    name, opening, rest = given.partition("(")
    return given if name.startswith("mcp__") else f"{name[0]}{misspell(name[1:], chance)}{opening}{rest}"


def rules(project: Project, chance: Random) -> Iterator[Change]:
    for change in (_lower, _cut, _empty, _other_tool, _misspelt_tool):
        for path in reach(project.data(SETTINGS), *_RULE):
            old = value_at(project.data(SETTINGS), path)
            is_rule = isinstance(old, str) and path[1] != "additionalDirectories" and not old.startswith("mcp__")
            new = change(old, chance) if is_rule else old
            if new != old:
                yield project.change(SETTINGS, put(project.data(SETTINGS), path, new), path)


def hooks(project: Project, chance: Random) -> Iterator[Change]:
    """Misspell events, types and tools, and take away what an entry or a hook needs."""
    data = project.data(SETTINGS)
    for path in reach(data, "hooks", "*"):
        new = misspell(str(path[-1]), chance)
        yield project.change(SETTINGS, rename(project.data(SETTINGS), path, new), (*path[:-1], new))
    for path in (*reach(data, "hooks", "*", "*", "hooks"), *reach(data, "hooks", "*", "*", "hooks", "*", "type")):
        yield project.change(SETTINGS, drop(project.data(SETTINGS), path), path[:-1])
    for path in reach(data, "hooks", "*", "*", "hooks", "*", "type"):
        yield project.change(SETTINGS, put(project.data(SETTINGS), path, misspell("command", chance)), path)
    for path in reach(data, "hooks", "*", "*", "matcher"):
        yield project.change(SETTINGS, put(project.data(SETTINGS), path, value_at(data, path).lower()), path)
    for path in reach(data, "hooks", "PreToolUse", "*", "hooks", "*", "command"):
        new = value_at(data, path).replace("guard", misspell("guard", chance))
        yield project.change(SETTINGS, put(project.data(SETTINGS), path, new), path)


def servers(project: Project, chance: Random) -> Iterator[Change]:
    """Take the type of an address away, misspell it, take the command away, or write a variable as Cursor does."""
    docs, files = ("mcpServers", "docs"), ("mcpServers", "files")
    yield project.change(SERVERS, drop(project.data(SERVERS), (*docs, "type")), docs)
    yield project.change(
        SERVERS, put(project.data(SERVERS), (*docs, "type"), misspell("https", chance)), (*docs, "type")
    )
    yield project.change(SERVERS, rename(project.data(SERVERS), (*docs, "url"), "serverUrl"), docs)
    yield project.change(SERVERS, drop(project.data(SERVERS), (*files, "command")), files)
    yield project.change(
        SERVERS, put(project.data(SERVERS), (*files, "env", "KEY"), "${env:KEY}"), (*files, "env", "KEY")
    )
    yield project.change(SERVERS, rename(project.data(SERVERS), files, "Files"), files, words=("files", "Files"))
    yield project.change(SERVERS, put(project.data(SERVERS), (*files, "disabled"), True), files)


def denials(project: Project, _chance: Random) -> Iterator[Change]:
    """Deny a tool that an agent lists."""
    for tool in ("Read", "Grep", "Edit", "mcp__files", "mcp__*"):
        data = project.data(SETTINGS)
        data["permissions"]["deny"].append(tool)
        yield project.change(SETTINGS, data, ("permissions", "deny"), words=(tool, "mcp__files__read"))


_SLIPS: tuple[tuple[str, str, str, Pointer], ...] = (
    ("CLAUDE.md", "@docs/style.md", "@docs/styles.md", ()),
    ("CLAUDE.md", "@README.txt", "@REDME.txt", ()),
    (".claude/agents/reviewer.md", "model: sonnet", "model: sonnett", ("model",)),
    (".claude/agents/reviewer.md", "mcp__files__read", "mcp__Files__read", ("tools",)),
    (".github/agents/planner.agent.md", "label: Go, ", "", ("handoffs", 0)),
    (".github/agents/planner.agent.md", "agent: coder, ", "", ("handoffs", 0)),
    (".github/agents/planner.agent.md", ", prompt: Write it.", "", ("handoffs", 0)),
    (".github/agents/planner.agent.md", "[read, agent]", "[read]", ("agents",)),
    (".github/instructions/ts.instructions.md", "'**/*.ts'", "['**/*.ts']", ("applyTo",)),
    (".github/workflows/triage.md", "contents: read", "contents: write", ("permissions", "contents")),
    (".github/workflows/triage.md", "issues: read", "issues: write", ("permissions", "issues")),
    (".github/workflows/triage.md", "shared/tone.md", "shared/ton.md", ("imports", 0)),
    (".opencode/agent/review.md", "mode: subagent", "mode: sub-agent", ("mode",)),
    (".opencode/agent/review.md", "steps: 5", "steps: five", ("steps",)),
    (".opencode/agent/review.md", "{bash: false}", "read, bash", ("tools",)),
    (".opencode/agent/review.md", "edit: deny", "edit: never", ("permission", "edit")),
)


def frontmatter(project: Project, _chance: Random) -> Iterator[Change]:
    for file, old, new, path in _SLIPS:
        text = _TEXTS[file]
        yield Change({file: text.replace(old, new).encode()}, ((file, path),))
    del project


OPERATORS: Operators = {
    "mistyped settings": mistyped_settings,
    "misspelt mode": at(SETTINGS, ("permissions", "defaultMode"), misspell),
    "permission rules": rules,
    "hooks": hooks,
    "servers": servers,
    "denials": denials,
    "frontmatter": frontmatter,
}


def _other_model(given: str, _chance: Random) -> str:
    return f"{given}plan"


def _as_bash(given: str, _chance: Random) -> str:
    return given.replace(":*)", " *)")


def new_keys(project: Project, _chance: Random) -> Iterator[Change]:
    """Add what Claude Code keeps in spite of not knowing it."""
    for key, new in (("unknown", {"a": 1}), ("env", {"A": 1, "B": "x"}), ("$schema", "https://example.com")):
        yield project.change(SETTINGS, {**project.data(SETTINGS), key: new}, (key,))


EQUIVALENT: Operators = {
    "another model": at(SETTINGS, ("model",), _other_model),
    "another wildcard": at(SETTINGS, ("permissions", "deny", "*"), _as_bash),
    "new keys": new_keys,
    "another mode": at(SETTINGS, ("permissions", "defaultMode"), lambda _old, _chance: "plan"),
    "a regular expression": at(SETTINGS, ("hooks", "*", "*", "matcher"), lambda old, _chance: f"^({old})$"),
}
