"""A prompt reads a variable that its step does not declare.

## Why this matters
`{uv-name}` in a prompt is filled in with the variable of that name. The step's `uvVariables` say which these are; one
that is not among them is most likely misspelt, and then nothing supplies it and the step cannot start.

## How to fix
Correct the name in the prompt, or add it to `uvVariables`. What the runner supplies itself, such as `iteration`, need
not be declared.
"""

from collections.abc import Iterator

from stagec.core.guess import Guess
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import Usage, find_usages
from stagec.rules.registry import rule

_SHOWN = 3


@rule(
    since="0.1",
    origin=("steps-registry:uv.template-undeclared", "steps-registry:prompt.uv-not-provided", "PR-RESOLVE-005"),
)
def check(registry: Registry) -> Iterator[Finding]:
    lost: dict[tuple[str, str], list[Usage]] = {}
    for usage in find_usages(registry):
        for name, at in usage.undeclared.items():
            lost.setdefault((at.file, name), []).append(usage)
    for (_, name), (first, *others) in lost.items():
        also = f" and {len(others)} more do" if others else " does"
        declared = tuple(Related(each.step.at / "uvVariables", "what it declares") for each in (first, *others))
        message = f"the prompt reads the variable {quote(name)}, which step {quote(first.step.key)}{also} not declare"
        near = f"; did you mean {quote(first.meant[name])}?" if first.meant.get(name, name) != name else ""
        meant = Guess(name, first.meant[name]) if near else None
        yield Finding(first.undeclared[name], f"{message}{near}", declared[:_SHOWN], meant)
