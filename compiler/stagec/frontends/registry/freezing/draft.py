"""Put the plan of a registry together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.catalogue import well_known_effects
from stagec.core.json import text_in
from stagec.core.value import replace
from stagec.frontends.registry.document import Registry, Step
from stagec.frontends.registry.files import is_prompt
from stagec.frontends.registry.freezing import agent
from stagec.frontends.registry.freezing.nodes import Acts, AgentDefaults, Moves, PlanGates, StepPrompts
from stagec.frontends.registry.freezing.templates import RegistryTexts
from stagec.frontends.registry.freezing.validation import Validations
from stagec.frontends.registry.freezing.variables import Variables
from stagec.frontends.registry.prompts import Prompts, Store, WantedPrompt, find_prompts
from stagec.model.flow import Flow
from stagec.plan.act import Given, Prompt
from stagec.plan.document import Draft, Input, Names, Plan
from stagec.plan.node import Node
from stagec.plan.references import find_reached
from stagec.plan.surroundings import Tool
from stagec.sources.read import Sources

_STDIN = "stdin"


def freeze(registry: Registry, flow: Flow, sources: Sources) -> Draft:
    """Return the draft of the plan of a registry without errors."""
    making = _Making(registry, flow, sources)
    return Draft(making.plan(flow), making.files())


class _Making:
    """Everything that the parts of one plan are made with."""

    def __init__(self, registry: Registry, flow: Flow, sources: Sources) -> None:
        self._registry = registry
        self._definition = agent.definition(registry, sources)
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
        system = agent.system(registry, texts, self._variables)  # may read of what is then an input
        plan = Plan(
            id=registry.id,
            names=Names("step", "intent"),
            entries={name: entry.node for name, entry in flow.entries.items()},
            nodes=nodes,
            limits=agent.limits(registry),
            entry=agent.entry(registry, flow),
            title=text_in(self._definition, "displayName"),
            version=text_in(registry.body, "version"),
            choices=self._moves.choices,
            system=system,
            judge=agent.judge(registry),
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
        return {**read, **agent.inputs(self._definition, self._texts, needed)}

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
