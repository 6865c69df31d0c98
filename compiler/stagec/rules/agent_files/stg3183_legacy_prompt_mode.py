"""A prompt of VS Code names its agent under the old key `mode`.

## Why this matters
The key is called `agent` now. VS Code still reads the old one; where both are written, the new one counts.

## How to fix
Rename the key to `agent`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:legacy-prompt-mode",), severity=Severity.NOTE, groups=("pedantic",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("copilot-prompt"):
        if "mode" in file.members:
            at = (file.at / "mode").key
            fix = Fix("rename it to 'agent'", (Edit(Change.RENAME, at, "agent"),))
            yield Finding(at, "'mode' is called 'agent' now", fix=None if "agent" in file.members else fix)
