"""What an agent definition says of a run: its inputs, its bounds, its judge and its system prompt."""

from __future__ import annotations

from collections.abc import Container

from stagec.core.canonical import canonical, to_count
from stagec.core.json import Object, object_of, text_in
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.freezing.templates import RegistryTexts, find_names, prompt
from stagec.frontends.registry.freezing.variables import Variables
from stagec.frontends.registry.generation import Generation
from stagec.frontends.registry.supply import is_given
from stagec.model.flow import Flow
from stagec.plan.document import Input, Judge, Limits, System
from stagec.plan.node import Outcome
from stagec.sources.read import Sources

_USUAL, _WITHOUT_AGENT = 10, 20
"""How often nodes are executed at most when nobody says."""
_COUNTING = "count:iteration"


def definition(registry: Registry, sources: Sources) -> Object:
    """Return an agent definition as it is written; an empty one where there is none."""
    tree = sources.find_tree(registry.agent.at.file) if registry.agent is not None else None
    return object_of(tree.value) if tree is not None else {}


def entry(registry: Registry, flow: Flow) -> str | None:
    """Return what selects the entry: the agent's verdict type, else nothing; without an agent the only one there is."""
    agent, entries = registry.agent, flow.entries
    if agent is None:
        own = [name for name in entries if name in registry.entries]
        is_told = "" in own and registry.generation is not Generation.V1_13  # which has pairs for other verdict types
        return "" if is_told else own[0] if len(own) == 1 else None
    return next((name for name in (agent.verdict, "") if name is not None and name in entries), None)


def judge(registry: Registry) -> Judge | None:
    """Return what judges whether the work is done."""
    agent = registry.agent
    if agent is None or agent.verdict is None:
        return None
    return Judge(agent.verdict, agent.settings)


def limits(registry: Registry) -> Limits:
    """Return the bounds of a run; where iterations are what is judged, running out of them completes it."""
    agent = registry.agent
    if agent is None:
        return Limits(_WITHOUT_AGENT)
    reached = Outcome.DONE if agent.verdict == _COUNTING else Outcome.FAILED
    return Limits(to_count(agent.settings.get("maxIterations")) or _USUAL, reached)


def inputs(definition: Object, texts: RegistryTexts, needed: Container[str]) -> dict[str, Input]:
    """Return the parameters of an agent; those that are `needed` have to be there, and no empty texts."""
    parameters = object_of(definition.get("parameters"))
    return {name: _input(object_of(body), texts, is_needed=name in needed) for name, body in parameters.items()}


def _input(body: Object, texts: RegistryTexts, *, is_needed: bool) -> Input:
    kind, default = text_in(body, "type"), body.get("default")
    wanted: Object = {"type": kind, "minLength": 1} if is_needed and kind == "string" else {"type": kind}
    schema = texts.text(canonical(wanted).decode()) if kind is not None else None
    is_lost = is_needed and not is_given(body)
    return Input(is_lost or body.get("required") is True, None if is_lost else default, schema)


def system(registry: Registry, texts: RegistryTexts, variables: Variables) -> System | None:
    """Return the system prompt of an agent."""
    agent = registry.agent
    file = agent.system_prompt.path if agent is not None and agent.system_prompt is not None else None
    text = texts.prompt(file) if file is not None else None
    if agent is None or text is None:
        return None
    template = prompt(text, texts, agent.name)
    return System(template, variables.of_system(find_names(template, "variable")))
