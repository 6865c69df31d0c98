"""A stage reads its own output.

## Why this matters
The file does not exist before the stage has run. If it is there from an earlier attempt, the stage changes its own
input.

## How to fix
Read the output of an earlier stage, and write to a new file.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import InputKind, StagePlan
from stagec.frontends.envelopes.ids import find_repeated_ids
from stagec.frontends.envelopes.inputs import list_inputs
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:input-from-self",))
def check(plan: StagePlan) -> Iterator[Finding]:
    repeated = {each.at: (each.id_at,) for each in find_repeated_ids(plan)}
    for stage, given in list_inputs(plan, InputKind.OWN):
        at = stage.place_input(given.name)
        message = f"stage {quote(stage.name)} reads its own output {quote(given.path)}"
        yield Finding(at, message, causes=(at, *repeated.get(stage.at, ())))
