"""Nodes are unreachable because of something that is reported elsewhere.

## Why this matters
It never runs, but the reason is another one's: it is reached only from a node that is unreachable itself, or a
transition of the flow is wrong in a way that has a diagnostic of its own. Or no transition leads to it, and it runs
only if an answer happens to name it where the schema leaves the target of a jump open.

## How to fix
Mend what the other diagnostics say; this note then goes away, or becomes an error of its own. Where an answer may name
any node, let the schema list those that are meant.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing
from stagec.graph import Graph, noun
from stagec.rules.flow import ends, is_open, is_told, roots, rule

_SHOWN = 8


@rule(
    since="0.1",
    origin=("steps-registry:flow.orphan-gated", "steps-registry:flow.orphan-ungated", "steps-registry:doc.R-B13"),
    severity=Severity.NOTE,
)
def check(graph: Graph) -> Iterator[Finding]:
    if not graph.exact:
        return
    reported = set(roots(graph)) if is_told(graph) else set()
    free = not (graph.flow.suspect or graph.flow.strays or ends(graph)) and is_open(graph)
    lost = [name for name in graph.unstartable() if name not in reported]
    is_one = len(lost) == 1
    why = f"{'is' if is_one else 'are'} not reached, which may follow from another diagnostic of this flow"
    if free:
        why = f"{'is' if is_one else 'are'} reached only by an answer that names {'it' if is_one else 'them'} freely"
    elif reported:
        why = f"{'is' if is_one else 'are'} reached only from {noun(graph, 'node')}s that are never reached themselves"
    for first, *others in [lost] if lost else ():
        related = tuple(Related(graph.flow.nodes[name].at.key, "this one too") for name in others[:_SHOWN])
        what = f"{noun(graph, 'node')}{'' if is_one else 's'} {listing(lost)}"
        yield Finding(graph.flow.nodes[first].at.key, f"{what} {why}", related)
