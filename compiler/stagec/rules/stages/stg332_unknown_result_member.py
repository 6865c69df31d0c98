"""A prompt reads a member that no result has.

## Why this matters
Of a stage that has run, others can know its `verdict`, the `reason` of it, what it handed in as `parsed`, whether
`capHit`, the `attemptCount`, and the `output` that an exit hook makes. Only `parsed` and `output` have members.

## How to fix
What the stage handed in is under `parsed`: `{{ctx.upstream[0].parsed.summary}}`.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import RESULT, Pipeline, Placeholder
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule

_RESULT = 3
"""`ctx`, `upstream` and the index come before the member of a result."""


@rule(since="0.1", origin=("stage-definitions:upstream-field",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.RESULT_MEMBER):
        message = f"placeholder {quote(each.placeholder.text)} cannot be filled: {_why(each.placeholder)}"
        meant = guess(str(each.placeholder.path[_RESULT]), NameIndex(RESULT))
        yield Finding(each.placeholder.at, message, relate_repeated(each), meant)


def _why(placeholder: Placeholder) -> str:
    member = placeholder.path[_RESULT]
    if member in RESULT:
        return f"the {quote(member)} of a result has no members"
    near = hint(str(member), NameIndex(RESULT)) or "; what a stage hands in is under 'parsed'"
    return f"a result has no {quote(member)}{near}"
