"""A value of a skill or a command is of a kind that Claude Code drops, or has no effect.

## Why this matters
Claude Code loads the file and leaves the value out, without telling: the description, the permission or the separate
context that was asked for is not there.

## How to fix
Write a value that the message names. `agent` and `background` count only with `context: fork`.
"""

from collections.abc import Callable, Iterator, Mapping

from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:mistyped-skill-value",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-skill", "claude-command"):
        for key, (wanted, is_fit) in _WANTED.items():
            given = file.members.get(key)
            is_label = key == "name" and file.kind.name == "claude-command"
            if given is not None and not is_label and not is_fit(given):
                yield Finding(file.at / key, f"Claude Code drops this {quote(key)}: it must be {wanted}")
        for key in ("agent", "background"):
            if key in file.members and file.members.get("context") is None:
                yield Finding((file.at / key).key, f"{quote(key)} has no effect without 'context: fork'")


def _is_text(given: Json) -> bool:
    return isinstance(given, str)


def _is_said(given: Json) -> bool:
    return not isinstance(given, list | dict)


def _lists_texts(given: Json) -> bool:
    return isinstance(given, str) or (isinstance(given, list) and all(isinstance(each, str) for each in given))


_WANTED: Mapping[str, tuple[str, Callable[[Json], bool]]] = {
    "name": ("a text", _is_text),
    "description": ("a text", _is_said),
    "allowed-tools": ("a text or a list of texts", _lists_texts),
    "metadata": ("a map", lambda given: isinstance(given, dict)),
    "shell": ("'bash' or 'powershell'", lambda given: given in ("bash", "powershell")),
    "context": ("'fork'", lambda given: given == "fork"),
}
