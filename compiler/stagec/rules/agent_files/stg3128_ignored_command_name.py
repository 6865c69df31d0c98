"""A command has a key that counts only in skills.

## Why this matters
Claude Code calls a command by the path of its file: `sub/inner.md` is `/sub:inner`. It ignores `name`, so that what
the file says is not what works, and it ignores `paths`.

## How to fix
Delete the key, as `stagec validate --fix` does, or rename the file.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:ignored-command-name",), severity=Severity.NOTE)
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-command"):
        called = file.where.name.replace("/", ":")
        name = file.members.get("name")
        told = {"paths": "a command is not limited by 'paths'"} if "paths" in file.members else {}
        if name is not None and name != called:
            told["name"] = f"the command is called {quote('/' + called)}, whatever its 'name' is"
        for key, message in told.items():
            fix = Fix(f"delete {quote(key)}", (Edit(Change.REMOVE, file.at / key),))
            yield Finding((file.at / key).key, message, (), fix)
