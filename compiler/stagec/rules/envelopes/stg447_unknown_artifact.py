"""An input reads a file that is no output of the stage it names.

## Why this matters
The stage that is named does not make the file, so there is nothing to read.

## How to fix
Write the path as it stands among the outputs of the stage, or add the output there.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.lost import find_lost_outputs
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:input-unknown-artifact",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in find_lost_outputs(plan):
        first, *others = each.ats
        shown = (Related(each.stage.at / "outputs", "its outputs"),) if each.stage.outputs else ()
        related = (*shown, *(Related(at, "read here too") for at in others[:_SHOWN]))
        what = f"no output {quote(each.path)}{each.hint}" if each.path else "no outputs"
        yield Finding(first, f"stage {quote(each.stage.name)} has {what}", related, each.guess, each.causes)


_SHOWN = 8
