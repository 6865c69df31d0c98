"""Agent files of other tools: agents, skills, commands, prompts, rules and instructions, which have no flow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stagec.languages import Flow, FlowRights, FrontEnd, Sources

if TYPE_CHECKING:
    from stagec.languages.agent_files.document import AgentFiles

_LIKELY = re.compile(
    r"(?:^|/)(?:"
    r"(?:\.claude|\.github|\.cursor|\.opencode|\.agents|agents|commands|skills)/.*\.mdc?"
    r"|\.claude/settings(?:\.local)?\.json|hooks/hooks\.json|\.mcp\.json|skills/[^/]+/skill\.json"
    r"|(?:\.claude-plugin|\.github/plugin)/(?:plugin|marketplace)\.json|\.codex/config\.toml|opencode\.json"
    r"|CLAUDE(?:\.local)?\.md|AGENTS(?:\.override)?\.md"
    r")$"
)
"""Paths of which the kinds are asked; all others cost one look."""
_OF_TOOLS = re.compile(r"(?:^|/)\.(?:claude|claude-plugin|codex|github|cursor|opencode|agents)/")
_PROOFS = r"(?:^|/)\.github/workflows/[^/]+\.lock\.yml$"
"""Files beside others that say what these are."""


_OWN = re.compile(
    r"(?:(?P<home>.*)/)?(?P<own>\.(?:claude|github|cursor|opencode|agents)(?:/[^/]+){0,2})(?:/.*)?", re.DOTALL
)
_OF_PLUGIN = re.compile(r"(?:(?P<home>.*?)/)?(?P<own>agents|commands|skills|hooks)(?:/.*)?", re.DOTALL)
"""Folders by which kinds know their files, with the folder that they count from."""


class _AgentFiles(FrontEnd["AgentFiles"]):
    name = "agent files"
    paths = (_LIKELY.pattern, _PROOFS)
    yields = True
    each_path = True

    def claims(self, file: str) -> bool:
        if not _LIKELY.search(file):
            return False
        from stagec.languages.agent_files.kinds import list_kinds  # only a project with such folders needs it

        return any(True for kind in list_kinds() for _ in kind.find(file))

    def anchor(self, folder: str) -> tuple[str, str] | None:
        """Return the meaning of a folder's path for the agent files in it: their project, kind and name."""
        found = _OWN.fullmatch(folder) or _OF_PLUGIN.fullmatch(folder)
        return None if found is None else (found["home"] or "", found["own"])

    def sees(self, sources: Sources, file: str) -> bool:
        from stagec.languages.agent_files.read import find_kind  # so here

        return find_kind(sources, file) is not None

    def reserves(self, file: str) -> bool:
        """Tell whether a file is in the folder of a tool, where one that the tool passes over is nobody else's."""
        return _OF_TOOLS.search(file) is not None

    def read(self, sources: Sources, files: tuple[str, ...]) -> tuple[AgentFiles, ...]:
        """Return the agent files of a project as one document."""
        if not files:  # of most projects
            return ()
        from stagec.languages.agent_files.read import read_all

        return read_all(sources, files)

    def grant(self, document: AgentFiles, _flow: Flow | None, sources: Sources) -> tuple[FlowRights, ...]:
        from stagec.languages.agent_files.rights import list_accesses  # few runs ask for rights

        return tuple(list_accesses(document, sources))


FRONTEND = _AgentFiles()
