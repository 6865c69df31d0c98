"""A gate has a fallback intent that is never used.

## Why this matters
Under `failFast`, which holds unless it is set to `false`, a run ends when no intent can be read. The fallback intent
looks as if it caught that case, and does not.

## How to fix
Delete `fallbackIntent`, or set `failFast` to `false` when the run shall go on with it.
"""

from collections.abc import Iterator

from stagec.rules.registry import Finding, Registry, Severity, quote, rule


@rule(
    since="0.1",
    origin=("steps-registry:doc.no-fallback-when-failfast", "steps-registry:beyond.dead-fields", "rulings:R14"),
    severity=Severity.NOTE,
)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        gate = step.gate
        if gate is not None and gate.fail_fast and gate.fallback in gate.allowed:
            message = f"step {quote(step.key)} never falls back to {quote(gate.fallback)}: it fails fast"
            yield Finding(step.gate_at / "fallbackIntent", message)
