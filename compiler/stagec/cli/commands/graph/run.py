"""Draw a project as asked."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from stagec import emitters
from stagec.cli.commands.graph.marks import mark_run, read_drawn_run
from stagec.cli.files import write_file
from stagec.cli.options import load_configuration
from stagec.cli.plans import choose_flows
from stagec.cli.streams import put_bytes, say, show_progress
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.shelf import member, members
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote
from stagec.emitters import Emitter, Picture, Role
from stagec.graph import build
from stagec.model.flow import Concerns
from stagec.picture.draw import draw
from stagec.picture.reduce import By, collapse, fit, focus, weight
from stagec.pipeline import Compilation, Project, compile_project

_DEFAULT = "mermaid"


def choose_emitter(form: str | None, output: Path | None) -> Emitter:
    """Return the format that was asked for, or that the name of the file says."""
    if form is not None or output is None:
        return member(emitters, form or _DEFAULT, Emitter)
    known = {each.suffix: each for each in members(emitters, Emitter)}
    if output.suffix.lower() not in known:
        raise Failure(f"{quote(output.name)} does not say a format: --format does, or one of {listing(sorted(known))}")
    return known[output.suffix.lower()]


def focus_pictures(pictures: Iterable[Picture], node: str, depth: int) -> tuple[Picture, ...]:
    """Return what is near a node in every drawing that has it; raise `Failure` when none does."""
    known = tuple(pictures)
    found = [
        (picture, box.id) for picture in known for box in picture.boxes.values() if _is_called(box.name, box.role, node)
    ]
    if not found:
        names = {box.name for picture in known for box in picture.boxes.values() if box.role in _NAMED}
        raise Failure(f"no node is called {quote(node)}{hint(node, NameIndex(sorted(names)))}")
    return tuple(focus(picture, box, depth) for picture, box in found)


_NAMED = {Role.NODE, Role.MISSING}


def _is_called(name: str, role: Role, node: str) -> bool:
    return role in _NAMED and name == node


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
    flow: str | None = None
    run_name: str | None = None
    runs: Path = Path()


def run(request: GraphRequest) -> Exit:
    """Draw what was asked for, say what is not in the drawing, and return the exit status."""
    emitter = choose_emitter(request.output_format, request.output)
    if request.output is None and not emitter.is_text and sys.stdout.isatty():
        raise Failure(f"{emitter.name} is nothing for a terminal: --output names a file")
    with show_progress("drawing …"):
        compilation = _compile(request)
        whole = _draw_flows(compilation, request)
        pictures = _reduce(whole, request, emitter)
        data = emitter.emit(pictures)
    if request.output is None:
        put_bytes(data)
    else:
        write_file(request.output, data)
    is_part = request.flow is not None or request.focus is not None
    _report_omissions(_collect_findings(pictures) if is_part else compilation.diagnostics, whole, pictures)
    return Exit.CLEAN


def _compile(request: GraphRequest) -> Compilation:
    configuration = load_configuration(request.paths, request.root)
    paths = tuple(path.absolute() for path in request.paths)
    compilation = compile_project(Project(configuration.root, paths, configuration.settings))
    if not compilation.flows:
        looked_in = listing([os.path.relpath(path) for path in paths or (configuration.root,)])
        why = "; 'stagec validate' says why" if compilation.diagnostics else ""
        raise Failure(f"nothing to draw: {looked_in} holds no flow that can be read{why}", Exit.NOTHING)
    return compilation


def _draw_flows(compilation: Compilation, request: GraphRequest) -> tuple[Picture, ...]:
    concerns = Concerns(compilation.flows, compilation.diagnostics)
    shown = None if request.run_name is None else read_drawn_run(request.run_name, request.runs)
    wanted = request.flow if shown is None else shown.program.plan.id
    chosen = choose_flows(wanted, compilation.flows)
    pictures = (draw(build(flow), concerns.of(flow), compilation.trees) for flow in chosen)
    return tuple(each if shown is None else mark_run(each, shown) for each in pictures)


def _reduce(pictures: tuple[Picture, ...], request: GraphRequest, emitter: Emitter) -> tuple[Picture, ...]:
    """Return what is drawn of the drawings: what was asked for, and no more than the format can show."""
    if request.focus is not None:
        pictures = focus_pictures(pictures, request.focus, request.depth)
    if request.collapse is not None:
        pictures = tuple(collapse(picture, By(request.collapse)) for picture in pictures)
    if emitter.most is None:
        return pictures
    pictures = fit(pictures, emitter.most)
    heavy = weight(pictures)
    if heavy > emitter.most:
        raise Failure(
            f"{heavy} boxes and lines are more than the {emitter.most} that {emitter.name} can show: --flow, --focus "
            "and --collapse draw less, and --format html shows any number"
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
    """Say on standard error what was left out, and that what is drawn is not right."""
    known = Counter(remark for picture in whole for remark in picture.remarks)
    for picture in pictures:
        for remark in picture.remarks:
            if not known[remark]:
                say(f"stagec: note: {picture.id}: {remark}")
    counts = Counter(each.severity for each in found)
    summary = [format_count(counts[each], each.value) for each in Severity if counts[each]]
    if counts[Severity.ERROR]:
        say(f"stagec: note: drawn with {', '.join(summary)}: 'stagec validate' says what is wrong")
