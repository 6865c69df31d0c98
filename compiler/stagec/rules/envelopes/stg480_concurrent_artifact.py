"""A stage reads a file that another stage may be writing at the same time.

## Why this matters
The path of the input leads into the folder of another stage of the same run, and neither stage waits for the other. The
file may be absent, or it may be an old one. A dependency is inferred only where an input names the stage.

## How to fix
Write the stage and its output, without the folders of the run: `S01_load_data/wine_df.parquet`. Or add the other stage
to the `dependencies`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.own_reads import WriteTime, find_own_reads
from stagec.rules.envelopes import relate_writer, rule, suggest_input


@rule(since="0.1", origin=("stage-protocol:parallel-stage", "stage-protocol:input-without-dependency"))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in find_own_reads(plan, WriteTime.CONCURRENT):
        at = each.stage.place_input(each.given.name)
        who = f"stage {quote(each.stage.name)} reads {quote(each.given.text)}"
        what = f"which stage {quote(each.writer.name)} may be writing at the same time: neither waits for the other"
        yield Finding(at, f"{who}, {what}{suggest_input(each)}", relate_writer(each), causes=(at,))
