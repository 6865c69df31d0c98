"""A key of an agent, a skill or a command is one letter or its case away from one that Claude Code reads.

## Why this matters
Claude Code keeps quiet about keys that it does not know, so that a limit or a mode with a slip in its name is not
there.

## How to fix
Write the key that the message names, as `stagec validate --unsafe-fixes` does.
"""

from collections.abc import Callable, Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.nearest import NameIndex, is_slip
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.rules.agent_files import rule

_OF_TOOLS = frozenset({"allowed-tools", "allowedTools", "Tools", "tool"})
"""Spellings of `tools` that another rule speaks of."""


@rule(since="0.1", origin=("agent-files:misspelt-agent-key",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    known = document.known
    keys = known.keys("agent")
    foreign = {*known.keys("copilot-agent", "Copilot"), *known.keys("opencode-agent", "OpenCode"), *_OF_TOOLS}
    for file in document.of("claude-agent"):
        yield from _judge(file, known, lambda key: None if key in foreign else _guess(key, keys), keys)
    for file in document.of("claude-skill", "claude-command"):
        yield from _judge(file, known, known.keys("skill").slip, known.keys("skill"))


def _judge(file: AgentFile, known: Known, find: Callable[[str], str | None], keys: NameIndex) -> Iterator[Finding]:
    for key in file.members:
        meant = None if key in keys else find(key)
        if meant is not None:
            edits = (Edit(Change.RENAME, file.at / key, meant),)
            fix = None if meant in file.members else Fix(f"rename it to {quote(meant)}", edits, is_safe=False)
            message = f"{known.version()} has no key {quote(key)}; did you mean {quote(meant)}?"
            yield Finding((file.at / key).key, message, (), fix)


def _guess(key: str, keys: NameIndex) -> str | None:
    """Return the key that another one differs from by its case, a letter, or the plural."""
    return next((each for each in keys if is_slip(key, each) or f"{key}s" == each or key == f"{each}s"), None)
