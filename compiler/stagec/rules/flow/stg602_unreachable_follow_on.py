"""A node is unreachable because of something that is reported elsewhere.

## Why this matters
It never runs, but the reason is another one's: it is reached only from a node that is unreachable itself, or a
transition of the flow is wrong in a way that has a diagnostic of its own.

## How to fix
Mend what the other diagnostics say; this note then goes away, or becomes an error of its own.
"""

from collections.abc import Iterator

from stagec.rules.flow import Finding, Graph, Severity, noun, quote, roots, rule


@rule(
    since="0.1",
    origin=("steps-registry:flow.orphan-gated", "steps-registry:flow.orphan-ungated", "steps-registry:doc.R-B13"),
    severity=Severity.NOTE,
)
def check(graph: Graph) -> Iterator[Finding]:
    if not graph.exact:
        return
    follows = graph.flow.suspect or graph.stuck()
    reported = set() if follows else set(roots(graph))
    for name in graph.unstartable():
        if name not in reported:
            message = f"{noun(graph, 'node')} {quote(name)} is not reached as long as other diagnostics stand"
            yield Finding(graph.flow.nodes[name].at.key, message)
