"""The format of climpt that a registry and its agent definition use, and their shape in that format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from stagec.core.json import Object, object_of, objects_in
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.sources.shape import judge, judge_numbers
from stagec.sources.tree import Fault, Tree


class Generation(StrEnum):
    """A release of climpt that brought a format."""

    V1_13 = "1.13"
    V1_14 = "1.14"


CONDITION_LISTS = ("preflightConditions", "postLLMConditions")
"""The two lists of conditions that a validation step of 1.14 has, in the order in which they are checked."""
LEGACY_CONDITIONS = "validationConditions"
"""The one list that it has in 1.13."""
LEGACY_COORDINATES = ("c2", "c3", "edition", "adaptation")
LEGACY_MEMBERS = ("stepKind", *LEGACY_COORDINATES)
"""The members of a step of 1.13 that 1.14 refuses."""
_NEW_MEMBERS = ("kind", "address")
_REGISTRIES: Mapping[Generation, str] = {Generation.V1_13: "steps_registry", Generation.V1_14: "steps_registry_1_14"}
_AGENTS: Mapping[Generation, str] = {Generation.V1_13: "agent", Generation.V1_14: "agent_1_14"}
"""The published schemas by format."""


def recognise_generation(root: Object) -> Generation | None:
    """Return the release in whose format a registry is written; None if its content does not tell.

    The format of steps counts first. One that was never released, with steps of 1.13 and other members of 1.14, is
    taken for 1.13.
    """
    steps = [step for _, step in objects_in(root, "steps")]
    if any(member in step for step in steps for member in _NEW_MEMBERS):
        return Generation.V1_14
    if any(member in step for step in steps for member in LEGACY_MEMBERS):
        return Generation.V1_13
    if next(_find_later(Place(""), root), None) is not None:
        return Generation.V1_14
    texts = (isinstance(each, str) for each in object_of(root.get("entryStepMapping")).values())
    return Generation.V1_13 if any(texts) else None


def judge_registry(tree: Tree) -> tuple[Tree, Generation]:
    """Return the tree of a registry with what is wrong with its shape, and its format.

    One that was written between the releases gets one fault and is no longer readable.
    """
    root = object_of(tree.value)
    written = recognise_generation(root) or Generation.V1_13
    between = next(_find_later(tree.at, root), None) if written is Generation.V1_13 else None
    if between is not None:
        return replace(tree, faults=(*tree.faults, between), readable=False), written
    name = _REGISTRIES[written]
    judged = judge_numbers(judge(tree, name), name)
    return (_leave_out_moved(judged, root) if written is Generation.V1_14 else judged), written


def judge_agent(tree: Tree, beside: Generation | None) -> tuple[Tree, Generation]:
    """Return the tree of an agent definition with what is wrong with its shape, and its format.

    That is the format of the registry beside it; where that does not tell, the definition does.
    """
    boundaries = object_of(object_of(tree.value).get("runner")).get("boundaries", {})
    is_new = isinstance(boundaries, dict) and boundaries.keys() <= {"sandbox"}
    written = beside or (Generation.V1_14 if is_new else Generation.V1_13)
    name = _AGENTS[written]
    return judge_numbers(judge(tree, name), name), written


def _find_later(at: Place, root: Object) -> Iterator[Fault]:
    """Find what only registries have that are written after 1.13, beside their steps."""
    for key, entry in objects_in(root, "entryStepMapping"):
        if "initial" in entry or "continuation" in entry:
            yield Fault("future-format", at / "entryStepMapping" / key, "entry")
    for key, step in objects_in(root, "validationSteps"):
        for sign in CONDITION_LISTS:
            if sign in step:
                yield Fault("future-format", at / "validationSteps" / key / sign, sign)
    for key, validator in objects_in(root, "validators"):
        if "phase" in validator:
            yield Fault("future-format", at / "validators" / key / "phase", "phase")


def _leave_out_moved(tree: Tree, root: Object) -> Tree:
    """Return a tree of 1.14 without the gaps of members that stand where 1.13 has them; another rule reports those."""
    kept = tuple(
        left if fault.reason == "required" else fault
        for fault in tree.faults
        if fault.reason != "required" or (left := _find_left(fault, root)) is not None
    )
    return replace(tree, faults=kept) if kept != tree.faults else tree


def _find_left(fault: Fault, root: Object) -> Fault | None:
    """Return a fault of missing members with those that 1.13 has nowhere either; None if that leaves none."""
    names = fault.facts.get("missing")
    if len(fault.at.pointer) != len(("steps", "key", "member")) or not isinstance(names, tuple):
        return fault
    section, key, _ = fault.at.pointer
    owner = object_of(object_of(root.get(str(section))).get(str(key)))
    moved = _list_moved(str(section), owner)
    left = tuple(name for name in names if name not in moved)
    if left == names or not left:
        return fault if left else None
    at = Place(fault.at.file, (section, key, left[0]))
    return replace(fault, at=at, facts={**fault.facts, "missing": left})


def _list_moved(section: str, owner: Object) -> frozenset[str]:
    """Return the members that an entry of a section lacks only because it is written as in 1.13."""
    if section == "validationSteps":
        return frozenset(CONDITION_LISTS if LEGACY_CONDITIONS in owner else ())
    if section != "steps" or not any(member in owner for member in LEGACY_MEMBERS):
        return frozenset()
    is_old = not any(member in owner for member in _NEW_MEMBERS)
    has_kind, has_address = "stepKind" in owner or (is_old and "c2" in owner), "c2" in owner or "c3" in owner
    moved = {"kind": has_kind, "address": has_address, **dict.fromkeys(_DEFAULTED, is_old)}
    return frozenset(name for name, is_moved in moved.items() if is_moved)


_DEFAULTED = ("name", "uvVariables", "usesStdin")
"""The members of steps that are required since 1.14."""
