"""The path of an answer that a gate reads, and the promise of the output schema for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum

from stagec.core.json import Json, Object, object_of
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.languages.registry.document import ALLOWED, INTENTS, Gate, Intent, OutputSchema, Registry, Step
from stagec.sources.contract.choices import Choices, as_text
from stagec.sources.contract.promise import Presence, Promise
from stagec.sources.contract.schemas import Miss, Schema, absent, is_inherited
from stagec.sources.shape.subschemas import tokens


class Side(StrEnum):
    """One of the three lists."""

    SCHEMA = "schema"
    GATE = "gate"
    TRANSITIONS = "transitions"


_Odd = dict[Side, list[str]]


@value
class Disagreement:
    """Missing or superfluous members of one of three lists of a step; `at` is the place to show first.

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

    A gate is wrong if it allows intents that the step's kind forbids, and a pointer is wrong if it leads to other
    values than intents. For every intent the list that stands against the other two is the odd one. Transitions need no
    `repeat`, and no `jump` when the answer itself names the target; `abort` is allowed wherever it is listed.
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
    """Return the place of the output schema of a step, if there is one."""
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


@value
class Reading:
    """A path that a gate reads, the member that names it with its place, and the schema's promise about it.

    `values` are those that can stand there.
    """

    member: str
    path: str
    at: Place
    promised: Promise
    values: tuple[Json, ...] | Miss = Miss.UNKNOWABLE

    @property
    def is_declared(self) -> bool:
        """Tell whether the schema speaks of the path and allows it."""
        return self.promised.presence in {Presence.SURE, Presence.POSSIBLE}

    @property
    def is_involved(self) -> bool:
        """Tell whether it cannot be told if something is there, although the schema can be read."""
        return self.promised.presence is Presence.UNKNOWABLE and self.promised.legible

    @property
    def is_uncertain(self) -> bool:
        """Tell whether the schema of a place uses keywords that are not followed, so that nothing can be shown."""
        is_sure = self.promised.presence is Presence.SURE
        return self.is_involved or (is_sure and self.values is Miss.INVOLVED)


def readings(step: Step, presence: Presence | None = None) -> Iterator[Reading]:
    """Yield every path that a step's gate reads; none where the output schema cannot be found.

    With a presence, nothing is yielded if no path at all has it, which is quick to tell.
    """
    gate, output = step.gate, step.output
    if gate is None or output is None or not isinstance(output.found, Schema):
        return
    if presence is not None and presence not in output.presences:
        return
    for member, path in (("intentField", gate.field), ("targetField", gate.target_field)):
        if path is not None and path in output.paths:
            yield Reading(member, path, step.gate_at / member, output.paths[path], output.values[path])
    for index, path in enumerate(gate.handoff or ()):
        if path in output.paths:
            at = step.gate_at / "handoffFields" / index
            yield Reading("handoffFields", path, at, output.paths[path], output.values[path])


def _narrow(step: Step, found: Reading, intent: str) -> Reading:
    """Return the gate's reading of answers with one intent; answers without any may have that of the gate's fallback.

    Where the schema cannot be told apart by the intent, nothing is more certain.
    """
    gate, output = step.gate, step.output
    is_fallback = gate is None or (gate.fallback == intent and not gate.fail_fast)
    if is_fallback or output is None or output.narrow is None:
        return found
    promised, values = output.narrow(found.path, intent)
    return found if promised.presence is Presence.IMPOSSIBLE else replace(found, promised=promised, values=values)


def names_another_member(step: Step) -> bool:
    """Tell whether `intentField` and an `intentSchemaRef` that goes through nothing but properties name two members.

    Not where the pointer itself leads to nothing that could be meant.
    """
    gate = step.gate
    if gate is None or gate.field is None or gate.pointer is None or gate.points_at_field:
        return False
    path = tokens(gate.pointer)
    plain = gate.pointer.startswith("#/") and len(path) % 2 == 0 and set(path[::2]) == {"properties"}
    lost = step.output is not None and step.output.choices is Miss.NO_MEMBER
    return plain and not lost and not offers_no_intent(step)


def open_jump(registry: Registry, step: Step) -> Reading | None:
    """Return the reading of a jump's target, if that need not be an existing step and nothing else decides.

    Nothing where the schema forbids the path, or a part of it cannot be read; nor where the transitions lack more than
    this one, or have it misspelt, of which other rules speak.
    """
    if step.gate is None or not can_jump(step):
        return None
    taken, allowed = step.intents, step.gate.allowed.keys()
    if taken is None or not taken <= INTENTS or allowed - taken - _UNROUTED != {Intent.JUMP}:
        return None
    found = next((each for each in readings(step) if each.member == "targetField"), None)
    if found is None or not _is_open(registry, found):
        return None
    found = _narrow(step, found, Intent.JUMP.value)
    return found if _is_open(registry, found) else None


def always_names_step(registry: Registry, step: Step) -> bool:
    """Tell whether each answer names an existing step to jump to: then nothing takes the transition of `jump`."""
    found = next((each for each in readings(step) if each.member == "targetField"), None)
    is_sure = found is not None and found.promised.presence is Presence.SURE and isinstance(found.values, tuple)
    return found is not None and is_sure and not strangers(registry, found)


