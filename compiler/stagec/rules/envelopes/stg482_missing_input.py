"""An input is no file of the project, and no stage makes it.

## Why this matters
A stage whose input is missing does not start: it fails, and so does everything that waits for it. Stages with a `run`
have a warning. Without one, an executor carries out the stage, and this is a note.

stagec looks from the root of the project, and from the folder of the plan. It says nothing about paths with variables
or patterns, and about folders that tools fill, such as `.venv/`.

## How to fix
Correct the path, or write the stage that makes the file: `S01_load_data/wine_df.parquet`. If something else makes the
file before the run, ignore the warning with that reason.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import InputKind, StagePlan
from stagec.frontends.envelopes.inputs import list_inputs
from stagec.rules.envelopes import describe_makers, rule


@rule(since="0.1", origin=("stage-protocol:input-external",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, given in list_inputs(plan, InputKind.FILE):
        if given.path in plan.missing:
            at = stage.place_input(given.name)
            makers = describe_makers(given) or ", and no stage makes it"
            message = f"input {quote(given.text)} is no file of the project{makers}"
            yield Finding(at, message, causes=(at,), severity=None if stage.run else Severity.NOTE)
