"""Two agents need one parameter, and want values of different types.

## Why this matters
A run of the orchestrator is given each input once, and every agent gets it under its name. No value fits two types.
So one of the agents cannot begin, and the run ends as blocked.

## How to fix
Give the parameters the same type, or different names.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of, text_in
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("steps-registry:agent.param-type",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    firsts: dict[str, Finding] = {}
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        for name, body in called.parameters.items() if called is not None else ():
            kind = text_in(object_of(body), "type")
            if kind is None or object_of(body).get("required") is not True or called is None:
                continue
            at = called.at / "parameters" / name / "type"
            first = firsts.setdefault(name, Finding(at, kind))
            if first.message != kind and {first.message, kind} != {"number", "integer"}:
                what = f"agent {quote(agent.id)} wants the parameter {quote(name)} to be of the type {quote(kind)}"
                yield Finding(
                    at, f"{what}, and another agent of {quote(first.message)}", (Related(first.at, "the other type"),)
                )
