"""Step registries: steps, pairs of entries, and validation steps with two lists of conditions."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from stagec.change.migration.report import Findings
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Key, Place
from stagec.core.words import format_count, listing, quote
from stagec.languages.registry.document import KIND_OF_PHASE, VERDICTS, Registry, StepKind
from stagec.sources.contract.choices import Choices
from stagec.sources.tree import Tree


class SchemaMigration:
    """Finds where the schemas of a registry's answers offer `abort` as an intent."""

    def __init__(self, registry: Registry, trees: Mapping[str, Tree], found: Findings) -> None:
        self._registry = registry
        self._trees = trees
        self._found = found

    def find_all(self) -> None:
        """Find the changes of the schemas, and what is open."""
        for step in self._registry.steps.values():
            offered = step.output.choices if step.output is not None else None
            for given, at in offered.values if isinstance(offered, Choices) else ():
                if given == "abort" and at.file in self._trees:
                    self._take(at)

    def _take(self, at: Place) -> None:
        *above, last = at.pointer or ("",)
        if isinstance(last, int) and above[-1:] == ["enum"] and len(self._look_up(at.file, above)) > 1:
            self._found.rewrite(at, "'abort' is not an intent", Edit(Change.REMOVE, at))
        elif all(each.at != at for each in self._found.decisions):
            what = "the schema offers 'abort', which is not an intent"
            self._found.ask(at, what, "remove this choice from the schema")

    def _look_up(self, file: str, way: Iterable[Key]) -> list[Json]:
        """Return the list at a place, an empty one where there is none."""
        given = self._trees[file].value
        for key in way:
            inner = given if isinstance(given, dict) else dict(enumerate(list_of(given)))
            given = inner.get(key)
        return list_of(given)


FLAT = ("c2", "c3", "edition", "adaptation")
"""What the address of a step was made of before there was one."""
_OLD = ("stepKind", *FLAT)
_NEW = frozenset({"kind", "address"})
_KINDS = frozenset(kind.value for kind in StepKind)


def list_old(steps: Mapping[str, Object]) -> Mapping[str, Object]:
    """Return the steps that have a member of the old form, or lack one of the new form."""
    return {
        key: step for key, step in steps.items() if any(member in step for member in _OLD) or not step.keys() >= _NEW
    }


