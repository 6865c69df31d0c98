"""A run is to begin at a step that does not exist.

## Why this matters
`entryStepMapping` chooses the first step by the agent's verdict type, `entryStep` is the first step of all others.
When the step is missing, the run ends before it began.

## How to fix
Correct the spelling, or declare the step.
"""

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_unknown, rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:xref.entry-mapping",
        "steps-registry:doc.R-A6",
        "steps-registry:boot.entry-step-unknown",
        "steps-registry:boot.entry-mapping-invalid",
        "climpt-1.14:xref.entry-mapping",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    if not registry.steps and not registry.broken_steps:
        return  # the document lacks them all, and that is told
    reported = {mention.name for mention in registry.lost_targets}
    lost = [each for each in registry.begun if not registry.has_step(each.name) and each.name not in reported]
    yield from report_unknown(lost, registry.step_names, _sentence)


def _sentence(mention: Mention) -> str:
    _, *verdict = mention.at.pointer
    if verdict[1:] == ["continuation"]:
        return f"verdict type {quote(verdict[0])} continues at {quote(mention.name)}, but there is no such step"
    way = f"verdict type {quote(verdict[0])} begins" if verdict else "runs begin"
    return f"{way} at {quote(mention.name)}, but there is no such step"
