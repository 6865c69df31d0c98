"""Orchestrator files: how an agent closes issues, and the store of issues under its new name."""

from __future__ import annotations

import json
import re

from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.words import listing
from stagec.migration.report import Findings
from stagec.pipeline import Project
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
    return tuple(tree for tree in trees if tree is not None and _is_workflow(tree))


def _is_workflow(tree: Tree) -> bool:
    if not tree.readable:
        return _NAME.fullmatch(tree.file) is not None
    return isinstance(tree.value, dict) and {"phases", "labelMapping"} <= tree.value.keys()


def migrate_workflow(tree: Tree, found: Findings) -> None:
    """Find what becomes of an orchestrator file."""
    root = object_of(tree.value)
    _migrate_store(root, tree.at, found)
    for name, agent in object_of(root.get("agents")).items():
        if isinstance(agent, dict) and any(member in agent for member in _OLD):
            _migrate_closing(agent, tree.at / "agents" / name, found)
    for index, each in enumerate(list_of(root.get("handoffs"))):
        at = tree.at / "handoffs" / index / "persistPayloadTo"
        if object_of(each).get("persistPayloadTo") == "issueStore":
            found.rewrite(at, "'issueStore' is now 'subjectStore'", Edit(Change.REPLACE, at, "subjectStore"))
    if "issueSource" not in root:
        what = "1.14 wants to be told where a batch takes its issues"
        found.ask(tree.at, what, '"issueSource": {"kind": "ghRepoIssues", "projectMembership": "unbound"}, as 1.13 did')
    for member in ("criteria", "dryRun"):
        if member in root:
            found.ask(tree.at / member, f"nothing reads '{member}' any more", f"remove '{member}'")
    _ask_for_labels(root, tree.at, found)


def _migrate_store(root: Object, at: Place, found: Findings) -> None:
    if "issueStore" not in root:
        return
    if "subjectStore" not in root:
        renamed = Edit(Change.RENAME, at / "issueStore", "subjectStore")
        found.rewrite(at / "issueStore", "'issueStore' is now 'subjectStore'", renamed)
    elif root["issueStore"] == root["subjectStore"]:
        same = Edit(Change.REMOVE, at / "issueStore")
        found.rewrite(at / "issueStore", "'issueStore' says what 'subjectStore' says", same)
    else:
        found.ask(at / "issueStore", "'issueStore' and 'subjectStore' differ", "remove 'issueStore'")


def _migrate_closing(agent: Object, at: Place, found: Findings) -> None:
    """Write how an agent closes issues; it closes none where it did not say so."""
    given = [member for member in _OLD if member in agent]
    closes, condition = agent.get("closeOnComplete", False), agent.get("closeCondition")
    obstacle = _find_obstacle(agent)
    if obstacle is not None:
        binding = json.dumps({"primary": {"kind": "direct"}, **({} if condition is None else {"condition": condition})})
        proposal = f'"closeBinding": {binding} if it is to close, else remove {listing(given)}'
        found.ask(at / given[0], obstacle, proposal)
    elif closes is True:
        made: dict[str, Json] = {"primary": {"kind": "direct"}}
        if "closeCondition" in agent:
            made["condition"] = condition
        edits = [Edit(Change.REPLACE, at / "closeOnComplete", made)]
        edits.append(Edit(Change.RENAME, at / "closeOnComplete", "closeBinding"))
        edits += [Edit(Change.REMOVE, at / member) for member in given if member == "closeCondition"]
        verb = "becomes" if len(given) == 1 else "become"
        found.rewrite(at, f"{listing(given)} {verb} 'closeBinding'", *edits)
    else:
        edits = [Edit(Change.REMOVE, at / member) for member in given]
        found.rewrite(at, f"{listing(given)} closed nothing", *edits)


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
        return "'closeCondition' is no outcome"
    if agent.get("role") != "validator":
        return "'closeCondition' of an agent that is no validator: its outcomes are success and failed"
    return None


def _ask_for_labels(root: Object, at: Place, found: Findings) -> None:
    used = {*object_of(root.get("labelMapping"))}
    used |= {each for each in list_of(object_of(root.get("prioritizer")).get("labels")) if isinstance(each, str)}
    sentinel = text_in(object_of(root.get("projectBinding")), "sentinelLabel")
    for name, spec in object_of(root.get("labels")).items():
        if name not in used and name != sentinel and text_in(object_of(spec), "role") != "marker":
            what = "no phase and no prioritizer uses the label; 1.14 wants to know what it is for"
            found.ask(at / "labels" / name, what, '"role": "marker", or remove the label')
