"""A path of each kind of agent files, and what a file of that kind may say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_TOLD = "---\nname: {name}\ndescription: Does it.\n---\nDo it.\n"
PATHS: Mapping[str, str] = {
    "claude-agent": ".claude/agents/other.md",
    "claude-skill": ".claude/skills/other/SKILL.md",
    "claude-command": ".claude/commands/other.md",
    "claude-misplaced-skill": ".claude/skills/other.md",
    "claude-rule": ".claude/rules/other.md",
    "claude-settings": ".claude/settings.local.json",
    "claude-hooks": "plugin/hooks/hooks.json",
    "claude-servers": ".mcp.json",
    "claude-unread-servers": ".claude/.mcp.json",
    "claude-plugin": "plugin/.claude-plugin/plugin.json",
    "claude-marketplace": ".claude-plugin/marketplace.json",
    "claude-memory": "CLAUDE.md",
    "agents-file": "AGENTS.md",
    "codex-config": ".codex/config.toml",
    "copilot-agent": ".github/agents/other.agent.md",
    "copilot-chat-mode": ".github/chatmodes/other.chatmode.md",
    "copilot-prompt": ".github/prompts/other.prompt.md",
    "copilot-instructions": ".github/instructions/other.instructions.md",
    "cursor-rule": ".cursor/rules/other.mdc",
    "cursor-unread-rule": ".cursor/rules/other.md",
    "gh-aw-workflow": ".github/workflows/other.md",
    "opencode-agent": ".opencode/agent/other.md",
    "opencode-mode": ".opencode/mode/other.md",
    "opencode-command": ".opencode/command/other.md",
    "opencode-config": "opencode.json",
    "opencode-skill": ".opencode/skills/other/SKILL.md",
    "shared-skill": ".agents/skills/other/SKILL.md",
}
_SAID = {
    "claude-settings": "{}\n",
    "claude-hooks": '{"hooks": {}}\n',
    "claude-servers": '{"mcpServers": {}}\n',
    "claude-unread-servers": '{"mcpServers": {}}\n',
    "claude-plugin": '{"name": "plugin"}\n',
    "claude-marketplace": '{"name": "all", "owner": {"name": "One"}, "plugins": []}\n',
    "codex-config": 'model = "one"\n',
    "opencode-config": '{"model": "one/two"}\n',
    "gh-aw-workflow": "---\non: push\nname: other\n---\nDo it.\n",
}
_BESIDE = {"claude-hooks": {"plugin/.claude-plugin/plugin.json": '{"name": "plugin"}\n'}}


def write_kind(folder: Path, kind: str) -> str:
    """Write a file of a kind, with what proves that it is one, and return its path."""
    texts = {PATHS[kind]: _SAID.get(kind, _TOLD.format(name="other")), **_BESIDE.get(kind, {})}
    for file, text in texts.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    return PATHS[kind]
