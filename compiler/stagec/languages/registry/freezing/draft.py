"""Put the plan of a registry together."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from stagec.core.canonical import canonical, to_count
from stagec.core.json import Object, object_of, text_in
from stagec.core.value import replace
from stagec.ir.catalogue import well_known_effects
from stagec.ir.flow import Flow
from stagec.ir.plan.act import Given, Prompt
from stagec.ir.plan.document import Draft, Input, Judge, Limits, Names, Plan, System
from stagec.ir.plan.node import Node, Outcome
from stagec.ir.plan.references import find_reached
from stagec.ir.plan.surroundings import Tool
from stagec.languages.registry.document import Registry, Step
from stagec.languages.registry.files import is_prompt
from stagec.languages.registry.freezing.nodes import Acts, AgentDefaults, Moves, PlanGates, StepPrompts, Validations
from stagec.languages.registry.freezing.templates import RegistryTexts, Variables, find_names, prompt
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.prompts import Prompts, Store, WantedPrompt, find_prompts
from stagec.languages.registry.supply import is_given
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


def freeze_system(registry: Registry, texts: RegistryTexts, variables: Variables) -> System | None:
    """Return the system prompt of an agent."""
    agent = registry.agent
    file = agent.system_prompt.path if agent is not None and agent.system_prompt is not None else None
    text = texts.prompt(file) if file is not None else None
    if agent is None or text is None:
        return None
    template = prompt(text, texts, agent.name)
    return System(template, variables.of_system(find_names(template, "variable")))


_STDIN = "stdin"


def freeze(registry: Registry, flow: Flow, sources: Sources) -> Draft:
    """Return the draft of the plan of a registry without errors."""
    making = _Making(registry, flow, sources)
    return Draft(making.plan(flow), making.files())


class _Making:
    """Everything that the parts of one plan are made with."""

    def __init__(self, registry: Registry, flow: Flow, sources: Sources) -> None:
        self._registry = registry
        self._definition = definition(registry, sources)
        self._texts, self._variables = RegistryTexts(sources), Variables(registry)
        found = prompts(registry, sources)
        self._conduct = AgentDefaults(self._definition, registry.agent)
        self._acts = Acts(StepPrompts(found, repeats(registry, sources)), self._texts, self._variables, self._conduct)
        self._gates, self._moves = PlanGates(), Moves(flow)
        self._validations = Validations(registry, found, self._texts)

    def plan(self, flow: Flow) -> Plan:
        """Return the plan, without what follows from it."""
        registry, texts = self._registry, self._texts
        steps = [step for step in registry.steps.values() if not step.is_section]
        nodes = {step.key: self._node(step) for step in steps}
        system = freeze_system(registry, texts, self._variables)  # may read of what is then an input
        plan = Plan(
            id=registry.id,
            names=Names("step", "intent"),
            entries={name: entry.node for name, entry in flow.entries.items()},
            nodes=nodes,
            limits=limits(registry),
            entry=entry(registry, flow),
            title=text_in(self._definition, "displayName"),
            version=text_in(registry.body, "version"),
            choices=self._moves.choices,
            system=system,
            judge=judge(registry),
            validators=self._validations.validators,
            tools=self._tools(nodes),
            contents=texts.texts,
        )
        return replace(plan, inputs=self._inputs(plan, steps))

    def files(self) -> frozenset[str]:
        """Return the files that the plan was made of."""
        owner = self._registry.agent
        own = {self._registry.at.file} if owner is None else {self._registry.at.file, owner.at.file}
        return frozenset(own | self._texts.files)

    def _node(self, step: Step) -> Node:
        gate = self._gates.gate(step)
        return Node(
            act=self._acts.act(step),
            gate=gate,
            edges=self._moves.edges(step.key, gate, () if step.gate is None else step.gate.allowed),
            kind=step.kind.value if step.kind is not None else None,
            title=text_in(step.body, "name"),
            validation=self._validations.of_step(step),
        )

    def _inputs(self, plan: Plan, steps: list[Step]) -> dict[str, Input]:
        """Return the agent's parameters, and what else is read and nobody else provides."""
        # the inputs without which a run may come to a node that cannot start, wherever it begins
        entries = plan.entries if plan.entry is None else {plan.entry: plan.entries[plan.entry]}
        begun = (replace(plan, entries={name: node}) for name, node in entries.items())
        ways = [_list_needed_by(plan.nodes[each] for each in find_reached(way)) for way in begun]
        needed, named = (frozenset.intersection(*ways) if ways else frozenset()), self._variables.given
        read = {**dict.fromkeys(self._acts.inputs, Input()), **{name: Input(name in needed) for name in named}}
        if any(step.body.get("usesStdin") is True for step in steps):
            read[_STDIN] = Input()
        return {**read, **inputs(self._definition, self._texts, needed)}

    def _tools(self, nodes: Mapping[str, Node]) -> Mapping[str, Tool]:
        lists = dict.fromkeys(node.act.tools for node in nodes.values() if isinstance(node.act, Prompt))
        names = dict.fromkeys(name for tools in lists for name in tools or ())
        return {name: Tool("unknown", well_known_effects(name).value) for name in names}


def repeats(registry: Registry, sources: Sources) -> Mapping[str, tuple[str | None, ...]]:
    """Return the prompt files of the repeats of each step that 1.14 bounds, None where there is no such file."""
    found = prompts(registry, sources).of_repeats
    chains = {step.key: step.repeats for step in registry.steps.values() if step.repeats is not None}
    files = {key: tuple(each.file if each is not None else None for each in of_step) for key, of_step in found.items()}
    return {key: files.get(key, (None,) * len(chain)) for key, chain in chains.items()}


def _open_store(registry: Registry, sources: Sources) -> Store:
    folder = next(each.path for each in registry.folders if each.member == "userPromptsBase")
    return Store(folder, sources.below(folder, ".md"), lambda path: is_prompt(sources, path))


def _list_needed_by(nodes: Iterable[Node]) -> frozenset[str]:
    acts = (node.act for node in nodes)
    asked = ((act, name) for act in acts if isinstance(act, Prompt) for name in act.needed)
    supplies = (act.variables[name] for act, name in asked)
    return frozenset(each.name for each in supplies if isinstance(each, Given))


def prompts(registry: Registry, sources: Sources) -> Prompts:
    """Return the prompts of every step and every retry.

    Of what may be misspelt, such as a member nobody knows, nothing is judged; what is run is what is written.
    """
    tree = sources.find_tree(registry.at.file)
    if tree is None or not tree.faults:
        return registry.prompts
    wanted = (WantedPrompt(key, step.address, step.repeats or ()) for key, step in registry.steps.items())
    return find_prompts(_open_store(registry, sources), registry.body, wanted, registry.validation_steps, ())
