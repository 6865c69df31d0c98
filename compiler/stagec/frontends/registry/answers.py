"""What a gate reads from an answer, and what the output schema promises about it."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.contract.choices import as_text
from stagec.contract.promise import Presence, Promise
from stagec.contract.schemas import Miss, Schema
from stagec.core.json import Json, Object, object_of
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.frontends.registry.agreement import can_jump, offers_no_intent
from stagec.frontends.registry.document import INTENTS, Intent, Registry, Step
from stagec.sources.shape.subschemas import tokens


@value
class Reading:
    """A path that a gate reads, the member that names it and where, and what the schema promises about it.

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
        """Tell whether what can stand there is said in ways that are not followed, so that nothing is shown."""
        is_sure = self.promised.presence is Presence.SURE
        return self.is_involved or (is_sure and self.values is Miss.INVOLVED)


def readings(step: Step, presence: Presence | None = None) -> Iterator[Reading]:
    """Yield every path that a step's gate reads; none where the output schema cannot be found.

    With a presence, nothing is yielded where no path at all has that presence, which is quickly told.
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
    """Return what a gate reads from answers with one intent; answers without any may have that of the gate's fallback.

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
    """Return where a step reads the target of a jump when that need not be an existing step and nothing else decides.

    Nothing where the schema forbids the path, or a part of it cannot be read; nor where the transitions lack more than
    this one, or have it misspelt, of which other rules speak.
    """
    taken, allowed = step.intents, step.gate.allowed.keys() if step.gate is not None else frozenset[str]()
    lacks_jump_only = taken is not None and taken <= INTENTS and allowed - taken - _UNROUTED == {Intent.JUMP}
    if not lacks_jump_only or not can_jump(step):
        return None
    found = next((each for each in readings(step) if each.member == "targetField"), None)
    if found is None or not _is_open(registry, found):
        return None
    found = _narrow(step, found, Intent.JUMP.value)
    return found if _is_open(registry, found) else None


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
