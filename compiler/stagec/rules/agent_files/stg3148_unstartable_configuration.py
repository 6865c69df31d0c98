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
from stagec.frontends.agent_files.values import find_misfits
from stagec.rules.agent_files import rule

_KINDS = {"opencode-config": OPENCODE, "codex-config": CODEX}


@rule(since="0.1", origin=("agent-files:unstartable-configuration",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for name, owner in _KINDS.items():
        for file in files.of(name):
            for wrong in find_misfits(file.members, file.at, files.known, "config", owner):
                if wrong.cost == "program":
                    yield Finding(wrong.at, f"{owner} does not start: {wrong}")
            for fault in file.reading.faults:
                if fault.topic == "unstartable-configuration":
                    yield Finding(fault.at, f"{owner} does not start: the file is no TOML ({fault.facts['what']})")
