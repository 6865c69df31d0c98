"""An optional member of an envelope is `null`.

## Why this matters
`dependencies`, `retryable` and `checkpointAfter` may be left out and then have a default; `null` is no value of theirs.
Programs that follow the JSON Schema of the protocol refuse it.

## How to fix
Remove the member, or give it a value.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import describe_type, rule


@rule(since="0.1", origin=("stage-protocol:null-optional",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("null-envelope-member"):
        fix = Fix("leave it out", (Edit(Change.REMOVE, Place(fault.at.file, fault.at.pointer)),))
        yield Finding(fault.at, f"{describe_type(plan, fault)}; leave it out for its default", fix=fix)
