"""Bring the files of a project from one release of their format to the next: what is certain, and what is not."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Edit
from stagec.core.json import object_of, text_in
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.fixes import make_edits
from stagec.frontends.registry.document import Registry
from stagec.migration.agents import migrate_agent
from stagec.migration.registries import migrate_registry
from stagec.migration.report import Findings, PendingDecision, Rewrite
from stagec.migration.schemas import migrate_schemas
from stagec.migration.workflows import find_workflows, migrate_workflow
from stagec.pipeline import Project, read_documents
from stagec.sources.read import BOM, join
from stagec.sources.revised import revise
from stagec.sources.tree import Tree

__all__ = ["Migration", "PendingDecision", "Rewrite", "migrate"]

_CANNOT = "it cannot be changed without changing more"


@value
class Migration:
    """What becomes of a project: each changed file before and after, new files, why, and what is left to a person.

    `unreadable` files were looked at and could not be read; `seen` counts the files that could be.
    """

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    created: Mapping[str, bytes]
    rewrites: tuple[Rewrite, ...]
    decisions: tuple[PendingDecision, ...]
    trees: Mapping[str, Tree]
    unreadable: tuple[Tree, ...]
    seen: int


def migrate(project: Project) -> Migration:
    """Return what moves the registries, agents and workflows of a project to the release 1.14; nothing is written."""
    known = read_documents(project)
    trees = {tree.file: _open(tree) for tree in known.sources.trees}
    workflows = find_workflows(project, known.sources)
    trees.update({tree.file: tree for tree in workflows})
    found = Findings()
    registries = [tree for tree in trees.values() if tree.kind == "registry" and isinstance(tree.value, dict)]
    agents = {tree.file: _find_agent(tree, trees) for tree in registries}
    moved = {tree.file for tree in registries if migrate_registry(tree, agents[tree.file], found)}
    for document in known.documents:
        if isinstance(document, Registry) and document.at.file in moved:
            migrate_schemas(document, trees, found)
    for file, agent in agents.items():
        if file in moved and agent is not None and agent.readable:
            migrate_agent(agent, found, known.sources.exists)
    for tree in workflows:
        if tree.readable:
            migrate_workflow(tree, found)
    looked_at = [tree for tree in trees.values() if tree.kind in {"registry", "agent"} or tree in workflows]
    return _conclude(found, trees, looked_at, project.settings.budgets)


def _open(tree: Tree) -> Tree:
    """Return a registry that only its format keeps from being read as one that can be."""
    is_known = tree.kind == "registry" and tree.value is not None
    return replace(tree, readable=True) if is_known and any(tree.about("future-format")) else tree


def _find_agent(registry: Tree, trees: Mapping[str, Tree]) -> Tree | None:
    """Return the agent definition that a registry belongs to: one that names it, or the one beside it."""
    for tree in trees.values():
        if tree.kind == "agent":
            prompts = object_of(object_of(object_of(object_of(tree.value).get("runner")).get("flow")).get("prompts"))
            named = join(posixpath.dirname(tree.file), text_in(prompts, "registry") or "steps_registry.json")
            if named == registry.file:
                return tree
    return None


def _conclude(found: Findings, trees: Mapping[str, Tree], looked_at: Iterable[Tree], budgets: Budgets) -> Migration:
    """Make the edits of each file in its text; a file in which they cannot be made exactly is left to a person."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    left: list[PendingDecision] = []
    for file, edits in found.edits.items():
        changed = _change(trees[file], edits, budgets)
        if changed is None:
            left.append(
                PendingDecision(Place(file), _CANNOT, "correct what 'stagec validate' says of it, and migrate again")
            )
        elif changed[0] != changed[1]:
            before[file], after[file] = changed
    spoilt = {each.at.file for each in left}
    every = tuple(looked_at)
    return Migration(
        before,
        after,
        {file: data for file, (data, owner) in found.created.items() if owner not in spoilt},
        tuple(each for each in found.rewrites if each.at.file not in spoilt),
        (*left, *found.decisions),
        trees,
        tuple(tree for tree in every if not tree.readable),
        sum(tree.readable for tree in every),
    )


def _change(tree: Tree, edits: list[Edit], budgets: Budgets) -> tuple[bytes, bytes] | None:
    try:
        before, after = make_edits({tree.file: edits}, {tree.file: tree}).get(tree.file, (b"", b""))
        fresh = after.removeprefix(BOM)
        is_exact = not after or tree.format.parse(tree.file, fresh, budgets).value == revise(tree.value, edits)
    except ValueError:
        return None
    return (before, after) if is_exact else None
