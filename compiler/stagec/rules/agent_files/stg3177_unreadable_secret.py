"""A server of a Copilot agent needs a secret that Copilot does not give it.

## Why this matters
Copilot passes on secrets and variables whose names begin with `COPILOT_MCP_`. The server starts without any other.

## How to fix
Rename the secret in the settings of the repository, and here.
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import Json, list_of
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_SECRET = re.compile(r"\$\{\{\s*(?:secrets|vars)\.(?!COPILOT_MCP_)(\w+)\s*\}\}")


@rule(since="0.1", origin=("agent-files:unreadable-secret",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("copilot-agent"):
        for text, at in _list_texts(file.members.get("mcp-servers"), file.at / "mcp-servers"):
            for name in _SECRET.findall(text):
                yield Finding(at, f"Copilot gives no server {quote(name)}: the name must begin with 'COPILOT_MCP_'")


def _list_texts(given: Json, at: Place) -> Iterator[tuple[str, Place]]:
    waiting = [(given, at)]
    for each, place in waiting:
        if isinstance(each, str):
            yield each, place
        members = each if isinstance(each, dict) else dict(enumerate(list_of(each)))
        waiting += [(inner, place / key) for key, inner in members.items()]
