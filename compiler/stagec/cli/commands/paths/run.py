"""Collect the flows that a user names, and write the runs that cover them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stagec.cli.commands.paths.report import FORMATS, FlowPaths, draw_flow_tests
from stagec.cli.files import STDIN, create_files, read_file
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.cli.streams import put, say, show_progress
from stagec.cli.unfound import choose_flows, explain_missing_flow
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.flow_tests.document import ENDINGS, is_flow_test
from stagec.flow_tests.paths.path_set import PathSet, find_paths
from stagec.plan import PlanError
from stagec.runtime import Program, load


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
