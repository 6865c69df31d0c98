"""A step's own prompt is not there, and the built-in one that its `fallbackKey` names takes its place.

## Why this matters
The run goes on, with a general prompt that knows nothing of this project.

## How to fix
Write the prompt, or correct the coordinates as for [STG256](STG256.md). Where the built-in prompt is what is wanted,
nothing is wrong.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import describe_lost_path, promptless, rule


@rule(
    since="0.1",
    origin=("steps-registry:prompt.file-missing", "steps-registry:uv.template-missing", "rulings:R16"),
    severity=Severity.WARNING,
)
def check(registry: Registry) -> Iterator[Finding]:
    lost = promptless(registry, replaced=True)
    unused = registry.prompts.list_unused() if lost else NameIndex(())
    for prompt, steps in lost.items():
        what, _ = describe_lost_path(registry.prompts, prompt, unused)
        for step in steps:
            related = (Related(step.at / "fallbackKey", "names the built-in prompt"),)
            yield Finding(step.at.key, f"step {quote(step.key)} has only a built-in prompt: {what}", related)
