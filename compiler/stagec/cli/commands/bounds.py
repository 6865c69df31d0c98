"""`stagec bounds`: how much runs take at most, and at least."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.differences import quote_markdown
from stagec.cli.figures import (
    NAMES,
    NAMES_IN_JSON,
    asks_again,
    describe_least,
    describe_most,
    explain_lack,
    format_dollars,
    list_shown,
    write_way,
)
from stagec.cli.files import name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.cli.report import dump_document, put_as
from stagec.cli.running.assumptions import CostBasis, CostOptions, assume, takes_assumptions
from stagec.cli.running.inputs import verify_file
from stagec.cli.sheet import Row, Sheet
from stagec.cli.sides import is_plan
from stagec.cli.streams import show_progress
from stagec.cli.unfound import choose_flows, explain_missing_flow
from stagec.cli.wording import format_duration, join_names, shorten
from stagec.core.diagnostic import Diagnostic
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote, shorten_digest
from stagec.ir.graph.bounds import Bounds, Repetition, bound
from stagec.ir.graph.figures import EntryBounds, Figure, Joint, UpperBound, Way
from stagec.ir.graph.schedule_bounds import ScheduleBounds
from stagec.ir.graph.usage import Interval, NamedModel, Quantity
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.document import Plan
from stagec.ir.plan.loader import load_agents, read_frame
from stagec.sources.project.configuration import Configuration


@value
class BoundedFlow:
    """A plan, where it is from, and its bounds; `name_file` names its file where the reader stands."""

    plan: Plan
    digest: str
    file: str
    bounds: Bounds
    basis: CostBasis
    name_file: Callable[[str], str] = str

    @property
    def flow(self) -> str:
        """The id of the flow."""
        return self.plan.id


@value
class UnboundedFlow:
    """A flow that has no plan, and why; `name_file` names files where the reader stands."""

    refused: Refused
    errors: tuple[Diagnostic, ...]
    name_file: Callable[[str], str] = str


def find_models(given: BoundedFlow) -> Mapping[str, NamedModel]:
    """Return the models that answer the nodes of a flow and of its agents, by node."""
    plans: tuple[Plan, ...] = (given.plan, *(each.plan for each in load_agents(given.plan).values()))
    choose = given.basis.assumptions.choose
    return {
        name: choose(name, node.act.model if isinstance(node.act, Prompt) else None)
        for plan in plans
        for name, node in plan.nodes.items()
        if isinstance(node.act, Prompt | Converse)
    }


def describe_basis(given: BoundedFlow) -> Iterator[str]:
    """Yield what the figures about models rest on; nothing where no model is named."""
    models = find_models(given)
    named = {each.name: each.price for each in models.values() if each.name is not None}
    if not named:
        return
    table, use = given.basis.table, given.basis.assumptions.use
    yield f"prices of {table.as_of}, {table.file}: {', '.join(map(quote, sorted(named)))}"
    unknown = sorted(name for name, price in named.items() if price is None)
    if unknown:
        yield f"the price table has no row for {join_names(unknown)}: add one, or name another table with --prices"
    steps = f"{_describe(use.responses)} responses of a model until a step has its answer"
    yield f"{steps}; a token is at most {use.characters} characters of a prompt"
    if use.read != Interval() or use.written != Interval(1):
        yield f"{_describe(use.read)} tokens read in a request, {_describe(use.written)} written in a response"


def _describe(span: Interval) -> str:
    if span.most is None:
        return f"{span.least:,} or more" if span.least else "any number of"
    return f"{span.most:,}" if span.least == span.most else f"{span.least:,} to {span.most:,}"


def write_basis(given: BoundedFlow) -> dict[str, Json]:
    """Return what the figures rest on as JSON."""
    table, assumptions = given.basis.table, given.basis.assumptions
    use = assumptions.use
    spans = {"calls": use.calls, "responses": use.responses, "inputTokens": use.read, "outputTokens": use.written}
    return {
        "turnMilliseconds": assumptions.times.turn,
        "leastTurnMilliseconds": assumptions.times.quickest,
        "validatorMilliseconds": assumptions.times.validator,
        **{name: {"least": each.least, "most": each.most} for name, each in spans.items()},
        "tokenCharacters": use.characters,
        "prices": {"asOf": table.as_of, "file": table.file},
        "models": {
            name: {"model": each.name, "priced": each.price is not None} for name, each in find_models(given).items()
        },
    }


_NODES, _FAILURES = 40, 20
"""How many nodes of a chain, and failures, are printed."""


def draw_schedule(sheet: Sheet, plan: Plan, given: ScheduleBounds) -> None:
    """Write the critical path, the width, how much work is without a checkpoint, and what runs after failures."""
    noun = plan.names.node
    sheet.row("planned", f"{format_duration(given.planned)} if each {noun} takes the time that it states")
    sheet.row("critical", _join_chain(given.critical, sheet.arrow))
    if given.slowest != given.critical:
        sheet.row("slowest", _join_chain(given.slowest, sheet.arrow))
    number = format_count(len(given.width), noun)
    least = "" if given.is_width_exact else "at least "
    free = f"; the plan lets {given.parallel:,} run" if len(given.width) > given.parallel else ""
    sheet.row("width", f"{least}{number} could run at the same time{free}: {join_names(given.width)}")
    if len(given.gap) > 1:
        lost = f"up to {format_duration(given.gap_milliseconds)} of work without a checkpoint in between"
        sheet.row("at risk", f"{lost}: {_join_chain(given.gap, sheet.arrow)}")
    sheet.heading(f"what runs after a failure, once {shorten(plan.id)} is resumed")
    failures: list[Row] = []
    for each in given.failures[:_FAILURES]:
        what = f"{format_count(each.nodes, noun)}, up to {format_duration(each.milliseconds)} in a row"
        failures.append(((shorten(each.node),), (what,)))
    if len(given.failures) > _FAILURES:
        failures.append(((f"and {len(given.failures) - _FAILURES:,} more",), ()))
    sheet.table(failures)


def _join_chain(nodes: Sequence[str], arrow: str) -> str:
    """Return a chain, without its middle when it is long."""
    shown = [shorten(node) for node in nodes]
    if len(shown) > _NODES:
        half = _NODES // 2
        shown = [*shown[:half], f"… ({len(shown) - 2 * half:,} more)", *shown[-half:]]
    return f" {arrow} ".join(shown)


_PAGE_ERRORS, _CYCLES, _PARTS = 8, 8, 60
"""How many errors, cycles and parts of a way are printed."""
_PERIOD = 12
"""How many nodes that come again and again are folded."""


def draw_flows(sheet: Sheet, flows: Iterable[BoundedFlow | UnboundedFlow]) -> None:
    """Write the bounds of flows, or why they have none."""
    for each in flows:
        if isinstance(each, BoundedFlow):
            draw_flow(sheet, each)
        else:
            draw_refusal(sheet, each)


def draw_flow(sheet: Sheet, given: BoundedFlow) -> None:
    """Write the bounds of a flow, for each entry, and what in it may be done again."""
    plan = given.plan
    sheet.heading(plan.id if plan.title is None else f"{plan.id}: {plan.title}")
    sheet.row("from", given.name_file(given.file))
    sheet.row("plan", shorten_digest(given.digest))
    limits = plan.limits
    together = f"; at most {limits.parallel:,} at the same time" if limits.parallel > 1 else ""
    if limits.executions is None:
        limit = f"none{together}"
    else:
        limit = f"{format_count(limits.executions, 'step')}; a run that needs more ends as {limits.reached}{together}"
    sheet.row("limit", limit)
    for line in describe_basis(given):
        sheet.row("assumes", line)
    for entry in given.bounds.entries:
        if len(given.bounds.entries) > 1:
            sheet.heading(f"{shorten(plan.id)} from entry {shorten(entry.entry) or repr('')}")
        _draw_entry(sheet, plan, entry)
    if given.bounds.repetitions:
        sheet.heading(f"retries of {shorten(plan.id)}")
        sheet.table(_list_repetitions(given.bounds.repetitions))


def _draw_entry(sheet: Sheet, plan: Plan, entry: EntryBounds) -> None:
    figures = entry.figures
    sheet.row("begins", *(shorten(each) for each in (entry.node,) if each is not None))
    if entry.executions.most is None:
        executions = "no bound: nothing limits how often a run repeats; a limit of executions would"
    else:
        why = ", where the limit ends the run" if entry.is_cut else ""
        executions = f"at most {entry.executions.most:,}{why}{_without_retries(entry.executions, _number)}"
    sheet.row("steps", f"{executions}{_at_least(Quantity.EXECUTIONS, figures[Quantity.EXECUTIONS])}")
    sheet.row("turns", _describe_turns(entry))
    if asks_again(entry):
        sheet.row("requests", *_describe_use(Quantity.REQUESTS, figures[Quantity.REQUESTS]))
    if entry.turns.most != 0:
        for label, measure in _USED.items():
            sheet.row(label, *_describe_use(measure, figures[measure]))
    sheet.row("time", *_describe_time(entry))
    cycles = [join_names(cycle) for cycle in entry.cycles[:_CYCLES]]
    if len(entry.cycles) > _CYCLES:
        cycles.append(f"{len(entry.cycles) - _CYCLES:,} more")
    sheet.row("repeats", *cycles)
    _draw_ways(sheet, entry)
    if entry.schedule is not None:
        draw_schedule(sheet, plan, entry.schedule)


_USED = {"calls": Quantity.CALLS, "input": Quantity.INPUT, "output": Quantity.OUTPUT, "cost": Quantity.COST}
"""The rows about what models use."""


def _draw_ways(sheet: Sheet, entry: EntryBounds) -> None:
    """Write the ways that take most and least, each once."""
    told: list[Way] = []
    for label, measure, is_most in _WAYS:
        figure = entry.figures[measure]
        way = figure.longest if is_most else figure.shortest
        if entry.schedule is None and way and way not in told:
            told.append(way)
            sheet.row(label, *describe_way(way, sheet.arrow))


_WAYS = (
    ("longest", Quantity.EXECUTIONS, True),
    ("slowest", Quantity.MILLISECONDS, True),
    ("dearest", Quantity.COST, True),
    ("shortest", Quantity.EXECUTIONS, False),
    ("cheapest", Quantity.COST, False),
)


def draw_refusal(sheet: Sheet, given: UnboundedFlow) -> None:
    """Write why a flow has no bound, with the place of each error."""
    sheet.heading(shorten(given.refused.flow.id))
    sheet.row("from", given.name_file(given.refused.flow.at.file))
    sheet.row("no bound", f"it has no plan: {given.refused.reason}")
    for each in given.errors[:_PAGE_ERRORS]:
        start = each.span.start
        sheet.row("", f"{given.name_file(each.at.file)}:{start.line}:{start.column}: {each.code} {each.message}")
    if len(given.errors) > _PAGE_ERRORS:
        sheet.row("", f"and {len(given.errors) - _PAGE_ERRORS:,} more: {quote(given.refused.command)} lists them")


def _describe_turns(entry: EntryBounds) -> str:
    least = _at_least(Quantity.TURNS, entry.figures[Quantity.TURNS])
    if entry.turns.most is None:
        return f"no bound{least}"
    if entry.turns.most == 0:
        return "none"
    return f"at most {entry.turns.most:,}{_without_retries(entry.turns, _number)}{least}"


def _at_least(measure: Quantity, figure: Figure) -> str:
    if figure.least is None:
        return "; no run is completed"
    return f"; at least {describe_least(measure, figure)}" if figure.least else ""


def _describe_use(measure: Quantity, figure: Figure) -> Iterator[str]:
    """Yield how much of something models use, or what would have to be known."""
    if figure.upper.most is not None:
        unit = " tokens" if measure in {Quantity.INPUT, Quantity.OUTPUT} else ""
        yield f"at most {describe_most(measure, figure)}{unit}{_at_least(measure, figure)}"
        return
    for index, each in enumerate(figure.lacks):
        yield f"{'no bound' if index == 0 else 'nor'}: {explain_lack(each)}"
    if not figure.lacks:
        yield "no bound"
    unknown = {"model-name", "price"} & {each.kind for each in figure.lacks}
    if figure.least and not unknown:
        yield f"at least {describe_least(measure, figure)}"


def _number(given: int) -> str:
    return f"{given:,}"


def _without_retries(given: UpperBound, write: Callable[[int], str]) -> str:
    if given.first is None or given.first == given.most:
        return ""
    return f"; without retries {write(given.first)}"


def _describe_time(entry: EntryBounds) -> Iterator[str]:
    """Yield how long a run takes, or what in it has no limit and how long everything else takes."""
    limited = entry.milliseconds
    if limited.most is None:
        yield "no bound"
    elif not entry.unlimited:
        least = _at_least(Quantity.MILLISECONDS, entry.figures[Quantity.MILLISECONDS])
        yield f"at most {format_duration(limited.most)}{_without_retries(limited, format_duration)}{least}"
    else:
        for index, each in enumerate(entry.unlimited):
            yield f"{'no bound' if index == 0 else 'nor'}: {explain_lack(each)}"
        if limited.most:
            yield f"all else takes at most {format_duration(limited.most)}{_without_retries(limited, format_duration)}"


def describe_way(way: Way, arrow: str) -> Iterator[str]:
    """Yield a way as `plan → (test | lint) → review`, and what comes again and again as `(check → repair) 3 times`."""
    if way:
        names = [part if isinstance(part, Joint) else shorten(part) for part in way]
        folded = names if Joint.OPEN in way else list(_fold_repeats(names, arrow))
        # the parts of a way with what stands between them
        parts = folded[:_PARTS]
        text, is_first = "", True
        for part in parts:
            is_name = not isinstance(part, Joint)
            text += f" {arrow} " if not is_first and (is_name or part is Joint.OPEN) else ""
            text += part if is_name or part is not Joint.NEXT else " | "
            is_first = part in {Joint.OPEN, Joint.NEXT}
        yield text + (f" {arrow} …" if len(folded) > _PARTS else "")


def _fold_repeats(names: Sequence[str], arrow: str) -> Iterator[str]:
    """Yield names, and several that come at least twice in a row as one part."""
    at = 0
    while at < len(names):
        times: dict[int, int] = {}
        for period in range(1, _PERIOD + 1):
            times[period] = 1
            while names[at + times[period] * period :][:period] == names[at : at + period]:
                times[period] += 1
        period = max(times, key=lambda each: each * (times[each] - 1))
        if times[period] > 1:
            inner = f" {arrow} ".join(names[at : at + period])
            yield f"{inner if period == 1 else f'({inner})'} {times[period]} times"
        else:
            yield names[at]
            period = 1
        at += period * times[period]


def _list_repetitions(given: Iterable[Repetition]) -> Iterator[Row]:
    for each in given:
        repetition: list[str] = []
        if each.attempts > 1:
            waits = f", with waits of {format_duration(each.wait)} in all" if each.wait else ""
            repetition.append(f"at most {format_count(each.attempts, 'attempt')}{waits}")
        if each.action is not None:
            validators = format_count(each.validations, "validator")
            times = f", at most {each.validated} failures" if each.action == "retry" else ""
            repetition.append(f"validated by {validators}; then {each.action}{times}")
        yield (shorten(each.node),), tuple(repetition)


_MARKDOWN_ERRORS = 8


def write_comment(flows: Iterable[BoundedFlow | UnboundedFlow]) -> str:
    """Return the comment; what people have written stands in it as code and never as markup."""
    lines = ["### Bounds"]
    for each in flows:
        lines += _write_flow_markdown(each) if isinstance(each, BoundedFlow) else _write_refusal_markdown(each)
    return "\n".join(lines) + "\n"


def _write_flow_markdown(given: BoundedFlow) -> Iterator[str]:
    yield f"\n#### Flow {quote_markdown(given.flow)}"
    for entry in given.bounds.entries:
        if len(given.bounds.entries) > 1:
            yield f"\n##### Entry {quote_markdown(entry.entry)}"
        yield from _write_entry_markdown(entry)
    basis = [*describe_basis(given)]
    if basis:
        yield ""
    yield from (f"- Assumes {quote_markdown(each)}" for each in basis)


def _write_entry_markdown(entry: EntryBounds) -> Iterator[str]:
    yield from ("", "| | at least | without retries | at most |", "|---|---:|---:|---:|")
    for measure in list_shown(entry):
        figure = entry.figures[measure]
        unknown = any(each.kind in _UNPRICED for each in figure.lacks)
        least, most = "unknown" if unknown else describe_least(measure, figure), describe_most(measure, figure)
        first = figure.upper.first if measure is not Quantity.MILLISECONDS or not figure.lacks else None
        without = "" if first is None or first == figure.upper.most else format_first(measure, first)
        yield f"| {NAMES[measure]} | {least} | {without} | {'unknown' if unknown else most} |"
    yield ""
    if entry.is_cut:
        yield "- The limit of executions ends the longest runs."
    if entry.executions.most is None:
        yield "- Nothing limits how often a run repeats; a limit of executions would."
    for cycle in entry.cycles[:_MARKDOWN_ERRORS]:
        yield f"- Repeats: {', '.join(map(quote_markdown, cycle))}"
    for measure in list_shown(entry):
        for lack in entry.figures[measure].lacks:
            yield f"- No bound of {NAMES[measure]}: {quote_markdown(explain_lack(lack))}"
    figure = entry.figures[Quantity.EXECUTIONS]
    yield from _write_way("Longest", figure.longest)
    yield from _write_way("Shortest", figure.shortest)


_UNPRICED = {"model-name", "price"}


def format_first(measure: Quantity, amount: int) -> str:
    """Return an amount of a run without retries."""
    from stagec.cli.figures import format_amount, round_dollars

    return f"${round_dollars(amount, up=True)}" if measure is Quantity.COST else format_amount(measure, amount)


def _write_way(name: str, way: Way) -> Iterator[str]:
    for text in describe_way(way, "→"):
        yield f"- {name}: {quote_markdown(text)}"


def _write_refusal_markdown(given: UnboundedFlow) -> Iterator[str]:
    yield f"\n#### Flow {quote_markdown(given.refused.flow.id)}"
    yield f"\nNo bound: it has no plan, {given.refused.reason}.\n"
    for each in given.errors[:_MARKDOWN_ERRORS]:
        start = each.span.start
        where = f"{given.name_file(each.at.file)}:{start.line}:{start.column}"
        yield f"- {quote_markdown(f'{where}: {each.code} {each.message}')}"


def format_flows(flows: Iterable[BoundedFlow | UnboundedFlow]) -> str:
    """Return the document."""
    made = [
        _write_flow_document(each) if isinstance(each, BoundedFlow) else _write_refusal_document(each) for each in flows
    ]
    return dump_document({"version": 1, "flows": made})


def _write_flow_document(each: BoundedFlow) -> Json:
    plan = each.plan
    return {
        "flow": plan.id,
        "file": each.file,
        "digest": each.digest,
        "bounded": each.bounds.is_bounded,
        "limits": {
            "executions": plan.limits.executions,
            "reached": plan.limits.reached,
            "parallel": plan.limits.parallel,
        },
        "assumed": write_basis(each),
        "entries": [_write_entry_document(entry) for entry in each.bounds.entries],
        "repetitions": [_write_repetition(entry) for entry in each.bounds.repetitions],
    }


def _write_entry_document(given: EntryBounds) -> Json:
    return {
        "entry": given.entry,
        "node": given.node,
        "executions": _write_bound(given, Quantity.EXECUTIONS),
        "turns": _write_bound(given, Quantity.TURNS),
        "requests": _write_bound(given, Quantity.REQUESTS),
        "calls": _write_bound(given, Quantity.CALLS),
        "inputTokens": _write_bound(given, Quantity.INPUT),
        "outputTokens": _write_bound(given, Quantity.OUTPUT),
        "dollars": _write_money(given.figures[Quantity.COST]),
        "milliseconds": {**_write_bound(given, Quantity.MILLISECONDS), **_write_upper(given.time)},
        "limitedMilliseconds": _write_bound(given, Quantity.MILLISECONDS),
        "unlimited": _write_lacks(given.figures[Quantity.MILLISECONDS]),
        "cycles": [list(each) for each in given.cycles],
        "cutByLimit": given.is_cut,
        "lacking": {NAMES_IN_JSON[name]: _write_lacks(each) for name, each in given.figures.items() if each.lacks},
        "longest": write_way(given.longest),
        "slowest": write_way(given.slowest),
        "paths": {
            NAMES_IN_JSON[name]: {"most": write_way(each.longest), "least": write_way(each.shortest)}
            for name, each in given.figures.items()
        },
        "schedule": None if given.schedule is None else _write_schedule(given.schedule),
    }


def _write_schedule(given: ScheduleBounds) -> Json:
    return {
        "nodes": given.nodes,
        "attempts": given.attempts,
        "plannedMilliseconds": given.planned,
        "criticalPath": list(given.critical),
        "width": {"nodes": list(given.width), "exact": given.is_width_exact},
        "gap": {"nodes": list(given.gap), "milliseconds": given.gap_milliseconds},
        "failures": [
            {"node": each.node, "nodes": each.nodes, "milliseconds": each.milliseconds} for each in given.failures
        ],
    }


def _write_bound(entry: EntryBounds, measure: Quantity) -> dict[str, Json]:
    figure = entry.figures[measure]
    return {"least": figure.least, **_write_upper(figure.upper)}


def _write_upper(given: UpperBound) -> dict[str, Json]:
    return {"withoutRetries": given.first, "most": given.most}


def _write_money(figure: Figure) -> Json:
    """Return US dollars as decimal texts, exact to a billionth."""
    unknown = any(each.kind in {"model-name", "price"} for each in figure.lacks)
    amounts = {"least": None if unknown else figure.least, **_write_upper(figure.upper)}
    return {name: None if each is None else format_dollars(int(str(each))) for name, each in amounts.items()}


def _write_lacks(figure: Figure) -> list[Json]:
    return [{"what": each.kind, "nodes": list(each.nodes)} for each in figure.lacks]


def _write_repetition(given: Repetition) -> Json:
    return {
        "node": given.node,
        "attempts": given.attempts,
        "waitMilliseconds": given.wait,
        "validators": given.validations,
        "validations": given.validated,
        "onFailure": given.action,
    }


def _write_refusal_document(given: UnboundedFlow) -> Json:
    return {
        "flow": given.refused.flow.id,
        "file": given.refused.flow.at.file,
        "bounded": False,
        "reason": given.refused.reason,
        "errors": [
            {
                "code": each.code,
                "file": each.at.file,
                "line": each.span.start.line,
                "column": each.span.start.column,
                "message": each.message,
            }
            for each in given.errors
        ],
    }


Measured = BoundedFlow | UnboundedFlow


@value
class BoundsRequest:
    """The arguments and options as given; None where one is absent."""

    cost: CostOptions
    paths: tuple[Path, ...] = ()
    root: Path | None = None
    flow: str | None = None
    output_format: str = "text"

    def measure_project(
        self, paths: tuple[Path, ...], configuration: Configuration, basis: CostBasis
    ) -> Iterator[Measured]:
        """Yield the bounds of the flows of the project."""
        freezer = Freezer(configuration, paths)
        meanings = freezer.compilation.meanings
        if not meanings:
            raise explain_missing_flow("measure", freezer.project, freezer.compilation)
        name_file = name_from_here(freezer.root)
        chosen = {id(flow) for flow in choose_flows(self.flow, freezer.compilation.flows)}
        for meaning in meanings:
            if id(meaning.flow) not in chosen:
                continue
            made = freezer.freeze(meaning, proves=False)
            if isinstance(made, Refused):
                yield UnboundedFlow(made, freezer.errors_of(made.flow), name_file)
            else:
                digest, _ = read_frame(made.data)
                yield BoundedFlow(
                    made.plan, digest, meaning.flow.at.file, bound(made.plan, basis.assumptions), basis, name_file
                )

    def measure(self) -> Iterator[Measured]:
        """Yield the bounds of the plans first, then those of the flows of the project."""
        plans = [path for path in self.paths if is_plan(path)]
        paths = tuple(path for path in self.paths if path not in plans)
        measured: list[BoundedFlow] = []
        configuration = load_configuration(paths, self.root)
        basis = assume(self.cost, configuration)
        for path in plans:
            loaded = verify_file(path, Exit.FINDINGS)
            measured.append(
                BoundedFlow(loaded.plan, loaded.digest, str(path), bound(loaded.plan, basis.assumptions), basis)
            )
        known = [each.flow for each in measured]
        if self.flow is not None:
            measured = [each for each in measured if each.flow == self.flow]
        yield from measured
        if paths or not plans:
            yield from self.measure_project(paths, configuration, basis)
        elif not measured:
            near = hint(self.flow or "", NameIndex(known)) or f"; there are {listing(known)}"
            raise Failure(f"no flow of the plans is called {quote(self.flow)}{near}")


def run(request: BoundsRequest) -> Exit:
    """Print the bounds of what was asked for, and return the exit status."""
    with show_progress("measuring …"):
        flows = [*request.measure()]
    put_as(
        request.output_format,
        lambda sheet: draw_flows(sheet, flows),
        json=lambda: format_flows(flows),
        markdown=lambda: write_comment(flows),
    )
    return (
        Exit.CLEAN if all(isinstance(each, BoundedFlow) and each.bounds.is_bounded for each in flows) else Exit.FINDINGS
    )


@click.command(short_help="Print the bounds of runs: steps, turns, tokens, money, time.")
@click.argument("paths", nargs=-1, metavar="[PATHS|PLAN]...", type=click.Path(path_type=Path, allow_dash=True))
@options.root
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Only the flow with this id.")
@takes_assumptions
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def bounds(context: click.Context, /, **given: Any) -> None:
    """Print the most and the least that runs of each flow in PATHS, or of each PLAN, use, or why there is no bound.

    The numbers are steps (executions of nodes), model turns, tool calls, tokens, money by a table of prices, and time,
    with the longest and the shortest paths. `-` reads a plan from standard input. A SPAN is `LEAST..MOST`, or only the
    most; `[cost]` in the configuration sets the same values.

    Exit status: 0 each flow has a bound, 1 some flow has none or has errors, 2 usage or environment,
    3 no flow, 4 internal error.
    """
    cost = CostOptions(**{name: given.pop(name) for name in CostOptions.__match_args__})
    context.exit(run(BoundsRequest(cost, **given)))
