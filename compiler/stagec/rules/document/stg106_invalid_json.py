"""A file is not JSON.

## Why this matters
A file that cannot be read cannot be checked or run. JSON has no comments, trailing commas or single quotes (RFC 8259).

## How to fix
Correct what the message names, at the place shown.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_ORIGIN = ("steps-registry:agent.invalid-json", "steps-registry:reg.unreadable", "steps-registry:gate.schema-load")
_SENTENCES = {
    "bad-escape": "{found} is no escape in JSON; a backslash itself is written twice",
    "bad-number": "{found} is no number; put it in double quotes if it is text",
    "bare-exponent": "the exponent of {found} has no digits",
    "bare-point": "the number {found} needs a digit before and after its point",
    "colon-in-array": "found ':' in an array, whose elements have no names; expected ',' or ']'",
    "comment": "found a comment, which JSON does not have; remove it",
    "control-character": "the character {character} inside a string must be written as an escape",
    "digit-separator": "the number {found} must be written without underscores",
    "extra-bracket": "found {found}, but no bracket is open here",
    "extra-comma": "found ',' where a value or a name was expected",
    "foreign-literal": "{found} is no JSON value; did you mean {expected}?",
    "foreign-space": "the character {found} is no white space in JSON; use an ordinary space",
    "key-not-string": "a member's name must be a string in double quotes, found {found}",
    "leading-zero": "the number {found} must not begin with a zero",
    "lone-key": "{key} has no ':' and no value",
    "mismatched-bracket": "found {found} where {expected} was expected",
    "missing-colon": "expected ':' between {key} and its value",
    "missing-comma": "expected ',' before {found}",
    "missing-key": "found ':' without a name before it",
    "missing-value": "{key} has no value: found {found} after its ':'",
    "newline-in-string": "a string goes on in the next line; write the line break as an escape, or close the string",
    "no-number": "{found} cannot be written in JSON; use null, or a text in double quotes",
    "other-base": "the number {found} must be written in decimal digits",
    "plus-sign": "{found} must not begin with '+'",
    "single-quotes": "{found} must stand in double quotes",
    "smart-quotes": "{found} in typographic quotes must stand in plain double quotes",
    "text-after": "found {found} after the end of the document",
    "trailing-comma": "found ',' before {closer}; JSON allows no comma after the last member",
    "unclosed-array": "the file ends inside an array: expected {expected}",
    "unclosed-object": "the file ends inside an object: expected {expected}",
    "unclosed-string": "this string has no closing quote on its line",
    "unexpected-character": "found {found}, which means nothing in JSON here",
    "unexpected-colon": "found ':' where none was expected",
    "unquoted-key": "the name {found} must stand in double quotes",
    "unquoted-text": "{found} must stand in double quotes, or be a number, true, false or null",
}


@rule(since="0.1", origin=_ORIGIN, groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("invalid-json"):
        facts = {name: quote(str(given)) for name, given in fault.facts.items()}
        related = tuple(Related(at, "opened here") for at, _ in fault.related)
        more = f", and so must {fault.facts['more']} more" if "more" in fault.facts else ""
        yield Finding(fault.at, _SENTENCES[fault.reason].format_map(facts) + more, related)
