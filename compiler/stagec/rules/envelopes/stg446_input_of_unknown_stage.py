"""An input reads the output of a stage that the plan does not have.

## Why this matters
Nothing makes the file, so the stage has nothing to read.

## How to fix
Write the id of a stage of the plan, exactly as it stands there. For a file of the project use a folder whose name
does not look like the id of a stage.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.lost import find_lost_stages
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:input-unknown-stage",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in find_lost_stages(plan):
        if not each.dependencies:
            first, *others = each.inputs
            related = tuple(Related(at, "mentioned here too") for at in others[:_SHOWN])
            message = f"the input comes from stage {quote(each.name)}, which the plan does not have{each.hint}"
            yield Finding(first, message, related, each.guess, each.causes)


_SHOWN = 8
