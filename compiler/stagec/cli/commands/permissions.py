"""`stagec permissions`: the rights of each node, and those that the tests of its flow use."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import click

from stagec.change.flow_tests.scenario_writing import ToolUse, UseWatch
from stagec.check.pipeline import Project, compile_project
from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.databases.run_sources import list_statuses, read_named
from stagec.cli.files import name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.markdown import MarkdownTable, quote_cell, quote_markdown
from stagec.cli.report import ReportForm
from stagec.cli.running import options as running
from stagec.cli.running.inputs import load_program
from stagec.cli.sheet import Row, Sheet
from stagec.cli.streams import show_progress
from stagec.cli.testing import TestedFlows, read_files, run_tests
from stagec.cli.unfound import choose_flows
from stagec.cli.wording import join_names, shorten
from stagec.core.failure import Exit, Failure
from stagec.core.place import START, Place, Position, pointer_text
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.ir.flow import Flow
from stagec.ir.plan import Plan
from stagec.ir.plan.codec import HIDDEN, Count, Positive
from stagec.ir.rights import FlowRights, Label, Right, Rights, Teller
from stagec.runtime.drivers.history import History
from stagec.runtime.drivers.replay import advance_through
from stagec.runtime.machine import Answered, Program
from stagec.sources.project.configuration import Configuration
from stagec.sources.tree import Tree

NameFile = Callable[[str], str]


class CallEvidence(StrEnum):
    """The evidence of tests and recorded runs of a flow about the tools of a node."""

    CALLS = "calls"
    NOT_RUN = "not run"
    NOT_SEEN = "not seen"
    NO_TESTS = "no tests"


@value
class ToolPermission:
    """A tool, or a program."""

    name: Annotated[str, "Its name."]
    program: Annotated[bool, "Whether it is a program that the node runs."]
    labels: Annotated[tuple[Label, ...], "Its effects in the mode of the node."]
    told: Annotated[Teller, "The source of this statement."]
    file: Annotated[str, "The file that allows it."]
    pointer: Annotated[str, "The JSON Pointer of the place there."]
    line: Annotated[Positive, "The line, from 1."]
    column: Annotated[Positive, "The column, from 1."]
    tests: Annotated[Count | None, "How many tests call it; null where they cannot tell."]
    runs: Annotated[Count | None, "How many recorded runs call it; null where they cannot tell."]


@value
class NodePermissions:
    """A node; a step of an agent in a phase is `PHASE/STEP`."""

    node: Annotated[str, "Its id."]
    mode: Annotated[str | None, "Its permission mode, if it has one."]
    limited: Annotated[bool, "Whether somebody limits its tools."]
    without: Annotated[tuple[str, ...], "Tools that are taken from it, where nobody limits the others."]
    evidence: Annotated[
        CallEvidence,
        "The evidence of tests and runs: the calls of the node; not all of them, because none reaches it or some answer"
        " does not name its calls; nothing, because there is none.",
    ]
    asked: Annotated[Count, "How many answers models gave in it."]
    silent: Annotated[Count, "How many of these do not say which tools were called."]
    tools: Annotated[tuple[ToolPermission, ...], "Its rights."]
    least: Annotated[
        tuple[str, ...], "The tools that tests and runs call: all that is needed where `evidence` is `calls`."
    ]
    surplus: Annotated[tuple[str, ...], "The tools that nothing calls, where `evidence` is `calls`."]


@value
class FlowPermissions:
    """A flow."""

    flow: Annotated[str, "The id of the flow."]
    file: Annotated[str, "The file that declares it."]
    tests: Annotated[Count, "How many tests it has."]
    failing: Annotated[Count, "How many of these fail."]
    runs: Annotated[Count, "How many recorded runs were counted."]
    nodes: Annotated[tuple[NodePermissions, ...], "Its nodes."]
    noun: Annotated[str, HIDDEN]
    has_flow: Annotated[bool, HIDDEN]


@value
class PermissionsReport:
    """The rights of nodes, and those that their tests use."""

    flows: Annotated[tuple[FlowPermissions, ...], "Every flow, and every agent file as a flow of one node."]
    name_file: Annotated[NameFile, HIDDEN]

    @property
    def has_surplus(self) -> bool:
        """Whether more is allowed than the tests and runs need."""
        return any(node.surplus for flow in self.flows for node in flow.nodes)

    def draw(self, sheet: Sheet) -> None:
        """Write the permissions for people."""
        for each in self.flows:
            draw_flow(sheet, each, self.name_file)

    def write_markdown(self) -> str:
        """Return the permissions in Markdown; what people have written stands in it as code and never as markup."""
        return "".join(f"{line}\n" for each in self.flows for line in _write_flow(each, self.name_file))


FORM = ReportForm("permissions", "permissions", PermissionsReport)


@value
class SeenRun:
    """A run of a flow, and what it tells of tools: one of a test, which passes or not, or a recorded one."""

    used: ToolUse
    passes: bool = True
    is_recorded: bool = False


class PermissionCollector:
    """Puts the permissions of flows together; the files tell the lines."""

    def __init__(self, trees: Mapping[str, Tree]) -> None:
        self._trees = trees

    def collect(self, given: FlowRights, runs: tuple[SeenRun, ...]) -> FlowPermissions:
        """Return the rights of the nodes of a flow, those inside of agents included."""
        whole = given.whole
        return FlowPermissions(
            flow=whole.flow.id,
            noun=whole.flow.names.get("node", "node"),
            file=whole.flow.at.file,
            nodes=tuple(self._collect_node(name, rights, runs) for name, rights in whole.rights.items()),
            tests=sum(not each.is_recorded for each in runs),
            failing=sum(not each.passes for each in runs),
            runs=sum(each.is_recorded for each in runs),
            has_flow=not whole.is_alone,
        )

    def _collect_node(self, name: str, rights: Rights, runs: tuple[SeenRun, ...]) -> NodePermissions:
        called = {tool for run in runs for node, tool in run.used.called if node == name}
        others = sorted(tool for tool in called if not any(_covers(each, tool) for each in rights.tools))
        tools, evidence = tuple(self._collect_tools(name, rights, runs)), _judge_evidence(name, runs)
        known = tools if evidence is CallEvidence.CALLS else ()
        return NodePermissions(
            node=name,
            mode=rights.mode.name if rights.mode is not None else None,
            limited=not rights.is_open,
            without=rights.without,
            tools=tools,
            evidence=evidence,
            asked=sum(each.used.asked.get(name, 0) for each in runs),
            silent=sum(each.used.silent.get(name, 0) for each in runs),
            least=(*(each.name for each in tools if _is_called(each)), *others),
            surplus=tuple(each.name for each in known if not _is_called(each)),
        )

    def _collect_tools(self, name: str, rights: Rights, runs: tuple[SeenRun, ...]) -> Iterator[ToolPermission]:
        positions = self._locate([each.at for each in rights.tools])
        is_told = _judge_evidence(name, runs) in _COLLECT_TOLD
        for each in rights.tools:
            callers = [run for run in runs if _calls(name, each, run.used)]
            recorded = sum(run.is_recorded for run in callers)
            yield ToolPermission(
                name=each.name,
                program=each.is_program,
                labels=tuple(sorted(rights.labels_of(each))),
                told=each.labelled.teller,
                file=each.at.file,
                pointer=pointer_text(each.at.pointer),
                line=positions.get(each.at, START.start).line,
                column=positions.get(each.at, START.start).column,
                tests=len(callers) - recorded if is_told else None,
                runs=recorded if is_told else None,
            )

    def _locate(self, places: Iterable[Place]) -> Mapping[Place, Position]:
        found: dict[Place, Position] = {}
        by_file: dict[str, list[Place]] = {}
        for each in places:
            by_file.setdefault(each.file, []).append(each)
        for file, inside in by_file.items():
            tree = self._trees.get(file)
            spans = tree.format.locate(tree.data, inside) if tree is not None else {}
            found.update({at: span.start for at, span in spans.items()})
        return found


def _is_called(given: ToolPermission) -> bool:
    return bool(given.tests or given.runs)


_COLLECT_TOLD = (CallEvidence.CALLS, CallEvidence.NOT_SEEN)


def _judge_evidence(name: str, runs: tuple[SeenRun, ...]) -> CallEvidence:
    """Return the evidence of the calls of a node; one answer without its calls leaves it open."""
    if not runs:
        return CallEvidence.NO_TESTS
    if not any(each.used.has_come_to(name) for each in runs):
        return CallEvidence.NOT_RUN
    return CallEvidence.NOT_SEEN if any(each.used.silent.get(name) for each in runs) else CallEvidence.CALLS


def _calls(node: str, right: Right, used: ToolUse) -> bool:
    if right.is_program:
        return node in used.ran
    return any(name == node and _covers(right, tool) for name, tool in used.called)


def _covers(right: Right, tool: str) -> bool:
    """Tell whether what is allowed is a tool, all tools of its server, or a pattern that its name fits."""
    allowed = right.name
    return tool == allowed or fnmatchcase(tool, allowed) or (_is_server(allowed) and tool.startswith(f"{allowed}__"))


def _is_server(name: str) -> bool:
    return name.startswith(_OF_SERVER) and _PART not in name.removeprefix(_OF_SERVER)


_OF_SERVER, _PART = "mcp__", "__"


def list_least(given: FlowPermissions) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the tools that the tests and runs of a flow call, by node, for nodes with known calls."""
    for each in given.nodes:
        if each.evidence is CallEvidence.CALLS:
            yield each.node, each.least


