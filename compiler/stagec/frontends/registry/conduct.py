"""What an agent may do: its tools and its permission mode, of its boundaries in 1.13 and of a settings file in 1.14."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import value
from stagec.frontends.registry.generation import Generation
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

_AGENTS = ".agent"
_CONFIGURATION = "climpt/config"
_BESIDE = "_config"
_GENERAL = "claude.settings.climpt.agents.json"
_RULE = "("
"""What follows the name of a tool in a permission rule, such as `Bash(git:*)`."""


@value
class SettingsFile:
    """The settings file of an agent of 1.14; `content` None where it cannot be read."""

    at: Place
    content: Json
    is_readable: bool

    @property
    def permissions(self) -> Json:
        """What stands under `permissions`, whatever it is; None where nothing does."""
        return object_of(self.content).get("permissions")


@value
class AgentConduct:
    """The tools and the permission mode of an agent, and for 1.14 where its settings were looked for.

    `tools` None means that nobody lists them: in 1.13 every tool may be called, in 1.14 none. `tried` are the settings
    files that were looked for, in this order, and `has_folder` tells whether the project has a folder for them.
    """

    tools: tuple[str, ...] | None = None
    permission_mode: str | None = None
    boundaries: Object | None = None
    settings: SettingsFile | None = None
    tried: tuple[str, ...] = ()
    has_folder: bool = False


def read_conduct(sources: Sources, agent: Tree, written: Generation) -> AgentConduct:
    """Return what the agent definition in a tree of a format, or the settings file that belongs to it, allows."""
    runner = object_of(object_of(agent.value).get("runner"))
    boundaries = runner.get("boundaries")
    own = boundaries if isinstance(boundaries, dict) else None
    if written is Generation.V1_13:
        tools, mode = _list_tools(object_of(own).get("allowedTools")), text_in(object_of(own), "permissionMode")
        return AgentConduct(tools, mode, own)
    tried = tuple(_list_places(agent.file, text_in(object_of(agent.value), "name")))
    file = next(filter(sources.exists, tried), None)
    settings = _read(sources, file) if file is not None else None
    permissions = object_of(settings.permissions) if settings is not None else {}
    return AgentConduct(
        tools=_list_tools(permissions.get("allow")),
        permission_mode=text_in(permissions, "defaultMode"),
        boundaries=own,
        settings=settings,
        tried=tried,
        has_folder=any(sources.has_folder(posixpath.dirname(each)) for each in tried),
    )


def _list_places(agent: str, name: str | None) -> Iterator[str]:
    """Yield where the settings of an agent may be: its own file, then that of all agents.

    They are in the configuration of climpt, or in a folder beside the agent where only a part of a project is there.
    """
    own = (f"claude.settings.climpt.agents.{name}.json",) if name and "/" not in name else ()
    parts = posixpath.dirname(agent).split("/")
    above = parts[: parts.index(_AGENTS)] if _AGENTS in parts else []
    for folder in (posixpath.join(*above, _AGENTS, _CONFIGURATION), posixpath.join(*parts, _BESIDE)):
        yield from (posixpath.join(folder, each) for each in (*own, _GENERAL))


def _read(sources: Sources, file: str) -> SettingsFile:
    tree = sources.tree(file, "file")
    is_readable = tree is not None and tree.readable
    return SettingsFile(Place(file), tree.value if tree is not None and is_readable else None, is_readable)


def _list_tools(given: Json) -> tuple[str, ...] | None:
    """Return the names of tools in a list, each once; a permission rule counts as the tool that it is about."""
    if not isinstance(given, list):
        return None
    return tuple(dict.fromkeys(each.partition(_RULE)[0] for each in list_of(given) if isinstance(each, str)))
