"""A command has the name of a skill, and never runs.

## Why this matters
Claude Code calls skills and commands with `/NAME`. Of the same name in a project it takes the skill, and does not tell
that there is a command. In a plugin it takes the command, which `STG3122` reports for the skill.

## How to fix
Rename one of the two, or delete the command.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:shadowed-command",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for clash in document.claude.shadowed_commands:
        related = (Related(Place(clash.other), "the skill"),)
        yield Finding(clash.at, f"the command never runs: a skill is called {quote('/' + clash.name)} too", related)
