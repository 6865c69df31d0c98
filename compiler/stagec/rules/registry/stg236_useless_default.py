"""A parameter that every run has to be given has a default.

## Why this matters
A default stands for a value that the caller leaves out. A required parameter cannot be left out, so the default never
counts, and one of the two is not meant.

## How to fix
Take `required` out, or `default`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:agent.param-required-default",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    agent = registry.agent
    for name, body in agent.declared.items() if agent is not None else ():
        given, at = object_of(body), (agent.at if agent is not None else registry.at) / "parameters" / name
        if given.get("required") is True and "default" in given:
            message = f"parameter {quote(name)} is required, so its default never counts"
            yield Finding(at / "default", message, (Related(at / "required", "required here"),))
