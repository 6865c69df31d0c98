"""A manifest holds a path or a name that may lead out of its folder.

## Why this matters

Whoever made the checkpoint chose the path. `../`, absolute paths and names of devices reach files that are none of the
run's, so nothing at such a path is opened, at any level of trust.

## How to fix

Do not use the checkpoint unless you know who has made it, and why. Run the stage again.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import name_member, place_of, rule

_ORIGIN = ("stage-protocol:manifest-unsafe-path", "stage-protocol:artifact-path")


@rule(since="0.1", origin=_ORIGIN)
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("unsafe-artifact-path"):
        subject = "the path of an artifact" if fault.reason == "path" else name_member(fault.pointer)
        message = f"{subject}, {quote(fault.facts['path'])}, {fault.facts['words']}"
        yield Finding(place_of(checkpoint, fault), message)
