"""A skill can be started neither by the user nor by the model.

## Why this matters
`user-invocable: false` takes a skill from the menu of commands, and `disable-model-invocation: true` from the model.
With both nobody can start it. In a plugin, a command of the same name runs in the place of the skill.

## How to fix
Delete one of the two switches. Rename the command or the skill of a plugin, or delete the command.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.switches import is_off, is_on
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unreachable-skill",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-skill"):
        switch = "disable-model-invocation"
        if is_on(file.members.get(switch)) and is_off(file.members.get("user-invocable")):
            related = (Related(file.at / "user-invocable", "nor may the user"),)
            yield Finding(file.at / switch, "nobody can start this skill: the model may not", related)
    for clash in document.claude.shadowed_skills:
        message = f"nobody can call this skill: the command {quote(clash.name)} of the plugin runs in its place"
        related = (Related(Place(clash.other), "the command"),)
        yield Finding(clash.at, message, related, severity=Severity.WARNING)
