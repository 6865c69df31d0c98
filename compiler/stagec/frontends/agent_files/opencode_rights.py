"""The tools that an agent of OpenCode may call, by its `permission` and the older `tools`, as OpenCode merges them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from stagec.core.json import Json, Object, object_of
from stagec.core.place import Mention, Place
from stagec.core.value import value

_TOOLS = ("read", "grep", "glob", "list", "edit", "write", "patch", "bash", "webfetch", "websearch", "task", "skill")
_EDIT, _EDITING = "edit", frozenset({"edit", "write", "patch", "apply_patch"})
_GUARDS = frozenset({"external_directory", "doom_loop"})
"""Permissions that are about what tools are given, and are no tools."""
_EVERY, _DENY = "*", "deny"
_OF_SERVER = "\0"
"""Stands for a tool that no rule names."""


@value
class AllowedTools:
    """The tools that somebody lets an agent call, with the rule that says so, and those that are `denied` to it.

    `is_open` tells whether it may call others.
    """

    tools: tuple[Mention, ...]
    is_open: bool
    denied: tuple[str, ...] = ()


@value
class _Rule:
    """What becomes of the calls of a tool, or of those whose argument fits a pattern."""

    tool: str
    pattern: str
    action: str
    at: Place


def read_allowed(members: Object, at: Place) -> AllowedTools:
    """Return what the frontmatter of an agent allows; what it says nothing of is left to the configuration."""
    rules = tuple(_list_rules(_merge(members, at)))
    named = (each.tool for each in rules if each.tool not in _GUARDS and each.tool != _EVERY)
    found: list[Mention] = []
    for name in dict.fromkeys((*_TOOLS, *named)):
        rule = _decide(rules, name)
        if rule is not None and rule.action != _DENY:
            found.append(Mention(name, rule.at))
    other = _decide(rules, _OF_SERVER)
    decided = {name: _decide(rules, name) for name in _TOOLS}
    denied = tuple(name for name, rule in decided.items() if rule is not None and rule.action == _DENY)
    return AllowedTools(tuple(found), other is None or other.action != _DENY, denied)


def _merge(members: Object, at: Place) -> Mapping[str, tuple[Json, Place]]:
    """Return the value of each permission, in the order that OpenCode reads; `permission` overrides `tools`."""
    merged: dict[str, tuple[Json, Place]] = {}
    for name, is_on in object_of(members.get("tools")).items():
        merged[_EDIT if name in _EDITING else name] = ("allow" if is_on else _DENY, at / "tools" / name)
    given = members.get("permission")
    if isinstance(given, str):
        merged[_EVERY] = (given, at / "permission")
    return merged | {name: (each, at / "permission" / name) for name, each in object_of(given).items()}


def _list_rules(merged: Mapping[str, tuple[Json, Place]]) -> Iterator[_Rule]:
    for tool, (given, at) in merged.items():
        if isinstance(given, str):
            yield _Rule(tool, _EVERY, given, at)
        for pattern, action in object_of(given).items():
            if isinstance(action, str):
                yield _Rule(tool, pattern, action, at / pattern)


def _decide(rules: tuple[_Rule, ...], name: str) -> _Rule | None:
    """Return the rule by which a tool can be called, or by which no call of it can pass; the last that fits counts."""
    found: _Rule | None = None
    permission = _EDIT if name in _EDITING else name
    for rule in rules:
        fits = rule.tool == name or fnmatchcase(permission, rule.tool.replace("[", "[[]"))
        if fits and (rule.action != _DENY or rule.pattern == _EVERY):
            found = rule
    return found
