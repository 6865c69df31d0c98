"""An agent preloads a skill that only users can start.

## Why this matters
`skills` gives an agent the texts of skills from the beginning. Claude Code leaves out those with
`disable-model-invocation: true`, and the agent works without what it was to know.

## How to fix
Take the switch out of the skill, or write its text into the agent.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.switches import is_on
from stagec.rules.agent_files import list_names, rule


@rule(since="0.1", origin=("agent-files:unpreloadable-skill",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    closed = {
        (skill.where.home, skill.where.name): skill
        for skill in document.of("claude-skill")
        if is_on(skill.members.get("disable-model-invocation")) and not skill.where.is_plugin
    }
    for file in document.of("claude-agent") if closed else ():
        for name, at in list_names(file, "skills"):
            skill = closed.get((file.where.home, name))
            if skill is not None:
                related = (Related(skill.at / "disable-model-invocation", "switched off here"),)
                yield Finding(at, f"the skill {quote(name)} is never preloaded: the model may not call it", related)
