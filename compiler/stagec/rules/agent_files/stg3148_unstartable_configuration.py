"""A configuration has a value with which its program does not start.

## Why this matters
OpenCode and Codex read their configuration before anything else. One value of a wrong type, and they end with an error.

## How to fix
Write a value that the message names.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import CODEX, OPENCODE
from stagec.rules.agent_files import list_misfits, rule

_KINDS = {OPENCODE: {"opencode-config": "config"}, CODEX: {"codex-config": "config"}}


@rule(since="0.1", origin=("agent-files:unstartable-configuration",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for owner, kinds in _KINDS.items():
        for _, wrong in list_misfits(files, kinds, owner):
            if wrong.cost == "program":
                yield Finding(wrong.at, f"{owner} does not start: {wrong}")
    for file in files.of("codex-config"):
        faults = (each for each in file.reading.faults if each.topic == "unstartable-configuration")
        yield from (Finding(each.at, f"{CODEX} does not start: {each.facts['what']}") for each in faults)
