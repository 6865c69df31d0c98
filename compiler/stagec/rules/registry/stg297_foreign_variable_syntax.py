"""A variable is written as another template language writes it.

## Why this matters
In a prompt a variable is `{uv-issue}`. `{issue}`, `{{issue}}`, `${issue}`, `<%= issue %>` and their like stay as they
are: the model reads the brackets and not the value.

## How to fix
Write `{uv-` and the name of the variable, and declare it in `uvVariables`. In code, brackets may mean what they say. Of
what stands there, only a variable is told that the step declares and that its prompt reads nowhere.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.literals import find_meant
from stagec.rules.registry import rule

_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:beyond.placeholders",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    found: dict[tuple[str, str, str], list[Place]] = {}
    for literal, right in find_meant(registry):
        found.setdefault((literal.at.file, literal.text, right), []).append(literal.at)
    for (_, text, right), (first, *others) in found.items():
        related = tuple(Related(at, "here too") for at in others[:_SHOWN])
        yield Finding(first, f"{quote(text)} is no variable as it is written; write {quote(right)}", related)
