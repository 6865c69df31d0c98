"""A registry names a folder that is not there, and one of the same name beside the registry is taken.

## Why this matters
`userPromptsBase` and `schemasBase` are relative to the root of the project. climpt looks nowhere else, so its runs lack
the prompts or schemas that stagec finds.

## How to fix
Write the path of the folder from the root of the project, or delete the member: the folders beside the registry are the
default.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("rulings:R16",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for folder in registry.folders:
        if folder.is_displaced and folder.named is not None:
            message = f"there is no folder {quote(folder.named)}; {quote(folder.path)} beside the registry is taken"
            yield Finding(registry.at / folder.member, message)
