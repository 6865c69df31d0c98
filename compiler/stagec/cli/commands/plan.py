"""`stagec plan`: show the content of a plan."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import join

import click

from stagec.cli import options
from stagec.cli.completions import complete_node
from stagec.cli.report import dump_document, put_as
from stagec.cli.running.inputs import verify_file
from stagec.cli.sheet import Row, Sheet, join_runs, split_runs
from stagec.cli.streams import put_bytes, put_lines
from stagec.cli.wording import (
    describe_admission,
    describe_edge,
    describe_gate,
    describe_retry,
    describe_supply,
    describe_target,
    format_value,
    join_names,
    name_act,
    shorten,
)
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import replace, value
from stagec.core.words import format_count, format_duration, quote, shorten_digest
from stagec.ir.plan import FORMAT, Loaded, Plan
from stagec.ir.plan.act import Act, Command, Converse, Delegate, Process, ProcessInput, Prompt, Rest, Template
from stagec.ir.plan.codec import write
from stagec.ir.plan.document import Facts, Input, Server, Tool, Validator
from stagec.ir.plan.gate import Validation
from stagec.ir.plan.node import Node, Pick, Schedule, list_targets
from stagec.ir.plan.soundness import dangling, find_reached
from stagec.ir.policies import describe_policy

_MOST = 8
"""Cycles that are printed one by one."""


def draw_overview(sheet: Sheet, loaded: Loaded) -> None:
    """Write an overview of a plan: its facts, its nodes with their edges, its surroundings and its sources."""
    plan, page = loaded.plan, _Overview(loaded.plan, sheet)
    sheet.heading(plan.id if plan.title is None else f"{plan.id}: {plan.title}")
    sheet.row("version", *(each for each in (plan.version,) if each is not None))
    sheet.row("format", FORMAT)
    sheet.row("digest", loaded.digest)
    sheet.row("entries" if len(plan.entries) > 1 else "entry", *page.list_entries(sheet.arrow))
    sheet.row("limits", page.describe_limits())
    sheet.row("proved", *(_describe_facts(plan.facts) if plan.facts is not None else ()))
    judge: list[str] = []
    if plan.judge is not None:
        settings = ", ".join(f"{name} {format_value(each)}" for name, each in plan.judge.settings.items())
        judge.append(f"{plan.judge.kind}{f': {settings}' if settings else ''}")
    sheet.row("judge", *judge)
    sheet.row("session", *page.describe_session())
    size = sum(map(len, plan.contents.values()))
    sheet.row("texts", f"{len(plan.contents):,}, with {size:,} characters in all")
    sheet.heading(f"{shorten(plan.names.node)}s")
    sheet.table(page.list_nodes(sheet.arrow))
    page.draw_surroundings()


@value
class _Overview:
    """The parts of a page about a plan."""

    plan: Plan
    sheet: Sheet

    def list_entries(self, arrow: str) -> Iterator[str]:
        """Yield the entries."""
        for selected, entry in self.plan.entries.items():
            begun = shorten(entry) if isinstance(entry, str) else describe_target(entry)
            if len(self.plan.entries) == 1 and not selected:
                yield begun
            else:
                usual = " (if none is asked for)" if selected == self.plan.entry and len(self.plan.entries) > 1 else ""
                yield f"{shorten(selected) or repr('')} {arrow} {begun}{usual}"

    def describe_limits(self) -> str:
        """Return how much a run may take."""
        limits = self.plan.limits
        together = f"; at most {limits.parallel:,} at the same time" if limits.parallel > 1 else ""
        if limits.deadline:
            together = f"{together}; a run fails after {format_duration(limits.deadline)}"
        if limits.executions is None:
            return f"none is needed: no {shorten(self.plan.names.node)} can repeat{together}"
        ended = f"a run that needs more ends as {limits.reached}"
        return f"at most {limits.executions:,} {shorten(self.plan.names.node)} executions, {ended}{together}"

    def describe_session(self) -> Iterator[str]:
        """Yield the facts about a run as a whole."""
        if self.plan.session is not None:
            if self.plan.session.mode is not None:
                yield f"security mode {self.plan.session.mode}"
            for hook in self.plan.session.hooks:
                yield f"{hook.call}: {hook.kind}, {hook.when} {hook.stage}"

    def list_nodes(self, arrow: str) -> Iterator[Row]:
        """Yield the nodes with what leads where."""
        schedules = [entry for entry in self.plan.entries.values() if isinstance(entry, Schedule)]
        needs = {name: each for schedule in schedules for name, each in schedule.needs.items()}
        for name in dict.fromkeys(
            (*find_reached(self.plan), *self.plan.nodes)
        ):  # as runs come to them, then the others
            node, act = self.plan.nodes[name], self.plan.nodes[name].act
            if isinstance(act, Process):
                yield (name, name_act(act)), tuple(_describe_stage(node, act, needs.get(name, ())))
            else:
                yield (name, node.kind or "", name_act(act)), tuple(describe_edge(edge, arrow) for edge in node.edges)

    def draw_surroundings(self) -> None:
        """Write what the nodes use, and what the plan was made of."""
        tables: dict[str, list[Row]] = {
            "choices": [
                ((name,), (join_names(sorted({*each.values()}), "or"),)) for name, each in self.plan.choices.items()
            ],
            "inputs": [_describe_input(name, each) for name, each in self.plan.inputs.items()],
            "tools": [describe_tool(name, each) for name, each in self.plan.tools.items()],
            "servers": [((name,), tuple(_describe_server(each))) for name, each in self.plan.servers.items()],
            "validators": [((name,), tuple(_describe_validator(each))) for name, each in self.plan.validators.items()],
            "sources": [((shorten_digest(digest),), (file,)) for file, digest in self.plan.sources.items()],
        }
        for heading, rows in tables.items():
            if rows:
                self.sheet.heading(heading)
                self.sheet.table(rows)


def _describe_facts(facts: Facts) -> Iterator[str]:
    executions = f"{facts.executions:,} execution{'' if facts.executions == 1 else 's'}"
    yield f"a run has at most {executions}, with {facts.turns:,} turns of models"
    if facts.done:
        yield f"can end as done after {join_names(facts.done, 'or')}"
    if facts.failed:
        yield f"can end as failed after {join_names(facts.failed, 'or')}"
    if facts.interrupted:
        yield f"can end as interrupted after {join_names(facts.interrupted, 'or')}"
    if facts.blocked:
        yield f"can end as blocked after {join_names(facts.blocked, 'or')}"
    if facts.cycles:
        number = len(facts.cycles)
        more = f"; {number - _MOST:,} more" if number > _MOST else ""
        yield f"can repeat: {'; '.join(join_names(cycle) for cycle in facts.cycles[:_MOST])}{more}"


def _describe_input(name: str, given: Input) -> Row:
    default = "" if given.default is None else f"default {format_value(given.default)}"
    need = "required" if given.required else default or "optional"
    return (name, need), (shorten_digest(given.schema) if given.schema is not None else "any value",)


def describe_tool(name: str, given: Tool) -> Row:
    """Return a tool with where it comes from, what it may do, and its schema."""
    origin = given.origin if given.server is None else f"{given.origin}: {given.server}"
    schema = given.schema or given.digest
    runs = f"runs {join(given.command)}" if given.command else ""
    details = tuple(filter(None, (runs, "" if schema is None else shorten_digest(schema))))
    return (name, origin, given.effects), details or ("",)


def _describe_server(given: Server) -> Iterator[str]:
    started = " ".join(each for each in (given.command, *given.args, given.url) if each is not None)
    yield started + (f" in {given.cwd}" if given.cwd is not None else "")
    if given.environment:
        yield f"environment: {', '.join(given.environment)}"
    if given.headers:
        yield f"headers: {', '.join(given.headers)}"
    if given.launch is not None:
        yield f"locked as {shorten_digest(given.launch)}"


def _describe_validator(given: Validator) -> Iterator[str]:
    yield given.command
    yield f"succeeds when {_SUCCESS[given.success.kind]}{given.success.argument}".rstrip()
    found = f", with {join_names(given.extract)}" if given.extract else ""
    yield f"else failure {given.pattern}{found}"


_SUCCESS = {
    "empty": "its output is empty",
    "exit": "it ends with ",
    "contains": "its output contains ",
    "matches": "its output matches ",
}


def _describe_stage(node: Node, act: Process, needs: tuple[str, ...]) -> Iterator[str]:
    """Yield the facts about a stage; its end follows from its process."""
    yield f"{act.goal}"
    yield f"after {join_names(needs)}" if needs else "at once"
    retry = describe_retry(node.retry) if node.retry is not None else "one attempt"
    limits = f"{act.limits.warn / 1000:g} s, stopped after {act.limits.interrupt / 1000:g} s"
    yield f"{limits}; {retry}; {'a' if act.checkpoint else 'no'} checkpoint"
    if act.inputs:
        yield f"reads {', '.join(f'{shorten(name)}: {address(each)}' for name, each in act.inputs.items())}"
    if act.outputs:
        yield f"leaves {', '.join(f'{shorten(name)}: {shorten(path)}' for name, path in act.outputs.items())}"
    yield f"runs {shorten(' '.join(act.words))}" if act.words else "runs the program of --executor"


def address(given: ProcessInput) -> str:
    """Return the address of an input, as envelopes write it."""
    parts = (each for each in (given.node, given.path, given.url) if each is not None)
    return shorten("/".join(parts))


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
        """Yield the nodes that wait for a node in each schedule that contains it."""
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
                yield from _describe_asking(act)
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
            self.sheet.add_quotation([(_format_json_node_page(self.plan.contents[content]), None)])


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


def _describe_asking(act: Prompt | Converse) -> Iterator[str]:
    if act.model is not None:
        yield f"model {act.model}"
    yield from describe_policy(act.policy)
    if isinstance(act, Converse) and act.deadline:
        yield f"a result within {format_duration(act.deadline)}"


def _describe_prompt(act: Prompt) -> Iterator[str]:
    yield from _describe_asking(act)
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


def _format_json_node_page(text: str) -> str:
    """Return a JSON text with blanks, or as it is when it cannot be written again."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return text


