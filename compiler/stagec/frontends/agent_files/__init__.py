"""Agent files of other tools: agents, skills, commands, prompts, rules and instructions, which have no flow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stagec.frontends import Flow, FrontEnd, Sources, Tree

if TYPE_CHECKING:
    from stagec.frontends.agent_files.document import AgentFiles

_LIKELY = re.compile(r"(?:^|/)(?:\.claude|\.github|\.cursor|\.opencode|\.agents|agents|commands|skills)/.*\.mdc?$")
"""Paths of which the kinds are asked; all others cost one look."""


def _claims(file: str) -> bool:
    if not _LIKELY.search(file):
        return False
    from stagec.frontends.agent_files.kinds import list_kinds  # only a project with such folders needs it

    return any(True for kind in list_kinds() for _ in kind.find(file))


def _recognises(_tree: Tree) -> bool:
    return False


def _sees(sources: Sources, file: str) -> bool:
    from stagec.frontends.agent_files.read import find_kind  # so here

    return find_kind(sources, file) is not None


def _read(sources: Sources, files: tuple[str, ...]) -> tuple[AgentFiles, ...]:
    if not files:  # of most projects
        return ()
    from stagec.frontends.agent_files.read import read

    return read(sources, files)


def _lower(_document: AgentFiles) -> Flow | None:
    return None


FRONTEND = FrontEnd("agent files", _claims, _recognises, _read, _lower, _sees, yields=True)
