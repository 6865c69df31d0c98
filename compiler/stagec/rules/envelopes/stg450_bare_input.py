"""An input is named like an output of a dependency, without the stage that makes it.

## Why this matters
stagec takes the output of the dependency. By the protocol a path begins with the stage:
`S01_load_data/wine_df.parquet`. Another output of the same name, or another dependency, would change what the input
means.

## How to fix
Write the id of the stage before the name of the file.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import InputKind, StagePlan
from stagec.frontends.envelopes.inputs import list_inputs
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:input-bare-reference",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, given in list_inputs(plan, InputKind.OUTPUT):
        at = stage.place_input(given.name)
        if given.producer is None or plan.alone:
            message = f"input {quote(given.text)} does not name the stage whose output it is"
            yield Finding(at, message, causes=(at,))
        else:
            whole = f"{given.producer}/{given.text}"
            fix = Fix("write the stage before the file", (Edit(Change.REPLACE, at, whole),))
            yield Finding(at, f"input {quote(given.text)} is short for {quote(whole)}", fix=fix)
