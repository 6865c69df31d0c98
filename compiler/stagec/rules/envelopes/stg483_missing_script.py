"""The script that a stage runs is not there.

## Why this matters
The program cannot be started, or ends at once with an error: the stage fails in every attempt.

stagec looks from the root of the project, and from the folder of the plan. Only these words are scripts: the first one
if it is a path, such as `bin/load`, and the first argument of an interpreter, such as `load.py` in `python3 load.py`.
Names without a folder are programs of the system, and stagec does not look for them.

## How to fix
Correct the path, or write the script. If something else makes it before the run, ignore the warning with that reason.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.missing_files import locate_script
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("rulings:stage-plans",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in plan.envelopes if plan.missing else ():
        place = locate_script(stage.run)
        if place is not None and stage.run[place] in plan.missing:
            message = f"stage {quote(stage.name)} runs {quote(stage.run[place])}, which is no file of the project"
            yield Finding(stage.at / "run" / place, message)
