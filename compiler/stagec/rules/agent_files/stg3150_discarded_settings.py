"""A value in settings of Claude Code costs the whole file.

## Why this matters
Claude Code checks a settings file as a whole. One value of a wrong type, or one malformed hook before the use of a
tool, and nothing of the file counts: the rules that deny something and the hooks that guard something are off. Without
a terminal it says nothing.

## How to fix
Write a value of the type that the message names. To check the file, ask Claude Code for `/status`.
"""

from collections.abc import Iterator

from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.values import Misfit
from stagec.rules.agent_files import describe_hook_fault, rule


@rule(since="0.1", origin=("agent-files:discarded-settings",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for _, settings in files.claude.settings:
        found = [(each.at, _describe(each)) for each in settings.misfits if each.cost == "file"]
        found += [(each.at, describe_hook_fault(each, files.known)) for each in settings.hooks]
        found += [] if settings.is_object else [(settings.at, "it is no JSON object")]
        for at, reason in found:
            yield Finding(at, f"Claude Code drops the whole file, because {reason}")


def _describe(misfit: Misfit) -> str:
    doubt = hint(misfit.found, NameIndex(misfit.names)) if isinstance(misfit.found, str) else ""
    return f"{misfit}{doubt}"
