"""A whole plan at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.cli.commands.plan.stage_rows import describe_stage, find_needs
from stagec.cli.sheet import Row, Sheet
from stagec.cli.wording import describe_edge, describe_target, format_value, join_names, name_act, shorten
from stagec.core.words import shorten_digest
from stagec.plan import FORMAT, Loaded, Plan
from stagec.plan.act import Process
from stagec.plan.document import Facts, Input
from stagec.plan.references import find_reached
from stagec.plan.surroundings import Server, Tool, Validator

_MOST = 8
"""Cycles that are printed one by one."""


def draw_overview(sheet: Sheet, loaded: Loaded) -> None:
    """Write what a plan is, its nodes with what leads where, what they need, and what the plan was made of."""
    plan = loaded.plan
    sheet.heading(plan.id if plan.title is None else f"{plan.id}: {plan.title}")
    sheet.row("version", *(each for each in (plan.version,) if each is not None))
    sheet.row("format", FORMAT)
    sheet.row("digest", loaded.digest)
    sheet.row("entries" if len(plan.entries) > 1 else "entry", *_list_entries(plan, sheet.arrow))
    sheet.row("limits", _describe_limits(plan))
    sheet.row("proved", *(_describe_facts(plan.facts) if plan.facts is not None else ()))
    sheet.row("judge", *_describe_judge(plan))
    sheet.row("session", *_describe_session(plan))
    sheet.row("texts", _describe_contents(plan))
    sheet.heading(f"{shorten(plan.names.node)}s")
    sheet.table(_list_nodes(plan, sheet.arrow))
    _draw_surroundings(sheet, plan)


def _list_entries(plan: Plan, arrow: str) -> Iterator[str]:
    for selected, entry in plan.entries.items():
        begun = shorten(entry) if isinstance(entry, str) else describe_target(entry)
        if len(plan.entries) == 1 and not selected:
            yield begun
        else:
            usual = " (if none is asked for)" if selected == plan.entry and len(plan.entries) > 1 else ""
            yield f"{shorten(selected) or repr('')} {arrow} {begun}{usual}"


def _describe_limits(plan: Plan) -> str:
    limits = plan.limits
    together = f"; at most {limits.parallel:,} at the same time" if limits.parallel > 1 else ""
    if limits.executions is None:
        return f"none is needed: no {shorten(plan.names.node)} can repeat{together}"
    ended = f"a run that needs more ends as {limits.reached}"
    return f"at most {limits.executions:,} {shorten(plan.names.node)} executions, {ended}{together}"


def _describe_facts(facts: Facts) -> Iterator[str]:
    executions = f"{facts.executions:,} execution{'' if facts.executions == 1 else 's'}"
    yield f"a run has at most {executions}, with {facts.turns:,} turns of models"
    if facts.done:
        yield f"can end as done after {join_names(facts.done, 'or')}"
    if facts.failed:
        yield f"can end as failed after {join_names(facts.failed, 'or')}"
    if facts.interrupted:
        yield f"can end as interrupted after {join_names(facts.interrupted, 'or')}"
    if facts.cycles:
        yield f"can repeat: {'; '.join(join_names(cycle) for cycle in facts.cycles[:_MOST])}{_more(len(facts.cycles))}"


def _more(number: int) -> str:
    return f"; {number - _MOST:,} more" if number > _MOST else ""


def _describe_judge(plan: Plan) -> Iterator[str]:
    if plan.judge is not None:
        settings = ", ".join(f"{name} {format_value(each)}" for name, each in plan.judge.settings.items())
        yield f"{plan.judge.kind}{f': {settings}' if settings else ''}"


def _describe_session(plan: Plan) -> Iterator[str]:
    if plan.session is not None:
        if plan.session.mode is not None:
            yield f"security mode {plan.session.mode}"
        for hook in plan.session.hooks:
            yield f"{hook.call}: {hook.kind}, {hook.when} {hook.stage}"


def _describe_contents(plan: Plan) -> str:
    size = sum(map(len, plan.contents.values()))
    return f"{len(plan.contents):,}, with {size:,} characters in all"


def _list_nodes(plan: Plan, arrow: str) -> Iterator[Row]:
    needs = find_needs(plan)
    for name in _order_nodes(plan):
        node, act = plan.nodes[name], plan.nodes[name].act
        if isinstance(act, Process):
            yield (name, name_act(act)), tuple(describe_stage(node, act, needs.get(name, ())))
        else:
            yield (name, node.kind or "", name_act(act)), tuple(describe_edge(edge, arrow) for edge in node.edges)


def _order_nodes(plan: Plan) -> Iterable[str]:
    """Return the nodes as runs come to them, then the others."""
    return dict.fromkeys((*find_reached(plan), *plan.nodes))


def _draw_surroundings(sheet: Sheet, plan: Plan) -> None:
    tables: dict[str, list[Row]] = {
        "choices": [((name,), (join_names(sorted({*each.values()}), "or"),)) for name, each in plan.choices.items()],
        "inputs": [_describe_input(name, each) for name, each in plan.inputs.items()],
        "tools": [describe_tool(name, each) for name, each in plan.tools.items()],
        "servers": [((name,), tuple(_describe_server(each))) for name, each in plan.servers.items()],
        "validators": [((name,), tuple(_describe_validator(each))) for name, each in plan.validators.items()],
        "sources": [((shorten_digest(digest),), (file,)) for file, digest in plan.sources.items()],
    }
    for heading, rows in tables.items():
        if rows:
            sheet.heading(heading)
            sheet.table(rows)


def _describe_input(name: str, given: Input) -> Row:
    default = "" if given.default is None else f"default {format_value(given.default)}"
    need = "required" if given.required else default or "optional"
    return (name, need), (shorten_digest(given.schema) if given.schema is not None else "any value",)


def describe_tool(name: str, given: Tool) -> Row:
    """Return a tool with where it comes from, what it may do, and its schema."""
    origin = given.origin if given.server is None else f"{given.origin}: {given.server}"
    schema = given.schema or given.digest
    return (name, origin, given.effects), (shorten_digest(schema) if schema is not None else "",)


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
    "empty": "it prints nothing",
    "exit": "it ends with ",
    "contains": "what it prints contains ",
    "matches": "what it prints matches ",
}
