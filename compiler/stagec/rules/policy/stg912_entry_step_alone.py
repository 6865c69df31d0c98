"""An agent of climpt 1.14 begins at `entryStep`, and has no pair of entries for its verdict type.

## Why this matters
The documents let `entryStep` alone say where runs begin. climpt 1.14.0 wants a pair for most verdict types: all but
`detect:graph`, `meta:composite` and `meta:custom`. Without it the agent does not start.

## How to fix
Write a pair for the verdict type in `entryStepMapping`; both of its steps may be that of `entryStep`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import VERDICTS, Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.policy import rule


@rule(
    since="0.1",
    origin=("climpt-1.14:boot.entry-for-verdict", "AC-VERDICT-012"),
    severity=Severity.WARNING,
    groups=("portability",),
)
def check(registry: Registry) -> Iterator[Finding]:
    agent, verdict = registry.agent, registry.agent.verdict if registry.agent is not None else None
    if agent is None or registry.generation is Generation.V1_13 or verdict not in VERDICTS or verdict in _FREE:
        return
    mapping = object_of(registry.body.get("entryStepMapping"))
    if "entryStep" in registry.body and verdict not in mapping:
        message = f"climpt 1.14.0 wants a pair of entries for the verdict type {quote(verdict)} beside 'entryStep'"
        yield Finding((registry.at / "entryStep").key, message, (Related(agent.verdict_at, "the verdict type"),))


_FREE = ("detect:graph", "meta:composite", "meta:custom")
