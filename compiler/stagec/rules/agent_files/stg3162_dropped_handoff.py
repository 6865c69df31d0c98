"""A handoff of a Copilot agent lacks what it needs, and VS Code drops it.

## Why this matters
The button that leads to the next agent is not there, and nothing says why.

## How to fix
Give every entry of `handoffs` a `label`, an `agent` and a `prompt`, all of them texts.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import kind_of
from stagec.core.rule import Finding
from stagec.core.words import listing, with_article
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.handoffs import find_dropped_handoffs
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:dropped-handoff",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("copilot-agent", "copilot-chat-mode"):
        given, at = file.members.get("handoffs"), file.at / "handoffs"
        if given is not None and not isinstance(given, list):
            yield Finding(at, f"'handoffs' must be a list, found {with_article(kind_of(given))}: there are none")
        for each in find_dropped_handoffs(given, at):
            lack = (
                f"it lacks {listing(each.missing)}" if each.missing else f"it is {with_article(each.kind)}, not a map"
            )
            yield Finding(each.at, f"VS Code drops this handoff: {lack}")
