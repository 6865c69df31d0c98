"""The command of a hook begins with a file of the project that is not there.

## Why this matters
A command that cannot be started is no objection: Claude Code goes on as if the hook had agreed. What the hook was to
stop goes through.

## How to fix
Correct the path, or add the file. The path counts from the folder that Claude Code starts in, which is that of the
`.claude` folder. `$CLAUDE_PROJECT_DIR` names it wherever the session is.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:missing-hook-script",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for lost in files.claude.lost:
        if lost.use == "script":
            yield Finding(lost.at, f"the hook does nothing: the project has no file {quote(lost.path)}")
