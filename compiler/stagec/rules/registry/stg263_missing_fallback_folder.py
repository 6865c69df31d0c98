"""An agent's folder of fallback prompts is not there.

## Why this matters
`runner.flow.prompts.fallbackDir` names where a runner of an older format looks for prompts that a step lacks. It
finds nothing.

## How to fix
Delete `fallbackDir`: a step that needs a built-in prompt names it in its `fallbackKey`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:path.fallback-dir",))
def check(registry: Registry) -> Iterator[Finding]:
    folder = registry.agent.fallback_folder if registry.agent is not None else None
    if folder is not None and not folder.is_there:
        where = "lies outside the project" if folder.path is None else "is not there"
        yield Finding(folder.at, f"folder {quote(folder.named)} for fallback prompts {where}")
