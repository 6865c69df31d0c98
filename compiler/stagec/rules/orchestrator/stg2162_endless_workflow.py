"""No run of the file can complete.

## Why this matters
From no label a terminal phase can be reached. Every run ends as blocked.

## How to fix
Lead an outcome to a terminal phase.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import draw_graph, rule


@rule(since="0.1", origin=("climpt-1.14:wf.flow-no-terminal",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    graph = draw_graph(workflow)
    begun = {entry.node for entry in graph.flow.begun}
    if graph.exact and begun and begun.isdisjoint(graph.completing()) and not graph.find_stuck():
        yield Finding(workflow.at / "phases", "no label leads to a terminal phase: every run ends as blocked")
