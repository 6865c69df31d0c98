"""A manifest has changed since it was written.

## Why this matters

A manifest holds the digest of everything else in it. If that does not fit, a member was changed, added or removed, or
the file was damaged, and nothing in it can be believed. The digest has no key: it finds accidents, and not somebody who
computes it again. Files and paths are therefore verified one by one.

## How to fix

Restore the manifest, or remove it and run the stage again.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import place_of, rule


@rule(since="0.1", origin=("stage-protocol:manifest-hash",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("changed-manifest"):
        computed = fault.facts["computed"]
        digest = "it has no digest" if computed is None else f"its digest is {quote(computed)}"
        yield Finding(place_of(checkpoint, fault), f"the manifest has changed since it was written: {digest}")