def format_plan(loaded: Loaded) -> str:
    """Return a plan and its digest, with blanks."""
    return dump_document({"digest": loaded.digest, "plan": write(loaded.plan)})


def format_node(plan: Plan, name: str) -> str:
    """Return a node and the contents that it refers to, with blanks."""
    node = plan.nodes[name]
    alone = replace(plan, nodes={name: node}, contents={}, inputs={}, tools={}, system=None)
    needed = sorted(each for table, each in dangling(alone) if table == "contents")
    return dump_document({"id": name, "node": write(node), "contents": {each: plan.contents[each] for each in needed}})


@value
class ShowRequest:
    """The arguments and options as given; None where one is absent."""

    path: Path
    node: str | None = None
    content: str | None = None
    output_format: str = "text"


def show(request: ShowRequest) -> None:
    """Print what was asked for; raise `Failure` for a plan that is refused, and for what is not in it."""
    if request.content is not None and (request.node is not None or request.output_format == "json"):
        raise Failure("--content excludes --node and --format")
    loaded = verify_file(request.path, Exit.FINDINGS)
    if request.content is not None:
        # the one text whose digest begins so, with or without `sha256:`
        wanted = f"sha256:{request.content.removeprefix('sha256:').lower()}"
        found = [name for name in loaded.plan.contents if name.startswith(wanted)]
        if len(found) != 1:
            why = f"the digests of {len(found)} texts begin with" if found else "no text has the digest"
            raise Failure(f"{why} {quote(request.content)}")
        _put_content(loaded.plan.contents[found[0]])
        return
    if request.node is not None:
        node = request.node
        if node not in loaded.plan.nodes:
            raise Failure(f"no node is called {quote(node)}{hint(node, NameIndex(loaded.plan.nodes))}")
    put_as(
        request.output_format,
        lambda sheet: _draw(sheet, loaded, request.node),
        json=lambda: _format_json_show(loaded, request.node),
    )


