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
from stagec.core.words import listing, quote
from stagec.frontends.envelopes.document import InputKind, StagePlan
from stagec.frontends.envelopes.inputs import list_inputs
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:input-external",), severity=Severity.NOTE)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, given in list_inputs(plan, InputKind.FILE):
        at = stage.place_input(given.name)
        others = _describe_others(given.candidates) if given.candidates else ""
        message = f"input {quote(given.text)} is a file of the project, below its root{others}"
        yield Finding(at, message, causes=(at,))


def _describe_others(candidates: tuple[str, ...]) -> str:
    if len(candidates) == 1:
        return f"; stage {listing(candidates)} makes such a file, but is no dependency"
    more = " and more" if len(candidates) > _SHOWN else ""
    return f"; stages {listing(candidates[:_SHOWN])}{more} make such a file, but are no dependencies"


_SHOWN = 8
