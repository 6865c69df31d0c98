"""An input is named like the outputs of several dependencies.

## Why this matters
Which of the files is meant cannot be told.

## How to fix
Write the id of the stage before the name of the file.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.envelopes.document import InputKind, StagePlan
from stagec.frontends.envelopes.inputs import list_inputs
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:input-bare-ambiguous",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, given in list_inputs(plan, InputKind.AMBIGUOUS):
        choices = listing([f"{each}/{given.text}" for each in given.candidates[:_SHOWN]], "or")
        more = ", or more" if len(given.candidates) > _SHOWN else ""
        yield Finding(stage.place_input(given.name), f"input {quote(given.text)} may be {choices}{more}")


_SHOWN = 8
