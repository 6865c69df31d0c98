"""The binding to projects lacks a member, or has one of the wrong type.

## Why this matters
climpt plans and evaluates a project only with all of them.

## How to fix
Write all five members: `donePhase`, `evalPhase`, `planPhase` and `sentinelLabel` are texts,
`inheritProjectsForCreateIssue` is a boolean.
"""

from collections.abc import Iterator

from stagec.core.json import kind_of
from stagec.core.rule import Finding
from stagec.core.words import listing, quote, with_article
from stagec.frontends.orchestrator.document import Release, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.project-shape",))
def check(workflow: Workflow) -> Iterator[Finding]:
    if workflow.release is not Release.NEW or "projectBinding" not in workflow.body:
        return
    given, at = workflow.body["projectBinding"], workflow.at / "projectBinding"
    if not isinstance(given, dict):
        yield Finding(at, f"'projectBinding' must be an object, found {with_article(kind_of(given))}")
        return
    missing = [name for name in _TYPES if name not in given]
    if missing:
        yield Finding(at / missing[0], f"'projectBinding' lacks {listing(missing)}")
    for name, wanted in _TYPES.items():
        if name in given and kind_of(given[name]) != wanted:
            found = with_article(kind_of(given[name]))
            yield Finding(at / name, f"{quote(name)} of 'projectBinding' must be {with_article(wanted)}, found {found}")


_TYPES = {
    "inheritProjectsForCreateIssue": "boolean",
    "donePhase": "string",
    "evalPhase": "string",
    "planPhase": "string",
    "sentinelLabel": "string",
}
