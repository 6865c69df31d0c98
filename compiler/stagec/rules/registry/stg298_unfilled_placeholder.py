"""A prompt has something in brackets that nothing fills in.

## Why this matters
`{issue_content}` and `{{issue_content}}` look like places for a value, but only `{uv-name}` is one. What is written
here stays as it is. The model may be meant to read it so, as a part of what it is to write.

## How to fix
If a value is meant, make it a variable: `{uv-issue_content}`, declared in `uvVariables` and supplied by a parameter or
an input.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.literals import find_unfilled
from stagec.rules.registry import rule

_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:beyond.placeholders",), severity=Severity.NOTE)
def check(registry: Registry) -> Iterator[Finding]:
    for first, *others in find_unfilled(registry):
        texts = dict.fromkeys(each.text for each in (first, *others))
        related = tuple(Related(each.at, "here too") for each in others[:_SHOWN])
        verb = "stays as it is" if len(texts) == 1 else "stay as they are"
        yield Finding(first.at, f"{listing(texts)} {verb}: nothing fills this in", related)
