"""The path of an output begins with the id of another stage.

## Why this matters
A stage writes to its own folder only, so the file never gets where the path says. Two stages that write to one folder
would also overwrite each other.

## How to fix
Write a path in the folder of the stage itself. If the other stage makes the file, it is an output there.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import stage_of_path
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:output-in-other-stage",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in plan.envelopes if not plan.alone else ():
        for name, path in stage.outputs.items():
            other = stage_of_path(plan, path)
            if other is not None and other.id != stage.id:
                at = stage.place_output(name)
                message = (
                    f"output {quote(path)} names the folder of stage {quote(other.name)}, and is in that of its own"
                )
                yield Finding(at, message, causes=(at,))
