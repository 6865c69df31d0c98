"""A key of a stage's frontmatter looks like a misspelt or misplaced one.

## Why this matters
Keys that the format does not know are metadata, which nothing reads. A misspelt key is metadata, too, and the member
that was meant is absent without a word. So are `next`, `checks`, `gate` and `hooks`, which belong below `stagec`, and
keywords of a schema that have lost their indentation, or have one of spaces that are none in YAML.

## How to fix
Correct the key, or move it below `stagec`, or into its schema. Metadata can have a name that begins with `x-`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Profile, Stage
from stagec.frontends.stages.keys import find_fallen_keywords, find_misplaced_keys, find_misspelt_keys
from stagec.rules.stages import rule


@rule(
    since="0.1",
    origin=("stage-definitions:unknown-key-near-miss", "stage-definitions:unknown-key"),
    severity=Severity.WARNING,
)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        if stage.profile is Profile.MARKDOWN:
            yield from _findings(stage)


def _findings(stage: Stage) -> Iterator[Finding]:
    for key in find_misplaced_keys(stage):
        yield Finding((stage.at / key).key, f"{quote(key)} is not read here: it belongs below 'stagec'")
    for key, schema in find_fallen_keywords(stage):
        said = f"indent {quote(key.strip())} below it if it belongs to the schema"
        yield Finding((stage.at / key).key, f"{quote(key)} is no part of {quote(schema)} above it: {said}")
    for key, near in find_misspelt_keys(stage):
        at = (stage.at / key).key
        fix = Fix(f"rename it to {quote(near)}", (Edit(Change.RENAME, at, near),))
        message = f"nothing reads {quote(key)}; did you mean {quote(near)}?"
        yield Finding(at, message, (), None if near in stage.members else fix)
