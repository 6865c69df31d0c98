"""A schema breaks the rules of JSON Schema.

## Why this matters
A keyword with a value that it cannot have is ignored by some libraries and refused by others. Either way it does not
check what its author meant it to.

## How to fix
Give the keyword a value of the kind that the message names.
"""

from collections.abc import Iterator

from stagec.core.guess import Guess, guess
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.rules.document import kinds, rule
from stagec.sources.tree import Fault, Tree

_LIMITED = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}
_OTHERS = {
    "anyOf": "cannot have this value",
    "engine": "must be a regular expression that runs can use",
    "minItems": "must not be empty",
    "minLength": "must not be empty",
    "pattern": "must be a regular expression",
    "uniqueItems": "must not say the same twice",
}


@rule(since="0.1", origin=("rulings:R20", "steps-registry:gate.schema-load", "steps-registry:gate.ref-not-enum"))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("invalid-schema"):
        names = [key for key in fault.at.pointer if isinstance(key, str)]
        subject = quote(names[-1]) if names else "a schema file"
        message = f"{subject} {_describe_wanted(fault)}, found {_describe_found(fault)}"
        yield Finding(fault.at, message, fix=_guess(fault))


def _guess(fault: Fault) -> Guess | None:
    got, allowed = fault.facts.get("got"), fault.facts.get("allowed")
    is_choice = isinstance(got, str) and isinstance(allowed, tuple) and fault.reason != "type"
    return guess(str(got), NameIndex(map(str, allowed))) if is_choice and isinstance(allowed, tuple) else None


def _describe_wanted(fault: Fault) -> str:
    allowed = fault.facts.get("allowed")
    if fault.reason == "type":
        return f"must be {kinds(allowed)}"
    if fault.reason == "enum" and isinstance(allowed, tuple):
        return f"must be {listing(allowed, 'or')}"
    if fault.reason in _LIMITED:
        return f"must be {_LIMITED[fault.reason]} {allowed}"
    return _OTHERS.get(fault.reason, "has the wrong form")


def _describe_found(fault: Fault) -> str:
    got = fault.facts.get("got")
    if fault.reason == "type" or got is None:
        return kinds(fault.facts["kind"])
    return quote(got) if isinstance(got, str) else str(got)
