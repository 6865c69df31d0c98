"""A member of a manifest has a value of another type.

## Why this matters

Programs that read checkpoints refuse the whole manifest, so the work of the stage is lost.

## How to fix

Do not mend it by hand: the digest of the manifest would no longer fit. Run the stage again.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import with_article
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import name_member, place_of, rule


@rule(since="0.1", origin=("stage-protocol:manifest-schema",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("mistyped-checkpoint-member"):
        wanted, found = with_article(fault.reason), with_article(str(fault.facts["found"]))
        yield Finding(place_of(checkpoint, fault), f"{name_member(fault.pointer)} must be {wanted}, found {found}")
