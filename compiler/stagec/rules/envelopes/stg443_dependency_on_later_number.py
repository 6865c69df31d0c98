"""A stage depends on a stage with a higher number.

## Why this matters
Numbers tell the order of stages to whoever reads folders and logs. Here they tell the wrong one. The plan still runs
in the order of its dependencies.

## How to fix
Number the stages in the order in which they run.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import number_stages
from stagec.frontends.envelopes.order import share_cycle
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:dependency-order",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    numbers = number_stages(plan)
    for stage in plan.envelopes:
        number = numbers.get(stage.name, 0)
        later = [name for name in stage.needs if numbers[name] > number] if number > 0 else []
        places = stage.place_mentions() if later else {}
        for name in sorted(later):
            at = places.get(name)
            if at is not None and not share_cycle(plan, stage, plan.by_id[name]):
                message = f"stage {quote(stage.name)} depends on {quote(name)}, which has a higher number"
                yield Finding(at, message)
