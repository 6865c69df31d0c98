"""A project without the nodes that no run reaches: what is left when their definitions are taken out of its files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import list_of, object_of
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.graph import Graph
from stagec.pipeline import Compilation, Project
from stagec.sources.revised import revise
from stagec.sources.tree import Tree

_TABLES = ("validationSteps", "next", "checks", "gate", "hooks")
"""Members of a file that declares a flow, in which there is something for each node, by its name."""


@value
class Remainder:
    """A project without what no run reaches, and the names of what was taken from it, by the file of the flow."""

    project: Project
    left_out: dict[str, tuple[str, ...]]


def leave_out_unreached(project: Project, compilation: Compilation) -> Remainder:
    """Return a project in which the files of flows hold only what a run can reach; nothing is written.

    A flow stays as it is where that cannot be told, because answers may name any node. So does whatever has no
    definition of its own. Whether the rest is sound, the rules say when it is compiled.
    """
    left_out: dict[str, tuple[str, ...]] = {}
    overlay, hidden = dict(project.overlay), set(project.hidden)
    for meaning in compilation.meanings:
        tree = compilation.trees.get(meaning.flow.at.file)
        names = _list_unreached(meaning.graph, tree) if tree is not None else {}
        if tree is None or not names or tree.file in left_out:
            continue
        text = _write_rest(tree, [*_list_edits(names, tree)], project.settings.budgets)
        if text is not None:
            overlay[tree.file] = text
            hidden |= {at.file for at in names.values()} - {tree.file}
            left_out[tree.file] = tuple(names)
    rest = replace(project, overlay=overlay, hidden=frozenset(hidden))
    return Remainder(rest if left_out else project, left_out)


def _write_rest(tree: Tree, edits: list[Edit], budgets: Budgets) -> bytes | None:
    """Return the text of a file without some members; nothing if it cannot be written without changing more."""
    text = tree.data.decode(errors="surrogateescape")
    try:
        rest = tree.format.apply(text, edits).encode(errors="surrogateescape") if edits else tree.data
        is_exact = tree.format.parse(tree.file, rest, budgets).value == revise(tree.value, edits)
    except ValueError:
        return None
    return rest if is_exact else None


def _list_unreached(graph: Graph, tree: Tree) -> dict[str, Place]:
    """Return the nodes of a flow that never start, with their definitions: also those that cannot be read."""
    flow, startable = graph.flow, graph.startable()
    if not startable or any(flow.nodes[name].names_any for name in startable) or not flow.open.isdisjoint(startable):
        return {}
    defined = ((name, _find_definition(flow.nodes[name].at)) for name in graph.unstartable())
    found = {name: at for name, at in defined if bool(at.pointer) is (at.file == tree.file)}
    steps = object_of(object_of(tree.value).get("steps"))
    unread = (name for name, body in steps.items() if name not in flow.nodes and _is_for_runs(body))
    return {**found, **{name: Place(tree.file, ("steps", name)) for name in unread}}


def _find_definition(at: Place) -> Place:
    """Return what defines a node that says its id at a place: a member of its flow's file, or a file of its own."""
    return Place(at.file, at.pointer[:-1]) if at.pointer[-1:] == ("id",) else at


def _is_for_runs(body: object) -> bool:
    """Tell whether a step that could not be read is meant to be run: it has a gate or leads on."""
    return isinstance(body, dict) and ("structuredGate" in body or "transitions" in body)


def _list_edits(names: dict[str, Place], tree: Tree) -> Iterable[Edit]:
    """Return the removal of definitions from the file of a flow, and of what it says of each."""
    places = [at for at in names.values() if at.file == tree.file]
    places += [Place(tree.file, (table, name)) for table, name in _list_mentions(names, tree)]
    files = {at.file for at in names.values()}
    folder = posixpath.dirname(tree.file)
    for index, each in enumerate(list_of(object_of(tree.value).get("stages"))):
        if isinstance(each, str) and posixpath.normpath(posixpath.join(folder, each)) in files - {tree.file}:
            places.append(Place(tree.file, ("stages", index)))
    return [Edit(Change.REMOVE, at) for at in dict.fromkeys(places)]


def _list_mentions(names: Iterable[str], tree: Tree) -> Iterator[tuple[str, str]]:
    body = object_of(tree.value)
    return ((table, name) for name in names for table in _TABLES if name in object_of(body.get(table)))
