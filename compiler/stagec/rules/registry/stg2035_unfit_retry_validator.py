"""`retry` of a step names a validator that does not exist, or one of the other phase.

## Why this matters
The lists `preflightConditions` and `postLLMConditions` of `retry` name validators as those of validation steps do,
only by name. A name that leads to nothing, or to a validator of the other phase, can never be checked there.

## How to fix
Correct the name, declare the validator, or move the name to the other list.
"""

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.guards import LIST_OF_PHASE, POST_LLM, PREFLIGHT, RetryPlan
from stagec.rules.registry import report_unknown, rule


@rule(since="0.1", origin=("climpt-1.14:step.retry-conditions",))
def check(registry: Registry) -> Iterator[Finding]:
    plans = [step.retry for step in registry.steps.values() if step.retry is not None]
    named = [(each, phase) for plan in plans for phase, each in _list_named(plan)]
    lost = [each for each, _ in named if each.name not in registry.validators]
    yield from report_unknown(lost, registry.validators, lambda each: f"there is no validator {quote(each.name)}")
    for each, phase in named:
        validator = registry.declared_validators.get(each.name)
        own = validator.phase if validator is not None else None
        if own is not None and own in LIST_OF_PHASE and own != phase and validator is not None:
            message = (
                f"{quote(LIST_OF_PHASE[phase])} names validator {quote(each.name)}, which has the phase {quote(own)}"
            )
            yield Finding(each.at, message, (Related(validator.at / "phase", "its phase"),))


def _list_named(plan: RetryPlan) -> Iterator[tuple[str, Mention]]:
    yield from ((PREFLIGHT, each) for each in plan.preflight)
    yield from ((POST_LLM, each) for each in plan.post_llm)
