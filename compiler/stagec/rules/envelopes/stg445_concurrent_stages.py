"""Stages may run at the same time.

## Why this matters
Neither of two stages waits for the other. stagec runs such stages at the same time, up to `maxParallel`; other
programs of the protocol run one after the other, so an order that is missing shows only here.

## How to fix
Add a dependency where one stage has to wait for another. Otherwise there is nothing to do.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import format_count, quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.order import find_concurrent
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:parallel-stage",), severity=Severity.NOTE, groups=("pedantic",))
def check(plan: StagePlan) -> Iterator[Finding]:
    pair = None if plan.alone else find_concurrent(plan)
    if pair is not None:
        one, other = pair
        message = f"stages {quote(one.name)} and {quote(other.name)} may run at the same time"
        yield Finding(other.id_at, f"{message}, {format_count(plan.max_parallel, 'stage')} at most")
