"""Where what a step's schema offers, what its gate allows and what its transitions take disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum

from stagec.contract.choices import Choices
from stagec.contract.schemas import Schema, absent, is_inherited
from stagec.core.place import Place
from stagec.core.value import value
from stagec.frontends.registry.document import ALLOWED, INTENTS, Gate, Intent, OutputSchema, Registry, Step
from stagec.sources.shape.subschemas import tokens


class Side(StrEnum):
    """One of the three lists."""

    SCHEMA = "schema"
    GATE = "gate"
    TRANSITIONS = "transitions"


_Odd = dict[Side, list[str]]


@value
class Disagreement:
    """What one list of a step lacks or has too much, judged by the other two; `at` is where to look first.

    `places` are all lists that take part, by side.
    """

    step: Step
    odd: Side
    at: Place
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    places: tuple[tuple[Side, Place], ...]


def agree(gate: Gate | None, output: OutputSchema | None, intents: AbstractSet[str] | None) -> bool:
    """Tell at a glance whether the three lists are equal as far as they are known, which is nearly always so."""
    if gate is None:
        return True
    offered = _list_offered(output)
    if offered is not None and offered.keys() != gate.allowed.keys():
        return False
    return intents is None or intents == gate.allowed.keys()


def disagreements(step: Step) -> tuple[Disagreement, ...]:
    """Return at most one disagreement for each list; nothing where a list is broken or cannot be known.

    A gate that allows what the step's kind forbids is broken, and so is a pointer that leads to other values than
    intents. For every intent the list that stands against the other two is the odd one. Transitions need no `repeat`,
    and no `jump` when the answer itself names the target; `abort` is allowed wherever it is listed.
    """
    return () if step.agrees else tuple(_disagreements(step))


def _disagreements(step: Step) -> Iterator[Disagreement]:
    gate, offered = step.gate, list_offered_by(step)
    if gate is None or not gate.is_whole:
        return
    if not gate.allowed.keys() <= intents_of(step) or offers_no_intent(step):
        return
    missing, extra = _sort_out(step, gate, offered)
    for side in Side:
        if missing[side] or extra[side]:
            at = _at(step, side, missing[side], extra[side])
            yield Disagreement(step, side, at, tuple(missing[side]), tuple(extra[side]), tuple(_places(step)))


def find_sharing(registry: Registry) -> Mapping[str, Step]:
    """Return steps that most likely name the schema of another one, with that one, by their keys.

    Either the other step has the same schema and agrees with it, or each has the schema that the other one needs.
    """
    wrong = [step for step in registry.steps.values() if not step.agrees and find_schema(step) is not None]
    if not wrong:
        return {}
    right = {find_schema(step): step for step in registry.steps.values() if step.agrees}
    needed = {(_list_allowed(step), frozenset(list_offered_by(step) or ())): step for step in wrong}
    swapped = {step.key: needed.get((frozenset(list_offered_by(step) or ()), _list_allowed(step))) for step in wrong}
    found = {step.key: right.get(find_schema(step)) or swapped[step.key] for step in wrong}
    return {key: step for key, step in found.items() if step is not None}


def find_schema(step: Step) -> Place | None:
    """Return where the output schema of a step is written, if it is there."""
    found = step.output.found if step.output is not None else None
    return found.at if isinstance(found, Schema) else None


def _list_allowed(step: Step) -> frozenset[str]:
    return frozenset(step.gate.allowed if step.gate is not None else ())


def intents_of(step: Step) -> AbstractSet[str]:
    """Return the intents that steps of this kind may answer; all where the kind is not known."""
    return INTENTS if step.kind is None else ALLOWED[step.kind]


def find_known_elsewhere(step: Step) -> AbstractSet[str]:
    """Return the intents that the schema or the transitions know and steps of this kind may answer."""
    return intents_of(step) & {*(list_offered_by(step) or ()), *(step.intents or ())}


def offers_no_intent(step: Step) -> bool:
    """Tell whether the pointer leads to values that are no intents, and not to where the intent is read."""
    offered = list_offered_by(step)
    if not offered or not INTENTS.isdisjoint(offered):
        return False
    return step.gate is not None and not step.gate.points_at_field


def _sort_out(step: Step, gate: Gate, offered: Mapping[str, Place] | None) -> tuple[_Odd, _Odd]:
    """Return the intents that each list lacks, and those it has too much, judged by the other lists."""
    missing: _Odd = {side: [] for side in Side}
    extra: _Odd = {side: [] for side in Side}
    for intent in sorted({*gate.allowed, *(offered or ()), *(step.intents or ())}):
        lists = {Side.GATE: intent in gate.allowed}
        if offered is not None:
            lists[Side.SCHEMA] = intent in offered
        # whether a transition takes an intent; None when none is there and none is needed, or may be misspelt
        if step.intents is None:
            taken = None
        elif intent in step.intents:
            taken = True
        else:
            free = intent in {Intent.ABORT, Intent.REPEAT} or not step.intents <= INTENTS
            names_target = step.gate is not None and bool(step.gate.target_field)
            taken = None if free or (intent == Intent.JUMP and (can_jump(step) or names_target)) else False
        if taken is not None:
            lists[Side.TRANSITIONS] = taken
        odd = None if _is_settled(step, intent) else _odd(lists)
        if odd is not None:
            (extra if lists[odd] else missing)[odd].append(intent)
    return missing, extra


_MOST = 100
"""A list of more values than this is no list of intents; it is not compared one by one with lists that are."""


def list_offered_by(step: Step) -> Mapping[str, Place] | None:
    """Return the values the schema offers, as text; None when that cannot be known."""
    return _list_offered(step.output)


def _list_offered(output: OutputSchema | None) -> Mapping[str, Place] | None:
    if output is None or not isinstance(output.choices, Choices):
        return None
    offered = output.choices.by_text
    return offered if len(offered) <= _MOST else None


def _is_settled(step: Step, intent: str) -> bool:
    """Tell whether another rule speaks: of `abort`, or of a transition that steps of this kind cannot have."""
    taken = step.intents is not None and intent in step.intents
    return intent == Intent.ABORT or (taken and intent not in intents_of(step))


def can_jump(step: Step) -> bool:
    """Tell whether a step can answer `jump`, as far as its gate, its kind and its schema say."""
    if step.gate is None or Intent.JUMP not in step.gate.allowed or Intent.JUMP not in intents_of(step):
        return False
    offered = list_offered_by(step)
    return offered is None or Intent.JUMP in offered


def _odd(lists: dict[Side, bool]) -> Side | None:
    """Return the list that stands against the others; of two lists the one that is not the gate's."""
    having = [side for side, has in lists.items() if has]
    lacking = [side for side, has in lists.items() if not has]
    if not having or not lacking:
        return None
    if len(having) == len(lacking):
        return next(side for side in lists if side is not Side.GATE)
    return having[0] if len(having) == 1 else lacking[0]


def _at(step: Step, side: Side, missing: list[str], extra: list[str]) -> Place:
    if side is Side.TRANSITIONS:
        return (step.at / "transitions" / (extra or missing)[0]).key if extra else step.at / "transitions" / missing[0]
    whole = dict(_places(step))[side]
    if side is Side.SCHEMA and step.output is not None and step.gate is not None:
        # where the own schema would list the intents when it only inherits a list by `allOf`
        found, path = step.output.found, tokens(step.gate.pointer or "")
        if isinstance(found, Schema) and is_inherited(found, path):
            return absent(found, path)
    if missing or len(extra) != 1:
        return whole
    if side is Side.GATE and step.gate is not None:
        return whole / step.gate.allowed[extra[0]]
    return (list_offered_by(step) or {}).get(extra[0], whole)


def _places(step: Step) -> Iterator[tuple[Side, Place]]:
    if step.output is not None and isinstance(step.output.choices, Choices):
        yield Side.SCHEMA, step.output.choices.at
    yield Side.GATE, step.allowed_at
    if step.intents is not None:
        yield Side.TRANSITIONS, step.at / "transitions"
