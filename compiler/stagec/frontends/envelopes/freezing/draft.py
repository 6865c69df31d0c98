"""Put the plan of a stage plan together: a schedule of processes."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import normpath

from stagec.core.canonical import MOST
from stagec.frontends.envelopes.document import Envelope, InputKind, StagePlan
from stagec.model.flow import End, Flow, Stop
from stagec.plan.act import Process, ProcessInput, ProcessLimits
from stagec.plan.document import Draft, Limits, Names, Plan
from stagec.plan.gate import Backoff, Retry, StageGate
from stagec.plan.node import Edge, Node, Outcome, Schedule
from stagec.plan.node import Stop as Ending
from stagec.protocol.watchdog import watch_times
from stagec.sources.read import Sources

_ATTEMPTS = 3
"""How often a stage is begun that may be retried: the third failure stands."""
_OUTCOMES: Mapping[End, Outcome] = {
    End.DONE: Outcome.DONE,
    End.FAILED: Outcome.FAILED,
    End.INTERRUPTED: Outcome.INTERRUPTED,
}


def freeze(document: StagePlan, flow: Flow, _sources: Sources) -> Draft:
    """Return the draft of the plan of stages without errors."""
    plan = Plan(
        id=flow.id,
        names=Names(flow.names["node"], flow.names["outcome"]),
        entries={
            name: Schedule({node: tuple(each.node for each in needs) for node, needs in schedule.needs.items()})
            for name, schedule in flow.schedules.items()
        },
        entry=next(iter(flow.schedules), None),
        nodes={name: _freeze_stage(each, flow) for name, each in document.by_id.items()},
        limits=Limits(parallel=min(document.max_parallel, MOST)),
        contents={},
    )
    return Draft(plan, frozenset(each.at.file for each in document.envelopes))


def _freeze_stage(envelope: Envelope, flow: Flow) -> Node:
    name = envelope.id or ""
    times = watch_times(envelope.max_duration)
    limit = ProcessLimits(times.warn, times.interrupt, times.terminate, times.kill)
    ends = ((edge.outcome, edge.target) for edge in flow.nodes[name].edges)
    inputs = {
        key: ProcessInput(url=each.path)
        if each.kind is InputKind.URL
        else ProcessInput(path=normpath(each.path), node=each.producer)
        for key, each in envelope.inputs.items()
    }
    return Node(
        act=Process(
            goal=envelope.goal or "",
            limits=limit,
            words=envelope.run,
            inputs=inputs,
            outputs={key: normpath(path) for key, path in envelope.outputs.items()},
            retryable=envelope.retryable,
            checkpoint=envelope.checkpoint_after,
        ),
        gate=StageGate(),
        edges=tuple(Edge(on, Ending(_OUTCOMES[target.end])) for on, target in ends if isinstance(target, Stop)),
        retry=Retry(_ATTEMPTS, Backoff()) if envelope.retryable else None,
    )
