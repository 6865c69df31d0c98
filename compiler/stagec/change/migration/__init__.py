"""Bring the files of a project from one release of their format to the next: what is certain, and what is not."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from stagec.change.migration.registries import AgentMigration, RegistryMigration, SchemaMigration
from stagec.change.migration.report import Findings, PendingDecision, Rewrite
from stagec.change.migration.workflows import WorkflowMigration, find_workflows
from stagec.check.fixes import make_edits
from stagec.check.pipeline import Project, read_documents
from stagec.core.diagnostic import Edit
from stagec.core.json import object_of, text_in
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.languages.registry.document import Registry
from stagec.sources.read import BOM, join
from stagec.sources.revised import revise
from stagec.sources.tree import Tree

__all__ = ["Migration", "PendingDecision", "Rewrite", "migrate"]

_KINDS = frozenset({"registry", "agent"})
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
    migration = _ProjectMigration(project)
    migration.find_all()
    return migration.conclude()


class _ProjectMigration:
    """Migrates each document of a project, and makes the changes in the texts of their files."""

    def __init__(self, project: Project) -> None:
        known = read_documents(project)
        self._sources = known.sources
        self._documents = [each for each in known.documents if isinstance(each, Registry)]
        self._workflows = find_workflows(project, known.sources)
        self._trees = {tree.file: tree for tree in (*known.sources.trees, *self._workflows)}
        for tree in known.sources.trees:
            if tree.kind == "registry" and tree.value is not None and any(tree.about("future-format")):
                self._trees[tree.file] = replace(tree, readable=True)  # only its format keeps it from being read
        self._found = Findings()

    def find_all(self) -> None:
        """Find the changes of all documents, and what is open; agents follow their registries."""
        registries = [tree for tree in self._trees.values() if tree.kind == "registry" and isinstance(tree.value, dict)]
        agents = {tree.file: self._find_agent(tree) for tree in registries}
        moved = [tree.file for tree in registries if RegistryMigration(tree, agents[tree.file], self._found).find_all()]
        for document in self._documents:
            if document.at.file in moved:
                SchemaMigration(document, self._trees, self._found).find_all()
        for agent in map(agents.__getitem__, moved):
            if agent is not None and agent.readable:
                AgentMigration(agent, self._found, self._sources.exists).find_all()
        for tree in self._workflows:
            if tree.readable:
                WorkflowMigration(tree, self._found).find_all()

    def _find_agent(self, registry: Tree) -> Tree | None:
        """Return the agent definition that a registry belongs to: one that names it, or the one beside it."""
        for tree in self._trees.values():
            if tree.kind == "agent":
                flow = object_of(object_of(object_of(tree.value).get("runner")).get("flow"))
                name = text_in(object_of(flow.get("prompts")), "registry") or "steps_registry.json"
                if join(posixpath.dirname(tree.file), name) == registry.file:
                    return tree
        return None

    def conclude(self) -> Migration:
        """Return what came of it; a file in which the changes cannot be made exactly is left to a person."""
        before: dict[str, bytes] = {}
        after: dict[str, bytes] = {}
        left: list[PendingDecision] = []
        for file, edits in self._found.edits.items():
            changed = self._change(self._trees[file], edits)
            if changed is None:
                proposal = "correct what 'stagec validate' says of it, and migrate again"
                left.append(PendingDecision(Place(file), _CANNOT, proposal))
            elif changed[0] != changed[1]:
                before[file], after[file] = changed
        spoilt = {each.at.file for each in left}
        every = [tree for tree in self._trees.values() if tree.kind in _KINDS or tree in self._workflows]
        return Migration(
            before,
            after,
            {file: data for file, (data, owner) in self._found.created.items() if owner not in spoilt},
            tuple(each for each in self._found.rewrites if each.at.file not in spoilt),
            (*left, *self._found.decisions),
            self._trees,
            tuple(tree for tree in every if not tree.readable),
            sum(tree.readable for tree in every),
        )

    def _change(self, tree: Tree, edits: list[Edit]) -> tuple[bytes, bytes] | None:
        """Return a file before and after, nothing where more would change than what the edits say."""
        try:
            before, after = make_edits({tree.file: edits}, {tree.file: tree}).get(tree.file, (b"", b""))
            now = tree.format.parse(tree.file, after.removeprefix(BOM), self._sources.budgets).value
            is_exact = not after or now == revise(tree.value, edits)
        except ValueError:
            return None
        return (before, after) if is_exact else None
