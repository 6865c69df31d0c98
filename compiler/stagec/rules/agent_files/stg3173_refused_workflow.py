"""A workflow of gh-aw has a key, an event or a permission that does not exist.

## Why this matters
`gh aw compile` refuses the file, so the workflow that runs is the old one or none.

## How to fix
Write the name that the message suggests.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.json import Json, object_of
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.frontends.agent_files.known import GH_AW
from stagec.rules.agent_files import rule

_PARTS = (("frontmatter", ""), ("events", "on"), ("permissions", "permissions"))
_WHAT = {"frontmatter": "key", "events": "event", "permissions": "permission"}


@rule(since="0.1", origin=("agent-files:refused-workflow",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("gh-aw-workflow"):
        for group, member in _PARTS if "on" in file.members else ():
            yield from _judge(files, file, group, member)


def _judge(files: AgentFiles, file: AgentFile, group: str, member: str) -> Iterator[Finding]:
    known = files.known.names(group, GH_AW)
    given: Json = file.members.get(member) if member else file.members
    at = file.at / member if member else file.at
    for name in object_of(given):
        meant = None if name in known else known.slip(name)
        if meant is not None:  # others may be newer than the names that stagec knows
            edits = (Edit(Change.RENAME, (at / name).key, meant),)
            fix = None if meant in object_of(given) else Fix("rename it", edits)
            message = f"gh aw compiles no {_WHAT[group]} {quote(name)}; did you mean {quote(meant)}?"
            yield Finding((at / name).key, message, fix=fix)
