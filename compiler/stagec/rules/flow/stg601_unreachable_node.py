"""No run ever reaches a node.

## Why this matters
A node that no way from any entry leads to never runs. Most often a transition was renamed or removed on one side only,
and the flow ends, or goes round, where its author believes that it goes on. A node without a gate is told here when
nodes with a gate are reached only from it, and else as a warning ([STG603](STG603.md)).

## How to fix
Add the transition that should lead there, or delete the node. Nodes that are reached only from this one are listed as
notes ([STG602](STG602.md)). A step registry names the steps where runs begin in `entryStepMapping`, by verdict type
([STG217](STG217.md)), and in `entryStep`. In an orchestrator file, an issue comes to a phase by a label of
`labelMapping` or by an outcome of an agent.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.graph import Graph, noun
from stagec.rules.flow import find_ignored, is_told, leading_to_gates, roots, rule

_SHOWN = 3


@rule(
    since="0.1",
    origin=("steps-registry:flow.orphan-gated", "steps-registry:doc.R-B13", "climpt-1.14:wf.flow-unreachable"),
)
def check(graph: Graph) -> Iterator[Finding]:
    if not is_told(graph):
        return
    entries = graph.flow.begun
    starts = listing(dict.fromkeys(entry.node for entry in entries), "or")
    related = tuple(Related(entry.at, "a run begins here") for entry in entries)[:_SHOWN]
    heavy = leading_to_gates(graph)
    lost = [name for name in roots(graph) if name in heavy]
    ignored = find_ignored(graph, lost)
    for name in lost:
        why, ways = ignored.get(name, ("", ()))
        message = f"{noun(graph, 'node')} {quote(name)} is never reached: no way from {starts} leads there{why}"
        yield Finding(graph.flow.nodes[name].at.key, message, (*related, *ways))
