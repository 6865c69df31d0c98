"""Permission rules of Claude Code: `Tool` or `Tool(specifier)`, and why one is refused or never read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from stagec.core.json import Json, kind_of, object_of
from stagec.core.place import Place
from stagec.core.value import replace, value

_MCP = re.compile(r"mcp__(?P<server>.+?)(?:__(?P<tool>.+))?", re.DOTALL)
MCP_PREFIX = "mcp__"


def split_mcp_name(name: str) -> tuple[str, str | None] | None:
    """Return the server and the tool that a name such as `mcp__files__read` means; nothing for any other name."""
    found = _MCP.fullmatch(name)
    return None if found is None else (found["server"], found["tool"])


class Behaviour(StrEnum):
    """The effect of a rule on the calls that it matches."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Refusal(StrEnum):
    """Why Claude Code drops a rule."""

    NO_TEXT = "it is no text"
    EMPTY = "it is empty"
    NO_TOOL = "it names no tool"
    LOWER_CASE = "the name of a tool begins with a capital letter"
    EMPTY_PARENTHESES = "its parentheses are empty"
    UNCLOSED = "it does not end with the closing parenthesis"
    UNOPENED = "it has a closing parenthesis without an opening one"
    WIDE_ALLOWANCE = "an allow rule can have a wildcard only behind 'mcp__SERVER__'"
    ADDRESS = "WebFetch takes 'domain:HOST', no address"
    SCOPED = "rules about tools of servers, and 'Cd', take no parentheses"
    NO_DOMAIN = "WebFetch takes 'domain:HOST'"


class Neglect(StrEnum):
    """Why a rule that is kept never matches."""

    PATH = "path"
    CONTENT_FIELD = "content field"
    INNER_PREFIX_MARK = "inner prefix mark"


@value
class PermissionRule:
    """One rule as written: `given` stands at `at`; `kind` is what it is in the words of JSON."""

    at: Place
    behaviour: Behaviour
    given: str
    tool: str
    specifier: str | None
    refusal: Refusal | None = None
    neglect: Neglect | None = None
    kind: str = "string"

    @property
    def is_bare(self) -> bool:
        """Whether the rule is about every call of its tool."""
        return self.refusal is None and self.specifier in {None, "*"}


def translate_wildcards(name: str) -> str:
    """Return the regular expression of a name in which `*` stands for any characters."""
    return ".*".join(map(re.escape, re.split(r"\*+", name)))


def read_permission_rules(given: Json, at: Place) -> Iterator[PermissionRule]:
    """Yield every rule of the member `permissions` of settings, in the order of the lists allow, ask and deny."""
    for behaviour in Behaviour:
        rules = object_of(given).get(behaviour.value)
        for index, each in enumerate(rules if isinstance(rules, list) else ()):
            place = at / behaviour.value / index
            if isinstance(each, str):
                yield read_permission_rule(each, place, behaviour)
            else:
                yield PermissionRule(place, behaviour, "", "", None, Refusal.NO_TEXT, kind=kind_of(each))


def read_permission_rule(given: str, at: Place, behaviour: Behaviour) -> PermissionRule:
    """Return a rule as Claude Code reads it, with what is wrong with it."""
    text = given.strip()
    name, opening, rest = text.partition("(")
    specifier = rest.removesuffix(")") if opening and rest.endswith(")") else None
    found = PermissionRule(at, behaviour, given, name.strip(), specifier)
    judge = _RuleJudge(found)
    refusal = judge.refuse(text)
    return replace(found, refusal=refusal, neglect=judge.neglect() if refusal is None else None)


_ALLOWED_GLOB = re.compile(r"mcp__[^*]+?__.*", re.DOTALL)
_PARAMETER = re.compile(r"\s*[A-Za-z_]\w*\s*:")
PATH_TOOLS = {"Write": "Edit", "NotebookEdit": "Edit", "MultiEdit": "Edit", "Glob": "Read"}
"""Tools whose path rules are never read, and the tool whose rules decide instead."""
CONTENT_FIELDS = {
    "Bash": "command",
    "PowerShell": "command",
    "Read": "file_path",
    "Edit": "file_path",
    "Write": "file_path",
    "Grep": "path",
    "Glob": "path",
    "NotebookEdit": "notebook_path",
    "WebFetch": "url",
}
_SHELLS = frozenset({"Bash", "PowerShell"})
_INNER_MARK = re.compile(r"(?:(?:git|gh|npm|docker|cargo|go|kubectl|pip|uv|poetry)\s+)?[\w./-]+:\*(?!\Z)", re.DOTALL)
"""A colon and a star behind the name of a program, or behind the subcommand of one whose subcommands have no colon."""


class _RuleJudge:
    """Says why Claude Code drops one rule, or why it never matches."""

    def __init__(self, rule: PermissionRule) -> None:
        self._name = rule.tool
        self._specifier = rule.specifier
        self._allows = rule.behaviour is Behaviour.ALLOW

    def refuse(self, text: str) -> Refusal | None:
        if not self._name:
            return Refusal.NO_TOOL if text else Refusal.EMPTY
        if ("(" in text) is not text.endswith(")"):
            return Refusal.UNCLOSED if "(" in text else Refusal.UNOPENED
        if self._specifier is not None and not self._specifier.strip():
            return Refusal.EMPTY_PARENTHESES
        is_whole = self._specifier is None
        if not is_whole and (self._name.startswith(MCP_PREFIX) or self._name == "Cd"):
            return Refusal.SCOPED
        if "*" in self._name:
            return Refusal.WIDE_ALLOWANCE if self._allows and _ALLOWED_GLOB.fullmatch(self._name) is None else None
        if self._name[0] != self._name[0].upper() and not self._name.startswith(MCP_PREFIX):
            return Refusal.LOWER_CASE
        return self._refuse_address() if self._name == "WebFetch" else None

    def _refuse_address(self) -> Refusal | None:
        host = self._specifier
        if host is None or host.strip() == "*":
            return None
        if "://" in host:
            return Refusal.ADDRESS
        return None if host.startswith(("domain:", "url:")) or self._has_parameter() else Refusal.NO_DOMAIN

    def _has_parameter(self) -> bool:
        """Tell whether the rule is about a parameter of calls, which no allow rule can be."""
        return not self._allows and _PARAMETER.match(self._specifier or "") is not None

    def neglect(self) -> Neglect | None:
        if self._specifier is None or self._specifier == "*":
            return None
        field = CONTENT_FIELDS.get(self._name)
        if field is not None and re.match(rf"\s*{field}\s*:", self._specifier):
            return Neglect.CONTENT_FIELD
        if self._name in PATH_TOOLS and not self._has_parameter():
            return Neglect.PATH
        return Neglect.INNER_PREFIX_MARK if self._name in _SHELLS and _INNER_MARK.match(self._specifier) else None
