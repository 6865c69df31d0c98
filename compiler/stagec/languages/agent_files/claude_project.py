"""What the files of Claude Code in a project say together: settings, hooks, servers, and the files that they mean."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.languages.agent_files.hooks import Hooks
from stagec.languages.agent_files.mcp_servers import McpServer
from stagec.languages.agent_files.settings import ClaudeSettings
from stagec.languages.agent_files.workflows import LockState


@value
class OwnedHooks:
    """Hooks, the folder that they count for, and the kind of the file that has them."""

    hooks: Hooks
    home: str
    kind: str
    is_plugin: bool


@value
class LostPath:
    """A path of the project that a file means and that is not there: as written, and where."""

    use: str
    path: str
    at: Place


@value
class NameClash:
    """A command and a skill of one name: the place of the one that nobody can call, and the file of the other."""

    name: str
    at: Place
    other: str


@value
class ClaudeProject:
    """The settings by the folder that they count for, all hooks, all servers, and the files that are missing.

    Commands are shadowed in projects, skills in plugins. `imported` has the workflows of gh-aw that others import,
    `locks` the state of the compiled files of those that events start, by workflow. `declared` has the names of servers
    in tools; it and `imported` count files that nobody asked to check. `is_redirected` tells that requests go to
    another address than that of Anthropic, where other models are.
    """

    settings: tuple[tuple[str, ClaudeSettings], ...] = ()
    hooks: tuple[OwnedHooks, ...] = ()
    servers: tuple[McpServer, ...] = ()
    lost: tuple[LostPath, ...] = ()
    imported: frozenset[str] = frozenset()
    locks: Mapping[str, LockState] = NOTHING
    shadowed_commands: tuple[NameClash, ...] = ()
    shadowed_skills: tuple[NameClash, ...] = ()
    declared: frozenset[str] = frozenset()
    is_redirected: bool = False
