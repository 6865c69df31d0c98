"""A permission rule is written in a way that Claude Code refuses.

## Why this matters
Claude Code drops a rule that it cannot read, and keeps the others. What the rule was to deny is then not denied, and
what it was to allow is asked for again and again.

## How to fix
Write `Tool` or `Tool(specifier)`: the name of the tool with a capital letter, something in the parentheses, nothing
behind them. An allow rule can have a `*` only behind `mcp__SERVER__`. For WebFetch write `WebFetch(domain:HOST)`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding
from stagec.core.words import quote, with_article
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.permission_rules import Behaviour, PermissionRule, Refusal
from stagec.rules.agent_files import rule

_LOSS = {
    Behaviour.ALLOW: "it allows nothing",
    Behaviour.ASK: "nobody is asked",
    Behaviour.DENY: "it denies nothing",
}


@rule(since="0.1", origin=("agent-files:malformed-permission-rule",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for _, settings in files.claude.settings:
        for each in settings.rules:
            if each.refusal is not None:
                yield Finding(each.at, f"{_describe(each)}: {_LOSS[each.behaviour]}", fix=_fix(each, files.known))


def _describe(given: PermissionRule) -> str:
    if given.refusal is Refusal.NO_TEXT:
        return f"a permission rule must be a text, found {with_article(given.kind)}"
    return f"Claude Code drops the permission rule {quote(given.given)} because {given.refusal}"


def _fix(given: PermissionRule, known: Known) -> Fix | None:
    if given.refusal is Refusal.EMPTY_PARENTHESES and given.tool in known.names("tools"):
        meant = given.tool
    elif given.refusal is Refusal.LOWER_CASE:
        name = next((each for each in known.names("tools") if each.lower() == given.tool.lower()), None)
        if name is None:
            return None
        meant = name if given.specifier is None else f"{name}({given.specifier})"
    else:
        return None
    return Fix(f"write {quote(meant)}", (Edit(Change.REPLACE, given.at, meant),))