class StepMigration:
    """Finds what becomes of one step; `c1` is that of its registry."""

    def __init__(self, key: str, step: Object, at: Place, c1: str, found: Findings) -> None:
        self._key = key
        self._step = step
        self._at = at
        self._c1 = c1
        self._found = found
        self._flat = {member: given for member, given in step.items() if member in FLAT}

    def find_all(self) -> None:
        """Find the changes of the step, and what is open."""
        inferred, address = self._migrate_kind(), self._make_address()
        if address is None and inferred is not None:
            self._found.rewrite(self._at, f"'kind' is {quote(inferred)}, as 'c2' means", self._insert("kind", inferred))
        elif address is not None:
            self._write_address(address, inferred)
        self._fill_in()
        self._take_abort()
        self._ask_for_chain()

    def _write_address(self, address: Object, kind: str | None) -> None:
        """Put the new members in the places of the old ones."""
        slots = list(self._flat)
        first = [] if kind is None else [*self._put(slots.pop(0), "kind", kind)]
        edits = [*first, *self._put(slots.pop(0), "address", address)]
        edits += [Edit(Change.REMOVE, self._at / member) for member in slots]
        made = "'kind' and 'address'" if kind is not None else "'address'"
        self._found.rewrite(self._at, f"{listing(self._flat)} become {made}", *edits)

    def _migrate_kind(self) -> str | None:
        """Rename the kind of a step, or return the one that its `c2` means; ask where neither says it."""
        at = self._at / "stepKind"
        if "kind" in self._step:
            if "stepKind" in self._step:
                self._unite_kinds()
            return None
        if "stepKind" in self._step:
            if text_in(self._step, "stepKind") in _KINDS:
                self._found.rewrite(self._at, "'stepKind' is now 'kind'", Edit(Change.RENAME, at, "kind"))
            else:
                self._found.ask(
                    at, "'stepKind' names no kind of a step", f"'kind' with {listing(sorted(_KINDS), 'or')}"
                )
            return None
        flat = text_in(self._step, "c2") or ""
        if flat in KIND_OF_PHASE:
            return KIND_OF_PHASE[flat].value
        self._ask_for_kind(flat or text_in(object_of(self._step.get("address")), "c2") or "")
        return None

    def _ask_for_kind(self, phase: str) -> None:
        if phase == "section" or self._key.startswith("section."):
            what = "a section has no kind; every step of 1.14 has one, and no run reads that of a section"
            self._found.ask(self._at, what, '"kind": "work"')
        else:
            what = f"'c2' is {quote(phase)}, from which no kind follows" if phase else "no kind follows from the step"
            proposal = f"'kind' with {listing(sorted(_KINDS), 'or')}"
            self._found.ask(self._at, f"{what}; every step of 1.14 has one", proposal)

    def _unite_kinds(self) -> None:
        at = self._at / "stepKind"
        if self._step["kind"] == self._step["stepKind"]:
            self._found.rewrite(self._at, "'stepKind' says what 'kind' says", Edit(Change.REMOVE, at))
        else:
            self._found.ask(at, "'stepKind' and 'kind' name different kinds", "remove 'stepKind'")

    def _make_address(self) -> Object | None:
        """Return the address that flat members mean, None where the step has one or they do not tell."""
        if "address" in self._step:
            if self._flat:
                self._unite_addresses()
            return None
        wrong = [member for member, given in self._flat.items() if not (isinstance(given, str) and given)]
        missing = [member for member in ("c2", "c3") if member not in self._flat]
        if wrong or missing:
            what = f"{listing(wrong)} must be a text with content" if wrong else f"no {listing(missing, 'or')} is there"
            texts = {member: "…" if member in wrong else given for member, given in self._flat.items()}
            whole = {"c1": self._c1, "c2": "…", "c3": "…", "edition": "default", **texts}
            proposal = f'"address": {json.dumps(whole, ensure_ascii=False)}'
            self._found.ask(self._at / wrong[0] if wrong else self._at, f"{what}: no address can be made", proposal)
            return None
        made = {"c1": self._c1, "c2": self._flat["c2"], "c3": self._flat["c3"], "edition": "default"}
        return {**made, **self._flat}

    def _unite_addresses(self) -> None:
        address, named = object_of(self._step["address"]), listing(self._flat)
        if all(address.get(member) == given for member, given in self._flat.items()):
            edits = [Edit(Change.REMOVE, self._at / member) for member in self._flat]
            self._found.rewrite(self._at, f"'address' says what {named} said", *edits)
        else:
            at = self._at / next(iter(self._flat))
            self._found.ask(at, f"'address' does not say what {named} says", f"remove {named}")

    def _fill_in(self) -> None:
        """Write what the old release took for granted."""
        name = text_in(self._step, "stepId") or self._key
        wanted: dict[str, Json] = {"name": name, "uvVariables": [], "usesStdin": False}
        absent = {member: given for member, given in wanted.items() if member not in self._step and given != ""}
        if absent:
            edits = [self._insert(member, given) for member, given in absent.items()]
            self._found.rewrite(self._at, f"{listing(absent)} must be written", *edits)

    def _take_abort(self) -> None:
        """Remove the intent that the new format does not know; no answer could have it."""
        at, gate = self._at / "structuredGate", object_of(self._step.get("structuredGate"))
        allowed = enumerate(list_of(gate.get("allowedIntents")))
        edits = [Edit(Change.REMOVE, at / "allowedIntents" / index) for index, each in allowed if each == "abort"]
        if "abort" in object_of(self._step.get("transitions")):
            edits.append(Edit(Change.REMOVE, self._at / "transitions" / "abort"))
        if edits:
            self._found.rewrite(self._at, "'abort' is not an intent", *edits)
        if gate.get("fallbackIntent") == "abort":
            what = "'abort' is not an intent to fall back to"
            self._found.ask(at / "fallbackIntent", what, "remove 'fallbackIntent'")

    def _ask_for_chain(self) -> None:
        allowed = list_of(object_of(self._step.get("structuredGate")).get("allowedIntents"))
        if "repeat" in allowed and "adaptationChain" not in self._step:
            what = "1.13 bounds the repeats of a step by the iterations of a run, 1.14 by 'adaptationChain', or to one"
            proposal = '"adaptationChain" with the adaptation of the prompt for each repeat, such as ["default"]'
            self._found.ask(self._at, what, proposal)

    def _put(self, member: str, name: str, given: Json) -> Iterator[Edit]:
        """Yield the edits that give a member another value and another name, and leave it in its place."""
        yield Edit(Change.REPLACE, self._at / member, given)
        yield Edit(Change.RENAME, self._at / member, name)

    def _insert(self, member: str, given: Json) -> Edit:
        return Edit(Change.INSERT, self._at / member, given)


