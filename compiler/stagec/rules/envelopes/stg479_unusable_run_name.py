"""The id of a run or the title of a report cannot be the name of its folder.

## Why this matters
The results of a run lie in `reports/{reportTitle}/{runId}`. A name that is reserved, or that no file system or other
program of the protocol accepts, would put them elsewhere or nowhere.

## How to fix
Use letters, digits, `_` and `-`. `checkpoints`, `staging` and `queue` are names of folders that the protocol uses
itself.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.run_names import find_unusable_names
from stagec.rules.envelopes import rule


@rule(
    since="0.1",
    origin=(
        "stage-protocol:run-name-reserved",
        "stage-protocol:run-name-path-unsafe",
    ),
)
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in find_unusable_names(plan):
        yield Finding(each.at, each.sentence)
