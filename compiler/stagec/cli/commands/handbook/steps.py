"""The steps of a plan in sentences: their work, their prompt, their answer and their successors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, assert_never

from stagec.cli.sheet import join_runs, split_runs
from stagec.cli.wording import (
    describe_admission,
    describe_conditions,
    describe_delay,
    describe_gate,
    describe_retry,
    describe_supply,
    describe_target,
    join_names,
)
from stagec.core.value import NOTHING, value
from stagec.core.words import format_count, format_duration
from stagec.ir.flow import Flow
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Command, Converse, Delegate, Process, Prompt, Rest, Template
from stagec.ir.plan.node import Edge, Node, Outcome, Pick, Schedule, Stop, Target, list_targets
from stagec.ir.plan.soundness import find_reached
from stagec.ir.policies import describe_policy
from stagec.ir.rights import Label, Rights
from stagec.views.picture.lines import After, follow_ups

_DEEPEST = 6
"""Levels of fields inside fields that are listed; the whole schema stands below the table."""
_DEEPEST_WORDS = 3
"""Levels of lists and choices that one description goes into."""
_MOST = 200
"""Fields of one table."""
_LONGEST = 12
"""Values of an enumeration that are listed."""


@value
class Field:
    """One field of an answer: its path, what it must be, in words, and what its author says of it."""

    path: str
    kind: str
    is_required: bool
    about: str


class FieldTable:
    """The fields of a schema in the order in which it declares them, those of a field below it."""

    def __init__(self, text: str) -> None:
        self.schema = json.loads(text)
        self.text = json.dumps(self.schema, indent=2, ensure_ascii=False)
        self.fields: list[Field] = []
        self._add(self.schema, "", 0)
        self.has_meanings = any(each.about for each in self.fields)

    def _add(self, schema: Any, above: str, depth: int) -> None:
        """List the members of an object, and of the objects in a list, as far as they have names."""
        required: set[str] = set()
        members: dict[str, Any] = {}
        for part in self._list_parts(schema):
            required.update(part.get("required", ()))
            members.update(part.get("properties", {}))
        for name, inner in members.items():
            if len(self.fields) >= _MOST:
                return
            path = f"{above}{name}"
            self.fields.append(Field(path, self.describe(inner), name in required, self._find_description(inner)))
            if depth < _DEEPEST:
                self._add(inner, f"{path} → ", depth + 1)
                for items in [part.get("items") for part in self._list_parts(inner)]:
                    self._add(items, f"{path}, each → ", depth + 1)

    def _list_parts(self, schema: Any) -> Iterator[Mapping[str, Any]]:
        """Yield a schema, what it refers to inside of this document, and the parts that all hold of it."""
        seen: list[int] = []
        todo = [schema]
        while todo:
            part = todo.pop()
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.append(id(part))
            yield part
            todo += reversed([self._follow(part.get("$ref")), *part.get("allOf", ())])

    def _follow(self, reference: Any) -> Any:
        """Return the target of a reference inside of the document; None if it leads elsewhere."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return self.schema if reference == "#" else None
        found = self.schema
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and key.isdigit() and int(key) < len(found):
                found = found[int(key)]
            elif isinstance(found, dict) and key in found:
                found = found[key]
            else:
                return None
        return found

    def _find_description(self, schema: Any) -> str:
        found = (part.get("description", part.get("title")) for part in self._list_parts(schema))
        return next((each for each in found if isinstance(each, str)), "")

    def describe(self, schema: Any, depth: int = 0) -> str:
        """Return in words what a value must be: its type, its values and its bounds; a schema may be inside itself."""
        if schema is False:
            return "must be absent"
        if depth > _DEEPEST_WORDS:
            return "…"
        kinds: list[str] = []
        bounds: list[str] = []
        for part in self._list_parts(schema):
            kinds += (each for each in self._list_kinds(part, depth + 1) if each not in kinds)
            told = {key: part[key] for key in _BOUNDS if not isinstance(part.get(key, True), bool)}
            bounds += (_BOUNDS[key].format(_show(each)) for key, each in told.items())
        return ", ".join([" and ".join(kinds) or "any value", *bounds])

    def _list_kinds(self, part: Mapping[str, Any], depth: int) -> Iterator[str]:
        if "const" in part:
            yield f"exactly {_show(part['const'])}"
        elif "enum" in part:
            listed = [_show(each) for each in part["enum"][:_LONGEST]]
            more = len(part["enum"]) - len(listed)
            yield f"one of {', '.join(listed)}{f' and {more} more' if more else ''}"
        elif "type" in part:
            types = part["type"] if isinstance(part["type"], list) else [part["type"]]
            words = " or ".join(_TYPES.get(each, str(each)) for each in types)
            items = part.get("items")
            yield (
                f"{words} of: {self.describe(items, depth)}"
                if types == ["array"] and isinstance(items, dict)
                else words
            )
        for key in ("oneOf", "anyOf"):
            ways = [self.describe(each, depth) for each in part.get(key, ())[:_LONGEST]]
            if ways and len(set(ways)) > 1:
                yield f"either {', or '.join(dict.fromkeys(ways))}"


