"""Two hand-off paths end in the same name, so one value overwrites the other.

## Why this matters
A value is handed over under the last part of its path: `analysis.summary` and `result.summary` both arrive as
`summary`, and only the later one is there.

## How to fix
Remove one of the paths, or give the members different names in the output schema.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.handoff-collision",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        handoff = step.gate.handoff if step.gate is not None else None
        first: dict[str, int] = {}
        for index, path in enumerate(handoff or ()):
            key = path.rpartition(".")[2]
            if key and first.setdefault(key, index) != index:
                at = step.gate_at / "handoffFields"
                message = f"step {quote(step.key)} hands over {quote(path)} as {quote(key)}, like an earlier path"
                yield Finding(at / index, message, (Related(at / first[key], "the earlier path"),))
