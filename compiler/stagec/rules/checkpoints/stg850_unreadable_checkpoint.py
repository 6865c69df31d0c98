"""A manifest of a checkpoint cannot be read.

## Why this matters

Without its manifest nobody knows what a checkpoint vouches for, so no run resumes from it. Links are not followed:
somebody may have put one there so that another file is taken for the manifest.

## How to fix

Name the manifest itself. If it is damaged, run the stage again; the run then writes a new checkpoint.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import place_of, rule

_SENTENCES = {
    "json": "the manifest is not JSON: {error}",
    "link": "the manifest is a link, and links are not followed",
    "oversized": "the manifest has more than {limit:,} bytes",
    "special": "the manifest is no regular file",
    "system": "the manifest cannot be read: {error}",
}


@rule(since="0.1", origin=("stage-protocol:manifest-load",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("unreadable-checkpoint"):
        facts = {name: quote(given) if isinstance(given, str) else given for name, given in fault.facts.items()}
        yield Finding(place_of(checkpoint, fault), _SENTENCES[fault.reason].format(**facts))