_MOVED = ("allowedTools", "permissionMode")
_MODES = ("default", "plan", "acceptEdits", "bypassPermissions")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SETTINGS = "claude.settings.climpt.agents"
_FOLDER = ".agent/climpt/config"


class AgentMigration:
    """Finds what becomes of the boundaries of an agent; `has` tells whether a file of the project is there."""

    def __init__(self, tree: Tree, found: Findings, has: Callable[[str], bool]) -> None:
        root = object_of(tree.value)
        self._boundaries = object_of(object_of(root.get("runner")).get("boundaries"))
        self._at = tree.at / "runner" / "boundaries"
        self._found = found
        self._has = has
        self._name = text_in(root, "name") or ""
        # the folder of the settings: in the `.agent` that the agent lies in, or in that of the project
        top = posixpath.dirname(posixpath.dirname(tree.file))
        self._folder = f"{top}/climpt/config" if posixpath.basename(top) == ".agent" else _FOLDER
        self._file = f"{self._folder}/{_SETTINGS}.{self._name}.json"

    def find_all(self) -> None:
        """Find the changes of the agent, and what is open."""
        moved = [member for member in _MOVED if member in self._boundaries]
        if not moved:
            return
        settings = self._make_settings()
        obstacle = self._find_obstacle() or self._find_taken()
        if obstacle is not None:
            member, what = obstacle
            text = json.dumps(settings, ensure_ascii=False)
            proposal = f"write {quote(self._file)}: {text}, then remove {listing(moved)}"
            self._found.ask(self._at / member if member in self._boundaries else self._at, what, proposal)
            return
        places = [self._at] if len(moved) == len(self._boundaries) else [self._at / member for member in moved]
        what = f"{listing(moved)} {'moves' if len(moved) == 1 else 'move'} to {quote(posixpath.basename(self._file))}"
        self._found.rewrite(self._at, what, *(Edit(Change.REMOVE, place) for place in places))
        data = json.dumps(settings, ensure_ascii=False, indent=2) + "\n"
        self._found.create(self._file, data.encode(), self._at)
        if self._boundaries.get("permissionMode") == "plan":
            what = "'plan' has no effect in 1.14: the kind of a step decides, or its own 'permissionMode'"
            proposal = '"permissionMode": "plan" in the steps that it is meant for'
            self._found.ask(self._at / "permissionMode", what, proposal)

    def _make_settings(self) -> Object:
        given = list_of(self._boundaries.get("allowedTools"))
        permissions: dict[str, Json] = {"allow": [each for each in given if isinstance(each, str) and each != "*"]}
        if text_in(self._boundaries, "permissionMode") in _MODES:
            permissions["defaultMode"] = self._boundaries["permissionMode"]
        return {"permissions": permissions}

    def _find_obstacle(self) -> tuple[str, str] | None:
        """Return why boundaries have no single meaning in the new release, and the member that says it."""
        tools = self._boundaries.get("allowedTools", ["*"])
        if not isinstance(tools, list) or not all(isinstance(each, str) for each in tools):
            return "allowedTools", "'allowedTools' is not a list of texts"
        if "*" in tools:
            absent = "" if "allowedTools" in self._boundaries else " (what 1.13 takes where 'allowedTools' is absent)"
            return (
                "allowedTools",
                f"'*'{absent} has no counterpart: the settings of 1.14 name every tool that is allowed",
            )
        if "permissionMode" in self._boundaries and self._boundaries["permissionMode"] not in _MODES:
            return "permissionMode", f"'permissionMode' is none of {listing(_MODES)}"
        return None

    def _find_taken(self) -> tuple[str, str] | None:
        """Return why the settings file of an agent cannot be made."""
        if not _NAME.fullmatch(self._name):
            return "", "the agent has no name that a settings file can have"
        beside = posixpath.join(posixpath.dirname(self._at.file), "_config")
        names = [posixpath.basename(self._file), f"{_SETTINGS}.json"]
        paths = [f"{folder}/{name}" for folder in (self._folder, beside) for name in names]
        there = next(filter(self._has, paths), None)
        if there is not None:
            return "", f"{quote(there)} is there already and decides what the agent may use"
        return ("", f"two agents would share {quote(self._file)}") if self._file in self._found.created else None


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