_PAGE_TOLD: Mapping[Teller, str] = {
    Teller.CATALOGUE: "labels from the catalogue",
    Teller.LIST: "labels from stagec's list",
    Teller.LOCK: "labels from its server",
    Teller.NOBODY: "no labels",
}


def draw_flow(sheet: Sheet, given: FlowPermissions, name_file: NameFile) -> None:
    """Write what the nodes of a flow may do, and what of it its tests and runs need."""
    sheet.heading(shorten(given.flow))
    sheet.row("from", name_file(given.file))
    sheet.row("tests", _describe_tests(given))
    rows: list[Row] = []
    for node in given.nodes:
        mode = f" ({node.mode})" if node.mode is not None else ""
        if not node.tools:
            rows.append(((f"{node.node}{mode}", _describe_open(node, "any tool"), ""), ()))
        for at, each in enumerate(node.tools):
            name = f"{node.node}{mode}" if at == 0 else ""
            rows.append(((name, each.name, _describe_labels(each)), (_describe_rest(given, node, each, name_file),)))
        if node.tools and not node.limited:
            rows.append((("", _describe_open(node, "any other tool"), ""), ()))
    if rows:
        sheet.table(rows)
    sheet.row("unknown", *_group_unknown(given))
    least = [f"{shorten(node)}: {join_names(names)}" for node, names in list_least(given)]
    sheet.row("least", *least)
    surplus = [f"{shorten(each.node)}: {join_names(each.surplus)}" for each in given.nodes if each.surplus]
    sheet.row("surplus", *surplus)


