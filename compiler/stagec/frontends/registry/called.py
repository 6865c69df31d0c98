"""What an agent with a step registry is to those who call it."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.contract.schemas import Schema
from stagec.core.json import whole_of
from stagec.frontends.registry.document import Intent, Registry, Step, StepKind
from stagec.model.agent import CalledAgent, ClosingStep
from stagec.model.flow import Flow, Pick, To

_VERDICT = "verdict"


def describe(registry: Registry, flow: Flow) -> CalledAgent | None:
    """Return what others see of an agent; nothing of a registry without one."""
    agent = registry.agent
    if agent is None:
        return None
    return CalledAgent(
        at=agent.at,
        flow=flow,
        entry=agent.verdict if agent.verdict is not None and agent.verdict in flow.entries else "",
        closings=tuple(_list_closings(registry, flow)),
        is_whole=flow.exact,
        limit=whole_of(agent.settings.get("maxIterations")),
        limit_at=agent.at / "runner" / "verdict" / "config" / "maxIterations",
        parameters=agent.declared,
    )


def _list_closings(registry: Registry, flow: Flow) -> Iterator[ClosingStep]:
    """Yield the steps that can be reached and that can end the work."""
    for name in _list_reached(flow):
        step = registry.steps.get(name)
        if step is None or step.kind is not StepKind.CLOSURE:
            continue
        if step.program is not None or step.gate is None or Intent.CLOSING in step.gate.allowed:
            yield _describe_closing(step)


def _describe_closing(step: Step) -> ClosingStep:
    output = step.output
    found = output.found if output is not None else None
    narrow = output.narrow if output is not None else None
    handed = step.gate.handoff or () if step.gate is not None else ()
    if step.program is not None or narrow is None or not isinstance(found, Schema):
        return ClosingStep(step.key, step.at, handed=handed)
    promised, values = narrow(_VERDICT, Intent.CLOSING)
    known = tuple(each for each in values if isinstance(each, str)) if isinstance(values, tuple) else None
    return ClosingStep(
        step=step.key,
        at=found.at,
        verdicts=() if promised.presence is Presence.IMPOSSIBLE else known,
        verdict=promised.presence,
        look_up=lambda path: narrow(path, Intent.CLOSING)[0].presence,
        handed=handed,
    )


def _list_reached(flow: Flow) -> tuple[str, ...]:
    """Return the nodes that runs may come to; where an answer may name any node, these are all."""
    found = list(dict.fromkeys(entry.node for entry in flow.entries.values()))
    known = set(found)
    for name in found:  # grows while it is read
        if name in flow.open:
            return tuple(flow.nodes)
        for edge in flow.nodes[name].edges:
            ahead = edge.target.nodes if isinstance(edge.target, To | Pick) else ()
            fresh = [each for each in ahead if each not in known and each in flow.nodes]
            found.extend(fresh)
            known.update(fresh)
    return tuple(found)
