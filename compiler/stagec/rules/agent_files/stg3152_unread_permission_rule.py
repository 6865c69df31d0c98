"""A permission rule never matches anything.

## Why this matters
Claude Code keeps the rule and never asks it. For files it reads the paths of `Read` and `Edit` rules only. A rule
cannot name the field with the content of a call, such as `command`. The mark `:*` counts only at the end of a rule. And
a name that no tool has matches no call. What such a rule was to deny is not denied.

## How to fix
Write path rules for `Edit`, which covers every tool that writes files, or for `Read`, which covers those that read
them. Write the command itself: `Bash(rm *)`. Correct the name of the tool, or delete the rule.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.nearest import hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.mcp_names import MCP_PREFIX
from stagec.frontends.agent_files.permission_rules import CONTENT_FIELDS, PATH_TOOLS, Neglect, PermissionRule
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unread-permission-rule",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for _, settings in files.claude.settings:
        for each in settings.rules:
            if each.refusal is None:
                yield from _judge(each, files.known)


def _judge(given: PermissionRule, known: Known) -> Iterator[Finding]:
    text, tool = quote(given.given), given.tool
    if given.neglect is Neglect.PATH:
        meant = f"{PATH_TOOLS[tool]}({given.specifier})"
        fix = Fix(f"write {quote(meant)}", (Edit(Change.REPLACE, given.at, meant),))
        yield Finding(given.at, f"Claude Code reads no path rules of {tool}: {text} never matches", fix=fix)
    elif given.neglect is Neglect.CONTENT_FIELD:
        yield Finding(given.at, f"Claude Code ignores {text}: no rule can name the field {quote(CONTENT_FIELDS[tool])}")
    elif given.neglect is Neglect.INNER_PREFIX_MARK:
        yield Finding(given.at, f"':*' counts only at the end of a permission rule: {text} never matches")
    elif not _is_known(tool, known):
        gone = known.aliases("gone-tools")
        doubt = "" if tool in gone else hint(tool, known.names("tools"))
        when = "no longer a tool" if tool in gone else "no tool"
        message = f"{quote(tool)} is {when} of {known.version()}: the permission rule never matches{doubt}"
        yield Finding(given.at, message, fix=_correct_case(given, known))


_OTHERS = frozenset({"Cd", "BashOutput"})
"""What rules can name besides tools, and an old name that rules may still know."""


def _is_known(tool: str, known: Known) -> bool:
    """Tell whether a name may be that of a tool; Claude Code warns of no name with an underscore or a star."""
    is_exempt = tool.startswith(MCP_PREFIX) or "_" in tool or "*" in tool or tool in _OTHERS
    return is_exempt or tool in known.names("tools") or tool in known.aliases("tool-aliases")


def _correct_case(given: PermissionRule, known: Known) -> Fix | None:
    name = next((each for each in known.names("tools") if each.lower() == given.tool.lower()), None)
    if name is None:
        return None
    meant = name if given.specifier is None else f"{name}({given.specifier})"
    return Fix(f"write {quote(meant)}", (Edit(Change.REPLACE, given.at, meant),))
