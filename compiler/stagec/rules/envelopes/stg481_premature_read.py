"""A stage reads a file of its own run that is written only later.

## Why this matters
The path of the input leads into the folder of the stage itself, or of one that waits for it. When the stage begins,
the run has written no such file.

## How to fix
Read the output of a stage that comes before. If a file of the project is meant, keep it outside of the folders of the
run. If the other stage should come first, remove the dependency on this one.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.own_reads import WriteTime, find_own_reads
from stagec.rules.envelopes import relate_writer, rule

_WHEN = {
    WriteTime.OWN: "which only the stage itself writes",
    WriteTime.LATER: "which stage {} writes, and that stage waits for this one",
}


@rule(since="0.1", origin=("stage-protocol:input-from-self",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for time, words in _WHEN.items():
        for each in find_own_reads(plan, time):
            at = each.stage.place_input(each.given.name)
            who = f"stage {quote(each.stage.name)} reads {quote(each.given.text)}"
            yield Finding(at, f"{who}, {words.format(quote(each.writer.name))}", relate_writer(each), causes=(at,))
