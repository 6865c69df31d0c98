"""The id of a stage is not written as `S{NN}_{verb}_{noun}`.

## Why this matters
The id is the name of the stage's folder, and markers and checkpoints tell stages apart by it. The programs that read
them expect the letter `S`, two digits, and words in small letters of ASCII that are joined by underscores.

## How to fix
Write the id like `S01_load_data`. It may have at most 255 characters.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_id_faults
from stagec.protocol.stage_ids import LONGEST_ID, StageIdFault, suggest_stage_id
from stagec.rules.envelopes import rule


@rule(
    since="0.1",
    origin=(
        "stage-protocol:stage-id-format",
        "stage-protocol:stage-id-path-unsafe",
    ),
)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in find_id_faults(plan, StageIdFault.FORMAT, StageIdFault.TOO_LONG):
        if StageIdFault.TOO_LONG in found.faults:
            message = f"stage id {quote(found.text)} has {len(found.text)} characters, which is more than {LONGEST_ID}"
        else:
            meant = suggest_stage_id(found.text)
            near = f"; did you mean {quote(meant)}?" if meant is not None else ", such as 'S01_load_data'"
            message = f"stage id {quote(found.text)} is not written as S{{NN}}_{{verb}}_{{noun}}{near}"
        yield Finding(stage.id_at, message)
