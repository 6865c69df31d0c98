"""What an editor shows between the lines of a flow: commands that draw and measure it, and where outcomes lead."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from stagec import emitters
from stagec.core.failure import Failure
from stagec.core.json import find_inside, list_of
from stagec.core.place import Place
from stagec.core.shelf import member
from stagec.core.value import value
from stagec.core.words import quote
from stagec.emitters import Emitter
from stagec.freeze import MissingAgentError
from stagec.graph import build
from stagec.graph.bounds import bound
from stagec.graph.figures import Assumptions
from stagec.lsp.hover import name_target
from stagec.lsp.name_places import read_places
from stagec.lsp.positions import Point, Stretch
from stagec.lsp.workspace import CheckedProject
from stagec.model.flow import Concerns, Node
from stagec.picture.draw import draw
from stagec.picture.failures import draw_failures
from stagec.picture.reduce import fit
from stagec.pipeline import Meaning


class Task(StrEnum):
    """What a lens does."""

    DRAW = "stagec.draw"
    BOUNDS = "stagec.bounds"
    SIMULATE = "stagec.simulate"


@value
class Lens:
    """A command above a flow: the file and the id say which."""

    title: str
    task: Task
    where: Stretch
    file: str
    flow: str


@value
class InlineHint:
    """A short text behind a part of a line."""

    at: Point
    text: str


_TITLES = {Task.DRAW: "Draw", Task.BOUNDS: "Bounds", Task.SIMULATE: "Simulate"}


def list_lenses(project: CheckedProject, file: str) -> Iterator[Lens]:
    """Yield the commands for the flows in a file."""
    meanings = () if project.compilation is None else project.compilation.meanings
    for meaning in meanings:
        flow = meaning.flow
        if flow.at.file == file:
            start = Point(0, 0)
            tasks = tuple(Task) if meaning.has_plan else (Task.DRAW,)
            yield from (Lens(_TITLES[task], task, Stretch(start, start), file, flow.id) for task in tasks)


def find_meaning(project: CheckedProject, file: str, flow: str) -> Meaning:
    """Return a flow of a project; raise `Failure` where it is not there any more."""
    meanings = () if project.compilation is None else project.compilation.meanings
    found = next((each for each in meanings if (each.flow.at.file, each.flow.id) == (file, flow)), None)
    if found is None:
        raise Failure(f"there is no flow {quote(flow)} in {quote(file)} any more")
    return found


def draw_flow(project: CheckedProject, file: str, flow: str) -> bytes:
    """Return the page with the drawing of a flow, as `stagec graph --format html` writes it."""
    found = find_meaning(project, file, flow).flow
    compilation = project.compilation
    diagnostics, trees = ((), {}) if compilation is None else (compilation.diagnostics, compilation.trees)
    emitter = member(emitters, "html", Emitter)
    picture = draw(build(found), Concerns((found,), diagnostics).of(found), trees)
    return emitter.emit(fit((draw_failures(picture, emitter.edges),), emitter.limits))


def tell_bounds(project: CheckedProject, file: str, flow: str) -> str:
    """Return how much runs of a flow take at most, in one sentence for each entry."""
    meaning = find_meaning(project, file, flow)
    if project.compilation is not None and Concerns((meaning.flow,), project.errors).of(meaning.flow):
        raise Failure(f"the flow {quote(flow)} has errors: it has bounds when these are gone")
    try:
        found = bound(meaning.plan(), Assumptions())
    except MissingAgentError as error:
        raise Failure(f"the flow {quote(flow)} has no bounds: {error}") from error

    def say(most: int | None, what: str) -> str:
        return f"any number of {what}" if most is None else f"at most {most:,} {what}"

    return "\n".join(
        f"{each.entry or each.node or flow}: {say(each.executions.most, 'executions')}, "
        f"{say(each.turns.most, 'turns of models')}"
        for each in found.entries
    )


def list_hints(project: CheckedProject, file: str) -> Iterator[InlineHint]:
    """Yield where each outcome leads that a node of a file lists."""
    flows = () if project.compilation is None else project.compilation.flows
    for flow in flows:
        for node in flow.nodes.values():
            if node.decided_at is not None and node.decided_at.file == file:
                yield from _list_hints(project, node, node.decided_at)


def _list_hints(project: CheckedProject, node: Node, at: Place) -> Iterator[InlineHint]:
    tree = project.find_tree(at.file)
    listed = list_of(None if tree is None else find_inside(tree.value, at.pointer))
    edges = {edge.outcome: edge for edge in reversed(node.edges)}
    known = {at / index: edges[each] for index, each in enumerate(listed) if isinstance(each, str) and each in edges}
    for place, spot in read_places(project).locate(at.file, known).items():
        yield InlineHint(spot.where.end, f" → {name_target(known[place]).replace('`', '')}")
