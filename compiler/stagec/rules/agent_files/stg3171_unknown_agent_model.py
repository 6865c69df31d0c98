"""An agent of Claude Code names a model that looks like none of Anthropic's.

## Why this matters
Claude Code does not check the name. It sends it with the first request of the agent, which then fails.

## How to fix
Write `sonnet`, `opus`, `haiku`, `fable` or `inherit`, or the full id of a model, such as `claude-sonnet-4-5`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.rules.agent_files import rule

_OTHERS = frozenset({"default", "best", "opusplan"})
"""Aliases of sessions, which agents may have too."""
_FREE = "/:$@"
"""Marks in names that gateways give to models."""


@rule(since="0.1", origin=("agent-files:unknown-agent-model",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("claude-agent") if not files.claude.is_redirected else ():
        given = file.members.get("model")
        if isinstance(given, str) and given.strip() and not _may_be_known(given.strip().lower(), files.known):
            known = files.known
            message = (
                f"{quote(given)} is no model of {known.version()}, and no id of one{hint(given, known.names('models'))}"
            )
            yield Finding(file.at / "model", message)


def _may_be_known(given: str, known: Known) -> bool:
    name = given.removesuffix("[1m]")
    beginnings = tuple(known.names("model-beginnings"))
    is_alias = name in known.names("models") or name in _OTHERS
    return is_alias or name.startswith(beginnings) or any(mark in name for mark in _FREE)
