"""A transition's fallback is a step that does not exist.

## Why this matters
`fallback` names the step that is taken when the target cannot start. It is needed exactly when something else has
gone wrong already, and then it fails too.

## How to fix
Correct the spelling, declare the step, or delete the fallback.
"""

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_unknown, rule


@rule(since="0.1", origin=("steps-registry:xref.transition-fallback", "steps-registry:flow.dangling-target"))
def check(registry: Registry) -> Iterator[Finding]:
    reported = {mention.name for mention in registry.lost_targets}
    lost = (mention for mention in registry.lost_fallbacks if mention.name not in reported)
    yield from report_unknown(lost, registry.step_names, _sentence)


def _sentence(mention: Mention) -> str:
    _, step, _, intent, *_ = mention.at.pointer
    return f"step {quote(step)} falls back to {quote(mention.name)} on {quote(intent)}, but there is no such step"
