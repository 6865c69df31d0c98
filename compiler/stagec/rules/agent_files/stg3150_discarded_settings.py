"""A value in settings of Claude Code costs the whole file.

## Why this matters
Claude Code checks a settings file as a whole. One value of a wrong type, or one malformed hook before the use of a
tool, and nothing of the file counts: the rules that deny something and the hooks that guard something are off. Without
a terminal it says nothing.

## How to fix
Write a value of the type that the message names. To check the file, ask Claude Code for `/status`.
"""

from collections.abc import Iterator

from stagec.core.nearest import hint
from stagec.core.place import spell_path
from stagec.core.rule import Finding
from stagec.core.words import listing, quote, with_article
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.settings import Discard
from stagec.rules.agent_files import describe_hook_fault, rule


@rule(since="0.1", origin=("agent-files:discarded-settings",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for _, settings in files.claude.settings:
        for each in settings.discards:
            yield Finding(each.at, f"Claude Code drops the whole file, because {_describe(each, files.known)}")


def _describe(discard: Discard, known: Known) -> str:
    if discard.hook is not None:
        return describe_hook_fault(discard.hook, known)
    if not discard.at.pointer:
        return "it is no JSON object"
    name = quote(spell_path(discard.at.pointer))
    if discard.expected == "mode":
        modes = known.names("permission-modes")
        found = f"found {quote(discard.found)}{hint(discard.found, modes)}"
        return f"{name} must be {listing(tuple(modes), 'or')} ({known.version()}), {found}"
    return f"{name} must be {discard.expected}, found {with_article(discard.found)}"
