"""A schema is written in a dialect of JSON Schema that stagec does not know.

## Why this matters
The dialect says what the keywords mean. stagec never fetches one, so it knows the dialects from draft-04 to 2020-12
and no others.

## How to fix
Write one of the known dialects, or leave `$schema` out: then the schema is read as 2020-12.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("rulings:R20", "stage-definitions:completion-schema-invalid"))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("unknown-dialect"):
        dialect, known = str(fault.facts["dialect"]), fault.facts["known"]
        index = NameIndex(known if isinstance(known, tuple) else ())
        message = f"the dialect {quote(dialect)} is not known and never looked up{hint(dialect, index)}"
        yield Finding(fault.at, message, fix=guess(dialect, index))
