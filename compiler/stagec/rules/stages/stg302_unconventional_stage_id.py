"""The id of a stage object is not in kebab case.

## Why this matters
Programs that read stage objects take any id, and most of those they come with are in Pascal case. In a Markdown stage
the same id would be an error, so it has to change when the stage is moved to a file of its own.

## How to fix
Write lower-case letters and digits, with single hyphens between words, or ignore this rule where another program gives
the ids.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.stages.document import Pipeline, Profile
from stagec.rules.stages import report_unconventional, rule


@rule(since="0.1", origin=("stage-definitions:id-kebab-case",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    yield from report_unconventional(pipeline, Profile.OBJECT)
