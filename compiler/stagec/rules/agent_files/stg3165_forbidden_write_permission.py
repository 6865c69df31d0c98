"""A workflow of gh-aw asks for a permission to write that strict mode forbids.

## Why this matters
Strict mode is the default. `gh aw compile` fails for `write` on `contents`, `issues` or `pull-requests`, and for
`write-all`, so the workflow that runs is the old one or none.

## How to fix
Let the workflow read, and write by `safe-outputs`. Or turn strict mode off with `strict: false`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.workflow_facts import find_forbidden_permissions
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:forbidden-write-permission",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("gh-aw-workflow"):
        is_compiled = "on" in file.members  # another one is a part, and nobody has measured what it does to others
        for each in find_forbidden_permissions(file.members, file.at) if is_compiled else ():
            is_single = len(each.at.pointer) > 1
            what = f"to write {quote(each.name)}" if is_single else quote(each.name)
            fix = Fix("write 'read'", (Edit(Change.REPLACE, each.at, "read"),))
            can_write = is_single and bool(file.members.get("safe-outputs"))
            message = f"strict mode forbids the permission {what}: the workflow does not compile"
            yield Finding(each.at, message, fix=fix if can_write else None)
