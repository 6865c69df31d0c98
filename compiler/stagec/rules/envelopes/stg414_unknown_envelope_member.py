"""An envelope or a plan has a member that the format does not know.

## Why this matters
Nothing reads the member. Most often it is a misspelt name, and the member that was meant silently takes its default.

## How to fix
Correct the name, or remove the member. Remarks can be kept under `comment`, or under a name that begins with `$`, `_`
or `x-`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import list_names, name_owner, rule


@rule(since="0.1", origin=("stage-protocol:unknown-field",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    known: dict[tuple[str, ...], NameIndex] = {}
    for fault in plan.list_faults("unknown-envelope-member"):
        name, names = str(fault.facts["name"]), list_names(fault.facts["known"])
        index = known.setdefault(names, NameIndex(names))
        message = f"unknown member {quote(name)} in {name_owner(plan, fault.at)}{hint(name, index)}"
        yield Finding(fault.at, message, fix=guess(name, index))
