"""Plans side by side: flow by flow, what has changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stagec.change.comparison.change import Action, PlanChange, PlanPart
from stagec.change.comparison.nodes import compare_node
from stagec.change.comparison.texts import (
    compare_contracts,
    compare_tables,
    compare_templates,
    compare_values,
    compare_variables,
    list_both,
    text_of,
)
from stagec.core.json import Json, object_of
from stagec.core.value import replace, value
from stagec.ir.plan.act import Supply
from stagec.ir.plan.codec import write
from stagec.ir.plan.document import Phases, Plan, Tool
from stagec.ir.plan.loader import load_agents
from stagec.ir.plan.node import Schedule

_ORDER = {part: number for number, part in enumerate(PlanPart)}


def compare_plans(old: Plan, new: Plan) -> tuple[PlanChange, ...]:
    """Return every difference of meaning, by part and node; where the sources stand and how they are laid out is none.

    Facts follow from the rest and are left out.
    """
    pair = _PlanComparison(old, new)
    found = [*pair.compare_flow(), *pair.compare_entries(), *pair.compare_inputs(), *pair.compare_choices()]
    found += [*pair.compare_nodes(), *pair.compare_surroundings()]
    return tuple(sorted(found, key=lambda each: (_ORDER[each.part], each.node or "")))


@value
class _PlanComparison:
    """The two plans that are compared; each method yields the differences of one part."""

    old: Plan
    new: Plan

    def compare_flow(self) -> Iterator[PlanChange]:
        """Yield the differences of the flow as a whole."""
        yield from compare_values("title", self.old.title, self.new.title)
        yield from compare_values("version", self.old.version, self.new.version)
        names: list[Json] = [{"node": each.names.node, "outcome": each.names.outcome} for each in (self.old, self.new)]
        yield from compare_values("names", *names)
        judges: list[Json] = [
            None if each.judge is None else {"kind": each.judge.kind, "settings": dict(each.judge.settings)}
            for each in (self.old, self.new)
        ]
        yield from compare_values("judge", *judges)
        yield from compare_values("executions", self.old.limits.executions, self.new.limits.executions)
        yield from compare_values("reached", str(self.old.limits.reached), str(self.new.limits.reached))
        yield from compare_values("run-deadline", self.old.limits.deadline or None, self.new.limits.deadline or None)
        yield from compare_values("parallel", self.old.limits.parallel, self.new.limits.parallel)
        yield from _compare_phases(*((each.phases or Phases(0)) for each in (self.old, self.new)))
        supplies: list[Mapping[str, Supply]] = [
            {} if each.system is None else each.system.variables for each in (self.old, self.new)
        ]
        prompts = [None if each.system is None else each.system.prompt for each in (self.old, self.new)]
        yield from compare_templates(
            "system-prompt", prompts[0], prompts[1], contents=(self.old.contents, self.new.contents)
        )
        yield from compare_variables("system-variable", *supplies)

    def compare_entries(self) -> Iterator[PlanChange]:
        """Yield the differences of the entries."""
        yield from compare_values("default-entry", self.old.entry, self.new.entry)
        for name in list_both(self.old.entries, self.new.entries):
            before, after = self.old.entries.get(name), self.new.entries.get(name)
            if isinstance(before, Schedule) and isinstance(after, Schedule):
                yield from compare_schedules(name, before, after)
            else:
                shown: list[Json] = [
                    sorted(each.needs) if isinstance(each, Schedule) else each for each in (before, after)
                ]
                yield from compare_values("entry", *shown, name=name)

    def compare_inputs(self) -> Iterator[PlanChange]:
        """Yield the differences of the inputs of runs."""
        shown: list[Mapping[str, Json]] = [
            {name: {"required": each.required, "default": each.default} for name, each in plan.inputs.items()}
            for plan in (self.old, self.new)
        ]
        before, after = shown
        gone = compare_tables("input", before, after)
        yield from (each for each in gone if each.action is not Action.CHANGED)
        for name in sorted(self.old.inputs.keys() & self.new.inputs.keys()):
            one, other = self.old.inputs[name], self.new.inputs[name]
            yield from compare_values("input-required", one.required, other.required, name=name)
            yield from compare_values("input-default", one.default, other.default, name=name)
            texts = (text_of(self.old, one.schema), text_of(self.new, other.schema))
            yield from compare_contracts("input-schema", (one.schema, other.schema), texts, name)

    def compare_choices(self) -> Iterator[PlanChange]:
        """Yield the differences of the nodes that choices name."""
        for name in sorted(self.old.choices.keys() & self.new.choices.keys()):
            before, after = self.old.choices[name], self.new.choices[name]
            for each in compare_tables("choice", before, after) if before != after else ():
                yield replace(each, name=f"{each.name} of {name}", node=None)

    def compare_nodes(self) -> Iterator[PlanChange]:
        """Yield the nodes that are new or gone, and what differs in the others."""
        for name in list_both(self.old.nodes, self.new.nodes):
            if name not in self.new.nodes or name not in self.old.nodes:
                yield PlanChange("node", Action.REMOVED if name in self.old.nodes else Action.ADDED, name)
            else:
                yield from compare_node(name, self.old, self.new)

    def compare_surroundings(self) -> Iterator[PlanChange]:
        """Yield the differences of the parts that the nodes use."""
        # nodes and texts are most of a plan, and compared by themselves
        before, after = (object_of(write(replace(each, nodes={}, contents={}))) for each in (self.old, self.new))
        for table, topic in (("validators", "validator"), ("servers", "server")):
            yield from compare_tables(topic, object_of(before.get(table)), object_of(after.get(table)))
        yield from self._compare_tools()
        modes = (None if each.session is None else each.session.mode for each in (self.old, self.new))
        yield from compare_values("mode", *modes)
        yield from compare_tables("loop-hooks", _list_loop_hooks(self.old), _list_loop_hooks(self.new))

    def _compare_tools(self) -> Iterator[PlanChange]:
        for name in list_both(self.old.tools, self.new.tools):
            before, after = self.old.tools.get(name), self.new.tools.get(name)
            if before is None or after is None:
                shown: list[Json] = [None if each is None else each.effects for each in (before, after)]
                yield PlanChange(
                    "tool", Action.ADDED if before is None else Action.REMOVED, None, name, shown[0], shown[1]
                )
                continue
            yield from compare_values("tool-effects", before.effects, after.effects, name=name)
            yield from compare_values("tool-source", _show_source(before), _show_source(after), name=name)
            texts = (before.description or before.described, after.description or after.described)
            yield from compare_values("tool-description", *texts, name=name)
            if before.schema is None and after.schema is None:
                yield from compare_values("tool-schema", before.digest, after.digest, name=name)
            else:
                schemas = (text_of(self.old, before.schema), text_of(self.new, after.schema))
                yield from compare_contracts("tool-schema", (before.schema, after.schema), schemas, name)


def _compare_phases(old: Phases, new: Phases) -> Iterator[PlanChange]:
    yield from compare_values("transitions", old.most or None, new.most or None)
    yield from compare_values("transitions-in-a-row", old.row or None, new.row or None)
    yield from compare_values("pause", old.pause, new.pause)
    labels: list[Mapping[str, Json]] = [{name: list(some) for name, some in each.labels.items()} for each in (old, new)]
    yield from compare_tables("labels", *labels)
    yield from compare_values("ordering-labels", list(old.ordering), list(new.ordering))


def compare_schedules(name: str, old: Schedule, new: Schedule) -> Iterator[PlanChange]:
    """Yield the nodes that one of two schedules of an entry has and the other has not, and what others need now."""
    for node in list_both(old.needs, new.needs):
        before, after = (None if node not in each.needs else sorted(each.needs[node]) for each in (old, new))
        if before is None or after is None:
            action = Action.ADDED if before is None else Action.REMOVED
            shown: list[Json] = [None if each is None else list(each) for each in (before, after)]
            yield PlanChange("scheduled-node", action, node, name, shown[0], shown[1])
        elif before != after:
            yield PlanChange("needs", Action.CHANGED, node, name, list(before), list(after))


def _list_loop_hooks(plan: Plan) -> Mapping[str, Json]:
    """Return the callables at each slot of the message loop, those that decide first, as they are called."""
    found: dict[str, list[Json]] = {}
    hooks = () if plan.session is None else plan.session.hooks
    for hook in sorted(hooks, key=lambda each: _KINDS.index(each.kind)):
        found.setdefault(f"{hook.stage}/{hook.when}", []).append(f"{hook.kind} {hook.call}")
    return {slot: list(each) for slot, each in found.items()}


_KINDS = ("guard", "transform", "observer")


def _show_source(given: Tool) -> Json:
    return {"origin": given.origin, "server": given.server, "command": list(given.command)}


@value
class FlowChanges:
    """A flow, its old and its new plan, None where a side has none, and what differs."""

    flow: str
    old: Plan | None
    new: Plan | None
    changes: tuple[PlanChange, ...] = ()

    @property
    def action(self) -> Action | None:
        """The kind of the flow's change, None without a change."""
        if self.old is None or self.new is None:
            return Action.ADDED if self.old is None else Action.REMOVED
        return Action.CHANGED if self.changes else None


