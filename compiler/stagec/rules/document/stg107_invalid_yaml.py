"""A text is not YAML.

## Why this matters
A file that no parser can read means nothing, and parsers stop far from the mistake: a colon in an unquoted description
hides everything below it. stagec reads YAML 1.2 by its core schema.

## How to fix
Correct what the message names, at the place shown. Most often a text needs quotes: put it in double quotes, or write it
as a block after `|`.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, quote, rule

_SENTENCES = {
    "after-bracket": "{character} follows the closing {bracket} of {key}; put the whole value {value} in quotes",
    "after-quote": "{character} follows the closing quote of {key}; put the whole value in other quotes",
    "alias": "a value that begins with '*' refers to an anchor that is not there; put {value} in quotes",
    "anchor": "a value that begins with '&' names an anchor; put {value} in quotes",
    "block-header": "nothing but a comment may follow {character} on its line; put {value} in quotes",
    "block-indentation": "this line is indented less than the blank line that begins its block",
    "colon": "':' and a space inside an unquoted value; put the value of {key} in quotes",
    "control": "the control character {code} must be written as an escape in double quotes",
    "dash": "'-' begins a list, which must start on the line below {key}",
    "directive": "a line that begins with '%' is a directive and must stand above a line '---'",
    "escape": "{escape} is no escape in YAML; a backslash itself is written twice, or stands in single quotes",
    "flow-colon": "':' inside brackets; put the value in quotes",
    "indentation": "this line does not line up with any line above it",
    "key-not-text": "{character} begins a collection where a key must be; put {key} in quotes",
    "missing-colon": "{text} is no 'key: value'; add the ':', or indent it if it continues the value above",
    "missing-comma": "expected ',' or a closing bracket before {character}",
    "missing-space": "a space must follow {character} in {text}",
    "nested": "the key above, {key}, has a value already and cannot hold further keys",
    "other": "YAML cannot be read here: {problem}",
    "question": "'?' and a space begin a key; put {value} in quotes",
    "reserved": "no value can begin with {character}; put {value} in quotes",
    "tab": "found a tab; YAML is indented with spaces",
    "tag": "the tag {tag} is not part of the core schema; put the value in quotes if it is text",
    "text-after": "found {character} after the end of the document",
    "unclosed-bracket": "{character} is never closed",
    "unclosed-quote": "this quote is never closed",
}


@rule(since="0.1", origin=("rulings:everywhere",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("invalid-yaml"):
        facts = {name: quote(given) for name, given in fault.facts.items()}
        yield Finding(fault.at, _SENTENCES[fault.reason].format_map(facts))
