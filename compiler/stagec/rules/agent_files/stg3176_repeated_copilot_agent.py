"""Two files of Copilot are one agent.

## Why this matters
Copilot calls an agent by its file without `.agent.md` or `.md`. Of two files with the same name it takes one.

## How to fix
Rename or delete one of the files.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:repeated-copilot-agent",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    first: dict[tuple[str, str], AgentFile] = {}
    for file in files.of("copilot-agent"):
        other = first.setdefault((file.where.home, file.where.name), file)
        if other.real_path != file.real_path:
            message = f"another file is the agent {quote(file.where.name)} too: Copilot takes one of the two"
            yield Finding(file.at, message, (Related(other.at, "the other file"),))
