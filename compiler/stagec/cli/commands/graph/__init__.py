"""`stagec graph`: a drawing of the flows of a project."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click

from stagec.check.acceptance import Acceptance
from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.cli import options
from stagec.cli.baselines import load_configured_baseline, report_known
from stagec.cli.completions import complete_flow
from stagec.cli.files import write_file
from stagec.cli.limits import load_configuration
from stagec.cli.parameters import OneOf
from stagec.cli.running import options as running
from stagec.cli.streams import put_bytes, say, show_progress
from stagec.cli.unfound import choose_flows, explain_missing_flow
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.shelf import member, members, names
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.ir.flow import Concerns
from stagec.ir.graph import build
from stagec.views import emitters
from stagec.views.emitters import Emitter, Picture, Role
from stagec.views.picture.document import Fate
from stagec.views.picture.draw import By, Edges, collapse, draw, draw_failures, find_exceeded, fit, focus
from stagec.views.picture.overlay import focus_changes

_DEFAULT = "mermaid"


def choose_emitter(form: str | None, output: Path | None) -> Emitter:
    """Return the format that was asked for, or that the name of the file says."""
    if form is not None or output is None:
        return member(emitters, form or _DEFAULT, Emitter)
    suffix = output.suffix.lower()
    if suffix[1:] in names(emitters):  # the others need not be loaded
        return member(emitters, suffix[1:], Emitter)
    known = {each.suffix: each for each in members(emitters, Emitter)}
    if suffix not in known:
        raise Failure(
            f"{quote(output.name)} names no format: use --format, or end it in {listing(sorted(known), 'or')}"
        )
    return known[suffix]


def focus_pictures(pictures: Iterable[Picture], node: str, depth: int) -> tuple[Picture, ...]:
    """Return the surroundings of a node in every drawing that has it; raise `Failure` if none does."""
    known = tuple(pictures)
    found = [
        (picture, box.id)
        for picture in known
        for box in picture.boxes.values()
        if box.role in _NAMED and box.name == node
    ]
    if not found:
        drawn = {box.name for picture in known for box in picture.boxes.values() if box.role in _NAMED}
        raise Failure(f"no node is called {quote(node)}{hint(node, NameIndex(sorted(drawn)))}")
    return tuple(focus(picture, box, depth) for picture, box in found)


_NAMED = {Role.NODE, Role.MISSING}


@value
class Drawn:
    """Drawings, the findings about their flows, and the result of the project's baseline."""

    pictures: tuple[Picture, ...]
    found: tuple[Diagnostic, ...]
    acceptance: Acceptance | None


@value
class GraphRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    output_format: str | None = None
    output: Path | None = None
    focus: str | None = None
    depth: int = 2
    collapse: str | None = None
    edges: str | None = None
    flow: str | None = None
    diff: str | None = None
    changed: bool = False
    run_name: str | None = None
    runs: Path = Path()
    watch: bool = False

    def compile(self) -> Compilation:
        """Return the compilation of the project; raise `Failure` if it has no flow."""
        configuration = load_configuration(self.paths, self.root)
        paths = tuple(path.absolute() for path in self.paths)
        baseline = load_configured_baseline(configuration)
        project = Project(configuration.root, paths, configuration.settings, baseline=baseline)
        compilation = compile_project(project)
        if not compilation.flows:
            raise explain_missing_flow("draw", project, compilation)
        return compilation

    def draw_project(self) -> Drawn:
        """Return the flows of the project."""
        if self.changed:
            raise Failure("--changed needs --diff, which says what is compared")
        compilation = self.compile()
        return Drawn(self.draw_flows(compilation), compilation.diagnostics, compilation.acceptance)

    def draw_changes(self) -> Drawn:
        """Return the flows that differ from those of another side, all flows where none does."""
        if len(self.paths) > 1 or self.root is not None or self.run_name is not None:
            raise Failure("--diff takes one path, and excludes --root and --run")
        from stagec.cli.drawn_sides import draw_sides  # few drawings compare

        path = self.paths[0] if self.paths else Path()
        drawn = draw_sides(str(self.diff), str(path), self.flow)
        differing = tuple(each for each in drawn.pictures if each.fate is not Fate.SAME)
        left = len(drawn.pictures) - len(differing)
        if differing and left:
            say(f"stagec: note: {format_count(left, 'flow')} without changes {'is' if left == 1 else 'are'} not drawn")
        return Drawn(differing or drawn.pictures, drawn.new.diagnostics, drawn.new.acceptance)

    def draw_flows(self, compilation: Compilation) -> tuple[Picture, ...]:
        """Return the flows that were asked for, with what a run has done there."""
        if self.run_name is None:
            return _draw_chosen(compilation, self.flow)
        from stagec.cli.commands.graph.marks import mark_run, read_drawn_run  # few drawings show a run

        shown = read_drawn_run(self.run_name, self.runs)
        return tuple(mark_run(each, shown) for each in _draw_chosen(compilation, shown.program.plan.id))


def _draw_chosen(compilation: Compilation, wanted: str | None) -> tuple[Picture, ...]:
    concerns = Concerns(compilation.flows, compilation.diagnostics)
    chosen = choose_flows(wanted, compilation.flows)
    return tuple(draw(build(flow), concerns.of(flow), compilation.trees) for flow in chosen)


