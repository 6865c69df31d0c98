"""No answer satisfies the output schema of a step.

## Why this matters
An answer counts when it satisfies the schema. Where two parts of the schema exclude each other, every answer is
refused, and every run that comes to the step fails.

climpt does not join the parts of `allOf` as JSON Schema does: it puts the step's own properties in place of those of
its bases. Where that makes the difference, the part that it takes is shown.

## How to fix
Change the part that is shown, or the one that contradicts it: a name in `required` that a closed object does not have,
a value of another type, a bound that is higher than another, a part that has to contain itself.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.agreement import find_schema
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import MERGED, find_merged, rule


@rule(since="0.1", origin=("rulings:R20", "steps-registry:gate.schema-load"))
def check(registry: Registry) -> Iterator[Finding]:
    told: dict[Place, list[Step]] = {}
    for step in registry.steps.values():
        if step.output is not None and step.output.void is not None and not step.is_section:
            told.setdefault(step.output.void.at, []).append(step)
    for at, steps in told.items():
        void = steps[0].output.void if steps[0].output is not None else None
        if void is not None:
            who = f"step{'s' if len(steps) > 1 else ''} {listing([each.key for each in steps])}"
            why = f": nothing can be its {quote('.'.join(void.path))}" if void.path else ""
            whole = tuple(there for there in dict.fromkeys(map(find_schema, steps)) if there is not None)
            first, second = _put_own_first(at, void.against, whole)
            related = () if second is None else (Related(second, "this contradicts it"),)
            message = f"no answer of {who} satisfies its output schema{why}"
            merged = find_merged(steps[0], void.path[0], (first, *(each.at for each in related))) if void.path else None
            also = () if merged is None else (Related(merged, MERGED),)
            yield Finding(first, message, (*related, *also), causes=whole, spoils=whole)


def _put_own_first(at: Place, against: Place | None, whole: tuple[Place, ...]) -> tuple[Place, Place | None]:
    """Return two places that contradict each other, first the one in the step's own schema: others share the rest."""
    inside = [any(each in part for part in whole) for each in (at, against) if each is not None]
    return (against, at) if against is not None and inside == [False, True] else (at, against)
