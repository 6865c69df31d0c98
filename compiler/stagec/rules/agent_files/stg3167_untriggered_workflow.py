"""Nothing starts a workflow of gh-aw, and no other workflow imports it.

## Why this matters
A workflow without `on` is a part for others. If none imports it, it never runs.

## How to fix
Add `on` with the events that start it. Move a part for others to the folder `shared`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:untriggered-workflow",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("gh-aw-workflow"):
        is_started = not file.reading.is_whole or not file.members.keys().isdisjoint({"on", "redirect"})
        if not is_started and file.at.file not in files.claude.imported:
            yield Finding(file.at, "the workflow has no 'on' and no other workflow imports it: it never runs")
