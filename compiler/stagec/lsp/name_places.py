"""The names of a checked project and the places at which they stand; definition and references."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from stagec.change.flow_tests.document import read_flow_tests
from stagec.check.findings import resolve_guess
from stagec.check.fixes import make_edits
from stagec.check.pipeline import Compilation, compile_project
from stagec.check.rules.stages import in_kebab_case
from stagec.core.diagnostic import Diagnostic, Edit, Severity
from stagec.core.failure import Failure
from stagec.core.json import Json, Object, find_inside, list_of, object_of, text_in
from stagec.core.nearest import Guess
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.ir.flow import NODES, Flow, NameKind, Occurrence, find_nearest_folder
from stagec.ir.plan.node import Stop, list_opened, list_targets
from stagec.lsp.actions import FileEdit, list_file_edits
from stagec.lsp.positions import Point, Stretch
from stagec.lsp.workspace import CheckedProject
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

KIND_OF_NODE: Mapping[str, NameKind] = {
    "step": NameKind.STEP,
    "stage": NameKind.STAGE,
    "envelope": NameKind.ENVELOPE,
    "phase": NameKind.PHASE,
}
"""The kind of the nodes of a flow, by what its system calls them."""


_BY_NODE = ("answers", "conversations", "processes", "judge", "confirm")
_EXPECTED_BY_NODE = ("results", "visits", "attempts", "prompts", "tools", "inputs", "accepts", "refuses")
"""The members of scenarios and of expectations in which something is said by node."""


@value
class FileSpot:
    """A part of a file: the path, and where in it."""

    path: str
    where: Stretch


@value
class PlacedName:
    """A name and the part of its file in which it stands."""

    occurrence: Occurrence
    spot: FileSpot


class NamePlaces:
    """The names of one project, by file and by what they stand for."""

    def __init__(self, project: CheckedProject) -> None:
        self._project = project
        own = () if project.compilation is None else project.compilation.list_names()
        every = dict.fromkeys((*own, *self._list_in_flow_tests(own)))
        self._by_file: dict[str, list[Occurrence]] = {}
        self._by_subject: dict[tuple[str, str, str], list[Occurrence]] = {}
        for each in every:
            self._by_file.setdefault(each.at.file, []).append(each)
            self._by_subject.setdefault(each.subject, []).append(each)

    def find(self, file: str, point: Point) -> PlacedName | None:
        """Return the name at a position; of several the one that says least."""
        found = [each for each in self.list_in(file) if each.spot.where.holds(point)]

        def measure(each: PlacedName) -> tuple[int, int]:
            where = each.spot.where
            return where.end.line - where.start.line, where.end.character - where.start.character

        return min(found, key=measure, default=None)

    def list_in(self, file: str) -> Iterator[PlacedName]:
        """Yield the names in a file."""
        spans = self.locate(file, [each.at for each in self._by_file.get(file, ())])
        for each in self._by_file.get(file, ()):
            if each.at in spans:
                yield PlacedName(each, spans[each.at])

    def list_of_subject(self, subject: tuple[str, str, str]) -> list[Occurrence]:
        """Return every place at which one thing is meant."""
        return self._by_subject.get(subject, [])

    def list_known(self, kind: NameKind) -> Iterator[Occurrence]:
        """Yield the definitions of one kind."""
        return (each for found in self._by_subject.values() for each in found if each.kind is kind and each.whole)

    def list_definitions(self) -> Iterator[Occurrence]:
        """Yield every definition."""
        return (each for found in self._by_subject.values() for each in found if each.whole)

    def find_definitions(self, subject: tuple[str, str, str]) -> Iterator[FileSpot]:
        """Yield the definitions of a thing; a file is defined at its beginning."""
        if subject[0] == NameKind.FILE:
            start = Point(0, 0)
            yield FileSpot(self._project.path(subject[2]), Stretch(start, start))
        for each in self.list_of_subject(subject):
            if each.whole is not None:
                yield from self.locate(each.at.file, [each.at]).values()

    def find_references(self, subject: tuple[str, str, str], *, with_definitions: bool) -> Iterator[FileSpot]:
        """Yield every place at which a thing is mentioned."""
        found = [each for each in self.list_of_subject(subject) if with_definitions or each.whole is None]
        for file in dict.fromkeys(each.at.file for each in found):
            yield from self.locate(file, [each.at for each in found if each.at.file == file]).values()

    def locate(self, file: str, places: Iterable[Place]) -> Mapping[Place, FileSpot]:
        """Return the parts of a file that places mean."""
        tree, path = self._project.find_tree(file), self._project.path(file)
        if tree is None or not tree.data:
            return {}
        lines = self._project.lines(file)
        spans = tree.format.locate(tree.data, tuple(places))
        return {place: FileSpot(path, lines.stretch_of(span)) for place, span in spans.items()}

    def _list_in_flow_tests(self, own: Iterable[Occurrence]) -> Iterator[Occurrence]:
        variables = {(each.owner, each.name) for each in own if each.kind is NameKind.VARIABLE}
        tools = {each.name: each.owner for each in own if each.kind is NameKind.TOOL}
        flows = () if self._project.compilation is None else self._project.compilation.flows
        folders = {flow.at.file.rpartition("/")[0] for flow in flows}
        for tree in self._project.list_flow_tests():
            flow = self._choose_flow(tree, flows, folders) if isinstance(tree.value, dict) else None
            kind = None if flow is None else KIND_OF_NODE.get(flow.names.get("node", ""))
            if flow is not None and kind is not None:
                known = ((name, at) for name, at in _list_nodes_of_test(tree) if name in flow.nodes)
                yield from (each for name, at in known for each in _list_in_node(flow, kind, name, at))
            if flow is not None:
                given = ((name, at) for name, at in _list_inputs_of_test(tree) if (flow.at.file, name) in variables)
                yield from (Occurrence(NameKind.VARIABLE, name, flow.at.file, at) for name, at in given)
                called = ((name, at) for name, at in _list_tools_of_test(tree) if name in tools)
                yield from (Occurrence(NameKind.TOOL, name, tools[name], at) for name, at in called)

    @staticmethod
    def _choose_flow(tree: Tree, flows: Iterable[Flow], folders: set[str]) -> Flow | None:
        named = read_flow_tests(tree).flow
        near = find_nearest_folder(tree.file, folders)
        found = [flow for flow in flows if flow.id == named or named is None]
        nearest = [flow for flow in found if flow.at.file.rpartition("/")[0] == near]
        return next(iter(nearest or (found if named is not None else ())), None)


def read_places(project: CheckedProject) -> NamePlaces:
    """Return the names of a project, worked out once."""
    return project.memo.once("names", lambda: NamePlaces(project))


def find_flow(project: CheckedProject, owner: str) -> Flow | None:
    """Return the flow that a file describes."""
    flows = () if project.compilation is None else project.compilation.flows
    return next((flow for flow in flows if flow.at.file == owner), None)


def _list_in_node(flow: Flow, kind: NameKind, node: str, at: Place) -> Iterator[Occurrence]:
    """Yield the occurrences in the name of a node: before its own name come those of the outer nodes."""
    owner, rest = flow.at.file, node
    for name, inner in sorted(flow.inner.items()):  # an outer one before those in it
        if node.startswith(f"{name}/"):
            below = node.removeprefix(f"{name}/")
            yield Occurrence(kind, rest.removesuffix(f"/{below}"), owner, at)
            owner, rest = inner.at.file, below
    yield Occurrence(kind, rest, owner, at)


def _list_nodes_of_test(tree: Tree) -> Iterator[tuple[str, Place]]:
    told = object_of(tree.value)
    yield from _list_nodes_of_scenario(object_of(told.get("scenario")), tree.at / "scenario")
    for name, each in object_of(told.get("tests")).items():
        at, test = tree.at / "tests" / name, object_of(each)
        yield from _list_nodes_of_scenario(object_of(test.get("scenario")), at / "scenario")
        expected = object_of(test.get("expect"))
        yield from _list_keys(expected, _EXPECTED_BY_NODE, at / "expect")
        for index, node in enumerate(list_of(expected.get("path"))):
            if isinstance(node, str):
                yield node, at / "expect" / "path" / index


def _list_inputs_of_test(tree: Tree) -> Iterator[tuple[str, Place]]:
    """Yield the names of the inputs that a file of flow tests gives to runs."""
    told = object_of(tree.value)
    yield from _list_keys(object_of(told.get("scenario")), ("inputs",), tree.at / "scenario")
    for name, each in object_of(told.get("tests")).items():
        at, test = tree.at / "tests" / name, object_of(each)
        yield from _list_keys(object_of(test.get("scenario")), ("inputs",), at / "scenario")
        for member in ("fit", "unfit"):
            expected = list_of(object_of(test.get("expect")).get(member))
            for index, inputs in enumerate(expected):
                yield from ((each, (at / "expect" / member / index / each).key) for each in object_of(inputs))


def _list_tools_of_test(tree: Tree) -> Iterator[tuple[str, Place]]:
    """Yield the tools that a file of flow tests expects models to be offered."""
    for name, each in object_of(object_of(tree.value).get("tests")).items():
        expected = object_of(object_of(object_of(each).get("expect")).get("tools"))
        for node, tools in expected.items():
            at = tree.at / "tests" / name / "expect" / "tools" / node
            named = (
                ((tools, at),) if isinstance(tools, str) else ((one, at / i) for i, one in enumerate(list_of(tools)))
            )
            yield from ((one, spot) for one, spot in named if isinstance(one, str))


def _list_nodes_of_scenario(scenario: Object, at: Place) -> Iterator[tuple[str, Place]]:
    yield from _list_keys(scenario, _BY_NODE, at)
    entry = text_in(scenario, "entry")
    if entry is not None:
        yield entry, at / "entry"


def _list_keys(owner: Object, members: Iterable[str], at: Place) -> Iterator[tuple[str, Place]]:
    for member in members:
        given: Json = owner.get(member)
        for name in given if isinstance(given, dict) else ():
            yield name, (at / member / name).key


_OWN_TOOLS = "discovered"
"""The member of a catalogue with the tools that the project brings; hosts and servers name the others."""


@value
class Renaming:
    """The thing at a position that can have another name, and the name as it is written there."""

    placed: PlacedName
    name: str


def find_renamed(project: CheckedProject, file: str, point: Point) -> Renaming:
    """Return the thing to rename at a position; raise `Failure` without any."""
    placed = read_places(project).find(file, point)
    if placed is None or placed.occurrence.kind is NameKind.FILE:
        what = "nothing" if placed is None else "a file"
        raise Failure(f"there is {what} here, and only what has a name of its own can be renamed")
    each = placed.occurrence
    defined = [known for known in read_places(project).list_of_subject(each.subject) if known.whole is not None]
    if not defined:
        raise Failure(f"no {each.kind} is called {quote(each.name)}, so it cannot be renamed")
    if each.kind is NameKind.TOOL and any(known.at.pointer[:1] != (_OWN_TOOLS,) for known in defined):
        raise Failure(f"{quote(each.name)} is named by the host or a server, so it cannot be renamed here")
    return Renaming(placed, each.name)


@value
class FileMove:
    """A file of a project that gets another name, with `/`."""

    old: str
    new: str


@value
class Renamed:
    """The edits that give a thing another name, the file that is renamed after them, and why one keeps its name."""

    edits: tuple[FileEdit, ...]
    move: FileMove | None = None
    kept: str = ""


def rename(project: CheckedProject, file: str, point: Point, name: str, *, can_move: bool = False) -> Renamed:
    """Return the edits that give a thing another name everywhere; raise `Failure` for what that would break.

    With `can_move`, the file of a stage that is called like the stage is renamed with it, unless that would break
    something.
    """
    renamed = find_renamed(project, file, point)
    each, places = renamed.placed.occurrence, read_places(project)
    if name == each.name:
        return Renamed(())
    if any(known.whole is not None for known in places.list_of_subject((each.kind, each.owner, name))):
        raise Failure(f"there is already a {each.kind} {quote(name)}")
    move = _find_move(project, places.list_of_subject(each.subject), name)
    if move is not None and can_move:
        try:
            return Renamed(_rename(project, each, name, move), move)
        except Failure as failure:
            kept = str(failure)
    else:
        kept = "the editor does not rename files for a server"
    edits = _rename(project, each, name)
    return Renamed(edits, kept="" if move is None else f"the file {quote(move.old)} keeps its name: {kept}")


def _rename(project: CheckedProject, each: Occurrence, name: str, move: FileMove | None = None) -> tuple[FileEdit, ...]:
    """Return the edits of a renaming, with those of what names the file that moves."""
    places, compiled = read_places(project), {} if project.compilation is None else project.compilation.trees
    trees = {**{tree.file: tree for tree in project.list_flow_tests()}, **compiled}
    edits = _list_edits(places.list_of_subject(each.subject), each.name, name, trees)
    if move is not None:
        guess = Guess(posixpath.basename(move.old), posixpath.basename(move.new))
        for known in places.list_of_subject((NameKind.FILE, "", move.old)):
            fix = resolve_guess(guess, known.at, trees)
            for edit in fix.edits if fix is not None else ():
                edits.setdefault(edit.at.file, []).append(edit)
    try:
        changed = make_edits(edits, trees)
    except ValueError as error:
        raise Failure(f"{quote(each.name)} cannot be replaced alone: {error}") from error
    _refuse_damage(project, changed, each, name, move)
    return tuple(list_file_edits(project, changed))


def _find_move(project: CheckedProject, found: Iterable[Occurrence], name: str) -> FileMove | None:
    """Return the move of the file that defines a stage and is called like it."""
    for each in found:
        tree = project.find_tree(each.at.file) if each.kind is NameKind.STAGE and each.whole is not None else None
        folder, last = posixpath.split(each.at.file)
        stem, suffix = posixpath.splitext(last)
        if tree is not None and tree.body is not None and stem == each.name and in_kebab_case(name):
            return FileMove(each.at.file, posixpath.join(folder, name + suffix))
    return None


def _list_edits(found: Iterable[Occurrence], old: str, new: str, trees: Mapping[str, Tree]) -> dict[str, list[Edit]]:
    edits: dict[str, dict[object, Edit]] = {}
    for each in found:
        fix = resolve_guess(Guess(old, new), each.at, trees)
        if fix is None:
            if _names(each, old, trees):
                raise Failure(f"{quote(each.at.file)} names {quote(old)} in a way that cannot be changed")
            continue  # it is mentioned by another name that it also has
        for edit in fix.edits:
            edits.setdefault(edit.at.file, {})[edit.at] = edit
    return {file: list(own.values()) for file, own in edits.items()}


def _names(each: Occurrence, name: str, trees: Mapping[str, Tree]) -> bool:
    """Tell whether a name is written as it is at a place, and not by another name of the same thing."""
    tree = trees.get(each.at.file)
    if tree is None or each.at.range is not None:
        return tree is not None
    last = each.at.pointer[-1] if each.at.pointer else ""
    said = find_inside(tree.value, each.at.pointer)
    return name in {last, said} or (each.kind in NODES and any(name in str(one).split("/") for one in (last, said)))


def _refuse_damage(
    project: CheckedProject,
    changed: Mapping[str, tuple[bytes, bytes]],
    each: Occurrence,
    name: str,
    move: FileMove | None = None,
) -> None:
    """Compile the project as it would be: no rule may say more, and each flow must lead where it led."""
    if project.compilation is None:
        raise Failure(project.failure)
    opened = project.as_open()
    overlay = {**project.overlay, **{file: after for file, (_, after) in changed.items()}}
    if move is not None:
        if Sources(opened.root, opened.settings.budgets, opened.overlay).exists(move.new):
            raise Failure(f"there is already a file {quote(move.new)}")
        overlay[move.new] = overlay.pop(move.old)  # the edits change it: it says the name
        opened = replace(opened, hidden=opened.hidden | {move.old})
    after = compile_project(replace(opened, overlay=overlay))
    was = {} if move is None else {move.new: move.old}
    worse = _find_worse(project.compilation.diagnostics, after.diagnostics, was)
    if worse is not None:
        raise Failure(f"with the name {quote(name)}, {worse.code} would say: {worse.message}")
    if each.kind in NODES and _trace(project.compilation, each, name) != _trace(after, each, each.name):
        raise Failure(f"with the name {quote(name)}, the flow would lead elsewhere than it does now")


def _find_worse(before: Iterable[Diagnostic], after: Iterable[Diagnostic], was: Mapping[str, str]) -> Diagnostic | None:
    """Return the first error that was not there before; what is said about the style of names is none.

    `was` are the names that files had before.
    """
    room = Counter((each.code, each.at.file) for each in before)
    for each in after:
        said = each.code, was.get(each.at.file, each.at.file)
        room[said] -= 1
        if room[said] < 0 and each.severity is Severity.ERROR:
            return each
    return None


def _trace(compilation: Compilation, renamed: Occurrence, new: str) -> object:
    """Return the targets of the flows, with a name in place of another one."""
    return sorted((flow.at.file, _trace_flow(flow, renamed, new)) for flow in compilation.flows)


def _trace_flow(flow: Flow, renamed: Occurrence, new: str) -> list[str]:
    prefixes = [f"{name}/" for name, each in flow.inner.items() if each.at.file == renamed.owner]
    prefixes += [""] * (flow.at.file == renamed.owner)
    was: str = renamed.name

    def call(node: str) -> str:
        for prefix in prefixes:
            old = prefix + was
            if node == old or node.startswith(f"{old}/"):
                return prefix + new + node.removeprefix(old)
        return node

    found = [f"{call(each.node)} begins" for each in flow.begun]
    for node in flow.nodes.values():
        for edge in node.edges:
            target = edge.target
            opened, nodes = list_opened(target), [call(each) for each in list_targets(target)]
            end = target.outcome if isinstance(target, Stop) else ""
            found.append(f"{call(node.id)} {edge.on} {nodes[: len(opened)]} {nodes[len(opened) :]} {end}")
    return sorted(found)
