"""The graph of a flow: what can start, complete and repeat, and how long a run is.

`build(flow)` makes the `Graph` that rules judge.
`CrossCheck(plan)` asks networkx about the graph of a plan, and says what contradicts its facts and the rules.

    graph.flow, graph.exact, graph.dangling             exact: something absent is absent, and was not merely unreadable
    graph.startable() -> frozenset[str]                 nodes that can start in a run, from whichever entry
    graph.unstartable() -> tuple[str, ...]              the others, in flow order
    graph.completing() -> frozenset[str]                nodes from which a run (or a scope) can end as done
    graph.find_stuck() -> tuple[str, ...]                    startable and not completing, in flow order
    graph.traps() -> tuple[Trap, ...]                   why they are stuck: Trap(nodes, cycle); cycle or dead end
    graph.components() -> tuple[tuple[str, ...], ...]   strongly connected, what is led to before what leads there
    graph.cycles() -> tuple[tuple[str, ...], ...]       the components that lead back into themselves, in flow order
    graph.shortest_run(entry) -> int | None             least node executions of a run to an exit; None: there is none

`entry` is a name in `flow.entries` or `flow.schedules`; an unknown one is a KeyError. An entry of no node starts
nothing.
"""

from stagec.ir.graph.graph import Graph, Trap, build, noun

__all__ = ["Graph", "Trap", "build", "noun"]
