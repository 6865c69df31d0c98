"""Files of GitHub Copilot and VS Code: agents and the older chat modes, prompts and instructions."""

from __future__ import annotations

from stagec.frontends.agent_files.kinds import AgentKind, AgentKinds, below, either, inside_plugin
from stagec.frontends.agent_files.loaders.strict import load

_AGENT = r"(?!README\.md)(?P<name>[^/]+?)(?:\.agent)?\.md"

_AGENTS = either(below(r"\.github/agents", _AGENT), inside_plugin("agents", _AGENT, "Copilot"))

KINDS = AgentKinds(
    (
        AgentKind("copilot-agent", "agent", "Copilot", _AGENTS, load, keys="copilot-agent"),
        AgentKind(
            "copilot-chat-mode",
            "chat mode",
            "VS Code",
            below(r"\.github/chatmodes", r"(?P<name>.+)\.chatmode\.md"),
            load,
            keys="copilot-agent",
        ),
        AgentKind(
            "copilot-prompt",
            "prompt",
            "VS Code",
            below(r"\.github/prompts", r"(?P<name>.+)\.prompt\.md"),
            load,
            keys="copilot-prompt",
        ),
        AgentKind(
            "copilot-instructions",
            "file of instructions",
            "VS Code",
            below(r"\.github/instructions", r"(?P<name>.+)\.instructions\.md"),
            load,
            keys="copilot-instructions",
        ),
    )
)
