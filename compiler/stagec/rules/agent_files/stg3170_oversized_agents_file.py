"""The files `AGENTS.md` on one path are longer together than Codex reads.

## Why this matters
Codex joins the files from the root of the project down to the folder that it works in, and reads 32 KiB of them. What
comes later is cut off, which only its log says.

## How to fix
Shorten the files, move what only one folder needs into that folder, or raise `project_doc_max_bytes` in the
configuration of Codex.
"""

import posixpath
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.rules.agent_files import rule

_MOST = 32 * 1024


@rule(since="0.1", origin=("agent-files:oversized-agents-file",), severity=Severity.NOTE)
def check(files: AgentFiles) -> Iterator[Finding]:
    chosen: dict[str, AgentFile] = {}
    for file in files.of("agents-file"):
        folder = posixpath.dirname(file.at.file)
        if folder not in chosen or file.where.name.endswith("override"):
            chosen[folder] = file
    for folder, file in chosen.items():
        above = sum(len(chosen[each].tree.data) for each in _list_above(folder) if each in chosen)
        size = len(file.tree.data)
        if above <= _MOST < above + size:
            whole = f"has {size:,} bytes" if not above else f"and those above it have {above + size:,} bytes"
            yield Finding(file.at, f"the file {whole}; Codex reads {_MOST:,} and cuts off the rest")


def _list_above(folder: str) -> Iterator[str]:
    while folder:
        folder = posixpath.dirname(folder)
        yield folder
