"""A `$ref` in a schema leads to nothing.

## Why this matters
A schema with a missing part cannot be given to a model: the run fails when the step starts.

## How to fix
Correct the file name or the pointer behind `#`. References are relative to the file they are written in. When
several references need the same part, the diagnostic stands where that part is missing.
"""

from collections.abc import Iterator, Sequence

from stagec.contract.reach import Reference
from stagec.contract.schemas import Miss
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule
from stagec.sources.shape.subschemas import tokens

_SENTENCES = {
    Miss.NO_FILE: "nothing: there is no such file",
    Miss.NO_MEMBER: "nothing: the file has no such part",
    Miss.NO_SCHEMA: "what is no schema",
}
_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:gate.schema-load",))
def check(registry: Registry) -> Iterator[Finding]:
    lost: dict[tuple[str, str], list[Reference]] = {}
    for each in registry.schemas.references:
        if isinstance(each.found, Miss) and each.found in _SENTENCES:
            file, part = each.target
            lost.setdefault((file, "" if each.found is Miss.NO_FILE else part), []).append(each)
    for target, references in lost.items():
        yield _finding(target, references)


def _finding(target: tuple[str, str], references: Sequence[Reference]) -> Finding:
    first, (file, part) = references[0], target
    message = f"reference {quote(first.text)} leads to {_SENTENCES[Miss(str(first.found))]}"
    if len(references) == 1:
        return Finding(first.at, message)
    if not part.startswith("/") or first.found is Miss.NO_SCHEMA:
        related = tuple(Related(each.at, "needed here too") for each in references[1 : _SHOWN + 1])
        return Finding(first.at, f"{message}; {len(references)} references need it", related)
    related = tuple(Related(each.at, "needed here") for each in references[:_SHOWN])
    return Finding(
        Place(file, tokens(part)), f"{len(references)} references need {quote(part)}, which is missing", related
    )
