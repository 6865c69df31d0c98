"""`stagec compile`: the plans of a project."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

import click

from stagec.change.comparison.second_judge import find_differences
from stagec.check.pipeline import Meaning
from stagec.check.reporters import Report
from stagec.check.reporters.text import REPORTER
from stagec.cli import options
from stagec.cli.completions import complete_flow
from stagec.cli.files import STDIN, name_from_here, read_file, write_file, write_files
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Frozen, Refused
from stagec.cli.streams import find_canvas, put, put_bytes, put_error, say, show_progress
from stagec.cli.unfound import choose_flows, explain_missing_flow
from stagec.core.disk import make_folder
from stagec.core.failure import Exit, Failure
from stagec.core.terminal import columns
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote, shorten_digest, visible
from stagec.ir.plan import PlanError, load
from stagec.ir.plan.loader import read_frame
from stagec.languages import Flow
from stagec.runtime.machine.program import program_of

SUFFIX = ".plan.json"
_REFUSED = frozenset('/\\:*?"<>|')
"""Characters that some file system does not take as parts of a name."""
_MOST = 100
"""Bytes of a name before its suffix; file systems allow 255 in all."""


def name_files(ids: Iterable[str]) -> tuple[str, ...]:
    """Return a file name for each id, all different on every file system: a second `a` becomes `a-2.plan.json`."""
    taken: set[str] = set()
    last: dict[str, int] = {}
    return tuple(f"{_choose_free(_make_safe(each), taken, last)}{SUFFIX}" for each in ids)


def _make_safe(name: str) -> str:
    kept = "".join("_" if each in _REFUSED or not each.isprintable() else each for each in name)
    bare = kept.strip(" ")
    return _cut(f"_{bare[1:]}" if bare.startswith(".") else bare, _MOST) or "flow"


def _choose_free(name: str, taken: set[str], last: dict[str, int]) -> str:
    """Return a name, numbered if it is taken, and remember it as taken."""
    chosen, number = name, last.get(_fold_case(name), 1)
    while _fold_case(chosen) in taken:
        number += 1
        chosen = f"{_cut(name, _MOST - len(f'-{number}'))}-{number}"
    last[_fold_case(name)] = number
    taken.add(_fold_case(chosen))
    return chosen


def _fold_case(name: str) -> str:
    """Return a name as file systems compare it that ignore case and normalise accents."""
    return normalize("NFKC", name).casefold()


def _cut(name: str, most: int) -> str:
    return name.encode()[:most].decode(errors="ignore").strip(" ")


def print_findings(freezer: Freezer, flows: Iterable[Flow] | None) -> None:
    """Print the errors and warnings that concern some flows, or all there are."""
    paper = find_canvas(sys.stderr, os.environ)
    name_file = name_from_here(freezer.root)
    trees = freezer.whole.compilation.trees
    report = Report(freezer.list_findings(flows), trees=trees, canvas=paper, quiet=True, name_file=name_file)
    put_error(REPORTER.render(report))


def list_plans(plans: Iterable[tuple[Path | None, Frozen]], states: Iterable[str]) -> None:
    """Say of each plan where it is, the beginning of its digest, and how large the flow is."""
    encoding = sys.stderr.encoding or "ascii"
    shown = [("standard output" if path is None else visible(str(path), encoding), each) for path, each in plans]
    width = max((columns(name) for name, _ in shown), default=0)
    for (name, each), note in zip(shown, states, strict=True):
        digest, _ = read_frame(each.data)
        nodes = format_count(len(each.plan.nodes), "node")
        say(f"{name}{' ' * (width - columns(name))}  {shorten_digest(digest)}  {nodes}" + (f"  {note}" if note else ""))


def list_differences(plans: Iterable[Frozen]) -> list[str]:
    """Return a warning for each schema in plans by which another library judges otherwise than stagec."""
    return [
        f"stagec: warning: flow {quote(each.plan.id)}: {found.describe()}"
        for each in plans
        for found in find_differences(program_of(each.plan))
    ]


def print_left_out(freezer: Freezer, compiled: Iterable[Meaning]) -> None:
    """Print the nodes that are missing in the plans of some flows."""
    for flow in (each.flow for each in compiled):
        names = freezer.left_out.get(flow.at.file)
        if names:
            say(f"flow {quote(flow.id)} is compiled without {listing(names)}, which no run reaches")


def print_refusals(freezer: Freezer, refused: Iterable[Refused], *, is_all: bool) -> bool:
    """Name the flows without a plan and, if all flows are compiled, the other errors; return whether there are any."""
    lines = [f"flow {quote(each.flow.id)} is not compiled: {each.reason}" for each in refused]
    if is_all:
        known = {id(each) for flow in freezer.compilation.flows for each in freezer.errors_of(flow)}
        others = len(freezer.errors) - len(known)
        lines += [f"{format_count(others, 'error')} in files that belong to no flow"] if others else []
    for line in lines:
        say(f"stagec: error: {line}")
    if lines and freezer.project.settings.baseline is not None:
        say("stagec: note: the baseline does not count: a flow with errors has no plan, be they accepted or not")
    return bool(lines)


@value
class Target:
    """The target of plans; `path` None is standard output, and in a `folder` each has a name of its own."""

    path: Path | None
    folder: bool = False

    def file(self, name: str) -> Path | None:
        """Return the path of a plan whose file in a folder would have this name."""
        return self.path / name if self.path is not None and self.folder else self.path


def choose_target(output: str | None, flows: int) -> Target:
    """Return the meaning of `--output` for so many flows; raise `Failure` if they do not fit there."""
    if output is None or output == str(STDIN):
        if flows > 1:
            raise Failure(
                f"there are {flows} flows: name a folder for their plans with --output, or one flow with --flow"
            )
        return Target(None)
    path = Path(output)
    is_folder = path.is_dir() or output.endswith(("/", os.sep))
    if path.exists() and not path.is_dir() and (flows > 1 or is_folder):
        raise Failure(f"{quote(path)} is not a folder" + (f", and there are {flows} flows" if flows > 1 else ""))
    return Target(path, is_folder or flows > 1)


def write_plans(target: Target, plans: Collection[tuple[Path | None, bytes]]) -> None:
    """Write the files of plans; the folder is created if absent."""
    if target.path is not None and target.folder and plans:
        try:
            make_folder(target.path)
        except OSError as error:
            raise Failure(f"cannot make {quote(target.path)}: {error.strerror or error}") from error
        write_files(target.path, {path.name: data for path, data in plans if path is not None})
        return
    for path, data in plans:
        if path is not None:
            write_file(path, data)
        elif sys.stdout.isatty():  # nothing in it may play tricks to a terminal
            put(visible(data.decode().rstrip("\n"), sys.stdout.encoding or "ascii") + "\n")
        else:
            put_bytes(data)


def compare_file(path: Path | None, made: Frozen) -> str:
    """Return whether a file holds a plan: `up to date`, `missing`, or `out of date` and which sources changed."""
    if path is None or not os.path.lexists(path):
        return "missing"
    held = read_file(path) if os.path.isfile(path) else b""  # a pipe would never end
    if held == made.data:
        return UP_TO_DATE
    try:
        before = load(held).plan.sources
    except PlanError:
        return "out of date: it is not a readable plan"
    now = made.plan.sources
    changed = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    return f"out of date: {listing(changed)} changed" if changed else "out of date"


UP_TO_DATE = "up to date"


@value
class CompileRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    output: str | None = None
    flow: str | None = None
    check: bool = False
    without_unreachable: bool = False
    allow_empty: bool = False

    def open_freezer(self) -> Freezer:
        """Return the freezer that makes the plans of the requested flows."""
        configuration = load_configuration(self.paths, self.root)
        make = Freezer.of_reachable if self.without_unreachable else Freezer
        freezer = make(configuration, self.paths)
        if not freezer.compilation.flows and not (self.allow_empty and not freezer.compilation.trees):
            raise explain_missing_flow("compile", freezer.project, freezer.compilation)
        return freezer


def run(request: CompileRequest) -> Exit:
    """Compile what was asked for, write it or compare it with the files, and return the exit status."""
    with show_progress("compiling …"):
        freezer = request.open_freezer()
        if request.allow_empty and not freezer.compilation.trees:
            return Exit.CLEAN
        chosen = _choose(freezer, request.flow)
        target = choose_target(request.output, len(chosen))
        if request.check and target.path is None:
            raise Failure("--check needs --output, which names the files to compare")
        made = {name: freezer.freeze(each) for name, each in chosen.items()}
        warnings = list_differences(each for each in made.values() if isinstance(each, Frozen))
    print_findings(freezer, None if request.flow is None else [each.flow for each in chosen.values()])
    plans = [(target.file(name), each) for name, each in made.items() if isinstance(each, Frozen)]
    states = [compare_file(path, each) if request.check else "" for path, each in plans]
    if not request.check:
        write_plans(target, [(path, each.data) for path, each in plans])
    list_plans(plans, states)
    for warning in warnings:
        say(warning)
    print_left_out(freezer, [chosen[name] for name, each in made.items() if isinstance(each, Frozen)])
    refused = [each for each in made.values() if isinstance(each, Refused)]
    is_broken = print_refusals(freezer, refused, is_all=request.flow is None)
    return Exit.FINDINGS if is_broken or not {*states} <= {"", UP_TO_DATE} else Exit.CLEAN


def _choose(freezer: Freezer, wanted: str | None) -> Mapping[str, Meaning]:
    """Return the compiled flows by file name; a name does not depend on other flows.

    A flow of which no plan can be made is compiled only by name, or where there is no other.
    """
    known = freezer.compilation.meanings
    every = tuple(each for each in known if each.has_plan or wanted is not None) or known
    names = name_files(each.flow.id for each in every)
    flows = {id(flow) for flow in choose_flows(wanted, freezer.compilation.flows)}
    return {name: each for name, each in zip(names, every, strict=True) if id(each.flow) in flows}


@click.command("compile", short_help="Compile each flow without errors to a plan.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.root
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    help="The file or folder to write. DIR is a folder, ends in '/', or gets several plans; '-' is standard output.",
)
@click.option("--flow", metavar="ID", shell_complete=complete_flow, help="Compile only the flow with this id.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file differs from its flow.")
@options.without_unreachable
@options.allow_empty
@click.pass_context
def freeze(context: click.Context, /, **given: Any) -> None:
    """Compile the agents and pipelines in PATHS, or in the configured roots, to plans.

    A plan is one flow with everything that a run needs. A flow with errors has no plan. With --without-unreachable,
    stagec omits nodes that no run reaches, and ignores their errors. Every rule applies with its own severity: the
    settings select, extend-select, ignore and severity have no effect here. Errors and warnings go to standard error,
    with a line for each plan. stagec also warns of schemas by which the library jsonschema judges values differently.

    Exit status: 0 all compiled, 1 some flow has errors, 2 usage or environment, 3 nothing to compile, 4 internal error.
    """
    context.exit(run(CompileRequest(**given)))
