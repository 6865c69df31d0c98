"""The name of an output does not follow the protocol's guidelines.

## Why this matters
Readers of a run tell by the names what the files are: `{name}_df.parquet` for data frames, `{name}_model.pkl` for
models, `{name}_metrics.json` for metrics, `{name}_report.md` or `{name}_summary.md` for reports.

## How to fix
Rename the file, here and in the inputs of other stages, or leave it: the name is legal.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.paths import expect_name
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:artifact-naming",), severity=Severity.NOTE)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in plan.envelopes:
        for name, path in stage.outputs.items():
            expected = expect_name(name, path)
            if expected:
                at = stage.place_output(name)
                message = f"output {quote(path)} is not named like {quote(expected)}"
                yield Finding(at, message, causes=(at,))
