"""A value in an agent or a command of OpenCode is of a wrong type.

## Why this matters
OpenCode reads all its files when it starts. One value of a wrong type ends the start with an error: nothing of the
configuration is loaded.

## How to fix
Write a value of the type that the message names. In OpenCode `tools` is a map of names with true and false.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.frontends.agent_files.known import OPENCODE, Known
from stagec.frontends.agent_files.tool_names import list_tools
from stagec.rules.agent_files import list_misfits, rule

_KINDS = {"opencode-agent": "agent", "opencode-mode": "agent", "opencode-command": "command"}


@rule(since="0.1", origin=("agent-files:misshapen-opencode-agent",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for file, wrong in list_misfits(files, _KINDS, OPENCODE):
        fix = _make_map(file, files.known) if wrong.key == "tools" else None
        yield Finding(wrong.at, f"OpenCode does not start: {wrong}", fix=fix)


def _make_map(file: AgentFile, known: Known) -> Fix | None:
    """Return the fix that writes a list of tools as a map, in which the names have small letters."""
    entries = list_tools(file, known)
    names = dict.fromkeys(entry.name.lower() for entry in entries)
    if not names or any(entry.text != entry.name or "*" in entry.name for entry in entries):
        return None
    return Fix("write a map of the tools", (Edit(Change.REPLACE, file.at / "tools", dict.fromkeys(names, True)),))
