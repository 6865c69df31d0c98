"""An input is a URL.

## Why this matters
What a URL leads to can change from run to run, and cannot be checked beforehand. stagec hands the text to the stage
and fetches nothing.

## How to fix
Nothing, if the stage fetches it. For runs that can be repeated, let one stage fetch the file and others read its
output.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import InputKind, StagePlan
from stagec.frontends.envelopes.inputs import list_inputs
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:input-url",), severity=Severity.NOTE)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, given in list_inputs(plan, InputKind.URL):
        message = f"input {quote(given.text)} is a URL, which the stage has to fetch itself"
        yield Finding(stage.place_input(given.name), message)
