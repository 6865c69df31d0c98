"""`stagec bounds`: how much runs take at most, and at least."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.figures import (
    NAMES,
    NAMES_IN_JSON,
    asks_again,
    describe_least,
    describe_most,
    explain_lack,
    format_dollars,
    list_nodes,
    list_shown,
)
from stagec.cli.files import name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.markdown import MarkdownTable, quote_markdown
from stagec.cli.plans import Freezer, Refused
from stagec.cli.report import ReportForm
from stagec.cli.running.assumptions import CostBasis, CostOptions, assume, takes_assumptions
from stagec.cli.running.inputs import verify_file
from stagec.cli.sheet import Row, Sheet
from stagec.cli.sides import is_plan
from stagec.cli.streams import show_progress
from stagec.cli.unfound import choose_flows, explain_missing_flow
from stagec.cli.wording import join_names, shorten
from stagec.core.diagnostic import Diagnostic
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import format_count, format_duration, listing, quote, shorten_digest
from stagec.ir.graph.bounds import MoveWait, Repetition, bound
from stagec.ir.graph.figures import EntryBounds, Figure, Joint, Unlimited, UpperBound, Way
from stagec.ir.graph.schedule_bounds import NodeFailure, ScheduleBounds
from stagec.ir.graph.usage import Interval, NamedModel, Quantity
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.codec import HIDDEN, Count, Positive
from stagec.ir.plan.document import Plan
from stagec.ir.plan.loader import load_agents, read_frame
from stagec.ir.plan.node import Outcome
from stagec.sources.project.configuration import Configuration

_UNPRICED = {"model-name", "price"}


@value
class RunExtent:
    """The extent of something in runs; a most is null if nothing bounds it. Numbers beyond 10^15 are 10^15."""

    least: Annotated[int | None, "The least of any run that is completed; null if none is."]
    without_retries: Annotated[int | None, "The most if every first attempt succeeds and every validation passes."]
    most: Annotated[int | None, "The most of any run."]

    @classmethod
    def of(cls, figure: Figure, upper: UpperBound | None = None) -> RunExtent:
        """Return the report of a figure, or of its least with another most."""
        most = upper or figure.upper
        return cls(figure.least, most.first, most.most)


@value
class CostExtent:
    """The cost of models by the table of prices: US dollars as decimal texts, null if unknown."""

    least: Annotated[str | None, "The least of any run that is completed."]
    without_retries: Annotated[str | None, "The most if every first attempt succeeds and every validation passes."]
    most: Annotated[str | None, "The most of any run."]

    @classmethod
    def of(cls, figure: Figure) -> CostExtent:
        """Return the report of a figure, exact to a billionth."""
        least = None if any(each.what in _UNPRICED for each in figure.lacks) else figure.least
        amounts = (least, figure.upper.first, figure.upper.most)
        return cls(*(None if each is None else format_dollars(each) for each in amounts))


@value
class ExtremeWays:
    """The nodes of two runs."""

    most: Annotated[tuple[str, ...], "A run that takes most; empty where only the limit is known."]
    least: Annotated[tuple[str, ...], "A completed run that takes least."]


@value
class WidestNodes:
    """The most nodes that could be under way at the same time."""

    nodes: Annotated[tuple[str, ...], "Nodes of which none needs another one."]
    exact: Annotated[bool, "Whether there are never more; of large schedules it is the widest level."]


@value
class LostWork:
    """The longest chain of nodes whose results are lost together, because none but the last has a checkpoint."""

    nodes: Annotated[tuple[str, ...], "The chain."]
    milliseconds: Annotated[Count, "Its time."]


@value
class BoundedSchedule:
    """The facts about a schedule."""

    nodes: Annotated[Count, "How many nodes it has."]
    attempts: Annotated[Count, "The most attempts of all nodes together."]
    planned_milliseconds: Annotated[Count, "The time if each process takes what it may before it is warned."]
    critical_path: Annotated[tuple[str, ...], "The chain of nodes that this time comes from."]
    width: Annotated[WidestNodes, "The most nodes that could be under way at the same time."]
    gap: Annotated[LostWork, "The longest chain of nodes whose results are lost together."]
    failures: Annotated[
        tuple[NodeFailure, ...], "The nodes that run when a run is resumed after a node has failed, the longest first."
    ]

    @classmethod
    def of(cls, given: ScheduleBounds) -> BoundedSchedule:
        """Return the report of a schedule."""
        width, gap = WidestNodes(given.width, given.is_width_exact), LostWork(given.gap, given.gap_milliseconds)
        return cls(given.nodes, given.attempts, given.planned, given.critical, width, gap, given.failures)


@value
class BoundedEntry:
    """The bounds of the runs from an entry."""

    entry: Annotated[str, "The name that selects the entry."]
    node: Annotated[str | None, "The node where runs begin; null for a schedule."]
    executions: Annotated[RunExtent, "Executions of nodes."]
    turns: Annotated[RunExtent, "Turns of models."]
    requests: Annotated[RunExtent, "Requests to models: a step asks again when its model calls tools."]
    calls: Annotated[RunExtent, "Calls of tools."]
    input_tokens: Annotated[RunExtent, "Tokens that models read."]
    output_tokens: Annotated[RunExtent, "Tokens that models write."]
    dollars: Annotated[CostExtent, "The cost of models."]
    milliseconds: Annotated[RunExtent, "The time of a run; null where something in it has no limit."]
    limited_milliseconds: Annotated[RunExtent, "The time of everything in a run that has a limit."]
    unlimited: Annotated[tuple[Unlimited, ...], "The parts that may take any time, and their nodes."]
    cycles: Annotated[tuple[tuple[str, ...], ...], "The largest sets of nodes that lead back into themselves."]
    cut_by_limit: Annotated[bool, "Whether runs could be longer without the limit of executions."]
    lacking: Annotated[
        Mapping[str, tuple[Unlimited, ...]], "The unlimited parts, by the figure that has no bound because of them."
    ]
    longest: Annotated[tuple[str, ...], "The nodes of a run with most executions, at most 1,000 parts."]
    slowest: Annotated[tuple[str, ...], "The nodes of a run that takes longest in what has a limit."]
    paths: Annotated[Mapping[str, ExtremeWays], "The nodes of runs that take most and least of each thing."]
    schedule: Annotated[BoundedSchedule | None, "The facts about a schedule; null if the entry is a node."]

    @classmethod
    def of(cls, given: EntryBounds) -> BoundedEntry:
        """Return the report of an entry."""
        figures = {NAMES_IN_JSON[measure]: each for measure, each in given.figures.items()}
        time = given.figures[Quantity.MILLISECONDS]
        return cls(
            entry=given.entry,
            node=given.node,
            executions=RunExtent.of(given.figures[Quantity.EXECUTIONS]),
            turns=RunExtent.of(given.figures[Quantity.TURNS]),
            requests=RunExtent.of(given.figures[Quantity.REQUESTS]),
            calls=RunExtent.of(given.figures[Quantity.CALLS]),
            input_tokens=RunExtent.of(given.figures[Quantity.INPUT]),
            output_tokens=RunExtent.of(given.figures[Quantity.OUTPUT]),
            dollars=CostExtent.of(given.figures[Quantity.COST]),
            milliseconds=RunExtent.of(time, given.time),
            limited_milliseconds=RunExtent.of(time),
            unlimited=given.unlimited,
            cycles=given.cycles,
            cut_by_limit=given.is_cut,
            lacking={name: each.lacks for name, each in figures.items() if each.lacks},
            longest=list_nodes(given.longest),
            slowest=list_nodes(given.slowest),
            paths={
                name: ExtremeWays(list_nodes(each.longest), list_nodes(each.shortest)) for name, each in figures.items()
            },
            schedule=None if given.schedule is None else BoundedSchedule.of(given.schedule),
        )


@value
class AssumedSpan:
    """An assumed span; a most of null is any."""

    least: Annotated[Count, "The least."]
    most: Annotated[int | None, "The most."]

    @classmethod
    def of(cls, given: Interval) -> AssumedSpan:
        """Return the report of an interval."""
        return cls(given.least, given.most)


@value
class PriceSource:
    """The table of prices."""

    as_of: Annotated[str, "The day of the prices, as the table says."]
    file: Annotated[str, "The file of the table."]


@value
class AnsweringModel:
    """A model that answers."""

    model: Annotated[str | None, "Provider and name; null where nobody names one."]
    priced: Annotated[bool, "Whether the table has its price."]


@value
class BoundsBasis:
    """Assumptions of the caller about everything that the plan does not limit."""

    turn_milliseconds: Annotated[int | None, "The time of a turn of a model; null is no limit."]
    least_turn_milliseconds: Annotated[Count, "The time that a turn of a model takes at least."]
    validator_milliseconds: Annotated[Count, "The time limit of a validator."]
    calls: Annotated[AssumedSpan, "Calls of tools in a response."]
    responses: Annotated[AssumedSpan, "Responses of a model until a step has its answer."]
    input_tokens: Annotated[AssumedSpan, "Tokens that a model reads in a request."]
    output_tokens: Annotated[AssumedSpan, "Tokens that a model writes in a response."]
    token_characters: Annotated[Count, "Characters of a prompt that are one token at most."]
    prices: Annotated[PriceSource, "The table of prices."]
    models: Annotated[
        Mapping[str, AnsweringModel], "The models that answer, by node, and whether the table has their prices."
    ]

    @classmethod
    def of(cls, basis: CostBasis, models: Mapping[str, NamedModel]) -> BoundsBasis:
        """Return the report of assumptions and of the models to which they apply."""
        times, use = basis.assumptions.times, basis.assumptions.use
        return cls(
            turn_milliseconds=times.turn,
            least_turn_milliseconds=times.quickest,
            validator_milliseconds=times.validator,
            calls=AssumedSpan.of(use.calls),
            responses=AssumedSpan.of(use.responses),
            input_tokens=AssumedSpan.of(use.read),
            output_tokens=AssumedSpan.of(use.written),
            token_characters=use.characters,
            prices=PriceSource(basis.table.as_of, basis.table.file),
            models={name: AnsweringModel(each.name, each.price is not None) for name, each in models.items()},
        )


@value
class ReportedLimits:
    """The limits that the plan has."""

    executions: Annotated[int | None, "The most executions of nodes; null is no limit."]
    reached: Annotated[Outcome, "The end of a run that needs more."]
    parallel: Annotated[Count, "How many executions are under way at the same time."]


@value
class BoundedFlow:
    """A flow with a plan."""

    flow: Annotated[str, "The id of the flow."]
    file: Annotated[str, "The file of the plan or of the flow."]
    digest: Annotated[str, "The digest of the plan."]
    bounded: Annotated[bool, "Whether every run has a most number of executions."]
    limits: Annotated[ReportedLimits, "The limits that the plan has."]
    assumed: Annotated[BoundsBasis, "Assumptions of the caller about everything that the plan does not limit."]
    entries: Annotated[tuple[BoundedEntry, ...], "The bounds of the runs from each entry."]
    repetitions: Annotated[
        tuple[Repetition, ...], "The nodes that may act more than once in an execution, or that are validated."
    ]
    waits: Annotated[tuple[MoveWait, ...], "The waits before what follows an outcome, the longest first."]
    plan: Annotated[Plan, HIDDEN]
    found: Annotated[tuple[EntryBounds, ...], HIDDEN]
    basis: Annotated[tuple[str, ...], HIDDEN]
    """The basis of the figures about models, for people."""
    place: Annotated[str, HIDDEN]
    """The name of the file where the reader stands."""

    @classmethod
    def of(cls, plan: Plan, digest: str, file: str, basis: CostBasis, name_file: Callable[[str], str]) -> BoundedFlow:
        """Return the bounds of a plan."""
        found, models, limits = bound(plan, basis.assumptions), find_models(plan, basis), plan.limits
        return cls(
            flow=plan.id,
            file=file,
            digest=digest,
            bounded=found.is_bounded,
            limits=ReportedLimits(limits.executions, limits.reached, limits.parallel),
            assumed=BoundsBasis.of(basis, models),
            entries=tuple(map(BoundedEntry.of, found.entries)),
            repetitions=found.repetitions,
            waits=found.waits,
            plan=plan,
            found=found.entries,
            basis=tuple(describe_basis(basis, models)),
            place=name_file(file),
        )


@value
class FlowError:
    """An error that concerns a flow."""

    code: Annotated[str, "The code of the rule."]
    file: Annotated[str, "The file, from the project's root."]
    line: Annotated[Positive, "The line, from 1."]
    column: Annotated[Positive, "The column, from 1."]
    message: Annotated[str, "The message."]
    place: Annotated[str, HIDDEN]
    """The name of the file where the reader stands."""

    @property
    def told(self) -> str:
        """The error with its place, in a line."""
        return f"{self.place}:{self.line}:{self.column}: {self.code} {self.message}"


@value
class UnboundedFlow:
    """A flow without a plan, which has no bounds."""

    flow: Annotated[str, "The id of the flow."]
    file: Annotated[str, "The file of the flow."]
    bounded: Annotated[bool, "Always false."]
    reason: Annotated[str, "Why there is no plan."]
    errors: Annotated[tuple[FlowError, ...], "The errors that concern the flow."]
    place: Annotated[str, HIDDEN]
    command: Annotated[str, HIDDEN]
    """The command that lists all errors."""

    @classmethod
    def of(cls, refused: Refused, found: Iterable[Diagnostic], name_file: Callable[[str], str]) -> UnboundedFlow:
        """Return the report of a flow without a plan."""
        flow, errors = refused.flow, []
        for each in found:
            start = each.span.start
            place = name_file(each.at.file)
            errors.append(FlowError(each.code, each.at.file, start.line, start.column, each.message, place))
        return cls(
            flow=flow.id,
            file=flow.at.file,
            bounded=False,
            reason=refused.reason,
            errors=tuple(errors),
            place=name_file(flow.at.file),
            command=refused.command,
        )


@value
class BoundsReport:
    """The bounds of runs."""

    flows: Annotated[
        tuple[BoundedFlow | UnboundedFlow, ...], "Every flow: first those of plans, then those of the project."
    ]

    def draw(self, sheet: Sheet) -> None:
        """Write the bounds of flows, or why they have none, for people."""
        for each in self.flows:
            if isinstance(each, BoundedFlow):
                draw_flow(sheet, each)
            else:
                draw_refusal(sheet, each)

    def write_markdown(self) -> str:
        """Return the bounds in Markdown; what people have written stands in it as code and never as markup."""
        lines = ["### Bounds"]
        for each in self.flows:
            lines += _write_flow(each) if isinstance(each, BoundedFlow) else _write_refusal(each)
        return "\n".join(lines) + "\n"


FORM = ReportForm("bounds", "bounds", BoundsReport)


def find_models(plan: Plan, basis: CostBasis) -> Mapping[str, NamedModel]:
    """Return the models that answer the nodes of a plan and of its agents, by node."""
    plans: tuple[Plan, ...] = (plan, *(each.plan for each in load_agents(plan).values()))
    choose = basis.assumptions.choose
    return {
        name: choose(name, node.act.model)
        for each in plans
        for name, node in each.nodes.items()
        if isinstance(node.act, Prompt | Converse)
    }


def describe_basis(basis: CostBasis, models: Mapping[str, NamedModel]) -> Iterator[str]:
    """Yield the basis of the figures about models; nothing if no model is named."""
    named = {each.name: each.price for each in models.values() if each.name is not None}
    if not named:
        return
    table, use = basis.table, basis.assumptions.use
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
    sheet.heading(f"nodes that run after a failure, once {shorten(plan.id)} is resumed")
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


_MOST_ERRORS, _CYCLES, _PARTS = 8, 8, 60
"""How many errors, cycles and parts of a way are printed."""
_PERIOD = 12
"""How many nodes that come again and again are folded."""


def draw_flow(sheet: Sheet, given: BoundedFlow) -> None:
    """Write the bounds of a flow, for each entry, and what in it may be done again."""
    plan = given.plan
    sheet.heading(plan.id if plan.title is None else f"{plan.id}: {plan.title}")
    sheet.row("from", given.place)
    sheet.row("plan", shorten_digest(given.digest))
    limits = plan.limits
    together = f"; at most {limits.parallel:,} at the same time" if limits.parallel > 1 else ""
    if limits.executions is None:
        limit = f"none{together}"
    else:
        limit = f"{format_count(limits.executions, 'step')}; a run that needs more ends as {limits.reached}{together}"
    sheet.row("limit", limit)
    for line in given.basis:
        sheet.row("assumes", line)
    for entry in given.found:
        if len(given.found) > 1:
            sheet.heading(f"{shorten(plan.id)} from entry {shorten(entry.entry) or repr('')}")
        _draw_entry(sheet, plan, entry)
    if given.repetitions:
        sheet.heading(f"retries of {shorten(plan.id)}")
        sheet.table(_list_repetitions(given.repetitions))
    if given.waits:
        sheet.heading(f"waits of {shorten(plan.id)}")
        sheet.table(_list_waits(given.waits))


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
    sheet.heading(shorten(given.flow))
    sheet.row("from", given.place)
    sheet.row("no bound", f"it has no plan: {given.reason}")
    for each in given.errors[:_MOST_ERRORS]:
        sheet.row("", each.told)
    if len(given.errors) > _MOST_ERRORS:
        sheet.row("", f"and {len(given.errors) - _MOST_ERRORS:,} more: {quote(given.command)} lists them")


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
    unknown = _UNPRICED & {each.what for each in figure.lacks}
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
            pause = each.wait_milliseconds
            waits = f", with waits of {format_duration(pause)} in all" if pause else ""
            repetition.append(f"at most {format_count(each.attempts, 'attempt')}{waits}")
        if each.on_failure is not None:
            validators = format_count(each.validators, "validator")
            times = f", at most {each.validations} failures" if each.on_failure == "retry" else ""
            repetition.append(f"validated by {validators}; then {each.on_failure}{times}")
        yield (shorten(each.node),), tuple(repetition)


def _list_waits(given: Sequence[MoveWait]) -> Iterator[Row]:
    for each in given[:_MOST_WAITS]:
        yield (shorten(each.node),), (f"{format_duration(each.milliseconds)} on {shorten(each.outcome)}",)
    if len(given) > _MOST_WAITS:
        yield ("…",), (f"{len(given) - _MOST_WAITS:,} shorter ones",)


_MOST_WAITS = 20


def _write_flow(given: BoundedFlow) -> Iterator[str]:
    yield f"\n#### Flow {quote_markdown(given.flow)}"
    for entry in given.found:
        if len(given.found) > 1:
            yield f"\n##### Entry {quote_markdown(entry.entry)}"
        yield from _write_entry(entry)
    if given.basis:
        yield ""
    yield from (f"- Assumes {quote_markdown(each)}" for each in given.basis)


def _write_entry(entry: EntryBounds) -> Iterator[str]:
    table = MarkdownTable(("", "at least", "without retries", "at most"), numbers=True)
    yield from ("", *table.head)
    for measure in list_shown(entry):
        figure = entry.figures[measure]
        unknown = any(each.what in _UNPRICED for each in figure.lacks)
        least, most = "unknown" if unknown else describe_least(measure, figure), describe_most(measure, figure)
        first = figure.upper.first if measure is not Quantity.MILLISECONDS or not figure.lacks else None
        without = "" if first is None or first == figure.upper.most else format_first(measure, first)
        yield table.row(NAMES[measure], least, without, "unknown" if unknown else most)
    yield ""
    if entry.is_cut:
        yield "- The limit of executions ends the longest runs."
    if entry.executions.most is None:
        yield "- Nothing limits how often a run repeats; a limit of executions would."
    for cycle in entry.cycles[:_CYCLES]:
        yield f"- Repeats: {', '.join(map(quote_markdown, cycle))}"
    for measure in list_shown(entry):
        for lack in entry.figures[measure].lacks:
            yield f"- No bound of {NAMES[measure]}: {quote_markdown(explain_lack(lack))}"
    figure = entry.figures[Quantity.EXECUTIONS]
    yield from _write_way("Longest", figure.longest)
    yield from _write_way("Shortest", figure.shortest)


def format_first(measure: Quantity, amount: int) -> str:
    """Return an amount of a run without retries."""
    from stagec.cli.figures import format_amount, round_dollars

    return f"${round_dollars(amount, up=True)}" if measure is Quantity.COST else format_amount(measure, amount)


def _write_way(name: str, way: Way) -> Iterator[str]:
    for text in describe_way(way, "→"):
        yield f"- {name}: {quote_markdown(text)}"


def _write_refusal(given: UnboundedFlow) -> Iterator[str]:
    yield f"\n#### Flow {quote_markdown(given.flow)}"
    yield f"\nNo bound: it has no plan, {given.reason}.\n"
    yield from (f"- {quote_markdown(each.told)}" for each in given.errors[:_MOST_ERRORS])


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
                yield UnboundedFlow.of(made, freezer.errors_of(made.flow), name_file)
            else:
                digest, _ = read_frame(made.data)
                yield BoundedFlow.of(made.plan, digest, meaning.flow.at.file, basis, name_file)

    def measure(self) -> Iterator[Measured]:
        """Yield the bounds of the plans first, then those of the flows of the project."""
        plans = [path for path in self.paths if is_plan(path)]
        paths = tuple(path for path in self.paths if path not in plans)
        measured: list[BoundedFlow] = []
        configuration = load_configuration(paths, self.root)
        basis = assume(self.cost, configuration)
        for path in plans:
            loaded = verify_file(path, Exit.FINDINGS)
            measured.append(BoundedFlow.of(loaded.plan, loaded.digest, str(path), basis, str))
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
        report = BoundsReport(tuple(request.measure()))
    FORM.put(report, request.output_format, markdown=report.write_markdown)
    return Exit.CLEAN if all(each.bounded for each in report.flows) else Exit.FINDINGS


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
