"""The id of a stage is not in kebab case.

## Why this matters
Pipelines, state and logs name stages by their ids. Ids of one form cannot differ in letter case or in blanks alone,
which nobody sees.

## How to fix
Write lower-case letters and digits, with single hyphens between words, and change the places that mention the stage.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.stages.document import Pipeline, Profile
from stagec.rules.stages import report_unconventional, rule


@rule(since="0.1", origin=("stage-definitions:id-kebab-case",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    yield from report_unconventional(pipeline, Profile.MARKDOWN)