_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "group of fields",
    "null": "empty",
}


_BOUNDS = {
    "minLength": "{} or more characters",
    "maxLength": "up to {} characters",
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minItems": "{} or more entries",
    "maxItems": "up to {} entries",
    "pattern": "of the form {}",
    "format": "format {}",
}


def _show(given: Any) -> str:
    return f"“{given}”" if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


_TOGETHER = ", when all that run together have ended"


@value
class Following:
    """For each step what may follow its end, and for each step of a schedule those that need it."""

    after: Mapping[str, tuple[After, ...]]
    needed: Mapping[str, tuple[str, ...]]

    def is_last(self, step: str) -> bool:
        """Tell whether a run may be complete when a step has ended."""
        return not self.needed[step] if step in self.needed else None in self._list(step)

    def describe(self, step: str) -> tuple[str, tuple[str, ...]]:
        """Return the successors in words, and the steps among them; no words if only the run ends."""
        if step in self.needed:
            need = self.needed[step]
            if not need:
                return "the run ends as done when all other steps have ended", ()
            return "each step that needs it begins when all that it needs is done", need
        known = self._list(step)
        told = [
            "the run ends as done" if each is None else f"{each[0]}{'' if each[1] else _TOGETHER}" for each in known
        ]
        names = tuple(each[0] for each in known if each is not None)
        return ", or ".join(told) if names else "", names

    def _list(self, step: str) -> tuple[After, ...]:
        return self.after.get(step) or (None,)


def read_following(flow: Flow) -> Following:
    """Return the successors of the steps of a flow."""
    needed: dict[str, list[str]] = {}
    for schedule in flow.schedules.values():
        for step, needs in schedule.needs.items():
            needed.setdefault(step, [])
            for each in needs:
                needed.setdefault(each, []).append(step)
    return Following(follow_ups(flow), {step: tuple(some) for step, some in needed.items()})


def describe_beginning(target: Target) -> str:
    """Return the steps that a run begins with; of a schedule those that need nothing."""
    if not isinstance(target, Schedule):
        return describe_target(target)
    first = [step for step, needs in target.needs.items() if not needs]
    rest = "; every other step begins as soon as the steps that it needs are done"
    return f"{join_names(first)}{rest if len(first) < len(target.needs) else ''}"


Passage = tuple[tuple[str, bool], ...]
"""A text in pieces, each with whether it is a place that a value takes."""


@value
class ShownPrompt:
    """Something that a model is told: what it is called, and the text."""

    title: str
    passage: Passage


@value
class NextStep:
    """The successors of an outcome: the conditions in words, the target, and the steps that it can lead to."""

    outcome: str
    when: str
    where: str
    leads: tuple[str, ...]
    ends: str | None


@value
class UsedTool:
    """A tool that a step may call: its effects, its source, and its author's description."""

    name: str
    effects: str
    origin: str
    about: str


@value
class StepPage:
    """The page of a step in the handbook; `agent` is the flow that runs inside of it."""

    name: str
    title: str
    kind: str
    sentences: tuple[str, ...]
    receives: Mapping[str, str] = NOTHING
    texts: tuple[ShownPrompt, ...] = ()
    answer: FieldTable | None = None
    tools: tuple[UsedTool, ...] = ()
    moves: tuple[NextStep, ...] = ()
    gate: tuple[str, ...] = ()
    agent: str | None = None


