"""`run` is no program with arguments.

## Why this matters
A stage is started without a shell, so stagec needs to know where one argument ends and the next begins. A command
line in one text would have to be split by guessing.

## How to fix
Write a list: the program, then each argument, such as `["python", "scripts/load.py"]`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import describe_found, name_owner, rule


@rule(since="0.1", origin=("rulings:stage-plans",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("malformed-run"):
        wanted = "a list of texts: the program and its arguments"
        owner = name_owner(plan, fault.at)
        yield Finding(fault.at, f"'run' of {owner} must be {wanted}, found {describe_found(fault)}")
