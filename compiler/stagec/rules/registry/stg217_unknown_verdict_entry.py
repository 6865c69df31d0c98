"""A key of `entryStepMapping` is no verdict type.

## Why this matters
No agent can have this verdict type, so the step is never begun at. Mostly the key is a misspelling, or the name that
the verdict type had in an earlier version.

## How to fix
Write one of `poll:state`, `count:iteration`, `count:check`, `detect:keyword`, `detect:structured`, `detect:graph`,
`meta:composite` and `meta:custom`, or delete the entry.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import VERDICTS, Registry
from stagec.frontends.registry.supply import entry_mapping, find_misspelt_verdict
from stagec.rules.registry import rule

_KNOWN = NameIndex(VERDICTS)
_ALL = f"; there are {listing(VERDICTS)}"


@rule(since="0.1", origin=("steps-registry:beyond.unused-defs",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    mapping = entry_mapping(registry)
    for key in mapping if isinstance(mapping, dict) else ():
        if key not in VERDICTS and key != find_misspelt_verdict(registry):
            at = (registry.at / "entryStepMapping" / key).key
            message = f"there is no verdict type {quote(key)}{hint(key, _KNOWN) or _ALL}"
            yield Finding(at, message, fix=guess(key, _KNOWN))
