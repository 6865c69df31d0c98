"""What Claude Code may do in a project by its settings, hooks and servers, whichever agent works there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.value import value
from stagec.languages.agent_files.claude_project import ClaudeProject, ClaudeSettings
from stagec.languages.agent_files.hooks import HookEntry, can_refuse
from stagec.languages.agent_files.permission_rules import Behaviour

_SHOWN_OF_HOOKS: Mapping[str, str] = {"command": "command", "http": "url", "mcp_tool": "tool"}
"""Which member of a hook says what it starts; a hook of another type asks a model."""


@value
class ProjectGrant:
    """One permission rule, permission mode, folder, hook or server: its file, noun and name.

    Two that are equal but for `definition` are the same one before and after a change; `told` shows the definition.
    With one that `widens`, agents may do more or programs start; one that `guards` can refuse what agents do.
    """

    file: str
    noun: str
    name: str
    told: str
    definition: str
    widens: bool
    guards: bool


def list_grants(project: ClaudeProject) -> Iterator[ProjectGrant]:
    """Yield what a project gives and takes; what Claude Code drops is not among it."""
    for _, settings in project.settings:
        if not settings.is_lost:
            yield from _list_of_settings(settings)
    lost = {settings.at.file for _, settings in project.settings if settings.is_lost}
    entries = (entry for owned in project.hooks for entry in owned.hooks.entries)
    yield from (grant for each in entries if each.at.file not in lost for grant in _list_of_hooks(each))
    for server in project.servers:
        if not any(each.reason == "disabled" for each in server.faults):
            started = server.members.get("url") or server.members.get("command")
            told = _join([*([started] if started else ()), *list_of(server.members.get("args"))])
            if started:
                yield _make(server.at.file, "server", server.name, told, server.members)


def _list_of_settings(settings: ClaudeSettings) -> Iterator[ProjectGrant]:
    file = settings.at.file
    for rule in settings.rules:
        if rule.refusal is None and rule.neglect is None:
            allows = rule.behaviour is Behaviour.ALLOW
            name = f"{rule.behaviour} {rule.given}"
            yield ProjectGrant(file, "rule", name, "", "", widens=allows, guards=not allows)
    permissions = object_of(settings.members.get("permissions"))
    if isinstance(mode := permissions.get("defaultMode"), str):
        yield _make(file, "permission mode", "", mode, mode)
    for folder in list_of(permissions.get("additionalDirectories")):
        if isinstance(folder, str):
            yield _make(file, "folder", folder, "", folder)


def _list_of_hooks(entry: HookEntry) -> Iterator[ProjectGrant]:
    matched = f"{entry.event}({entry.matcher})" if entry.matcher else entry.event
    for hook in entry.hooks:
        told = hook.members.get(_SHOWN_OF_HOOKS.get(str(hook.members.get("type")), "prompt"))
        yield ProjectGrant(
            entry.at.file,
            "hook",
            f"{matched}: {_join(told)}",
            "",
            _define(hook.members),
            widens=True,
            guards=can_refuse(entry.event),
        )


def _make(file: str, noun: str, name: str, told: str, definition: Json | Object) -> ProjectGrant:
    return ProjectGrant(file, noun, name, told, _define(definition), widens=True, guards=False)


def _define(given: Json | Object) -> str:
    """Return a text for a value that is equal for equal values; unlike canonical JSON, there is one for each value."""
    return json.dumps(given, sort_keys=True)


def _join(words: Json) -> str:
    return " ".join(map(str, words)) if isinstance(words, list) else str(words or "")
