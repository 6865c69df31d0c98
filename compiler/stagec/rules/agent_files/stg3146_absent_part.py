"""A file names a part of the project that is not there.

## Why this matters
The tool goes on without it. With an `agent` in the settings that nobody finds, the session has every tool.

## How to fix
Correct the name or the path, or add the part.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_SENTENCES = {
    "part": "the plugin has no {path}",
    "plugin": "the marketplace lists a plugin in {path}, which is not there",
    "link": "the skill links {path}, which is not there",
    "agent": "the project has no agent {path}: Claude Code starts the session without its limits",
}


@rule(since="0.1", origin=("agent-files:absent-part",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for lost in files.claude.lost:
        if lost.use in _SENTENCES:
            yield Finding(lost.at, _SENTENCES[lost.use].format(path=quote(lost.path)))
