"""A registry's folder of prompts is not there.

## Why this matters
Every step needs a prompt, and none of them can be found. stagec says so once, and cannot judge the prompts of single
steps.

## How to fix
Put the prompts into `prompts` beside the registry, or name their folder in `userPromptsBase`, relative to the root of
the project. When stagec was run on a part of a project, `--root` names the whole.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import format_count, quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:path.prompt-file", "rulings:R16"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    steps = [step for step in registry.steps.values() if "runner" not in step.body]
    for folder in registry.folders if steps else ():
        if folder.member == "userPromptsBase" and not folder.is_there and not folder.is_outside:
            whose = f"the prompts of {format_count(len(steps), 'step')} should be"
            yield Finding(registry.at / folder.member, f"there is no folder {quote(folder.path)}, where {whose}")
