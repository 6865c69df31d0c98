"""Orchestrator files: how an agent closes issues, and the store of issues under its new name."""

from __future__ import annotations

import json
import re

from stagec.change.migration.report import Findings
from stagec.check.pipeline import Project
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.words import listing
from stagec.sources.discover import FileWish, discover
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

_NAME = re.compile(r"(?:.*/)?\.agent/workflow[^/]*\.json")
_OLD = ("closeOnComplete", "closeCondition")


def find_workflows(project: Project, sources: Sources) -> tuple[Tree, ...]:
    """Return the orchestrator files of a project: those that are named so, and those that a user named by hand."""
    wish = FileWish(lambda file: _NAME.fullmatch(file) is not None)
    found = discover(project.root, project.paths, project.settings.scope, (wish,), project.overlay)
    trees = [sources.tree(file, "file") for file in (*found.claimed[0], *found.unclaimed)]
    return tuple(
        tree
        for tree in trees
        if tree is not None
        and (
            {"phases", "labelMapping"} <= object_of(tree.value).keys() if tree.readable else _NAME.fullmatch(tree.file)
        )
    )


class WorkflowMigration:
    """Finds what becomes of an orchestrator file."""

    def __init__(self, tree: Tree, found: Findings) -> None:
        self._root = object_of(tree.value)
        self._at = tree.at
        self._found = found

    def find_all(self) -> None:
        """Find the changes of the file, and what is open."""
        self._migrate_store()
        for name, agent in object_of(self._root.get("agents")).items():
            if isinstance(agent, dict) and any(member in agent for member in _OLD):
                self._migrate_closing(agent, self._at / "agents" / name)
        for index, each in enumerate(list_of(self._root.get("handoffs"))):
            at = self._at / "handoffs" / index / "persistPayloadTo"
            if object_of(each).get("persistPayloadTo") == "issueStore":
                self._found.rewrite(at, "'issueStore' is now 'subjectStore'", Edit(Change.REPLACE, at, "subjectStore"))
        if "issueSource" not in self._root:
            what = "1.14 requires a source of issues for a batch"
            self._found.ask(
                self._at, what, '"issueSource": {"kind": "ghRepoIssues", "projectMembership": "unbound"}, as 1.13 did'
            )
        for member in ("criteria", "dryRun"):
            if member in self._root:
                self._found.ask(self._at / member, f"nothing reads '{member}' in 1.14", f"remove '{member}'")
        self._ask_for_labels()

    def _migrate_store(self) -> None:
        if "issueStore" not in self._root:
            return
        if "subjectStore" not in self._root:
            renamed = Edit(Change.RENAME, self._at / "issueStore", "subjectStore")
            self._found.rewrite(self._at / "issueStore", "'issueStore' is now 'subjectStore'", renamed)
        elif self._root["issueStore"] == self._root["subjectStore"]:
            same = Edit(Change.REMOVE, self._at / "issueStore")
            self._found.rewrite(self._at / "issueStore", "'issueStore' says what 'subjectStore' says", same)
        else:
            self._found.ask(self._at / "issueStore", "'issueStore' and 'subjectStore' differ", "remove 'issueStore'")

    def _migrate_closing(self, agent: Object, at: Place) -> None:
        """Write how an agent closes issues; it closes none where it did not say so."""
        given = [member for member in _OLD if member in agent]
        closes, condition = agent.get("closeOnComplete", False), agent.get("closeCondition")
        obstacle = self._find_obstacle(agent)
        if obstacle is not None:
            binding = json.dumps(
                {"primary": {"kind": "direct"}, **({} if condition is None else {"condition": condition})}
            )
            proposal = f'"closeBinding": {binding} if it is to close, else remove {listing(given)}'
            self._found.ask(at / given[0], obstacle, proposal)
        elif closes is True:
            made: dict[str, Json] = {"primary": {"kind": "direct"}}
            if "closeCondition" in agent:
                made["condition"] = condition
            edits = [Edit(Change.REPLACE, at / "closeOnComplete", made)]
            edits.append(Edit(Change.RENAME, at / "closeOnComplete", "closeBinding"))
            edits += [Edit(Change.REMOVE, at / member) for member in given if member == "closeCondition"]
            verb = "becomes" if len(given) == 1 else "become"
            self._found.rewrite(at, f"{listing(given)} {verb} 'closeBinding'", *edits)
        else:
            edits = [Edit(Change.REMOVE, at / member) for member in given]
            self._found.rewrite(at, f"{listing(given)} closed nothing", *edits)

    @staticmethod
    def _find_obstacle(agent: Object) -> str | None:
        """Return why it is not certain how an agent closes issues."""
        closes = agent.get("closeOnComplete", False)
        if "closeBinding" in agent:
            return f"the agent has 'closeBinding' besides {listing([each for each in _OLD if each in agent])}"
        if not isinstance(closes, bool):
            return "'closeOnComplete' is neither true nor false"
        if not closes or "closeCondition" not in agent:
            return None
        if not text_in(agent, "closeCondition"):
            return "'closeCondition' is not an outcome"
        if agent.get("role") != "validator":
            return "'closeCondition' of an agent that is not a validator: its outcomes are success and failed"
        return None

    def _ask_for_labels(self) -> None:
        used = {*object_of(self._root.get("labelMapping"))}
        used |= {
            each for each in list_of(object_of(self._root.get("prioritizer")).get("labels")) if isinstance(each, str)
        }
        sentinel = text_in(object_of(self._root.get("projectBinding")), "sentinelLabel")
        for name, spec in object_of(self._root.get("labels")).items():
            if name not in used and name != sentinel and text_in(object_of(spec), "role") != "marker":
                what = "no phase and no prioritizer uses the label; 1.14 requires its role"
                self._found.ask(self._at / "labels" / name, what, '"role": "marker", or remove the label')
