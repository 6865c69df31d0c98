"""A value of an agent is of a kind that Claude Code ignores.

## Why this matters
Claude Code does not refuse an agent because of such a value, and does not tell: the limit, the memory or the
isolation that was asked for is not there.

## How to fix
Write a value that the message names.
"""

from collections.abc import Callable, Iterator, Mapping

from stagec.core.diagnostic import Severity
from stagec.core.json import Json, list_of
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:ignored-agent-value",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    known = document.known
    for file in document.of("claude-agent"):
        for key, (wanted, is_fit) in _WANTED.items():
            given = file.members.get(key)
            if given is not None and not is_fit(given, known):
                told = f"Claude Code ignores this {quote(key)}: it must be {wanted(known)}"
                yield Finding(file.at / key, told)
        for index, each in enumerate(list_of(file.members.get("mcpServers"))):
            if not file.where.is_plugin and not (isinstance(each, str | dict) and each):
                told = "Claude Code drops this server: it must be a name, or a map of a name to its configuration"
                yield Finding(file.at / "mcpServers" / index, told)


def _is_count(given: Json, _known: Known) -> bool:
    return (isinstance(given, int) and not isinstance(given, bool) and given > 0) or (
        isinstance(given, str) and given.isdecimal()
    )


def _is_one_of(group: str) -> Callable[[Json, Known], bool]:
    return lambda given, known: isinstance(given, str) and given in known.names(group)


def _list_names(group: str) -> Callable[[Known], str]:
    return lambda known: listing(list(known.names(group)), "or")


def _is_switch(given: Json, _known: Known) -> bool:
    return isinstance(given, bool) or given in ("true", "false")


def _is_effort(given: Json, known: Known) -> bool:
    is_number = isinstance(given, int) and not isinstance(given, bool)
    return is_number or (isinstance(given, str) and given in known.names("efforts"))


_WANTED: Mapping[str, tuple[Callable[[Known], str], Callable[[Json, Known], bool]]] = {
    "maxTurns": (lambda _: "a positive whole number", _is_count),
    "memory": (_list_names("memory"), _is_one_of("memory")),
    "isolation": (_list_names("isolation"), _is_one_of("isolation")),
    "effort": (lambda known: f"{_list_names('efforts')(known)}, or a whole number", _is_effort),
    "background": (lambda _: "true or false", _is_switch),
}
