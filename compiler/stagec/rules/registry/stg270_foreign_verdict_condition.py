"""A condition of a composite verdict is of a type that no condition can have.

## Why this matters
`meta:composite` joins the verdicts of its conditions. A condition that is of no known type, or composite itself,
cannot be judged, and the agent does not start.

## How to fix
Write one of `poll:state`, `count:iteration`, `count:check`, `detect:keyword`, `detect:structured`, `detect:graph` and
`meta:custom`. Conditions of a condition belong into the list of the whole.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import VERDICTS, Registry
from stagec.frontends.registry.supply import verdicts
from stagec.rules.registry import rule

_ABLE = tuple(each for each in VERDICTS if each != "meta:composite")


@rule(since="0.1", origin=("steps-registry:doc.R-F15", "steps-registry:boot.verdict-ctor", "AC-VERDICT-010"))
def check(registry: Registry) -> Iterator[Finding]:
    for verdict in verdicts(registry):
        if verdict.is_condition and verdict.kind not in _ABLE:
            why = "is composite itself" if verdict.kind in VERDICTS else "is of no known type"
            known = NameIndex(() if verdict.kind in VERDICTS else _ABLE)
            message = f"condition {quote(verdict.kind)} of a composite verdict {why}{hint(verdict.kind, known)}"
            yield Finding(verdict.at / "type", message, fix=guess(verdict.kind, known))
