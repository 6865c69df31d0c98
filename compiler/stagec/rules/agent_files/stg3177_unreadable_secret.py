"""A server of a Copilot agent needs a secret that Copilot does not give it.

## Why this matters
Copilot passes on secrets and variables whose names begin with `COPILOT_MCP_`. The server starts without any other.

## How to fix
Rename the secret in the settings of the repository, and here.
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import Json
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
    if isinstance(given, str):
        yield given, at
    elif isinstance(given, dict):
        for key, each in given.items():
            yield from _list_texts(each, at / key)
    elif isinstance(given, list):
        for index, each in enumerate(given):
            yield from _list_texts(each, at / index)
