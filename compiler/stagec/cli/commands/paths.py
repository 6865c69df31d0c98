"""`stagec paths`: scenarios that cover a flow."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from stagec.change.flow_tests.coverage import KINDS
from stagec.change.flow_tests.document import ENDINGS, is_flow_test, write_flow_tests
from stagec.change.flow_tests.paths.finder import PathSet, find_paths
from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.files import STDIN, create_files, read_file
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.cli.running.options import entry
from stagec.cli.sheet import draw_lines
from stagec.cli.streams import find_canvas, put, say, show_progress
from stagec.cli.unfound import choose_flows, explain_missing_flow
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.terminal import Style
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.ir.plan import Plan, PlanError
from stagec.runtime.machine import Program, load


@value
class FlowPaths:
    """A flow and the runs that cover it."""

    plan: Plan
    set: PathSet

    def list_lines(self) -> Iterator[tuple[str, Style | None]]:
        """Yield the lines for people, each with its style."""
        counts = ((kind, *self.set.coverage.count(kind)) for kind in KINDS)
        parts = [f"{run} of {format_count(known, kind)}" for kind, run, known in counts if known]
        yield f"{self.plan.id}: {format_count(len(self.set.paths), 'run')} with {', '.join(parts)}", Style.MESSAGE
        for number, each in enumerate(self.set.paths, 1):
            begin = "" if each.test.scenario.get("entry") is None else f"from {each.test.scenario['entry']}: "
            yield f"  {number}  {begin}{' → '.join(each.found.path) or 'no node'}", None
            reason = "" if each.found.outcome == each.found.reason else f": {each.found.reason}"
            yield f"     {each.found.outcome}{reason}, {format_count(each.found.executions, 'execution')}", None
        for missing in self.set.missing:
            yield f"  not covered: {missing.told}", Style.WARNING
            yield f"     {missing.why}", None

    def to_json(self) -> Mapping[str, object]:
        """Return the flow as the document has it."""
        counts = ((kind, *self.set.coverage.count(kind)) for kind in KINDS)
        return {
            "flow": self.plan.id,
            "percent": round(self.set.coverage.percent, 1),
            **{f"{kind}s": {"run": run, "all": known} for kind, run, known in counts},
            "runs": [
                {
                    "name": each.test.name,
                    "outcome": each.found.outcome,
                    "reason": each.found.reason,
                    "path": list(each.found.path),
                    "executions": each.found.executions,
                    "turns": each.found.turns,
                    "scenario": each.test.scenario,
                }
                for each in self.set.paths
            ],
            "missing": [{"what": each.told, "why": each.why} for each in self.set.missing],
        }


def draw_text(flows: Sequence[FlowPaths]) -> str:
    """Return the runs for people."""
    lines = (line for each in flows for line in each.list_lines())
    return draw_lines(find_canvas(sys.stdout, os.environ), lines)


def draw_flow_tests(flows: Sequence[FlowPaths]) -> str:
    """Return a file of flow tests of one flow; nothing where no run was found."""
    (flow,) = flows
    notes = [f"not covered: {missing.told}: {missing.why}" for missing in flow.set.missing]
    return write_flow_tests(flow.plan.id, [path.test for path in flow.set.paths], notes) if flow.set.paths else ""


def draw_json(flows: Sequence[FlowPaths]) -> str:
    """Return the runs as the document that `schemas/paths.schema.json` describes."""
    document = {"version": 1, "flows": [each.to_json() for each in flows]}
    return (json.dumps(document, indent=2) + "\n").replace("##", "#\\u0023")  # build services obey `##[…]`


FORMATS: Mapping[str, Callable[[Sequence[FlowPaths]], str]] = {
    "text": draw_text,
    "flow-test": draw_flow_tests,
    "json": draw_json,
}


@value
class PathsRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    flow: str | None = None
    entry: str | None = None
    to: str | None = None
    pairs: bool = False
    output: Path | None = None
    output_format: str = "text"

    def find(self, program: Program) -> PathSet:
        """Return the runs of a flow that are asked for; raise `Failure` for a name that it does not have."""
        plan = program.plan
        for name, known, noun in ((self.entry, plan.entries, "entry"), (self.to, plan.nodes, plan.names.node)):
            if name is not None and name not in known:
                raise Failure(f"{quote(plan.id)} has no {noun} {quote(name)}{hint(name, NameIndex(known))}")
        return find_paths(program, entry=self.entry, to=self.to, pairs=self.pairs)

    def compile_programs(self, paths: tuple[Path, ...]) -> Iterator[Program]:
        """Yield the programs of the flows of the project."""
        freezer = Freezer(load_configuration(paths, self.root), paths)
        meanings = [each for each in freezer.compilation.meanings if each.has_plan]
        if not meanings:
            raise explain_missing_flow("cover", freezer.project, freezer.compilation)
        chosen = {id(flow) for flow in choose_flows(self.flow, [each.flow for each in meanings])}
        for meaning in meanings:
            if id(meaning.flow) in chosen:
                made = freezer.freeze(meaning)
                if isinstance(made, Refused):
                    why = made.advice
                    raise Failure(f"the flow {quote(made.flow.id)} is not compiled: {why}", Exit.FINDINGS)
                yield load(made.data)

    def load_programs(self) -> Iterator[Program]:
        """Yield the programs of the plans that are named, then those of the flows of the project."""
        plans = [path for path in self.paths if path == STDIN or path.name.endswith(".plan.json")]
        for path in plans:
            try:
                yield load(read_file(path))
            except PlanError as error:
                raise Failure(f"{quote(path)} is refused: {error}", Exit.FINDINGS) from error
        paths = tuple(path for path in self.paths if path not in plans)
        if paths or not plans:
            yield from self.compile_programs(paths)


def run(request: PathsRequest) -> Exit:
    """Write the runs; return the exit status."""
    if request.to is not None and request.pairs:
        raise Failure("--pairs covers everything, --to one node: give one of the two")
    if request.output is not None and not is_flow_test(request.output.name):
        raise Failure(f"{quote(request.output)} is not a file of tests: its name must end in {listing(ENDINGS, 'or')}")
    programs = [*request.load_programs()]
    if (request.output is not None or request.output_format == "flow-test") and len(programs) > 1:
        names = listing(sorted(each.plan.id for each in programs))
        raise Failure(f"one file has the tests of one flow: --flow names one of {names}")
    with show_progress("searching …"):
        found = [FlowPaths(each.plan, request.find(each)) for each in programs]
    if request.output is None:
        put(FORMATS[request.output_format](found))
    else:
        _write(request.output, found[0])
    return Exit.FINDINGS if any(each.set.missing for each in found) else Exit.CLEAN


def _write(path: Path, covered: FlowPaths) -> None:
    """Write the tests to a new file, and say what they cover."""
    if not covered.set.paths:
        raise Failure(f"no run of {quote(covered.plan.id)} was found: {covered.set.missing[0].why}", Exit.FINDINGS)
    folder, name = os.path.split(path)
    text = draw_flow_tests([covered])
    create_files(Path(folder or os.curdir), {name: text.encode()}, "name another file, or remove this one")
    say(f"stagec: {path}: {format_count(len(covered.set.paths), 'test')}; 'stagec test {path}' runs them")
    for each in covered.set.missing:
        say(f"stagec: not covered: {each.told}: {each.why}")


@click.command(short_help="Write a small set of scenarios that covers a flow, or the shortest run to a node.")
@click.argument("paths", nargs=-1, metavar="[PATHS|PLAN]...", type=click.Path(path_type=Path, allow_dash=True))
@options.root
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Only the flow with this id.")
@entry
@click.option("--to", metavar="NODE", help="Write only the shortest run to this node.")
@click.option("--pairs", is_flag=True, help="Also cover every pair of edges that can follow each other.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the runs of one flow as flow tests; FILE ends in '.flow-test.yaml' and must not exist.",
)
@options.output_format("text", "flow-test", "json", default="text")
@click.pass_context
def paths(context: click.Context, /, **given: Any) -> None:
    r"""Write a small set of scenarios that runs every node and every edge of each flow in PATHS, or of each PLAN.

    No smaller set exists, unless limits end runs early or a set needs more than
    6,000 executions. stagec runs each scenario, and writes it only if it takes the
    expected path. Answers satisfy their schemas. With -o, or --format flow-test, stagec writes tests that 'stagec test'
    passes. It names each uncovered part with the reason. `-` reads a plan from standard input.

    Exit status: 0 all parts are covered, 1 a part is not covered or a flow has errors, 2 usage or environment, 3 no
    flow, 4 internal error.

    \b
    Examples:
      stagec paths
      stagec paths demo -o demo/all.flow-test.yaml
      stagec paths demo --to review --format flow-test
    """
    context.exit(run(PathsRequest(**given)))
