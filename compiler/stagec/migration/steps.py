"""Steps of a registry: kind and address in place of flat members, and what the new release wants to be written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import KIND_OF_PHASE, StepKind
from stagec.migration.report import Findings

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
        """Take the intent away that no answer could have and that is none any more."""
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
