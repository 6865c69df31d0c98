"""A manifest lacks members that every checkpoint has.

## Why this matters

A manifest is written whole. One that lacks a member was damaged, or was not written by a program that knows the form;
the protocol's reference implementation silently skips it, so the work of the stage is lost.

## How to fix

Do not complete it by hand. Run the stage again; the run then writes a new checkpoint.
"""

from collections.abc import Iterator

from stagec.core.place import Place, Pointer
from stagec.core.rule import Finding
from stagec.core.words import listing
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import name_member, rule


@rule(since="0.1", origin=("stage-protocol:manifest-schema",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    lacking: dict[Pointer, list[object]] = {}
    for fault in checkpoint.about("incomplete-checkpoint"):
        lacking.setdefault(fault.pointer[:-1], []).append(fault.pointer[-1])
    for pointer, names in lacking.items():
        yield Finding(Place(checkpoint.file, pointer), f"{name_member(pointer)} has no {listing(names, 'or')}")
