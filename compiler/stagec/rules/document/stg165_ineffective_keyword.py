"""A schema has a keyword that says nothing in its dialect.

## Why this matters
Each dialect of JSON Schema has its own keywords, and ignores those of the others. Before 2019-09, it also ignores
everything beside a `$ref`. An answer that the keyword seems to forbid is accepted: neither `validate` nor a run looks
at it.

## How to fix
Name a dialect in `$schema` that knows the keyword, or leave `$schema` out: then it is 2020-12. Or say it as the dialect
says it: `enum` with one value for `const`, `items` with a list for `prefixItems`, `allOf` with the `$ref` in it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import listing
from stagec.rules.document import rule
from stagec.sources.shape.dialects import Dialect, range_of
from stagec.sources.tree import Fault, Tree


@rule(since="0.1", origin=("rulings:R20", "stage-definitions:completion-schema-invalid"), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("ineffective-keyword"):
        names, draft = fault.facts["names"], fault.facts["draft"]
        if isinstance(names, tuple) and isinstance(draft, Dialect):
            says = "says" if len(names) == 1 else "say"
            yield Finding(fault.at, f"{listing(names)} {says} nothing {_describe_draft(fault, names[0], draft)}")


def _describe_draft(fault: Fault, name: str, draft: Dialect) -> str:
    if fault.reason == "sibling":
        return f"beside '$ref' in {draft.title}"
    first, last = range_of(name)
    known = f"since {first.title}" if draft < first else f"until {last.title}"
    return f"in {draft.title}, only {known}"
