"""Workflows that do not end, and the bounds of their cycles."""

from collections.abc import Iterator

from stagec.check.rules.orchestrator import draw_graph, find_longest, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import object_of, whole_of
from stagec.core.rule import Finding
from stagec.core.words import format_count, listing, quote
from stagec.languages.orchestrator.document import MAX_CYCLES, OTHERWISE, Workflow


@rule(since="0.1", origin=("climpt-1.14:wf.flow-no-terminal",), severity=Severity.WARNING)
def stg2162_endless_workflow(workflow: Workflow) -> Iterator[Finding]:
    """No run of the file can complete.

    ## Why this matters
    From no label a terminal phase can be reached. Every run ends as blocked.

    ## How to fix
    Lead an outcome to a terminal phase.
    """
    graph = draw_graph(workflow)
    begun = {entry.node for entry in graph.flow.begun}
    if graph.exact and begun and begun.isdisjoint(graph.completing()) and not graph.find_stuck():
        yield Finding(workflow.at / "phases", "no label leads to a terminal phase: every run ends as blocked")


@rule(since="0.1", origin=("climpt-1.14:wf.bound-tight",), severity=Severity.NOTE)
def stg2163_tight_cycle_bound(workflow: Workflow) -> Iterator[Finding]:
    """A way without a repetition takes more transitions than an issue may make.

    ## Why this matters
    `maxCycles` ends a run that never came to a phase twice.

    ## How to fix
    Raise `maxCycles` if the way is meant to be taken.
    """
    most = workflow.max_cycles
    way = find_longest(workflow, most) if most is not None else ()
    if len(way) - 1 > (most or 0):
        needs = f"the path {' → '.join(map(quote, way))} takes {format_count(len(way) - 1, 'transition')}"
        yield Finding(workflow.max_cycles_at, f"{needs}, but 'maxCycles' allows {most}")


@rule(since="0.1", origin=("climpt-1.14:wf.cycle-default",), severity=Severity.NOTE)
def stg2164_default_cycle_bound(workflow: Workflow) -> Iterator[Finding]:
    """Phases repeat, and the file does not say how often.

    ## Why this matters
    climpt ends the run after 5 transitions.

    ## How to fix
    Write `maxCycles` in `rules`.
    """
    cycles = draw_graph(workflow).cycles()
    if cycles and "maxCycles" not in object_of(workflow.body.get("rules")) and workflow.max_cycles is not None:
        what = (
            f"phase {quote(cycles[0][0])} can repeat"
            if len(cycles[0]) == 1
            else f"phases {listing(cycles[0])} can repeat"
        )
        message = f"{what}, and 'maxCycles' is missing: an issue may then make {MAX_CYCLES} transitions"
        yield Finding(workflow.max_cycles_at, message)


@rule(since="0.1", origin=("climpt-1.14:wf.self-loop",), severity=Severity.WARNING)
def stg2165_unlimited_self_loop(workflow: Workflow) -> Iterator[Finding]:
    """A phase can follow itself until the transitions of an issue are used up.

    ## Why this matters
    The same agent meets the same issue again and again. `maxConsecutivePhases` ends that earlier.

    ## How to fix
    Write `maxConsecutivePhases` in `rules`, with a number less than `maxCycles`.
    """
    limit = whole_of(object_of(workflow.body.get("rules")).get("maxConsecutivePhases", 0))
    most = workflow.max_cycles
    if most is None or limit is None or 0 < limit < most:
        return
    for phase in workflow.phases.values():
        agent = workflow.find_performer(phase)
        loops = [way for way in agent.list_ways() if way.phase.name == phase.id] if agent is not None else []
        if loops:
            own = [way.outcome for way in loops if way.outcome != OTHERWISE]
            named = listing(own) if own else "other outcomes"
            message = f"phase {quote(phase.id)} can repeat up to {most} times after {named}"
            yield Finding(loops[0].phase.at, f"{message}: 'maxConsecutivePhases' does not limit it")
