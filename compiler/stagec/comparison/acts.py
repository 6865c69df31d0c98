"""What differs in the acts of one node of two plans."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from stagec.comparison.change import Action, PlanChange
from stagec.comparison.templates import compare_templates, compare_variables
from stagec.comparison.texts import flatten
from stagec.comparison.values import compare_contracts, compare_tables, compare_values, text_of
from stagec.core.json import Json, object_of, text_in
from stagec.plan.act import Act, Command, Converse, Delegate, Process, Prompt
from stagec.plan.act_codecs import ACT
from stagec.plan.codec import TAG
from stagec.plan.document import Plan

Plans = tuple[Plan, Plan]


def compare_acts(old: Act, new: Act, plans: Plans) -> Iterator[PlanChange]:
    """Yield the differences of two acts; of acts of two kinds, that they are."""
    if type(old) is not type(new):
        yield PlanChange("act", Action.CHANGED, before=name_act(old), after=name_act(new))
    elif isinstance(old, Prompt):
        yield from _compare_prompts(old, new, plans)
    elif isinstance(old, Converse):
        yield from _compare_conversations(old, new, plans)
    elif isinstance(old, Command):
        yield from _compare_commands(old, new, plans)
    elif isinstance(old, Process):
        yield from _compare_processes(old, new)
    elif isinstance(old, Delegate):
        yield from _compare_agents(old, new, plans)


def name_act(act: Act) -> str:
    """Return what the format calls an act."""
    return text_in(object_of(ACT.write(act)), TAG) or ""


def _compare_prompts(old: Prompt, new: Any, plans: Plans) -> Iterator[PlanChange]:
    contents = (plans[0].contents, plans[1].contents)
    yield from compare_templates("prompt", old.prompt, new.prompt, contents=contents)
    yield from compare_values("builtin", old.builtin, new.builtin)
    yield from compare_variables("variable", old.variables, new.variables)
    yield from compare_tables("needed", dict.fromkeys(old.needed, True), dict.fromkeys(new.needed, True))
    yield from _compare_schemas("schema", (old.schema, new.schema), plans)
    if old.tools is None or new.tools is None:
        shown: list[Json] = [None if each.tools is None else list(each.tools) for each in (old, new)]
        yield from compare_values("tool-choice", *shown)
    else:
        yield from compare_tables("node-tool", dict.fromkeys(old.tools, True), dict.fromkeys(new.tools, True))
    repeats = (object_of(ACT.write(each)).get("repeats") for each in (old, new))
    yield from compare_values("repeats", *repeats)
    yield from compare_values("model", old.model, new.model)
    yield from compare_values("permission", old.permission, new.permission)


def _compare_conversations(old: Converse, new: Any, plans: Plans) -> Iterator[PlanChange]:
    contents = (plans[0].contents, plans[1].contents)
    yield from compare_templates("prompt", old.prompt, new.prompt, contents=contents)
    yield from compare_tables("node-tool", dict.fromkeys(old.tools, True), dict.fromkeys(new.tools, True))
    yield from compare_values("completion", old.completion, new.completion)
    yield from _compare_schemas("schema", (old.schema, new.schema), plans)
    yield from _compare_schemas("accepts", (old.accepts, new.accepts), plans)
    yield from compare_values("turns", old.turns, new.turns)


def _compare_schemas(topic: str, names: tuple[str | None, str | None], plans: Plans) -> Iterator[PlanChange]:
    yield from compare_contracts(topic, names, (text_of(plans[0], names[0]), text_of(plans[1], names[1])))


def _compare_commands(old: Command, new: Any, plans: Plans) -> Iterator[PlanChange]:
    pairs = zip_longest(old.words, new.words, fillvalue=())
    flat = [(flatten(one, plans[0].contents), flatten(other, plans[1].contents)) for one, other in pairs]
    if any(one != other for one, other in flat):
        shown: list[Json] = ["".join(text for _, text in parts) for both in flat for parts in both]
        yield from compare_values("program", shown[: 2 * len(old.words) : 2], shown[1 : 2 * len(new.words) : 2])
    yield from compare_values("time-limit", old.milliseconds, new.milliseconds)


def _compare_processes(old: Process, new: Any) -> Iterator[PlanChange]:
    before, after = (object_of(ACT.write(each)) for each in (old, new))
    yield from compare_values("prompt", old.goal, new.goal)
    yield from compare_values("program", list(old.words), list(new.words))
    for member, topic in (("inputs", "process-input"), ("outputs", "output")):
        yield from compare_tables(topic, object_of(before.get(member)), object_of(after.get(member)))
    yield from compare_values("retryable", old.retryable, new.retryable)
    yield from compare_values("checkpoint", old.checkpoint, new.checkpoint)
    yield from compare_values("time-limit", before["limits"], after["limits"])


def _compare_agents(old: Delegate, new: Any, plans: Plans) -> Iterator[PlanChange]:
    contents = (plans[0].contents, plans[1].contents)
    yield from compare_values("agent", old.agent, new.agent)
    for outcome in sorted({*old.comments, *new.comments}):
        texts = (each.comments.get(outcome) for each in (old, new))
        yield from compare_templates("comment", *texts, contents=contents, name=outcome)
    closes: list[Json] = [{"closes": each.closes, "condition": each.condition} for each in (old, new)]
    yield from compare_values("closing", *closes)
