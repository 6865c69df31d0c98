"""A whole plan at a glance."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import join

from stagec.cli.sheet import Row, Sheet
from stagec.cli.wording import (
    describe_edge,
    describe_retry,
    describe_target,
    format_value,
    join_names,
    name_act,
    shorten,
)
from stagec.core.value import value
from stagec.core.words import shorten_digest
from stagec.plan import FORMAT, Loaded, Plan
from stagec.plan.act import Process, ProcessInput
from stagec.plan.document import Facts, Input
from stagec.plan.node import Node, Schedule
from stagec.plan.references import find_reached
from stagec.plan.surroundings import Server, Tool, Validator

_MOST = 8
"""Cycles that are printed one by one."""


def draw_overview(sheet: Sheet, loaded: Loaded) -> None:
    """Write what a plan is, its nodes with what leads where, what they need, and what the plan was made of."""
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
        """Yield where runs begin."""
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
        if limits.executions is None:
            return f"none is needed: no {shorten(self.plan.names.node)} can repeat{together}"
        ended = f"a run that needs more ends as {limits.reached}"
        return f"at most {limits.executions:,} {shorten(self.plan.names.node)} executions, {ended}{together}"

    def describe_session(self) -> Iterator[str]:
        """Yield what holds for a run as a whole."""
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
    """Yield what is worth knowing of a stage; how it ends follows from its process."""
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
    """Return where an input is, as envelopes write it."""
    parts = (each for each in (given.node, given.path, given.url) if each is not None)
    return shorten("/".join(parts))