def compare_flows(old: Iterable[Plan], new: Iterable[Plan]) -> tuple[FlowChanges, ...]:
    """Return the flows of two sides by name, those of one name in their order."""
    before, after = _group(old), _group(new)
    return tuple(each for name in sorted({*before, *after}) for each in _match(name, before, after))


def _group(plans: Iterable[Plan]) -> dict[str, list[Plan]]:
    found: dict[str, list[Plan]] = {}
    for plan in plans:
        found.setdefault(plan.id, []).append(plan)
    return found


def _match(name: str, old: dict[str, list[Plan]], new: dict[str, list[Plan]]) -> Iterator[FlowChanges]:
    before, after = old.get(name, []), new.get(name, [])
    for at in range(max(len(before), len(after))):
        one, other = _at(before, at), _at(after, at)
        yield compare_flow(name, one, other)
        if one is not None and other is not None:
            yield from _match_agents(name, one, other)


def _match_agents(name: str, old: Plan, new: Plan) -> Iterator[FlowChanges]:
    """Yield the flows of agents that two plans hold: their runs are inside those of the plan."""
    before, after = _list_agents(old), _list_agents(new)
    for agent in sorted({*before, *after}):
        yield compare_flow(f"{name}: {agent}", before.get(agent), after.get(agent))


def _list_agents(plan: Plan) -> dict[str, Plan]:
    return {name: loaded.plan for name, loaded in load_agents(plan).items()} if plan.plans else {}


def _at(plans: Sequence[Plan], at: int) -> Plan | None:
    return plans[at] if at < len(plans) else None


def compare_flow(name: str, old: Plan | None, new: Plan | None) -> FlowChanges:
    """Return how a flow differs that may be on one side only."""
    if old is None or new is None:
        change = PlanChange("flow", Action.ADDED if old is None else Action.REMOVED, name=name)
        return FlowChanges(name, old, new, (change,))
    return FlowChanges(name, old, new, compare_plans(old, new))
