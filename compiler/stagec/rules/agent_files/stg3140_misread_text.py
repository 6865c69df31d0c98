r"""Claude Code changes a text of a skill or a command in another way than its author means.

## Why this matters
`$0` to `$9` are the arguments of a call, also in code and in amounts of money. A command in backticks behind `!` runs
only at the beginning of a line or behind a blank; elsewhere the model sees its text.

## How to fix
Write `\$1` for a dollar sign that stays. Put a blank before `!`.
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.frontends.agent_files.memory_imports import blank_fences
from stagec.rules.agent_files import rule

_ARGUMENT = re.compile(r"(?<![\\$\w])\$[0-2](?![\w}])")
_MONEY = re.compile(r"(?<![\\$\w])\$[0-2](?=[.,]\d)")
"""Nobody calls a skill with so many arguments that higher numbers count."""
_AWK = re.compile(r"\bawk\b[^\n{]{0,80}\{[^}\n]{0,80}?(?<!\\)(?P<field>\$[0-2])(?!\d)")
_STUCK = re.compile(r"(?<=[\w=(:\"'>])!`[^`\n]{1,400}`")


@rule(since="0.1", origin=("agent-files:misread-text",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("claude-skill", "claude-command"):
        start = (file.tree.body or (0, 0))[0]
        found = _find_dollar(file, start)
        if found is not None:
            text = quote(file.text[slice(*found)])
            message = f"a call with arguments puts one in the place of {text}"
            yield Finding(Place(file.at.file, range=found), message)
        for stuck in _STUCK.finditer(blank_fences(file.text), start):
            at = Place(file.at.file, range=stuck.span())
            yield Finding(at, "the command does not run: '!' needs a blank or the beginning of a line before it")


def _find_dollar(file: AgentFile, start: int) -> tuple[int, int] | None:
    """Return the first dollar sign that is certainly no argument: of an amount, of awk, or in code of a skill."""
    if {"argument-hint", "arguments"} & file.members.keys() or "$ARGUMENTS" in file.text:
        return None
    prose = blank_fences(file.text)
    of_awk = _AWK.search(file.text, start)
    spans = [of_awk.span("field")] if of_awk else []
    spans += [found.span() for found in _MONEY.finditer(file.text, start)][:1]
    if file.kind.name == "claude-skill":
        coded = (each.span() for each in _ARGUMENT.finditer(file.text, start))
        spans += [span for span in coded if prose[slice(*span)].isspace()][:1]
    return min(spans, default=None)
