"""A registry's folder of prompts or schemas lies outside the project.

## Why this matters
stagec opens nothing outside the project, and neither should a runner: what lies there is not under the same control.
It is not looked into; where the name leads out, the default folder beside the registry is.

## How to fix
Move the folder into the project, or begin the project further up with `--root`. The path is relative to the project's
root.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.path-escape", "rulings:everywhere"), groups=("mandatory",))
def check(registry: Registry) -> Iterator[Finding]:
    for folder in registry.folders:
        if folder.is_outside:
            name = quote(folder.named or folder.path)
            yield Finding(registry.at / folder.member, f"folder {name} lies outside the project")
