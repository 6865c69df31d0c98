"""Several stages of a plan have the same number.

## Why this matters
A number that is shared does not tell the order of stages, and the number alone, such as `S03`, names none of them. It
is legal, and often meant for stages that run at the same time.

## How to fix
Leave it if the stages are alternatives or run side by side. Otherwise number them in their order.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import number_stages
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:shared-sequence-number",), severity=Severity.NOTE)
def check(plan: StagePlan) -> Iterator[Finding]:
    shared: dict[int, list[str]] = {}
    for name, number in number_stages(plan).items():
        shared.setdefault(number, []).append(name)
    for number, names in shared.items():
        if number and len(names) > 1:
            related = tuple(Related(plan.by_id[name].id_at, "this one too") for name in (names[0], *names[2:_SHOWN]))
            message = f"{len(names)} stages share the number {number:02}: {listing(names)}"
            yield Finding(plan.by_id[names[1]].id_at, message, related)


_SHOWN = 8
