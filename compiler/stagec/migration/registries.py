"""Step registries: steps, pairs of entries, and validation steps with two lists of conditions."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.words import format_count, listing, quote
from stagec.frontends.registry.document import VERDICTS
from stagec.migration.report import Findings
from stagec.migration.steps import FLAT, list_old, migrate_step
from stagec.sources.tree import Tree

_WITHOUT_PAIR = frozenset({"detect:graph", "meta:composite", "meta:custom"})
"""Verdict types that read no pair of entries."""


def migrate_registry(tree: Tree, agent: Tree | None, found: Findings) -> bool:
    """Find what becomes of a registry, and tell whether it has the new form then."""
    root, at = object_of(tree.value), tree.at
    steps = {key: step for key, step in object_of(root.get("steps")).items() if isinstance(step, dict)}
    old = list_old(steps)
    c1 = text_in(root, "c1")
    if old and not c1:
        found.ask(at, "the registry has no 'c1', which the address of every step names", '"c1": "steps"')
        return False
    for key, step in old.items():
        migrate_step(key, step, at / "steps" / key, c1 or "", found)
    _migrate_pairs(root, at, steps, found)
    runner = object_of(object_of(agent.value).get("runner")) if agent is not None else {}
    verdict = text_in(object_of(runner.get("verdict")), "type")
    if old and verdict in VERDICTS and verdict not in _WITHOUT_PAIR:
        _add_pair(tree, verdict, steps, found)
    for key, body in object_of(root.get("validationSteps")).items():
        if isinstance(body, dict):
            _migrate_validation(body, at / "validationSteps" / key, found)
            if old:
                _ask_for_address(body, at / "validationSteps" / key, found)
    return True


def _migrate_pairs(root: Object, at: Place, steps: Mapping[str, object], found: Findings) -> None:
    for verdict, entry in object_of(root.get("entryStepMapping")).items():
        place = at / "entryStepMapping" / verdict
        if isinstance(entry, str) and entry in steps:
            what = f"{quote(entry)} becomes a pair of entries"
            found.rewrite(place, what, Edit(Change.REPLACE, place, _make_pair(entry, steps)))
        elif isinstance(entry, str):
            proposal = '{"initial": "…", "continuation": "…"} with steps of this registry'
            found.ask(place, f"{quote(entry)} is no step: no pair of entries can be made", proposal)


def _add_pair(tree: Tree, verdict: str, steps: Mapping[str, object], found: Findings) -> None:
    """Write a pair for the verdict of the agent where only `entryStep` says where a run begins."""
    root, where = object_of(tree.value), tree.at / "entryStepMapping"
    mapping, entry = root.get("entryStepMapping", {}), text_in(root, "entryStep")
    if entry is None or entry not in steps or not isinstance(mapping, dict) or verdict in mapping:
        return
    pair, is_there = _make_pair(entry, steps), "entryStepMapping" in root
    given = Edit(Change.INSERT, where / verdict if is_there else where, pair if is_there else {verdict: pair})
    found.rewrite(tree.at / "entryStep", f"the verdict {quote(verdict)} of the agent gets its pair of entries", given)


def _make_pair(entry: str, steps: Mapping[str, object]) -> Object:
    """Return both entries: the second is the one that the old release derives from the name of the first."""
    word, dot, rest = entry.partition(".")
    derived = f"continuation.{rest}" if word == "initial" and dot else entry
    return {"initial": entry, "continuation": derived if derived in steps else entry}


def _migrate_validation(body: Object, at: Place, found: Findings) -> None:
    given = body.get("validationConditions", ...)
    lists = {"preflightConditions", "postLLMConditions"}
    where = at / "validationConditions"
    if given == [] and lists.isdisjoint(body):
        fresh = Edit(Change.INSERT, at / "postLLMConditions", [])
        renamed = Edit(Change.RENAME, where, "preflightConditions")
        found.rewrite(where, "no conditions: both lists of conditions are empty", renamed, fresh)
    elif given is not ...:
        _ask_for_slots(list_of(given if isinstance(given, list) else None), where, found)
    if text_in(object_of(body.get("onFailure")), "action") == "abort":
        what = "'onFailure' cannot abort any more: conditions before the model do, others when no attempt is left"
        proposal = '{"action": "retry", "maxAttempts": 1}, or move the conditions to "preflightConditions"'
        found.ask(at / "onFailure" / "action", what, proposal)


def _ask_for_address(body: Object, at: Place, found: Findings) -> None:
    flat = [member for member in FLAT if member in body]
    if flat and "address" not in body:
        what = f"the schema of 1.14 wants 'address'; its runner still looks for retry prompts by {listing(flat)}"
        found.ask(at, what, f"keep {listing(flat)}; nothing is lost by it")


def _ask_for_slots(conditions: list[Json], at: Place, found: Findings) -> None:
    names = [text_in(object_of(each), "validator") or "?" for each in conditions]
    count = format_count(len(conditions), "condition")
    what = f"{count}: each is checked either before the model is asked, where a failure ends the run, or after it"
    moved = '"postLLMConditions" with all of them, "preflightConditions": []'
    validators = f', and "phase": "postllm" in {listing(dict.fromkeys(names))} of "validators"' if names else ""
    found.ask(at, what, f"{moved}{validators}, as 1.13 checked them after the model")
