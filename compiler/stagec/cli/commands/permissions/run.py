"""Collect what the nodes of a project may do and what its tests call, and print it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stagec.cli.commands.permissions.collect import FlowPermissions, PermissionCollector, SeenRun
from stagec.cli.commands.permissions.document import format_flows
from stagec.cli.commands.permissions.page import draw_flow, write_comment
from stagec.cli.commands.permissions.recorded import RecordedUses, find_shared
from stagec.cli.files import name_from_here
from stagec.cli.limits import load_configuration
from stagec.cli.sheet import Sheet
from stagec.cli.streams import find_canvas, put, show_progress
from stagec.cli.testing.files import read_files
from stagec.cli.testing.flows import TestedFlows
from stagec.cli.testing.runs import run_tests
from stagec.cli.unfound import choose_flows
from stagec.core.failure import Exit, Failure
from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import listing
from stagec.pipeline import Project, compile_project
from stagec.project.configuration import Configuration


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
        """Return what came of the tests of each flow; nothing where there are none."""
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
        """Return what the nodes of the flows may do, and what tests show that they do."""
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
    name_file = name_from_here(configuration.root)
    if request.output_format == "json":
        put(format_flows(flows))
    elif request.output_format == "markdown":
        put(write_comment(flows, name_file))
    else:
        sheet = Sheet(find_canvas(sys.stdout, os.environ))
        for each in flows:
            draw_flow(sheet, each, name_file)
        put(sheet.text())
    return Exit.FINDINGS if request.check and any(each.has_surplus for each in flows) else Exit.CLEAN
