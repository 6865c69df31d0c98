"""A skill is where Claude Code does not look for it.

## Why this matters
A skill is a folder in `.claude/skills` with a file `SKILL.md`, in capitals, directly in it. Claude Code finds no
other: neither one in a folder further down, nor a file beside the folders, nor a `skill.md`.

## How to fix
Move or rename the file to `.claude/skills/NAME/SKILL.md`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:misplaced-skill",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-misplaced-skill"):
        folder, _, rest = file.where.name.partition("/")
        is_other_format = file.at.file.endswith("skill.json")
        if is_other_format and not {"name", "description"} <= file.members.keys():
            continue
        if not (rest or {"name", "description"} & file.members.keys()):
            continue
        name = folder.removesuffix(".md") if not rest else file.where.name.split("/")[-2]
        inside = "skills" if file.where.is_plugin else ".claude/skills"
        home = f"{file.where.home}/" if file.where.home else ""
        yield Finding(file.at, f"Claude Code finds no skill here; it would find '{home}{inside}/{name}/SKILL.md'")