class StepWriter:
    """Writes the pages of a plan's steps."""

    def __init__(self, plan: Plan, rights: Mapping[str, Rights], following: Following) -> None:
        self.plan = plan
        self._following = following
        self._rights = rights

    @cached_property
    def _labels(self) -> Mapping[tuple[str, str | None], set[str]]:
        """The effects of each tool, by its name and the step that may call it, and by None for all steps."""
        found: dict[tuple[str, str | None], set[str]] = {}
        for owner, rights in ((each, self._rights.get(each)) for each in self.plan.nodes):
            for right in rights.tools if rights is not None else ():
                labels = {_LABELS[each] for each in rights.labels_of(right)} if rights is not None else set[str]()
                for step in (owner, None):
                    found.setdefault((right.name, step), set()).update(labels)
        return found

    def write_all(self) -> tuple[StepPage, ...]:
        """Return the page of every step, those first that runs come to first."""
        names = dict.fromkeys((*find_reached(self.plan), *self.plan.nodes))
        return tuple(self._write(name, self.plan.nodes[name]) for name in names)

    def _write(self, name: str, node: Node) -> StepPage:
        act = node.act
        schema = act.schema if isinstance(act, Prompt | Converse) else None
        used = act.tools or () if isinstance(act, Prompt | Converse) else ()
        return StepPage(
            name,
            node.title if node.title not in {None, name} else "",
            node.kind or "",
            (*self._tell_act(node), *self._tell_conditions(node)),
            self._list_received(node),
            tuple(self._list_texts(node)),
            None if schema is None else FieldTable(self.plan.contents[schema]),
            tuple(self.describe_tool(each, name) for each in used),
            tuple(self._list_moves(name, node)),
            tuple(describe_gate(node.gate)),
            act.agent if isinstance(act, Delegate) else None,
        )

    def _tell_act(self, node: Node) -> Iterator[str]:
        """Yield the work of a step in words."""
        act = node.act
        match act:
            case Prompt():
                yield from self._tell_prompt(act)
            case Converse():
                yield f"A model works with tools for at most {format_count(act.turns, 'turn')}."
                yield f"It hands its result in by calling {act.completion}."
                yield from _tell_asking(act)
            case Command():
                yield f"A program runs: {' '.join(join_runs(word, self.plan.contents) for word in act.words)}"
                yield f"It is stopped after {format_duration(act.milliseconds)}."
            case Process():
                yield from self._tell_process(act)
            case Delegate():
                yield from self._tell_agent(act)
            case Rest():
                yield "The run has reached its last phase, and ends."
            case _:
                assert_never(act)

    def _tell_prompt(self, act: Prompt) -> Iterator[str]:
        yield "A model is asked once, and answers with the fields below."
        yield from _tell_asking(act)
        if act.prompt is None:
            yield f"The program that runs the flow supplies the prompt {act.builtin}."
        if act.tools is None:
            yield "The program that runs the flow chooses the tools."
        if act.permission is not None:
            yield f"Its permission mode is {act.permission}."
        if act.repeats is not None:
            yield f"It can repeat {format_count(len(act.repeats), 'time')} in a row."

    def _tell_agent(self, act: Delegate) -> Iterator[str]:
        yield f"The agent {act.agent} runs from its beginning to its end."
        if act.closes:
            after = "" if act.condition is None else f" after {act.condition}"
            yield f"It closes the issue{after} when the run is completed."

    def _tell_process(self, act: Process) -> Iterator[str]:
        yield f"A process runs. Its goal: {act.goal}"
        if act.words:
            yield f"Its command: {' '.join(act.words)}"
        for name, given in act.inputs.items():
            owner = "" if given.node is None else f", an output of {given.node}"
            yield f"It reads {name}: {given.url if given.path is None else given.path}{owner}."
        for name, path in act.outputs.items():
            yield f"It leaves {name}: {path}."
        warn, kill = format_duration(act.limits.warn), format_duration(act.limits.kill)
        yield f"It is warned after {warn} and killed after {kill}."
        yield "It may run again without asking." if act.retryable else "It runs again only when a person consents."

    def _tell_conditions(self, node: Node) -> Iterator[str]:
        """Yield the conditions of a step in words: its gate, its attempts, and the checks of its work."""
        if node.admission is not None:
            for each in describe_admission(node.admission, hooked="gate" in node.hooks):
                yield f"Before it starts: {each}."
        if node.retry is not None:
            yield f"It is tried again after a failure: {describe_retry(node.retry)}."
        if node.validation is not None:
            for check in (*node.validation.preflight, *node.validation.conditions):
                yield f"The check {check.validator} must succeed: {self.plan.validators[check.validator].command}"
            yield f"When a check fails: {node.validation.action}."
        for phase, call in node.hooks.items():
            yield f"Python code takes part ({phase}): {call}."

    def _list_received(self, node: Node) -> Mapping[str, str]:
        act = node.act
        given = act.variables if isinstance(act, Prompt) else {}
        return {name: describe_supply(each) for name, each in given.items()}

    def _list_texts(self, node: Node) -> Iterator[ShownPrompt]:
        act = node.act
        if isinstance(act, Prompt | Converse) and act.prompt is not None:
            if isinstance(act, Prompt) and self.plan.system is not None:
                yield self._write_text("System prompt", self.plan.system.prompt)
            yield self._write_text("Prompt", act.prompt)
        for index, each in enumerate((act.repeats or ()) if isinstance(act, Prompt) else (), 1):
            yield self._write_text(f"Prompt of repetition {index}", each.prompt)
        for pattern, template in (node.validation.prompts if node.validation is not None else {}).items():
            yield self._write_text(f"Prompt after the failure {pattern}", template)
        if isinstance(act, Delegate):
            for outcome, comment in act.comments.items():
                yield self._write_text(f"Comment on the issue after {outcome}", comment)

    def _write_text(self, title: str, template: Template) -> ShownPrompt:
        return ShownPrompt(
            title, tuple((text, style is not None) for text, style in split_runs(template, self.plan.contents))
        )

    def describe_tool(self, name: str, step: str | None = None) -> UsedTool:
        """Return the facts about a tool, in the permission mode of a step if there is one."""
        tool = self.plan.tools[name]
        origin = tool.origin if tool.server is None else f"MCP server {tool.server}"
        labels = self._labels.get((name, step), ())
        return UsedTool(name, ", ".join(sorted(labels)) or _EFFECTS[tool.effects], origin, tool.description or "")

    def _list_moves(self, name: str, node: Node) -> Iterator[NextStep]:
        chosen = {edge.on for edge in node.edges if edge.when}
        for edge in node.edges:
            otherwise = "otherwise" if edge.on in chosen else ""
            yield self._describe_move(name, edge, f"when {describe_conditions(edge.when)}" if edge.when else otherwise)

    def _describe_move(self, name: str, edge: Edge, when: str) -> NextStep:
        target = edge.target
        where, leads = self._following.describe(name)
        if where and target == Stop(Outcome.DONE):
            return NextStep(edge.on, when, where, leads, None)
        leads = (
            tuple(dict.fromkeys(self.plan.choices[target.choices].values()))
            if isinstance(target, Pick)
            else list_targets(target)
        )
        ends = str(target.outcome) if isinstance(target, Stop) else None
        told = describe_target(target, "the run ends") + describe_delay(edge.wait)
        return NextStep(edge.on, when, told, leads, ends)


