"""Every difference between two plans that means something, in the order in which it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stagec.comparison.change import Action, PlanChange, PlanPart
from stagec.comparison.nodes import compare_node
from stagec.comparison.templates import compare_templates, compare_variables
from stagec.comparison.values import compare_contracts, compare_tables, compare_values, list_both, text_of
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.act import Supply
from stagec.plan.document import Input, Phases, Plan
from stagec.plan.node import Schedule
from stagec.plan.plan_codec import PLAN
from stagec.plan.surroundings import Tool

_ORDER = {part: number for number, part in enumerate(PlanPart)}


def compare_plans(old: Plan, new: Plan) -> tuple[PlanChange, ...]:
    """Return every difference of meaning, by part and node; where the sources stand and how they are laid out is none.

    Facts follow from the rest and are left out.
    """
    found = [*_compare_flow(old, new), *_compare_entries(old, new), *_compare_inputs(old, new)]
    found += [*_compare_choices(old, new)]
    found += [*_compare_nodes(old, new), *_compare_surroundings(old, new)]
    return tuple(sorted(found, key=lambda each: (_ORDER[each.part], each.node or "")))


def _compare_flow(old: Plan, new: Plan) -> Iterator[PlanChange]:
    yield from compare_values("title", old.title, new.title)
    yield from compare_values("version", old.version, new.version)
    names: list[Json] = [{"node": each.names.node, "outcome": each.names.outcome} for each in (old, new)]
    yield from compare_values("names", *names)
    judges: list[Json] = [
        None if each.judge is None else {"kind": each.judge.kind, "settings": dict(each.judge.settings)}
        for each in (old, new)
    ]
    yield from compare_values("judge", *judges)
    yield from compare_values("executions", old.limits.executions, new.limits.executions)
    yield from compare_values("reached", str(old.limits.reached), str(new.limits.reached))
    yield from compare_values("parallel", old.limits.parallel, new.limits.parallel)
    yield from _compare_phases(*((each.phases or Phases(0)) for each in (old, new)))
    supplies: list[Mapping[str, Supply]] = [{} if each.system is None else each.system.variables for each in (old, new)]
    prompts = [None if each.system is None else each.system.prompt for each in (old, new)]
    yield from compare_templates("system-prompt", prompts[0], prompts[1], contents=(old.contents, new.contents))
    yield from compare_variables("system-variable", *supplies)


def _compare_phases(old: Phases, new: Phases) -> Iterator[PlanChange]:
    yield from compare_values("transitions", old.most or None, new.most or None)
    yield from compare_values("transitions-in-a-row", old.row or None, new.row or None)
    yield from compare_values("pause", old.pause, new.pause)
    labels: list[Mapping[str, Json]] = [{name: list(some) for name, some in each.labels.items()} for each in (old, new)]
    yield from compare_tables("labels", *labels)
    yield from compare_values("ordering-labels", list(old.ordering), list(new.ordering))


def _compare_entries(old: Plan, new: Plan) -> Iterator[PlanChange]:
    yield from compare_values("default-entry", old.entry, new.entry)
    for name in list_both(old.entries, new.entries):
        before, after = old.entries.get(name), new.entries.get(name)
        if isinstance(before, Schedule) and isinstance(after, Schedule):
            yield from compare_schedules(name, before, after)
        else:
            shown: list[Json] = [_show_entry(each) for each in (before, after)]
            yield from compare_values("entry", *shown, name=name)


def _show_entry(entry: str | Schedule | None) -> Json:
    return sorted(entry.needs) if isinstance(entry, Schedule) else entry


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


def _compare_choices(old: Plan, new: Plan) -> Iterator[PlanChange]:
    for name in sorted(old.choices.keys() & new.choices.keys()):
        before, after = old.choices[name], new.choices[name]
        for each in compare_tables("choice", before, after) if before != after else ():
            yield replace(each, name=f"{each.name} of {name}", node=None)


def _compare_inputs(old: Plan, new: Plan) -> Iterator[PlanChange]:
    shown: list[Mapping[str, Json]] = [
        {name: _show_input(each) for name, each in plan.inputs.items()} for plan in (old, new)
    ]
    before, after = shown
    gone = compare_tables("input", before, after)
    yield from (each for each in gone if each.action is not Action.CHANGED)
    for name in sorted(old.inputs.keys() & new.inputs.keys()):
        one, other = old.inputs[name], new.inputs[name]
        yield from compare_values("input-required", one.required, other.required, name=name)
        yield from compare_values("input-default", one.default, other.default, name=name)
        texts = (text_of(old, one.schema), text_of(new, other.schema))
        yield from compare_contracts("input-schema", (one.schema, other.schema), texts, name)


def _show_input(given: Input) -> Json:
    return {"required": given.required, "default": given.default}


def _compare_nodes(old: Plan, new: Plan) -> Iterator[PlanChange]:
    for name in list_both(old.nodes, new.nodes):
        if name not in new.nodes or name not in old.nodes:
            yield PlanChange("node", Action.REMOVED if name in old.nodes else Action.ADDED, name)
        else:
            yield from compare_node(name, old, new)


def _compare_surroundings(old: Plan, new: Plan) -> Iterator[PlanChange]:
    before: Any = PLAN.write(old)
    after: Any = PLAN.write(new)
    for table, topic in (("validators", "validator"), ("servers", "server")):
        yield from compare_tables(topic, before.get(table, {}), after.get(table, {}))
    yield from _compare_tools(old, new)
    modes = (None if each.session is None else each.session.mode for each in (old, new))
    yield from compare_values("mode", *modes)
    yield from compare_tables("loop-hooks", _list_loop_hooks(old), _list_loop_hooks(new))


def _list_loop_hooks(plan: Plan) -> Mapping[str, Json]:
    """Return the callables at each slot of the message loop, those that decide first, as they are called."""
    found: dict[str, list[Json]] = {}
    hooks = () if plan.session is None else plan.session.hooks
    for hook in sorted(hooks, key=lambda each: _KINDS.index(each.kind)):
        found.setdefault(f"{hook.stage}/{hook.when}", []).append(f"{hook.kind} {hook.call}")
    return {slot: list(each) for slot, each in found.items()}


_KINDS = ("guard", "transform", "observer")


def _compare_tools(old: Plan, new: Plan) -> Iterator[PlanChange]:
    for name in list_both(old.tools, new.tools):
        before, after = old.tools.get(name), new.tools.get(name)
        if before is None or after is None:
            shown: list[Json] = [None if each is None else each.effects for each in (before, after)]
            yield PlanChange("tool", Action.ADDED if before is None else Action.REMOVED, None, name, shown[0], shown[1])
            continue
        yield from compare_values("tool-effects", before.effects, after.effects, name=name)
        yield from compare_values("tool-source", _show_source(before), _show_source(after), name=name)
        yield from compare_values("tool-description", before.description, after.description, name=name)
        if before.schema is None and after.schema is None:
            yield from compare_values("tool-schema", before.digest, after.digest, name=name)
        else:
            texts = (text_of(old, before.schema), text_of(new, after.schema))
            yield from compare_contracts("tool-schema", (before.schema, after.schema), texts, name)


def _show_source(given: Tool) -> Json:
    return {"origin": given.origin, "server": given.server, "command": list(given.command)}
