"""The name of a skill is not that of its folder, or not of the form that the specification of skills wants.

## Why this matters
Claude Code calls a skill by its folder, and its `name` is only shown. Other tools refuse a skill if the two differ,
or if the name has other characters than lower-case letters, digits and single hyphens.

## How to fix
Write the name of the folder, as `stagec validate --fix` does, or rename the folder.
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import SKILLS, rule

_FORM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@rule(since="0.1", origin=("agent-files:mismatched-skill-name",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of(*SKILLS):
        name, folder = file.members.get("name"), file.where.name
        if not isinstance(name, str) or not name.strip() or (name == folder and _FORM.fullmatch(name)):
            continue
        is_other = name != folder
        what = f"differs from the folder {quote(folder)}" if is_other else "may have only a-z, 0-9 and single hyphens"
        edits = (Edit(Change.REPLACE, file.at / "name", folder),)
        fix = Fix(f"write {quote(folder)}", edits) if is_other and _FORM.fullmatch(folder) else None
        yield Finding(file.at / "name", f"the name {quote(name)} of this skill {what}", (), fix)