_LABELS = {
    Label.PRIVATE: "reads private data",
    Label.UNTRUSTED: "reads untrusted text",
    Label.WRITE: "changes something",
    Label.SEND: "sends to the outside",
}
_EFFECTS = {"read": "reads only", "mutating": "changes something", "unknown": "not declared"}


def _tell_asking(act: Prompt | Converse) -> Iterator[str]:
    if act.model is not None:
        yield f"The model is {act.model}."
    told = [*describe_policy(act.policy)]
    if told:
        yield f"It is asked with {', '.join(told)}."
    if isinstance(act, Converse) and act.deadline:
        yield f"It fails with `deadline-exceeded` without a result after {format_duration(act.deadline)}."


def describe_limits(plan: Plan, following: Following) -> Iterator[str]:
    """Yield how a run begins, how it can end and what bounds it."""
    for name, entry in plan.entries.items():
        begun = entry if isinstance(entry, str) else describe_beginning(entry)
        chosen = f" for {name}" if name and len(plan.entries) > 1 else ""
        usual = ", which is the usual one" if chosen and name == plan.entry else ""
        yield f"A run{chosen} begins with {begun}{usual}."
    if plan.facts is not None:
        ends = {
            "completes": tuple(filter(following.is_last, plan.facts.done)),
            "fails": plan.facts.failed,
            "is interrupted": plan.facts.interrupted,
            "is blocked": plan.facts.blocked,
        }
        for verb, nodes in ends.items():
            if nodes and len(nodes) < len(plan.nodes):
                yield f"A run {verb} after {join_names(nodes, 'or')}."
        alone = [cycle[0] for cycle in plan.facts.cycles if len(cycle) == 1]
        if alone:
            yield f"Steps that can repeat themselves: {join_names(alone)}."
        for cycle in [each for each in plan.facts.cycles if len(each) > 1][:_CYCLES]:
            yield f"These steps can repeat: {join_names(cycle)}."
    if plan.limits.executions is not None:
        most = format_count(plan.limits.executions, "step")
        yield f"A run has at most {most}; one that needs more ends as {plan.limits.reached}."
    if plan.limits.deadline:
        yield f"A run fails that has not ended after {format_duration(plan.limits.deadline)}."


_CYCLES = 8
"""Cycles that are told one by one."""