def _describe_open(node: NodePermissions, tools: str) -> str:
    """Describe the tools that a node may call and that nobody lists."""
    without = f" but {join_names(node.without)}" if node.without else ""
    return "nothing" if node.limited else f"{tools}{without}"


def _write_flow(given: FlowPermissions, name_file: NameFile) -> Iterator[str]:
    yield f"### Permissions of {quote_markdown(given.flow)}\n\n{_describe_tests(given).capitalize()}.\n"
    table = MarkdownTable((given.noun, "tool", "reads and does", "source", "allowed at", "tests"))
    yield from table.head
    for node in given.nodes:
        mode = f" ({quote_markdown(node.mode)})" if node.mode is not None else ""
        if not node.tools:
            yield table.row(f"{_cell(node.node)}{mode}", _describe_open(node, "any tool"))
        for each in node.tools:
            place = _cell(f"{name_file(each.file)}:{each.line}")
            told = (_cell(node.node) + mode, _cell(each.name), _describe_labels(each), _PAGE_TOLD[each.told], place)
            yield table.row(*told, _describe_use(given, node, each))
        if node.tools and not node.limited:
            yield table.row(f"{_cell(node.node)}{mode}", _describe_open(node, "any other tool"))
    unknown = [*_group_unknown(given, _code)]
    if unknown and given.tests + given.runs:
        yield "\nThe needs of these nodes are not known:\n"
        yield from (f"- {each}" for each in unknown)
    surplus = [each for each in given.nodes if each.surplus]
    if surplus:
        yield f"\nAllowed, and called by {_name_nobody(given)}:\n"
        for node in surplus:
            yield f"- {quote_markdown(node.node)}: {', '.join(map(quote_markdown, node.surplus))}"
    yield ""


def _cell(text: str) -> str:
    return quote_cell(shorten(text))


def _code(text: str) -> str:
    return quote_markdown(shorten(text))


def _describe_tests(given: FlowPermissions) -> str:
    if not given.has_flow:
        return "none: no flow runs this file"
    if not given.tests and not given.runs:
        return "none, so the needs are not known"
    failing = f", {given.failing} of which {'fails' if given.failing == 1 else 'fail'}" if given.failing else ""
    recorded = f", and {format_count(given.runs, 'recorded run')}" if given.runs else ""
    return f"{format_count(given.tests, 'test')}{failing}{recorded}"


