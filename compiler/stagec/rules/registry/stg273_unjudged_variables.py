"""Whether the variables of prompts are supplied cannot be judged, because there is no agent definition.

## Why this matters
Variables come from the parameters of the agent. Without `agent.json` beside the registry nobody can tell whether they
exist.

## How to fix
Put the agent definition beside the registry. Nothing is wrong when it is kept elsewhere.
"""

import posixpath
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import listing
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.files import AGENT
from stagec.frontends.registry.supply import find_unsupplied, list_arguments
from stagec.rules.registry import rule


@rule(since="0.1", origin=("rulings:R17",), severity=Severity.NOTE)
def check(registry: Registry) -> Iterator[Finding]:
    if registry.agent is not None:
        return
    lost = {name: at for name, ((_, at), *_) in find_unsupplied(registry).items()}
    for step in registry.steps.values():
        lost = {each.name: each.at for each in list_arguments(step)} | lost
    beside = Place(posixpath.join(posixpath.dirname(registry.at.file), AGENT))  # which may be there and broken
    for at in tuple(lost.values())[:1]:
        message = f"without an agent definition nobody can tell what supplies {listing(lost)}"
        yield Finding(at, message, causes=(beside,))