def run(request: GraphRequest) -> Exit:
    """Draw what was asked for, once or again after each change, and return the exit status."""
    if not request.watch:
        return _draw(request)
    from stagec.cli.watch import repeat  # most runs end

    if request.run_name is not None:
        raise Failure("--watch looks at files of a project: it excludes --run; 'stagec serve' shows runs live")
    return repeat(partial(_draw, request))


def _draw(request: GraphRequest) -> Exit:
    """Draw what was asked for, say what is not in the drawing, and return the exit status."""
    emitter = choose_emitter(request.output_format, request.output)
    if request.output is None and not emitter.is_text and sys.stdout.isatty():
        raise Failure(f"{emitter.name} cannot be written to a terminal: --output names a file")
    with show_progress("drawing …"):
        drawn = request.draw_changes() if request.diff is not None else request.draw_project()
        pictures = reduce_pictures(drawn.pictures, request, emitter)
        data = emitter.emit(pictures)
    if request.output is None:
        put_bytes(data)
    else:
        write_file(request.output, data)
    is_part = request.flow is not None or request.focus is not None
    _report_omissions(_collect_findings(pictures) if is_part else drawn.found, drawn.pictures, pictures)
    report_known(drawn.acceptance)
    return Exit.CLEAN


def reduce_pictures(pictures: tuple[Picture, ...], request: GraphRequest, emitter: Emitter) -> tuple[Picture, ...]:
    """Return the requested parts of the drawings, and no more than the format can show."""
    if request.changed:
        pictures = tuple(focus_changes(picture, request.depth) for picture in pictures)
    if request.focus is not None:
        pictures = focus_pictures(pictures, request.focus, request.depth)
    edges = emitter.edges if request.edges is None else Edges(request.edges)
    pictures = tuple(draw_failures(picture, edges) for picture in pictures)
    if request.collapse is not None:
        pictures = tuple(collapse(picture, By(request.collapse)) for picture in pictures)
    pictures = fit(pictures, emitter.limits)
    exceeded = find_exceeded(pictures, emitter.limits)
    if exceeded is not None:
        count = exceeded.tell(pictures)
        raise Failure(
            f"{count} are more than the {exceeded.most:,} that {emitter.name} can show: --flow, --focus, --collapse "
            "and --edges main draw less, and --format svg and html show any number"
        )
    return pictures


def _collect_findings(pictures: Iterable[Picture]) -> Iterable[Diagnostic]:
    """Return every diagnostic of drawings once."""
    known: dict[int, Diagnostic] = {}
    for picture in pictures:
        inside = (*(box.found for box in picture.boxes.values()), *(line.found for line in picture.lines))
        known.update({id(each): each for found in (picture.found, *inside) for each in found})
    return known.values()


def _report_omissions(found: Iterable[Diagnostic], whole: Iterable[Picture], pictures: Iterable[Picture]) -> None:
    """Say on standard error what the drawing leaves out, and that its project has errors."""
    known = Counter(remark for picture in whole for remark in picture.remarks)
    for picture in pictures:
        for remark in picture.remarks:
            if not known[remark]:
                say(f"stagec: note: {picture.id}: {remark}")
    counts = Counter(each.severity for each in found)
    summary = [format_count(counts[each], each.value) for each in Severity if counts[each]]
    if counts[Severity.ERROR]:
        say(f"stagec: note: drawn with {', '.join(summary)}: 'stagec validate' says what is wrong")


@click.command(short_help="Draw the flows of a project with its findings.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option(
    "--format",
    "output_format",
    type=OneOf(names(emitters)),
    help="The format; by default that of the name of --output, else mermaid.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the drawing to a file.")
@click.option("--focus", metavar="NODE", help="Draw only the nodes near this node, in both directions.")
@click.option(
    "--depth", type=click.IntRange(min=0), default=2, show_default=True, help="The distance of --focus, in lines."
)
@click.option("--collapse", type=OneOf(("cycle", "phase")), help="Draw each cycle, or each phase, as one box.")
@click.option(
    "--edges",
    type=OneOf(("all", "once", "main")),
    help="How to draw failures that all nodes have in common: each (all), one for all nodes (once), or none (main)."
    " The default is all for json and graphml, else once.",
)
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Draw only the flow with this id.")
@click.option(
    "--diff",
    metavar="REV|PLAN|FOLDER",
    help="Draw what has changed since this revision, plan or folder, in one picture.",
)
@click.option("--changed", is_flag=True, help="With --diff: draw only nodes near changes, up to --depth.")
@click.option("--run", "run_name", metavar="RUN", help="Show the state of the nodes in this run, and draw its flow.")
@running.runs
@options.watch
@click.pass_context
def graph(context: click.Context, /, **given: Any) -> None:
    """Draw the flows of the agents and pipelines in PATHS, or in the configured roots.

    With --diff, the drawing shows the older and the newer side in one: what is added, removed and changed, by border,
    line, sign and colour. `REV` is PATH as it was in that revision of git, `REV:PATH` another path in it; PATH may be
    the file of a plan. Flows without changes are left out unless all are.

    The drawing shows each finding at its node or line; a project may have errors. The format png needs the program
    `dot` of Graphviz.

    Exit status: 0 drawn, 2 usage or environment, 3 nothing to draw, 4 internal error.
    """
    context.exit(run(GraphRequest(**given)))
