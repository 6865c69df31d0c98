"""The plan of an orchestrator with the plans of its agents in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.canonical import canonical, digest
from stagec.core.value import replace
from stagec.plan.document import Input, Plan
from stagec.plan.plan_codec import PLAN


def add_agents(plan: Plan, agents: Mapping[str, Plan]) -> Plan:
    """Return a plan with the plans of its agents, and with what the runs of these are given as its own inputs."""
    payloads = {name: canonical(PLAN.write(each)).decode() for name, each in agents.items()}
    named = {name: digest(text.encode()) for name, text in payloads.items()}
    wanted = dict.fromkeys(name for each in agents.values() for name in each.inputs)
    inputs = {name: _join([each.inputs[name] for each in agents.values() if name in each.inputs]) for name in wanted}
    schemas = {
        each.schema: agent.contents[each.schema]
        for agent in agents.values()
        for name, each in agent.inputs.items()
        if each.schema is not None and inputs[name].schema is not None
    }
    return replace(
        plan,
        inputs=inputs,
        contents={**plan.contents, **schemas, **{named[name]: text for name, text in payloads.items()}},
        plans=named,
        limits=replace(plan.limits, parallel=max((each.limits.parallel for each in agents.values()), default=1)),
    )


def _join(inputs: Iterable[Input]) -> Input:
    """Return what agents want under the same name; where they want different things, each judges what it is given."""
    first, *others = inputs
    needed = any(each.required and each.default is None for each in (first, *others))
    same = all(each.schema == first.schema for each in others)
    return Input(required=needed, schema=first.schema if same else None)