def _is_open(registry: Registry, found: Reading) -> bool:
    presence = found.promised.presence
    if presence is Presence.IMPOSSIBLE or (presence is Presence.UNKNOWABLE and not found.is_involved):
        return False
    return presence is not Presence.SURE or found.values in _UNNAMED or bool(strangers(registry, found))


_UNNAMED = (Miss.NO_MEMBER, Miss.INVOLVED)


def strangers(registry: Registry, found: Reading) -> tuple[Json, ...]:
    """Return the values where a gate reads the target of a jump that name no step; many steps share one schema."""
    targets = found.values if isinstance(found.values, tuple) else ()
    unknown = (each for each in targets if not (isinstance(each, str) and registry.has_step(each)))
    return registry.memo.once(("strangers", id(targets)), lambda: tuple(unknown))


_UNROUTED = {"repeat", "abort"}
"""The intents that need no transition."""


DEFAULT = "default"
"""The case of a conditional transition that is taken when no other is."""


@value
class Conditional:
    """A transition that chooses its target by a value which the step hands over.

    `reading` is the path that has `condition` as its key, None when none has or nothing is known of it.
    """

    intent: str
    at: Place
    condition: str
    cases: Object
    reading: Reading | None

    @property
    def values(self) -> tuple[Json, ...] | Miss:
        """The values that can stand where it chooses by."""
        return Miss.UNKNOWABLE if self.reading is None else self.reading.values

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The values that have no case, as text; lists and objects, whose members come in any order, never have one."""
        named = self.values if isinstance(self.values, tuple) else ()
        known = ((as_text(each), isinstance(each, list | dict)) for each in named)
        return tuple(text for text, is_whole in known if is_whole or text not in self.cases)

    @property
    def is_open(self) -> bool:
        """Tell whether an answer that fits the schema can meet no case, or the schema is too involved to tell."""
        if DEFAULT in self.cases or self.reading is None:
            return False
        presence = self.reading.promised.presence
        if presence in {Presence.UNKNOWABLE, Presence.IMPOSSIBLE}:
            return self.reading.is_involved
        return presence is not Presence.SURE or self.values in _UNNAMED or bool(self.uncovered)

    @property
    def impossible(self) -> tuple[str, ...]:
        """The cases that none of the values meets."""
        if self.reading is None or not self.reading.is_declared or not isinstance(self.values, tuple):
            return ()
        met = {as_text(each) for each in self.values}
        return tuple(case for case in self.cases if case != DEFAULT and case not in met)


def conditionals(step: Step) -> tuple[Conditional, ...]:
    """Return the conditional transitions of a step with a gate."""
    return tuple(_conditionals(step)) if step.has_cases and step.gate is not None else ()


def _conditionals(step: Step) -> Iterator[Conditional]:
    keys = {each.path.rpartition(".")[2]: each for each in readings(step) if each.member == "handoffFields"}
    for intent, rule in object_of(step.body.get("transitions")).items():
        if not isinstance(rule, dict) or "target" in rule:
            continue
        condition, cases = rule.get("condition"), rule.get("targets")
        if isinstance(condition, str) and isinstance(cases, dict):
            reading = keys.get(condition)
            found = Conditional(intent, step.at / "transitions" / intent, condition, cases, reading)
            narrow = _narrow(step, reading, intent) if reading is not None and found.is_open else reading
            yield replace(found, reading=narrow)


def find_untaken(step: Step) -> frozenset[tuple[str, str | None]]:
    """Return the cases that no answer takes, each with its intent: also a default, where each value has a case.

    One that was most likely meant to be another value is not among them.
    """
    found = set[tuple[str, str | None]]()
    for each in conditionals(step):
        values, reading = each.values, each.reading
        if each.is_open or reading is None or not isinstance(values, tuple):
            continue
        known = NameIndex(as_text(value) for value in values)
        found.update((each.intent, case) for case in each.impossible if known.nearest(case) is None)
        if reading.promised.presence is Presence.SURE and not each.uncovered:
            found.add((each.intent, DEFAULT))
    return frozenset(found)


def handoff_keys(step: Step) -> tuple[str, ...] | None:
    """Return the names under which a step hands values over; None where `handoffFields` cannot be read."""
    gate = step.gate
    if gate is None or (gate.handoff is None and has_member(step, "handoffFields")):
        return None
    return tuple(dict.fromkeys(path.rpartition(".")[2] for path in gate.handoff or () if path))


def has_member(step: Step, member: str) -> bool:
    """Tell whether a step's gate has a member, whatever stands there."""
    gate = step.body.get("structuredGate")
    return isinstance(gate, dict) and member in gate


def find_unsettled(registry: Registry, step: Step, presence: Presence) -> Iterator[Reading]:
    """Yield the paths of one presence that a gate reads, unless one is already the cause of a worse fault."""
    found = [each for each in readings(step, presence) if each.promised.presence is presence]
    choosing = (each.reading for each in (conditionals(step) if found else ()) if each.is_open)
    causes = {each.at for each in choosing if each is not None}
    for each in found:
        if each.member == "handoffFields":
            is_settled = each.at in causes
        elif each.member == "intentField":
            is_settled = names_another_member(step)
        else:
            is_settled = open_jump(registry, step) is not None
        if not is_settled:
            yield each
