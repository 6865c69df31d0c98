"""A link leads from the path of an artifact out of the folder that it must stay in.

## Why this matters

The path looks as if it stayed inside, and the file that it leads to is none of the run's. It is not opened.

## How to fix

Move the folder back to where the link is.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import report, rule

_SENTENCE = "the artifact {path} is reached through a link that leads out, to {target}"


@rule(since="0.1", origin=("stage-protocol:artifact-containment",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    yield from report(checkpoint, "escaping-artifact", _SENTENCE)
