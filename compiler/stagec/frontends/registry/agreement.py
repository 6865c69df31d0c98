"""Where what a step's schema offers, what its gate allows and what its transitions take disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum

from stagec.contract.choices import Choices
from stagec.core.place import Place
from stagec.core.value import value
from stagec.frontends.registry.document import ALLOWED, INTENTS, Gate, Intent, Step


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


def disagreements(step: Step) -> Iterator[Disagreement]:
    """Yield at most one disagreement for each list; nothing where a list is broken or cannot be known.

    For every intent the list that stands against the other two is the odd one. Transitions need no `abort` and no
    `repeat`, and no `jump` when the answer itself names the target.
    """
    gate = step.gate
    if gate is None or not gate.allowed or not gate.allowed.keys() <= INTENTS:
        return
    offered = _offered(step)
    if _agree(step, gate.allowed.keys(), offered):
        return
    missing, extra = _sorted_out(step, gate, offered)
    for side in Side:
        if missing[side] or extra[side]:
            at = _at(step, side, missing[side], extra[side])
            yield Disagreement(step, side, at, tuple(missing[side]), tuple(extra[side]), tuple(_places(step)))


def _sorted_out(step: Step, gate: Gate, offered: Mapping[str, Place] | None) -> tuple[_Odd, _Odd]:
    """Return the intents that each list lacks, and those it has too much, judged by the other lists."""
    missing: _Odd = {side: [] for side in Side}
    extra: _Odd = {side: [] for side in Side}
    for intent in sorted({*gate.allowed, *(offered or ()), *(step.intents or ())}):
        lists = {Side.GATE: intent in gate.allowed}
        if offered is not None:
            lists[Side.SCHEMA] = intent in offered
        if (taken := _taken(step, intent)) is not None:
            lists[Side.TRANSITIONS] = taken
        odd = None if _is_settled(step, intent) else _odd(lists)
        if odd is not None:
            (extra if lists[odd] else missing)[odd].append(intent)
    return missing, extra


def _agree(step: Step, allowed: AbstractSet[str], offered: Mapping[str, Place] | None) -> bool:
    """Tell at a glance whether the three lists are equal, which is nearly always so."""
    if offered is not None and offered.keys() != allowed:
        return False
    return step.intents is None or step.intents == allowed


def _offered(step: Step) -> Mapping[str, Place] | None:
    """Return the values the schema offers, as text; None when that cannot be known."""
    if step.output is None or not isinstance(step.output.choices, Choices):
        return None
    return step.output.choices.by_text


def _is_settled(step: Step, intent: str) -> bool:
    """Tell whether nothing is to be said here: the step's kind forbids the intent, or `abort` is allowed unlisted."""
    listed = step.gate is not None and intent in step.gate.allowed
    foreign = step.kind is not None and intent not in ALLOWED[step.kind]
    return foreign if listed else intent == Intent.ABORT


def _taken(step: Step, intent: str) -> bool | None:
    """Tell whether a transition takes an intent; None when none is needed and none is there."""
    if step.intents is None:
        return None
    if intent in step.intents:
        return True
    free = intent in {Intent.ABORT, Intent.REPEAT}
    return None if free or (intent == Intent.JUMP and step.gate is not None and step.gate.target_field) else False


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
    if missing or len(extra) != 1:
        return whole
    if side is Side.GATE and step.gate is not None:
        return whole / step.gate.allowed[extra[0]]
    return (_offered(step) or {}).get(extra[0], whole)


def _places(step: Step) -> Iterator[tuple[Side, Place]]:
    if step.output is not None and isinstance(step.output.choices, Choices):
        yield Side.SCHEMA, step.output.choices.at
    yield Side.GATE, step.allowed_at
    if step.intents is not None:
        yield Side.TRANSITIONS, step.at / "transitions"
