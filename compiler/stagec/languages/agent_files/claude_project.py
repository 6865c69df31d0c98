"""The files of Claude Code in a project, read together: settings, hooks, servers, and the files that they refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stagec.core.json import Object, list_of, object_of
from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.languages.agent_files.hooks import HookFault, Hooks, read_hooks
from stagec.languages.agent_files.known import Known
from stagec.languages.agent_files.permission_rules import Behaviour, PermissionRule, read_permission_rules
from stagec.languages.agent_files.values import Misfit, find_misfits
from stagec.languages.agent_files.workflows import LockState
from stagec.sources.tree import Tree

_FOREIGN_ADDRESSES = ("serverUrl", "httpUrl")
"""Under which keys other hosts keep an address."""
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]")
_OF_CURSOR = re.compile(r"\$\{env:[^}]*\}")


@value
class ServerFault:
    """Why a server is dropped or not what its author means: a reason, the place, and what stands there."""

    at: Place
    reason: str
    found: str = ""


@value
class McpServer:
    """One server of a file and what is written about it; `tool_name` stands for it in the names of its tools."""

    name: str
    at: Place
    members: Object
    faults: tuple[ServerFault, ...] = ()

    @property
    def tool_name(self) -> str:
        """The word for the server in the names of its tools."""
        return _OUTSIDE.sub("_", self.name)


def read_servers(tree: Tree, known: Known) -> tuple[McpServer, ...]:
    """Return the servers of a file; all else in it is none of this tool's."""
    servers = object_of(object_of(tree.value).get("mcpServers"))
    at = tree.at / "mcpServers"
    return tuple(
        McpServer(name, at / name, given, tuple(_check(name, given, at / name, known)))
        if isinstance(given, dict)
        else McpServer(name, at / name, {})
        for name, given in servers.items()
    )


def _check(name: str, given: Object, at: Place, known: Known) -> Iterator[ServerFault]:
    """Yield the mistakes in a server, without those that are mistakes for every host: other rules report them."""
    if given.get("disabled") is True:
        yield ServerFault(at / "disabled", "disabled")
        return
    if name in known.names("reserved-servers"):
        yield ServerFault(at.key, "reserved", name)
    foreign = next((key for key in _FOREIGN_ADDRESSES if key in given), None)
    if "command" not in given and "url" in given and "type" not in given:
        yield ServerFault(at.key, "untyped", str(given["url"]))
    elif "command" not in given and "url" not in given and foreign is not None:
        yield ServerFault((at / foreign).key, "foreign address", foreign)
    kind = given.get("type")
    if isinstance(kind, str) and kind not in known.names("server-types"):
        yield ServerFault(at / "type", "type", kind)
    texts = [(at / key, given.get(key)) for key in ("command", "url")]
    texts += [(at / "args" / index, each) for index, each in enumerate(list_of(given.get("args")))]
    texts += [(at / key / name, each) for key in ("env", "headers") for name, each in object_of(given.get(key)).items()]
    for place, each in texts:
        found = _OF_CURSOR.search(each) if isinstance(each, str) else None
        if found is not None:
            yield ServerFault(place, "foreign variable", found[0])


@value
class ClaudeSettings:
    """One settings file: whether it is one, values that do not fit, malformed guards, and its permission rules."""

    at: Place
    is_object: bool
    misfits: tuple[Misfit, ...]
    hooks: tuple[HookFault, ...]
    rules: tuple[PermissionRule, ...]
    members: Object

    @property
    def is_lost(self) -> bool:
        """Whether Claude Code drops the file as a whole."""
        return not self.is_object or bool(self.hooks) or any(each.cost == "file" for each in self.misfits)

    def list_denied(self) -> tuple[PermissionRule, ...]:
        """Return the rules that take a tool from every agent; none if the file is dropped."""
        if self.is_lost:
            return ()
        return tuple(each for each in self.rules if each.behaviour is Behaviour.DENY and each.is_bare)


def read_settings(tree: Tree, known: Known, *, is_object: bool = True) -> ClaudeSettings:
    """Return the content of a settings file; empty for one that cannot be read, or is no object."""
    root = object_of(tree.value)
    misfits = tuple(find_misfits(root, tree.at, known, "settings")) if is_object else ()
    hooks = read_hooks(root["hooks"], tree.at / "hooks") if isinstance(root.get("hooks"), dict) and is_object else None
    return ClaudeSettings(
        tree.at,
        is_object or not tree.readable,
        misfits,
        tuple(fault for fault in hooks.faults if fault.costs_file) if hooks is not None else (),
        tuple(read_permission_rules(root.get("permissions"), tree.at / "permissions")),
        root,
    )


@value
class OwnedHooks:
    """Hooks, the folder that they count for, and the kind of the file that has them."""

    hooks: Hooks
    home: str
    kind: str
    is_plugin: bool


@value
class LostPath:
    """A path in a file that does not exist in the project: as written, and its place."""

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
    another address than Anthropic's, with other models.
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
