"""The `c1` in the address of a step is not that of the registry.

## Why this matters
climpt 1.14 requires `c1` in every address and does not use it: the prompt is looked for under the `c1` of the
registry. Who reads the address looks for the prompt in the wrong folder.

## How to fix
Write the `c1` of the registry. To use other prompts, change `c1` of the registry, or `c2` and `c3` of the step.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import text_in
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:step.address-c1",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    used = text_in(registry.body, "c1")
    for step in registry.steps.values():
        own = step.address.c1
        if own and used and own != used:
            at = step.address.at / "c1"
            fix = Fix(f"write {quote(used)}", (Edit(Change.REPLACE, at, used),))
            message = f"the address of step {quote(step.key)} has the c1 {quote(own)}, but {quote(used)} is used"
            yield Finding(at, message, (Related(registry.at / "c1", "the c1 that is used"),), fix)
