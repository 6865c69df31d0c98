"""A command has the name of a skill, and never runs.

## Why this matters
Claude Code calls skills and commands with `/NAME`. Of the same name it takes the skill, and does not tell that there
is a command.

## How to fix
Rename one of the two, or delete the command.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:shadowed-command",))
def check(document: AgentFiles) -> Iterator[Finding]:
    skills = {(each.where.home, each.where.name): each for each in document.of("claude-skill")}
    for file in document.of("claude-command"):
        name = file.where.name.replace("/", ":")
        skill = skills.get((file.where.home, name))
        if skill is not None:
            related = (Related(skill.at, "the skill"),)
            yield Finding(file.at, f"the command never runs: a skill is called {quote('/' + name)} too", related)
