"""The path of an output begins with the id of its own stage.

## Why this matters
Outputs are paths in the folder of the stage, so the folder is there twice: `S01_load_data/S01_load_data/df.parquet`.
Inputs of other stages then have to name both.

## How to fix
Write only what follows the id.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:output-already-qualified",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in plan.envelopes:
        for name, path in stage.outputs.items():
            if stage.id is not None and path.startswith(f"{stage.id}/"):
                at = stage.place_output(name)
                message = f"output {quote(path)} names its own stage, whose folder it is in anyway"
                yield Finding(at, message, causes=(at,))
