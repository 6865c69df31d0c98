"""An input comes from a stage that is not among the dependencies.

## Why this matters
stagec infers the dependency and runs the stages in order. Other programs go by the declared dependencies alone, and
may start the stage before its input exists.

## How to fix
Add the stage that makes the input to `dependencies`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import Envelope, StageInput, StagePlan
from stagec.frontends.envelopes.inputs import has_clear_dependencies
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:input-without-dependency",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in plan.envelopes:
        found: dict[str, list[StageInput]] = {}
        for given in stage.inputs.values() if stage.implied and has_clear_dependencies(stage) else ():
            if given.inferred and given.producer is not None:
                found.setdefault(given.producer, []).append(given)
        for producer, (first, *others) in found.items():
            related = tuple(Related(stage.place_input(each.name), "so does this one") for each in others[:_SHOWN])
            message = (
                f"input {quote(first.name)} comes from stage {quote(producer)}, which is not among the dependencies"
            )
            yield Finding(stage.place_input(first.name), message, related, _fix(stage, producer))


_SHOWN = 8


def _fix(stage: Envelope, producer: str) -> Fix | None:
    given = stage.members.get("dependencies")
    if not isinstance(given, list):
        return None
    return Fix("declare the dependency", (Edit(Change.INSERT, stage.at / "dependencies" / len(given), producer),))
