"""A skill can be started neither by the user nor by the model.

## Why this matters
`user-invocable: false` takes a skill from the menu of commands, and `disable-model-invocation: true` from the model.
With both nobody can start it.

## How to fix
Delete one of the two switches.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
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
