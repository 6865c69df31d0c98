"""Steps of a registry: kind and address in place of flat members, and what the new release wants to be written."""

from __future__ import annotations

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


def migrate_step(key: str, step: Object, at: Place, c1: str, found: Findings) -> None:
    """Find what becomes of one step of the old form."""
    slots = [member for member in step if member in FLAT]
    inferred = _migrate_kind(key, step, at, found)
    address = _make_address(step, at, c1, found)
    if address is None and inferred is not None:
        found.rewrite(at, f"'kind' is {quote(inferred)}, as 'c2' means", _insert(at, "kind", inferred))
    elif address is not None:
        # the new members take the places of the old ones
        first = [] if inferred is None else [*_put(at / slots.pop(0), "kind", inferred)]
        edits = [*first, *_put(at / slots.pop(0), "address", address)]
        edits += [Edit(Change.REMOVE, at / member) for member in slots]
        old = [member for member in step if member in FLAT]
        made = "'kind' and 'address'" if inferred is not None else "'address'"
        found.rewrite(at, f"{listing(old)} become {made}", *edits)
    _fill_in(key, step, at, found)
    _take_abort(step, at, found)
    _ask_for_chain(step, at, found)


def _migrate_kind(key: str, step: Object, at: Place, found: Findings) -> str | None:
    """Rename the kind of a step, or return the one that its `c2` means; ask where neither says it."""
    if "kind" in step:
        if "stepKind" in step:
            _unite_kinds(step, at, found)
        return None
    if "stepKind" in step:
        if text_in(step, "stepKind") in _KINDS:
            found.rewrite(at, "'stepKind' is now 'kind'", Edit(Change.RENAME, at / "stepKind", "kind"))
        else:
            proposal = f"'kind' with {listing(sorted(_KINDS), 'or')}"
            found.ask(at / "stepKind", "'stepKind' names no kind of a step", proposal)
        return None
    flat = text_in(step, "c2") or ""
    if flat in KIND_OF_PHASE:
        return KIND_OF_PHASE[flat].value
    phase = flat or text_in(object_of(step.get("address")), "c2") or ""
    _ask_for_kind(phase, at, found, is_section=phase == "section" or key.startswith("section."))
    return None


def _ask_for_kind(phase: str, at: Place, found: Findings, *, is_section: bool) -> None:
    if is_section:
        what = "a section has no kind; every step of 1.14 has one, and no run reads that of a section"
        found.ask(at, what, '"kind": "work"')
    else:
        what = f"'c2' is {quote(phase)}, from which no kind follows" if phase else "no kind follows from the step"
        found.ask(at, f"{what}; every step of 1.14 has one", f"'kind' with {listing(sorted(_KINDS), 'or')}")


def _unite_kinds(step: Object, at: Place, found: Findings) -> None:
    if step["kind"] == step["stepKind"]:
        found.rewrite(at, "'stepKind' says what 'kind' says", Edit(Change.REMOVE, at / "stepKind"))
    else:
        found.ask(at / "stepKind", "'stepKind' and 'kind' name different kinds", "remove 'stepKind'")


def _make_address(step: Object, at: Place, c1: str, found: Findings) -> Object | None:
    """Return the address that flat members mean, None where the step has one or they do not tell."""
    flat = {member: step[member] for member in FLAT if member in step}
    if "address" in step:
        if flat:
            _unite_addresses(step, flat, at, found)
        return None
    wrong = [member for member, given in flat.items() if not (isinstance(given, str) and given)]
    missing = [member for member in ("c2", "c3") if member not in flat]
    if wrong or missing:
        what = f"{listing(wrong)} must be a text with content" if wrong else f"the step has no {listing(missing, 'or')}"
        found.ask(at / wrong[0] if wrong else at, f"{what}: no address can be made", _show_address(c1, flat))
        return None
    made: dict[str, Json] = {"c1": c1, "c2": flat["c2"], "c3": flat["c3"], "edition": "default"}
    return {**made, **flat}


def _unite_addresses(step: Object, flat: Object, at: Place, found: Findings) -> None:
    address = object_of(step["address"])
    if all(address.get(member) == given for member, given in flat.items()):
        edits = [Edit(Change.REMOVE, at / member) for member in flat]
        found.rewrite(at, f"'address' says what {listing(flat)} said", *edits)
    else:
        found.ask(at / next(iter(flat)), f"'address' does not say what {listing(flat)} says", f"remove {listing(flat)}")


def _show_address(c1: str, flat: Object) -> str:
    from json import dumps

    texts = {member: given if isinstance(given, str) and given else "…" for member, given in flat.items()}
    whole = {"c1": c1, "c2": "…", "c3": "…", "edition": "default", **texts}
    return f'"address": {dumps(whole, ensure_ascii=False)}'


def _fill_in(key: str, step: Object, at: Place, found: Findings) -> None:
    """Write what the old release took for granted."""
    wanted: dict[str, Json] = {"name": text_in(step, "stepId") or key, "uvVariables": [], "usesStdin": False}
    absent = {member: given for member, given in wanted.items() if member not in step and given != ""}
    if absent:
        edits = [_insert(at, member, given) for member, given in absent.items()]
        found.rewrite(at, f"{listing(absent)} must be written", *edits)


def _take_abort(step: Object, at: Place, found: Findings) -> None:
    """Take the intent away that no answer could have and that is none any more."""
    gate_at = at / "structuredGate"
    gate = object_of(step.get("structuredGate"))
    allowed = enumerate(list_of(gate.get("allowedIntents")))
    edits = [Edit(Change.REMOVE, gate_at / "allowedIntents" / index) for index, each in allowed if each == "abort"]
    if "abort" in object_of(step.get("transitions")):
        edits.append(Edit(Change.REMOVE, at / "transitions" / "abort"))
    if edits:
        found.rewrite(at, "'abort' is no intent", *edits)
    if gate.get("fallbackIntent") == "abort":
        found.ask(gate_at / "fallbackIntent", "'abort' is no intent to fall back to", "remove 'fallbackIntent'")


def _ask_for_chain(step: Object, at: Place, found: Findings) -> None:
    allowed = list_of(object_of(step.get("structuredGate")).get("allowedIntents"))
    if "repeat" in allowed and "adaptationChain" not in step:
        what = "1.13 bounds the repeats of a step by the iterations of a run, 1.14 by 'adaptationChain', or to one"
        found.ask(at, what, '"adaptationChain" with the adaptation of the prompt for each repeat, such as ["default"]')


def _put(at: Place, name: str, given: Json) -> Iterator[Edit]:
    """Yield the edits that give a member another value and another name, and leave it in its place."""
    yield Edit(Change.REPLACE, at, given)
    yield Edit(Change.RENAME, at, name)


def _insert(at: Place, member: str, given: Json) -> Edit:
    return Edit(Change.INSERT, at / member, given)
