"""Symbols of documents, and lenses over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from stagec.check.pipeline import Meaning
from stagec.core.failure import Failure
from stagec.core.json import find_inside, list_of
from stagec.core.place import Place
from stagec.core.shelf import member
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.flow import Concerns, FlowNode, NameKind, Occurrence
from stagec.ir.freeze import MissingAgentError
from stagec.ir.graph import build
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.figures import Assumptions
from stagec.lsp.hover import name_target
from stagec.lsp.name_places import KIND_OF_NODE, FileSpot, read_places
from stagec.lsp.positions import Point, Stretch, TextLines
from stagec.lsp.workspace import CheckedProject
from stagec.sources.formats.markdown import split
from stagec.views import emitters
from stagec.views.emitters import Emitter
from stagec.views.picture.draw import draw, draw_failures, fit

_OUTLINED = frozenset(NameKind) - {NameKind.COMPLETION_TOOL}


@value
class Symbol:
    """A definition: where all of it stands, and where its name does."""

    kind: NameKind
    name: str
    whole: FileSpot
    named: FileSpot
    file: str


def list_symbols(project: CheckedProject, file: str) -> Iterator[Symbol]:
    """Yield the definitions in a file, in the order in which they are written."""
    places = read_places(project)
    found = [each for each in places.list_definitions() if each.at.file == file and each.kind in _OUTLINED]
    yield from sorted(_place(project, found), key=lambda each: each.whole.where.start.line)


def find_symbols(projects: Sequence[CheckedProject], words: str) -> Iterator[Symbol]:
    """Yield the definitions of projects whose names have the letters of some words in this order."""
    pattern = re.compile(".*".join(map(re.escape, "".join(words.split()))), re.IGNORECASE)
    for project in projects:
        found = [
            each
            for each in read_places(project).list_definitions()
            if each.kind in _OUTLINED and pattern.search(each.name)
        ]
        yield from _place(project, found)


def _place(project: CheckedProject, found: Sequence[Occurrence]) -> Iterator[Symbol]:
    places = read_places(project)
    for file in dict.fromkeys(each.at.file for each in found):
        own = [each for each in found if each.at.file == file]
        # a member begins at its name, and the whole of it has to hold the name
        wholes = [Place(each.whole.file, each.whole.pointer) for each in own if each.whole is not None]
        spots = places.locate(file, [*(each.at for each in own), *wholes])
        for each, whole in zip(own, wholes, strict=True):
            if each.at in spots and whole in spots:
                yield Symbol(each.kind, each.name, _join(spots[each.at], spots[whole]), spots[each.at], file)


def _join(named: FileSpot, whole: FileSpot) -> FileSpot:
    first, second = named.where, whole.where
    begins = min((first.start.line, first.start.character), (second.start.line, second.start.character))
    ends = max((first.end.line, first.end.character), (second.end.line, second.end.character))
    start = first.start if (first.start.line, first.start.character) == begins else second.start
    end = first.end if (first.end.line, first.end.character) == ends else second.end
    return FileSpot(named.path, type(first)(start, end))


def list_folds(text: str, syntax: str) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each part of a text that can be folded, by its indentation."""
    lines = TextLines(text)
    first, last = 0, lines.count
    if syntax == "markdown":
        fenced = split(text)
        if fenced is None:
            return
        first = lines.stretch(fenced.start, fenced.start).start.line
        last = lines.stretch(fenced.end, fenced.end).start.line
        yield first - 1, last
    opened: list[tuple[int, int]] = []
    previous = first
    for number, line in enumerate(lines.split()[first:last], first):
        content = line.lstrip(" \t")
        if not content:
            continue
        indent = len(line) - len(content)
        while opened and indent <= opened[-1][0]:
            begin = opened.pop()[1]
            if previous > begin:
                yield begin, previous
        opened.append((indent, number))
        previous = number
    yield from ((begin, previous) for _, begin in reversed(opened) if previous > begin)


class Task(StrEnum):
    """The action of a lens."""

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


@value
class NodeSpot:
    """A node of a flow, and a part of a file that defines it or belongs to its definition."""

    node: str
    spot: FileSpot


def list_node_spots(project: CheckedProject, file: str, flow: str) -> Iterator[NodeSpot]:
    """Yield the places of the nodes of a flow: definitions first, and then their parts, such as prompts."""
    found = find_meaning(project, file, flow).flow
    places = read_places(project)
    kind = KIND_OF_NODE.get(found.names.get("node", ""))
    own = [
        each
        for each in places.list_definitions()
        if each.kind is kind and each.name in found.nodes and each.owner == found.at.file
    ]
    for symbol in _place(project, own):
        yield NodeSpot(symbol.name, symbol.whole)
    for node in found.nodes.values():
        for _, at in node.parts:
            yield from (NodeSpot(node.id, spot) for spot in places.locate(at.file, [at]).values())


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
    """Yield the target of each outcome that a node of a file lists."""
    flows = () if project.compilation is None else project.compilation.flows
    for flow in flows:
        for node in flow.nodes.values():
            if node.decided_at is not None and node.decided_at.file == file:
                yield from _list_hints(project, node, node.decided_at)


def _list_hints(project: CheckedProject, node: FlowNode, at: Place) -> Iterator[InlineHint]:
    tree = project.find_tree(at.file)
    listed = list_of(None if tree is None else find_inside(tree.value, at.pointer))
    edges = {edge.on: edge for edge in reversed(node.edges)}
    known = {at / index: edges[each] for index, each in enumerate(listed) if isinstance(each, str) and each in edges}
    for place, spot in read_places(project).locate(at.file, known).items():
        yield InlineHint(spot.where.end, f" → {name_target(known[place]).replace('`', '')}")