def _group_unknown(given: FlowPermissions, name: Callable[[str], str] = shorten) -> Iterator[str]:
    """Yield why it is not known what nodes need that may do something; the nodes of one reason together."""
    nodes: dict[str, list[str]] = {}
    for each in given.nodes:
        why = _explain(given, each) if each.tools or not each.limited else ""
        if why:
            nodes.setdefault(why, []).append(each.node)
    for why, names in nodes.items():
        yield f"{join_names(names) if name is shorten else ', '.join(map(name, names))}: {why}"


def _explain(given: FlowPermissions, node: NodePermissions) -> str:
    """Return why nothing is known of what a node needs, and what would tell it; nothing where it is known."""
    match node.evidence:
        case CallEvidence.NOT_RUN:
            return "no test runs it" if not given.runs else "no test and no recorded run reaches it"
        case CallEvidence.NOT_SEEN:
            silent = (
                f"{node.silent} of {format_count(node.asked, 'answer')}" if node.silent < node.asked else "no answer"
            )
            verb = "do not say" if node.silent < node.asked and node.silent > 1 else "does not say"
            verb = "says" if silent == "no answer" else verb
            return f"{silent} {verb} which tools were called; 'called' in a scenario and runs with --model do"
        case _:
            return ""


def _name_nobody(given: FlowPermissions) -> str:
    if not given.runs:
        return "no test"
    return "no test and no run" if given.tests else "no run"


def _describe_labels(given: ToolPermission) -> str:
    if given.labels:
        return ", ".join(given.labels)
    return "unknown" if given.told is Teller.NOBODY else "none"


def _describe_rest(flow: FlowPermissions, node: NodePermissions, given: ToolPermission, name_file: NameFile) -> str:
    place = f"{name_file(given.file)}:{given.line}:{given.column}"
    use = "" if node.evidence is CallEvidence.NO_TESTS else f"{_describe_use(flow, node, given)}; "
    return f"{use}{_PAGE_TOLD[given.told]}; {place}"


def _describe_use(flow: FlowPermissions, node: NodePermissions, given: ToolPermission) -> str:
    counted = ((given.tests, "test"), (given.runs, "run"))
    callers = [format_count(count, noun) for count, noun in counted if count]
    if callers:
        return f"called by {' and '.join(callers)}"
    if node.evidence is CallEvidence.CALLS:
        return f"called by {_name_nobody(flow)}"
    return _UNKNOWN[node.evidence]


_UNKNOWN: Mapping[CallEvidence, str] = {
    CallEvidence.NOT_RUN: "nothing runs it",
    CallEvidence.NOT_SEEN: "its calls are not seen",
    CallEvidence.NO_TESTS: "no tests",
}


@value
class RecordedUse:
    """A recorded run: the plan that it began with, and the tools that its nodes called."""

    plan: Plan
    used: ToolUse


class RecordedUses:
    """The recorded runs of a folder or a database that somebody wants to be counted."""

    def __init__(self, folder: Path, database: str | None) -> None:
        self._folder, self._database = folder, database
        self._found: dict[str, RecordedUse] = {}
        self._named: frozenset[str] = frozenset()

    def read(self, named: Sequence[str], *, every: bool) -> RecordedUses:
        """Read the runs that are named, and on request all others that are kept there; return itself."""
        for run in (*named, *(self._list_all() if every else ())):
            name, stored = read_named(run, self._folder, self._database)
            if name not in self._found:
                program = load_program(stored.history.plan, f"the plan of run {quote(name)}")
                self._found[name] = RecordedUse(program.plan, read_uses(program, stored.history))
                self._named |= {name} if run in named else frozenset[str]()
        return self

    def _list_all(self) -> Iterator[str]:
        return (each.run for each in list_statuses(self._folder, self._database)[0] if each.plan is not None)

    def find(self, flow: Flow, shared: Container[str]) -> Mapping[str, SeenRun]:
        """Return the runs of a flow by name: of plans with its id, and, where that is shared, of its file."""
        return {
            name: SeenRun(each.used, is_recorded=True)
            for name, each in self._found.items()
            if each.plan.id == flow.id and (flow.id not in shared or flow.at.file in each.plan.sources)
        }

    def refuse_foreign(self, shown: Iterable[str]) -> None:
        """Raise `Failure` for named runs that belong to no shown flow."""
        foreign = sorted(self._named - {*shown})
        if foreign:
            ids = listing(sorted({self._found[each].plan.id for each in foreign}))
            runs = f"run {listing(foreign)} is" if len(foreign) == 1 else f"runs {listing(foreign)} are"
            raise Failure(f"{runs} of the flow {ids}, which is not listed here: name its PATHS")


