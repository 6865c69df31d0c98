"""An input is a file of the project, and no output of a stage.

## Why this matters
stagec looks for the file below the project root and never writes to it. If an output of a stage was meant, the stage
is missing from the path or from the dependencies.

## How to fix
Nothing, if a file of the project is meant. Otherwise write the stage that makes it: `S01_load_data/wine_df.parquet`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import InputKind, StagePlan
from stagec.frontends.envelopes.inputs import list_inputs
from stagec.rules.envelopes import describe_makers, rule


@rule(since="0.1", origin=("stage-protocol:input-external",), severity=Severity.NOTE)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, given in list_inputs(plan, InputKind.FILE):
        if given.path not in plan.missing:
            at = stage.place_input(given.name)
            message = f"input {quote(given.text)} is a file of the project, below its root{describe_makers(given)}"
            yield Finding(at, message, causes=(at,))
