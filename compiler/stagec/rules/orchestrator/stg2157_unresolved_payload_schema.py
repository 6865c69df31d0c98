"""The schema of payloads is not there.

## Why this matters
climpt reads the file when it writes the first payload, and stops with an error.

## How to fix
Correct the path, which begins at the root of the project.
"""

from collections.abc import Iterator

from stagec.core.json import object_of, text_in
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.payload-schema",))
def check(workflow: Workflow) -> Iterator[Finding]:
    name = text_in(object_of(workflow.body.get("payloadSchema")), "$ref")
    if name is not None and not workflow.artifacts.has_payload:
        message = f"there is no file {quote(name)} in the project"
        yield Finding(workflow.at / "payloadSchema" / "$ref", message)
