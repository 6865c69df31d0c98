"""An agent names a folder of fallback prompts, which no step uses any more.

## Why this matters
`runner.flow.prompts.fallbackDir` comes from an older format. A step whose prompt is missing does not find one there.

## How to fix
Delete `fallbackDir`: a step that needs a built-in prompt names it in its `fallbackKey`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:path.legacy-fallback-dir",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    folder = registry.agent.fallback_folder if registry.agent is not None else None
    if folder is not None and folder.is_there:
        yield Finding(folder.at, f"folder {quote(folder.named)} for fallback prompts is not used any more")
