"""A text is not YAML.

## Why this matters
A file that no parser can read means nothing, and parsers stop far from the mistake: a colon in an unquoted description
hides everything below it. stagec reads YAML 1.2 by its core schema.

## How to fix
Correct what the message names, at the place shown. Most often a text needs quotes: put it in double quotes, or write it
as a block after `|`. Where only one reading of a value makes sense, `stagec validate --fix` puts the quotes there.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.rules.document.stg107_invalid_yaml.sentences import sentence
from stagec.sources.tree import Fault, Tree


@rule(since="0.1", origin=("rulings:everywhere", "stage-definitions:frontmatter-yaml"), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("invalid-yaml"):
        again = tuple(Related(at, "this is wrong as well") for at, why in fault.related if why == "again")
        yield Finding(fault.at, sentence(fault), again, _fix(fault))


def _fix(fault: Fault) -> Fix | None:
    """Offer quotes around what was surely meant as text."""
    places = [at for at, why in fault.related if why == "quotable"]
    meant = fault.facts.get("meant")
    if not places or not isinstance(meant, str):
        return None
    return Fix(f"put {quote(meant)} in quotes", (Edit(Change.REPLACE, places[0], meant),))
