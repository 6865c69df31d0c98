"""A member of a manifest has a value that checkpoints cannot have.

## Why this matters

Programs that read checkpoints refuse the whole manifest, so the work of the stage is lost. That is so also for ids of
stages that other parts of the protocol allow, such as `S02_eda`, in the form of the reference implementation.

## How to fix

Run the stage again with a runner that checks a manifest before it writes it, as stagec does.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import name_member, place_of, rule

_SENTENCES = {
    "choice": "must be {choices}, found {found}",
    "digest": "must be 64 hexadecimal digits, found {found}",
    "empty": "must not be empty",
    "instant": "must be a time in UTC such as '2026-01-02T10:30:00Z', found {found}",
    "negative": "must not be negative, found {found}",
    "stage": "must be the id of a stage such as 'S01_load_data', found {found}",
    "whole": "must be a whole number, found {found}",
}


@rule(since="0.1", origin=("stage-protocol:manifest-schema",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("malformed-checkpoint-value"):
        choices = fault.facts.get("choices")
        named = listing(choices, "or") if isinstance(choices, tuple) else ""
        found = fault.facts.get("found")
        shown = quote(found) if isinstance(found, str) else found
        sentence = _SENTENCES[fault.reason].format(choices=named, found=shown)
        yield Finding(place_of(checkpoint, fault), f"{name_member(fault.pointer)} {sentence}")
