"""An element of an adaptation chain cannot be a part of a file name.

## Why this matters
Each element becomes a part of the name of a prompt, as in `f_default_ELEMENT.md`. climpt 1.14 refuses to start with an
element that is empty, that has other characters than letters, digits, `.`, `_` and `-`, or that has `..` in it.

## How to fix
Write the name of the adaptation as it is in the file name of the prompt, or delete the element.
"""

import re
from collections.abc import Iterator

from stagec.core.json import list_of
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:step.chain-element", "S9"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        given = list_of(step.body.get("adaptationChain"))
        for element, written in zip(step.adaptation_chain or (), given, strict=False):
            if isinstance(written, str) and (not _PART.fullmatch(written) or ".." in written):
                said = "is empty" if not written else f"is {quote(written)}, which cannot be a part of a file name"
                yield Finding(element.at, f"an adaptation in the chain of step {quote(step.key)} {said}")


_PART = re.compile(r"[A-Za-z0-9._-]+")
