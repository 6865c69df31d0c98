"""An agent's verdict type lacks a setting without which it cannot be judged.

## Why this matters
The verdict type says how an agent knows that it is done. It is made before the first step, and an agent whose verdict
cannot be made does not start.

| verdict type | needs |
|---|---|
| `count:iteration` | `maxIterations` |
| `count:check` | `maxChecks` |
| `detect:keyword` | `verdictKeyword` |
| `detect:structured` | `signalType` |
| `meta:composite` | `operator`, `conditions` |
| `meta:custom` | `handlerPath` |

The conditions of `meta:composite` need the same, each in its own `config`.

## How to fix
Add the setting to `runner.verdict.config` of the agent definition.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import verdicts
from stagec.rules.registry import rule

_NEEDS = {
    "count:iteration": ("maxIterations",),
    "count:check": ("maxChecks",),
    "detect:keyword": ("verdictKeyword",),
    "detect:structured": ("signalType",),
    "meta:composite": ("operator", "conditions"),
    "meta:custom": ("handlerPath",),
}


@rule(since="0.1", origin=("steps-registry:agent.verdict-config", "steps-registry:boot.verdict-ctor", "AC-VERDICT-002"))
def check(registry: Registry) -> Iterator[Finding]:
    for verdict in verdicts(registry):
        if verdict.is_condition and verdict.kind == "meta:composite":
            continue  # no condition can be that
        lacking = [each for each in _NEEDS.get(verdict.kind, ()) if verdict.settings.get(each) in (None, "", [])]
        if lacking:
            at = verdict.at / "config" / lacking[0]
            yield Finding(at, f"verdict type {quote(verdict.kind)} needs {listing(lacking)} in its configuration")
