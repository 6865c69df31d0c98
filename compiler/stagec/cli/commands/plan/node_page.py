"""All of one node of a plan."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stagec.cli.commands.plan.overview import describe_tool
from stagec.cli.sheet import Sheet, join_runs, split_runs
from stagec.cli.wording import (
    describe_admission,
    describe_edge,
    describe_gate,
    describe_retry,
    describe_supply,
    format_value,
    join_names,
    shorten,
)
from stagec.core.value import value
from stagec.core.words import format_count, shorten_digest
from stagec.plan import Plan
from stagec.plan.act import Act, Command, Converse, Delegate, Process, Prompt, Rest
from stagec.plan.gate import Validation
from stagec.plan.node import Node, Pick, Schedule
from stagec.plan.references import list_targets
from stagec.plan.template import Template


def draw_node_page(sheet: Sheet, plan: Plan, name: str) -> None:
    """Write what a node does, when, what becomes of it, and its prompt and schemas."""
    _NodePage(sheet, plan).draw(name)


@value
class _NodePage:
    """A page about a node of a plan."""

    sheet: Sheet
    plan: Plan

    def draw(self, name: str) -> None:
        """Write what a node does, when, what becomes of it, and its prompt and schemas."""
        node = self.plan.nodes[name]
        self.sheet.heading(name if node.title in {None, name} else f"{name}: {node.title}")
        self.sheet.row("flow", self.plan.id)
        self.sheet.row("kind", *([node.kind] if node.kind is not None else []))
        self.sheet.row("from", *self._list_origins(name))
        self.sheet.row("act", *self._describe_act(node.act))
        lines = () if node.admission is None else describe_admission(node.admission, hooked="gate" in node.hooks)
        self.sheet.row("admitted", *lines)
        self.sheet.row("gate", *describe_gate(node.gate))
        self.sheet.row("retry", *([describe_retry(node.retry)] if node.retry is not None else []))
        self.sheet.row("checked", *(_describe_validation(node.validation) if node.validation is not None else ()))
        self.sheet.row("hooks", *(f"{phase}: {call}" for phase, call in node.hooks.items()))
        self.sheet.row("moves", *(describe_edge(edge, self.sheet.arrow) for edge in node.edges))
        self.sheet.row("then", *self._list_dependents(name))
        act = node.act
        if isinstance(act, Prompt) and act.variables:
            self.sheet.heading("variables")
            self.sheet.table(((name,), (describe_supply(each),)) for name, each in act.variables.items())
        self._draw_tools(node.act)
        self._draw_texts(node)

    def _list_origins(self, name: str) -> Iterator[str]:
        for selected, entry in self.plan.entries.items():
            begins = entry.needs.get(name) == () if isinstance(entry, Schedule) else entry == name
            if begins:
                yield "the start of a run" + (f" under {shorten(selected)}" if selected else "")
        # what a node needs in each schedule that it is in
        led = (edge.target for node in self.plan.nodes.values() for edge in node.edges)
        for each in (*self.plan.entries.values(), *led):
            if isinstance(each, Schedule) and name in each.needs:
                needs = each.needs[name]
                if needs:
                    yield f"the end of {join_names(needs)} as done"
        choices = {choices for choices, nodes in self.plan.choices.items() if name in nodes.values()}
        for other, node in self.plan.nodes.items():
            leading = (
                edge
                for edge in node.edges
                if name in list_targets(edge.target)
                or (isinstance(edge.target, Pick) and edge.target.choices in choices)
            )
            outcomes = dict.fromkeys(edge.on for edge in leading)
            if outcomes:
                yield f"{shorten(other)} on {join_names(outcomes, 'or')}"

    def _list_dependents(self, name: str) -> Iterator[str]:
        """Yield what waits for a node in each schedule that it is in."""
        led = (edge.target for node in self.plan.nodes.values() for edge in node.edges)
        for each in (*self.plan.entries.values(), *led):
            if isinstance(each, Schedule):
                followers = [other for other, needs in each.needs.items() if name in needs]
                if followers:
                    yield f"its end as done lets {join_names(followers)} begin, once all that they need has ended"

    def _describe_act(self, act: Act) -> Iterator[str]:
        """Yield in words what a node does."""
        match act:
            case Prompt():
                yield "prompt: a model is asked for one structured answer"
                yield from _describe_prompt(act)
            case Converse():
                turns = f"{act.turns:,} turn{'' if act.turns == 1 else 's'}"
                yield f"converse: a model works with tools, at most {turns}, until it calls {shorten(act.completion)}"
            case Command():
                yield f"command: {' '.join(join_runs(word, self.plan.contents) for word in act.words)}"
                yield f"stopped after {act.milliseconds:,} ms"
            case Process():
                yield f"process: {act.goal}"
                yield from _describe_process(act)
            case Delegate():
                yield f"agent: the plan of {shorten(act.agent)} is run, {shorten_digest(self.plan.plans[act.agent])}"
                yield from self._describe_agent(act)
            case Rest():
                yield "rest: the run ends"

    def _describe_agent(self, act: Delegate) -> Iterator[str]:
        for outcome, comment in act.comments.items():
            yield f"comments after {shorten(outcome)}: {shorten(join_runs(comment, self.plan.contents))}"
        if act.closes:
            after = "" if act.condition is None else f" after {shorten(act.condition)}"
            yield f"closes the issue{after} when the run is completed"

    def _draw_tools(self, act: Act) -> None:
        tools = act.tools or () if isinstance(act, Prompt | Converse) else ()
        if tools:
            self.sheet.heading("tools")
            self.sheet.table(describe_tool(name, self.plan.tools[name]) for name in tools)

    def _draw_texts(self, node: Node) -> None:
        """Write the prompts and schemas of a node, each in full."""
        act = node.act
        if isinstance(act, Prompt | Converse) and act.prompt is not None:
            if isinstance(act, Prompt) and self.plan.system is not None:
                self._draw_template("system prompt", self.plan.system.prompt)
            self._draw_template("prompt", act.prompt)
        for index, each in enumerate((act.repeats or ()) if isinstance(act, Prompt) else (), 1):
            self._draw_template(f"prompt of repeat {index}", each.prompt)
        for pattern, template in (node.validation.prompts if node.validation is not None else {}).items():
            self._draw_template(f"prompt after failure {shorten(pattern)}", template)
        if isinstance(act, Prompt | Converse):
            self._draw_schema("schema", act.schema)
        if isinstance(act, Converse):
            self._draw_schema("schema of its inputs", act.accepts)

    def _draw_template(self, heading: str, template: Template) -> None:
        self.sheet.heading(heading)
        self.sheet.add_quotation(split_runs(template, self.plan.contents))

    def _draw_schema(self, heading: str, content: str | None) -> None:
        if content is not None:
            self.sheet.heading(f"{heading} {shorten_digest(content)}")
            self.sheet.add_quotation([(_format_json(self.plan.contents[content]), None)])


def _describe_process(act: Process) -> Iterator[str]:
    yield f"runs {' '.join(act.words)}" if act.words else "the runner must have a program for it"
    for name, given in act.inputs.items():
        owner = "" if given.node is None else f" of {shorten(given.node)}"
        yield f"reads {shorten(name)}: {given.url or '' if given.path is None else given.path + owner}"
    for name, path in act.outputs.items():
        yield f"leaves {shorten(name)}: {path}"
    limits = act.limits
    stopped = f"SIGINT after {limits.interrupt:,} ms, SIGTERM after {limits.terminate:,}, SIGKILL after {limits.kill:,}"
    yield f"warned after {limits.warn:,} ms; {stopped}"
    yield "may be run again without asking" if act.retryable else "runs again only with consent"
    yield "a checkpoint is written when it has completed" if act.checkpoint else "without a checkpoint"


def _describe_prompt(act: Prompt) -> Iterator[str]:
    if act.model is not None:
        yield f"model {act.model}"
    if act.permission is not None:
        yield f"permission mode {act.permission}"
    if act.prompt is None:
        yield f"the runner must have the prompt {shorten(act.builtin or '')}".rstrip()
    if not act.tools:
        yield "the runner chooses its tools" if act.tools is None else "without tools"
    if act.needed:
        yield f"cannot start without {join_names(act.needed)}"
    if act.repeats is not None:
        yield f"can repeat {format_count(len(act.repeats), 'time')} in a row"


def _describe_validation(given: Validation) -> Iterator[str]:
    conditions = (
        *((each, " before the model is asked") for each in given.preflight),
        *((each, "") for each in given.conditions),
    )
    for each, when in conditions:
        params = ", ".join(f"{name} {format_value(value)}" for name, value in each.params.items())
        yield f"{shorten(each.validator)} must succeed{when}{f', with {params}' if params else ''}"
    attempts = f"; failure {given.attempts:,} ends the run as failed" if given.action == "retry" else ""
    yield f"on failure: {given.action}{attempts}"


def _format_json(text: str) -> str:
    """Return a JSON text with blanks, or as it is when it cannot be written again."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return text
