"""What the files of Claude Code in a project say together: settings, hooks, servers, and the files that they mean."""

from __future__ import annotations

from stagec.core.place import Place
from stagec.core.value import value
from stagec.frontends.agent_files.hooks import Hooks
from stagec.frontends.agent_files.mcp_servers import McpServer
from stagec.frontends.agent_files.settings import ClaudeSettings


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
class ClaudeProject:
    """The settings by the folder that they count for, all hooks, all servers, and the files that are missing.

    `is_redirected` tells that requests go to another address than that of Anthropic, where other models are.
    """

    settings: tuple[tuple[str, ClaudeSettings], ...] = ()
    hooks: tuple[OwnedHooks, ...] = ()
    servers: tuple[McpServer, ...] = ()
    lost: tuple[LostPath, ...] = ()
    is_redirected: bool = False