def _draw(sheet: Sheet, loaded: Loaded, node: str | None) -> None:
    if node is None:
        draw_overview(sheet, loaded)
    else:
        draw_node_page(sheet, loaded.plan, node)


def _format_json_show(loaded: Loaded, node: str | None) -> str:
    try:
        return format_plan(loaded) if node is None else format_node(loaded.plan, node)
    except RecursionError as error:
        raise Failure("a value of the plan is nested too deeply to be printed") from error


def _put_content(text: str) -> None:
    """Print exact bytes for programs, and nothing that could play tricks to a terminal."""
    if sys.stdout.isatty():
        put_lines(*(line.expandtabs() for line in text.removesuffix("\n").split("\n")))
    else:
        put_bytes(text.encode())


@click.command("plan", short_help="Show the content of a plan.")
@click.argument("path", metavar="PLAN", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--node", metavar="NODE", shell_complete=complete_node, help="Print all of one node, with its prompt and schema."
)
@click.option("--content", metavar="DIGEST", help="Print one text unchanged; the first digits are enough.")
@options.output_format("text", "json", default="text")
def show_plan(path: Path, node: str | None, content: str | None, output_format: str) -> None:
    """Print the content of PLAN: entries, limits, facts, nodes with their edges, inputs, tools and sources.

    `-` reads the plan from standard input. stagec refuses every plan that `stagec verify` refuses.
    In prompts, `{{path}}` marks where a value is inserted.

    Exit status: 0 shown, 1 the plan is refused, 2 usage or environment, 4 internal error.
    """
    show(ShowRequest(path, node, content, output_format))
