"""A manifest names a file twice.

## Why this matters

One file cannot be two artifacts; if the digests differ, one of them is wrong.

## How to fix

Name each file once where the manifest is made.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import place_of, rule


@rule(since="0.1", origin=("stage-protocol:manifest-duplicate-artifact",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("repeated-artifact"):
        first = Place(checkpoint.file, ("artifacts", int(str(fault.facts["first"])), "relativePath"))
        message = f"the artifact {quote(fault.facts['path'])} is named twice"
        yield Finding(place_of(checkpoint, fault), message, (Related(first, "first here"),))
