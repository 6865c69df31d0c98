"""The frontmatter of a prompt lists a variable that its step does not declare.

## Why this matters
Only the registry counts: what `uvVariables` of the step does not name is not supplied, whatever the prompt says of
itself. Other runners refuse an agent whose prompts and registry differ.

## How to fix
Add the variable to `uvVariables` of the step, or take it out of the frontmatter.
"""

from collections.abc import Iterator

from stagec.core.guess import Guess
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import find_unregistered
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:uv.frontmatter-extra", "steps-registry:beyond.frontmatter-block"))
def check(registry: Registry) -> Iterator[Finding]:
    for step, mention, near in find_unregistered(registry):
        what = f"the prompt lists the variable {quote(mention.name)}, which step {quote(step.key)} does not declare"
        meant = Guess(mention.name, near) if near is not None else None
        hint = f"; did you mean {quote(near)}?" if near is not None else ""
        yield Finding(mention.at, f"{what}{hint}", (Related(step.at / "uvVariables", "what it declares"),), meant)
