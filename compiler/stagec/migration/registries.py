"""Step registries: steps, pairs of entries, and validation steps with two lists of conditions."""

from __future__ import annotations

from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.words import format_count, listing, quote
from stagec.frontends.registry.document import VERDICTS
from stagec.migration.report import Findings
from stagec.migration.steps import FLAT, StepMigration, list_old
from stagec.sources.tree import Tree

_WITHOUT_PAIR = frozenset({"detect:graph", "meta:composite", "meta:custom"})
"""Verdict types that read no pair of entries."""


class RegistryMigration:
    """Finds what becomes of a registry and of everything in it; `agent` is its agent definition."""

    def __init__(self, tree: Tree, agent: Tree | None, found: Findings) -> None:
        self._root = object_of(tree.value)
        self._at = tree.at
        self._found = found
        steps = object_of(self._root.get("steps"))
        self._steps = {key: step for key, step in steps.items() if isinstance(step, dict)}
        runner = object_of(object_of(agent.value).get("runner")) if agent is not None else {}
        self._verdict = text_in(object_of(runner.get("verdict")), "type")

    def find_all(self) -> bool:
        """Find the changes and what is open, and tell whether the registry has the new form then."""
        old, c1 = list_old(self._steps), text_in(self._root, "c1")
        if old and not c1:
            self._found.ask(
                self._at, "the registry has no 'c1', which the address of every step names", '"c1": "steps"'
            )
            return False
        for key, step in old.items():
            StepMigration(key, step, self._at / "steps" / key, c1 or "", self._found).find_all()
        self._migrate_pairs()
        if old and self._verdict in VERDICTS and self._verdict not in _WITHOUT_PAIR:
            self._add_pair(self._verdict)
        for key, body in object_of(self._root.get("validationSteps")).items():
            if isinstance(body, dict):
                self._migrate_validation(body, self._at / "validationSteps" / key)
                if old:
                    self._ask_for_address(body, self._at / "validationSteps" / key)
        return True

    def _migrate_pairs(self) -> None:
        for verdict, entry in object_of(self._root.get("entryStepMapping")).items():
            at = self._at / "entryStepMapping" / verdict
            if isinstance(entry, str) and entry in self._steps:
                pair = Edit(Change.REPLACE, at, self._make_pair(entry))
                self._found.rewrite(at, f"{quote(entry)} becomes a pair of entries", pair)
            elif isinstance(entry, str):
                proposal = '{"initial": "…", "continuation": "…"} with steps of this registry'
                self._found.ask(at, f"{quote(entry)} is not a step, so no pair of entries can be made", proposal)

    def _add_pair(self, verdict: str) -> None:
        """Write a pair for the verdict of the agent where only `entryStep` says where a run begins."""
        mapping, entry = self._root.get("entryStepMapping", {}), text_in(self._root, "entryStep")
        if entry is None or entry not in self._steps or not isinstance(mapping, dict) or verdict in mapping:
            return
        at, pair = self._at / "entryStepMapping", self._make_pair(entry)
        is_there = "entryStepMapping" in self._root
        given = Edit(Change.INSERT, at / verdict if is_there else at, pair if is_there else {verdict: pair})
        what = f"the verdict {quote(verdict)} of the agent gets its pair of entries"
        self._found.rewrite(self._at / "entryStep", what, given)

    def _make_pair(self, entry: str) -> Object:
        """Return both entries: the second is the one that the old release derives from the name of the first."""
        word, dot, rest = entry.partition(".")
        derived = f"continuation.{rest}" if word == "initial" and dot else entry
        return {"initial": entry, "continuation": derived if derived in self._steps else entry}

    def _migrate_validation(self, body: Object, at: Place) -> None:
        given = body.get("validationConditions", ...)
        where = at / "validationConditions"
        if given == [] and {"preflightConditions", "postLLMConditions"}.isdisjoint(body):
            fresh = Edit(Change.INSERT, at / "postLLMConditions", [])
            renamed = Edit(Change.RENAME, where, "preflightConditions")
            self._found.rewrite(where, "no conditions: both lists of conditions are empty", renamed, fresh)
        elif given is not ...:
            self._ask_for_slots(list_of(given if isinstance(given, list) else None), where)
        if text_in(object_of(body.get("onFailure")), "action") == "abort":
            what = "'onFailure' can no longer abort: conditions before the model do, others when no attempt is left"
            proposal = '{"action": "retry", "maxAttempts": 1}, or move the conditions to "preflightConditions"'
            self._found.ask(at / "onFailure" / "action", what, proposal)

    def _ask_for_address(self, body: Object, at: Place) -> None:
        flat = [member for member in FLAT if member in body]
        if flat and "address" not in body:
            what = f"the schema of 1.14 wants 'address'; its runner still looks for retry prompts by {listing(flat)}"
            self._found.ask(at, what, f"keep {listing(flat)}; nothing is lost by it")

    def _ask_for_slots(self, conditions: list[Json], at: Place) -> None:
        names = [text_in(object_of(each), "validator") or "?" for each in conditions]
        count = format_count(len(conditions), "condition")
        what = f"{count}: each is checked either before the model is asked, where a failure ends the run, or after it"
        moved = '"postLLMConditions" with all of them, "preflightConditions": []'
        validators = f', and "phase": "postllm" in {listing(dict.fromkeys(names))} of "validators"' if names else ""
        self._found.ask(at, what, f"{moved}{validators}, as 1.13 checked them after the model")
