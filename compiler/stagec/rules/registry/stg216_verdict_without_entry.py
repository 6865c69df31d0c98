"""The agent's verdict type has no step to begin at.

## Why this matters
The first step of a run is chosen by the verdict type of `agent.json`. When `entryStepMapping` names only steps of
other verdict types and there is no `entryStep`, the agent cannot start.

## How to fix
Add the verdict type to `entryStepMapping`, correct a key that was meant to be it, or give an `entryStep` that serves
all verdict types.
"""

from collections.abc import Iterator

from stagec.core.guess import Guess
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import find_misspelt_verdict, find_unserved_verdict
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=("steps-registry:boot.entry-for-verdict", "steps-registry:doc.R-A3", "SR-GATE-002"),
)
def check(registry: Registry) -> Iterator[Finding]:
    verdict, agent = find_unserved_verdict(registry), registry.agent
    if verdict is None or agent is None:
        return
    at, misspelt = registry.at / "entryStepMapping", find_misspelt_verdict(registry)
    message = f"no step is named to begin at for the agent's verdict type {quote(verdict)}"
    related = (Related(agent.verdict_at, "the agent's verdict type"),)
    if misspelt is None:
        yield Finding(at / verdict, message, related)
    else:
        yield Finding((at / misspelt).key, f"{message}, only for {quote(misspelt)}", related, Guess(misspelt, verdict))