def find_shared(every: Iterable[FlowRights]) -> frozenset[str]:
    """Return the ids that several flows have."""
    times = Counter(each.flow.id for each in every if not each.is_alone)
    return frozenset(each for each, count in times.items() if count > 1)


def read_uses(program: Program, history: History) -> ToolUse:
    """Return the tools that the nodes of a recorded run called."""
    watch = UseWatch()
    for event, step in advance_through(program, history.events):
        if isinstance(event, Answered):
            watch.answer(event.key, event.answer)
        for each in step.effects:
            watch.ask(each)
    return watch.report()


@value
class PermissionsRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    flow: str | None = None
    check: bool = False
    output_format: str = "text"
    named: tuple[str, ...] = ()
    all_runs: bool = False
    runs: Path = Path()
    database: str | None = None

    def run_tests(self, configuration: Configuration) -> dict[tuple[Place, str], list[SeenRun]]:
        """Return the results of the tests of each flow; empty without tests."""
        try:
            trees = read_files(configuration, self.paths)
        except Failure as failure:
            if failure.status is not Exit.NOTHING:
                raise
            return {}
        found: dict[tuple[Place, str], list[SeenRun]] = {}
        for each in run_tests(trees, TestedFlows(configuration), None, None):
            flow = each.flow.meaning.flow
            tested = SeenRun(each.found.used, next(each.list_complaints(), None) is None)
            found.setdefault((flow.at, flow.id), []).append(tested)
        return found

    def collect(self, configuration: Configuration) -> tuple[FlowPermissions, ...]:
        """Return the permissions of the flows' nodes, and the calls that tests and runs show."""
        named = tuple(path.absolute() for path in self.paths)
        compilation = compile_project(Project(configuration.root, named, configuration.settings, tells_all=True))
        accesses = compilation.list_accesses()
        if not accesses:
            where = listing([os.path.relpath(path) for path in self.paths or (configuration.root,)])
            raise Failure(f"nothing to list: {where} holds no flow and no agent file", Exit.NOTHING)
        chosen = {id(flow) for flow in choose_flows(self.flow, (each.flow for each in accesses))}
        tested = self.run_tests(configuration)
        recorded = RecordedUses(self.runs, self.database).read(self.named, every=self.all_runs)
        collector = PermissionCollector(compilation.trees)
        shown = [each for each in accesses if id(each.flow) in chosen]
        shared = find_shared(accesses)
        seen = {id(each): recorded.find(each.flow, shared) for each in shown}
        recorded.refuse_foreign(name for found in seen.values() for name in found)
        return tuple(
            collector.collect(each, (*tested.get((each.flow.at, each.flow.id), ()), *seen[id(each)].values()))
            for each in shown
        )


def run(request: PermissionsRequest) -> Exit:
    """Print the permissions; return the exit status."""
    configuration = load_configuration(request.paths, request.root)
    with show_progress("collecting …"):
        flows = request.collect(configuration)
    report = PermissionsReport(flows, name_from_here(configuration.root))
    FORM.put(report, request.output_format, markdown=report.write_markdown)
    return Exit.FINDINGS if request.check and report.has_surplus else Exit.CLEAN


@click.command(short_help="List what each node may do, why, and the tools that its tests call.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...", type=click.Path(path_type=Path))
@options.root
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Only the flow with this id.")
@click.option(
    "--run",
    "named",
    multiple=True,
    metavar="RUN",
    shell_complete=running.complete_run,
    help="A recorded run; its calls count like those of a test. Repeatable.",
)
@click.option("--all-runs", is_flag=True, help="Count the calls of all recorded runs of these flows.")
@running.runs
@running.database
@click.option("--check", is_flag=True, help="Exit with 1 if a node has tools that the tests and runs do not call.")
@options.output_format("text", "json", "markdown", default="text")
@click.pass_context
def permissions(context: click.Context, /, **given: Any) -> None:
    """List the tools and programs of each node of the flows in PATHS, or in the configured roots.

    For each tool it prints the labels, their source, the place that allows the tool, and how many tests and runs call
    it. Then it prints the least set of tools that the runs of the flow's tests ('*.flow-test.yaml') call, and the
    surplus tools. The tests run in memory, as with 'stagec test'. Expectations about the lists of tools do not count.
    The row 'unknown' names nodes whose calls are not recorded.

    Exit status: 0 listed, 1 surplus tools (--check), 2 usage or environment, 3 no node with tools or programs, 4
    internal error.
    """
    context.exit(run(PermissionsRequest(**given)))
