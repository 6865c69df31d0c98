"""Another name for a thing at every place at which it is named; what that would break is told first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from stagec.check.findings import resolve_guess
from stagec.check.fixes import make_edits
from stagec.check.pipeline import Compilation, compile_project
from stagec.core.diagnostic import Diagnostic, Edit, Severity
from stagec.core.failure import Failure
from stagec.core.json import find_inside
from stagec.core.nearest import Guess
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.ir.flow import NODES, Flow, NameKind, Occurrence
from stagec.ir.plan.node import Stop, list_opened, list_targets
from stagec.lsp.edits import FileEdit, list_file_edits
from stagec.lsp.name_places import PlacedName, read_places
from stagec.lsp.positions import Point
from stagec.lsp.workspace import CheckedProject
from stagec.sources.tree import Tree

RENAMED = NODES | {NameKind.VALIDATOR, NameKind.PATTERN, NameKind.AGENT}
"""What has names that only the files of a project know."""


@value
class Renaming:
    """The thing at a position that can have another name, and the name as it is written there."""

    placed: PlacedName
    name: str


def find_renamed(project: CheckedProject, file: str, point: Point) -> Renaming:
    """Return what is renamed at a position; raise `Failure` where nothing can be."""
    placed = read_places(project).find(file, point)
    if placed is None or placed.occurrence.kind not in RENAMED:
        what = "nothing" if placed is None else f"a {placed.occurrence.kind}"
        raise Failure(f"there is {what} here, and only steps, stages and the like can be renamed")
    each = placed.occurrence
    if not any(known.whole is not None for known in read_places(project).list_of_subject(each.subject)):
        raise Failure(f"no {each.kind} is called {quote(each.name)}, so it cannot be renamed")
    return Renaming(placed, each.name)


def rename(project: CheckedProject, file: str, point: Point, name: str) -> tuple[FileEdit, ...]:
    """Return the edits that give a thing another name everywhere; raise `Failure` for what that would break."""
    renamed = find_renamed(project, file, point)
    each, places = renamed.placed.occurrence, read_places(project)
    if name == each.name:
        return ()
    if any(known.whole is not None for known in places.list_of_subject((each.kind, each.owner, name))):
        raise Failure(f"there is already a {each.kind} {quote(name)}")
    compiled = {} if project.compilation is None else project.compilation.trees
    trees = {**{tree.file: tree for tree in project.list_flow_tests()}, **compiled}
    edits = _list_edits(places.list_of_subject(each.subject), each.name, name, trees)
    try:
        changed = make_edits(edits, trees)
    except ValueError as error:
        raise Failure(f"{quote(each.name)} cannot be replaced alone: {error}") from error
    _refuse_damage(project, changed, each, name)
    return tuple(list_file_edits(project, changed))


def _list_edits(found: Iterable[Occurrence], old: str, new: str, trees: Mapping[str, Tree]) -> Mapping[str, list[Edit]]:
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
    return name == last or find_inside(tree.value, each.at.pointer) == name


def _refuse_damage(
    project: CheckedProject, changed: Mapping[str, tuple[bytes, bytes]], each: Occurrence, name: str
) -> None:
    """Compile the project as it would be: no rule may say more, and each flow must lead where it led."""
    overlay = {**project.overlay, **{file: after for file, (_, after) in changed.items()}}
    if project.compilation is None:
        raise Failure(project.failure)
    after = compile_project(replace(project.as_open(), overlay=overlay))
    worse = _find_worse(project.compilation.diagnostics, after.diagnostics)
    if worse is not None:
        raise Failure(f"with the name {quote(name)}, {worse.code} would say: {worse.message}")
    if each.kind in NODES and _trace(project.compilation, each.name, name) != _trace(after, name, name):
        raise Failure(f"with the name {quote(name)}, the flow would lead elsewhere than it does now")


def _find_worse(before: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> Diagnostic | None:
    """Return the first error that was not there before; what is said about the style of names is none."""
    room = Counter((each.code, each.at.file) for each in before)
    for each in after:
        room[each.code, each.at.file] -= 1
        if room[each.code, each.at.file] < 0 and each.severity is Severity.ERROR:
            return each
    return None


def _trace(compilation: Compilation, old: str, new: str) -> object:
    """Return where the flows lead, with a name in place of another one."""
    return sorted((flow.at.file, _trace_flow(flow, old, new)) for flow in compilation.flows)


def _trace_flow(flow: Flow, old: str, new: str) -> list[str]:
    def call(node: str) -> str:
        return new if node == old else node

    found = [f"{call(each.node)} begins" for each in flow.begun]
    for node in flow.nodes.values():
        for edge in node.edges:
            target = edge.target
            opened, nodes = list_opened(target), [call(each) for each in list_targets(target)]
            end = target.outcome if isinstance(target, Stop) else ""
            found.append(f"{call(node.id)} {edge.on} {nodes[: len(opened)]} {nodes[len(opened) :]} {end}")
    return sorted(found)
