"""A `$ref` in a schema leads to nothing.

## Why this matters
A schema with a missing part cannot be given to a model: the run fails when the step starts.

## How to fix
Correct the file name or the pointer behind `#`. References are relative to the file they are written in.
"""

from collections.abc import Iterator

from stagec.rules.registry import Finding, Miss, Registry, quote, rule

_SENTENCES = {
    Miss.NO_FILE: "there is no such file",
    Miss.NO_MEMBER: "the file has no such part",
}


@rule(since="0.1", origin=("steps-registry:gate.schema-load",))
def check(registry: Registry) -> Iterator[Finding]:
    for reference in registry.references:
        if isinstance(reference.found, Miss) and reference.found in _SENTENCES:
            yield Finding(
                reference.at, f"reference {quote(reference.text)} leads to nothing: {_SENTENCES[reference.found]}"
            )
