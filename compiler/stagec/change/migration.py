"""Migrate the files of a project to the next release of their format, and list the decisions that remain."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from stagec.check.fixes import make_edits
from stagec.check.pipeline import Project, read_documents
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Key, Place
from stagec.core.value import replace, value
from stagec.core.words import format_count, listing, quote
from stagec.languages.registry.document import KIND_OF_PHASE, VERDICTS, Registry, StepKind
from stagec.sources.contract.choices import Choices
from stagec.sources.discover import FileWish, discover
from stagec.sources.read import BOM, Sources, join, revise
from stagec.sources.tree import Tree

__all__ = [
    "FLAT",
    "AgentMigration",
    "Findings",
    "Migration",
    "PendingDecision",
    "RegistryMigration",
    "Rewrite",
    "SchemaMigration",
    "StepMigration",
    "WorkflowMigration",
    "find_workflows",
    "list_old",
    "migrate",
]


@value
class Rewrite:
    """One certain change: where, and in words."""

    at: Place
    what: str


@value
class PendingDecision:
    """An ambiguous member: its place, the open question, and possible texts."""

    at: Place
    what: str
    proposal: str


class Findings:
    """Collects what a migration finds in the files of a project."""

    def __init__(self) -> None:
        self.edits: dict[str, list[Edit]] = {}
        self.created: dict[str, tuple[bytes, str]] = {}
        """New files, each with the file that its content comes from."""
        self.rewrites: list[Rewrite] = []
        self.decisions: list[PendingDecision] = []

    def rewrite(self, at: Place, what: str, *edits: Edit) -> None:
        """Note a certain change and its edits; what several documents share is changed once."""
        fresh = [edit for edit in edits if edit not in self.edits.get(edit.at.file, ())]
        for edit in fresh:
            self.edits.setdefault(edit.at.file, []).append(edit)
        if fresh:
            self.rewrites.append(Rewrite(at, what))

    def create(self, file: str, data: bytes, at: Place) -> None:
        """Note a new file, and the place that its content comes from."""
        self.created[file] = data, at.file

    def ask(self, at: Place, what: str, proposal: str) -> None:
        """Note what only a person can decide."""
        self.decisions.append(PendingDecision(at, what, proposal))


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
"""The parts of a step's address in releases without addresses."""
_REGISTRIES_OLD = ("stepKind", *FLAT)
_NEW = frozenset({"kind", "address"})
_REGISTRIES_KINDS = frozenset(kind.value for kind in StepKind)


def list_old(steps: Mapping[str, Object]) -> Mapping[str, Object]:
    """Return the steps that have a member of the old form, or lack one of the new form."""
    return {
        key: step
        for key, step in steps.items()
        if any(member in step for member in _REGISTRIES_OLD) or not step.keys() >= _NEW
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
            if text_in(self._step, "stepKind") in _REGISTRIES_KINDS:
                self._found.rewrite(self._at, "'stepKind' is now 'kind'", Edit(Change.RENAME, at, "kind"))
            else:
                self._found.ask(
                    at, "'stepKind' names no kind of a step", f"'kind' with {listing(sorted(_REGISTRIES_KINDS), 'or')}"
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
            proposal = f"'kind' with {listing(sorted(_REGISTRIES_KINDS), 'or')}"
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
_REGISTRIES_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
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
        if not _REGISTRIES_NAME.fullmatch(self._name):
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


_WORKFLOWS_NAME = re.compile(r"(?:.*/)?\.agent/workflow[^/]*\.json")
_WORKFLOWS_OLD = ("closeOnComplete", "closeCondition")


def find_workflows(project: Project, sources: Sources) -> tuple[Tree, ...]:
    """Return the orchestrator files of a project: those that are named so, and those that a user named by hand."""
    wish = FileWish(lambda file: _WORKFLOWS_NAME.fullmatch(file) is not None)
    found = discover(project.root, project.paths, project.settings.scope, (wish,), project.overlay)
    trees = [sources.tree(file, "file") for file in (*found.claimed[0], *found.unclaimed)]
    return tuple(
        tree
        for tree in trees
        if tree is not None
        and (
            {"phases", "labelMapping"} <= object_of(tree.value).keys()
            if tree.readable
            else _WORKFLOWS_NAME.fullmatch(tree.file)
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
            if isinstance(agent, dict) and any(member in agent for member in _WORKFLOWS_OLD):
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
        given = [member for member in _WORKFLOWS_OLD if member in agent]
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
            return f"the agent has 'closeBinding' besides {listing([each for each in _WORKFLOWS_OLD if each in agent])}"
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


_MIGRATION_KINDS = frozenset({"registry", "agent"})
_CANNOT = "it cannot be changed without changing more"


@value
class Migration:
    """The result of a migration: each changed file before and after, new files, the reasons, and open decisions.

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
    """Return the changes that move the registries, agents and workflows of a project to release 1.14; write nothing."""
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
        """Return the result; a file in which the changes cannot be made exactly is left to a person."""
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
        every = [tree for tree in self._trees.values() if tree.kind in _MIGRATION_KINDS or tree in self._workflows]
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
        """Return a file before and after, None if more would change than what the edits say."""
        try:
            before, after = make_edits({tree.file: edits}, {tree.file: tree}).get(tree.file, (b"", b""))
            now = tree.format.parse(tree.file, after.removeprefix(BOM), self._sources.budgets).value
            is_exact = not after or now == revise(tree.value, edits)
        except ValueError:
            return None
        return (before, after) if is_exact else None
