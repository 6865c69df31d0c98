"""Agreement of the intents of a gate with its schema, and paths into answers."""

from collections.abc import Collection, Iterable, Iterator

from stagec.check.rules.registry import list_grounds, list_headers, of_steps, report_broken_paths, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import list_of, object_of
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.registry.answers import (
    Disagreement,
    Reading,
    Side,
    conditionals,
    disagreements,
    find_sharing,
    names_another_member,
    offers_no_intent,
    open_jump,
    readings,
)
from stagec.languages.registry.document import Gate, OutputSchema, Registry, Step
from stagec.languages.registry.inputs import InputFate, judge_inputs
from stagec.sources.contract.choices import as_text
from stagec.sources.contract.promise import Presence
from stagec.sources.contract.schemas import Miss, Schema, absent
from stagec.sources.shape.subschemas import tokens


@rule(since="0.1", origin=("steps-registry:gate.ref-not-enum", "SR-VALID-003"))
@of_steps
def stg211_intent_pointer_without_enum(steps: Collection[Step]) -> Iterator[Finding]:
    """A gate's `intentSchemaRef` points at nothing, or at a value without intents.

    ## Why this matters
    The pointer leads to the list of intents that the model may answer. When it leads elsewhere, nobody can tell what
    the model will answer, and nothing keeps it to the intents that the gate allows.

    ## How to fix
    The diagnostic stands at the schema when `intentField` names the same member as the pointer, else at the pointer.
    Point at the member of the output schema that holds the intent, for example
    `#/properties/next_action/properties/action`, and give it an `enum` (or `const`, or `oneOf` of `const`).
    """
    told: set[Place] = set()
    for step in steps:
        output, gate = step.output, step.gate
        if output is None or gate is None or not isinstance(output.found, Schema):
            continue
        if output.choices is not Miss.NO_MEMBER and not offers_no_intent(step):
            continue
        here, there = step.gate_at / "intentSchemaRef", _part(output, output.found, gate)
        first, second = (there, here) if gate.points_at_field else (here, there)
        if first not in told:
            told.add(first)
            message = f"step {quote(step.key)} takes its intents from {quote(gate.pointer)}, which {_lack(output)}"
            related = (Related(second, "the pointer" if second == here else "its target"),)
            yield Finding(first, message, related, causes=(there, *_list_doubts(output.found)))


def _list_doubts(found: Schema) -> tuple[Place, ...]:
    """Return the places of mistakes that make a schema's statement about intents doubtful."""
    return (found.at,) if isinstance(found.value, dict) else (found.at, *list_headers(found.at.file))


def _part(output: OutputSchema, found: Schema, gate: Gate) -> Place:
    if isinstance(output.pointed, Schema):
        return output.pointed.at
    return absent(found, tokens(gate.pointer or ""))


def _lack(output: OutputSchema) -> str:
    if output.choices is not Miss.NO_MEMBER:
        return "names other values than intents"
    return "has no enum" if isinstance(output.pointed, Schema) else "its output schema does not have"


_NAMES = {Side.SCHEMA: "the schema enum", Side.GATE: "allowedIntents", Side.TRANSITIONS: "the transitions"}


@rule(
    since="0.1",
    origin=(
        "steps-registry:gate.enum-drift",
        "steps-registry:flow.intent-without-transition",
        "steps-registry:gate.ref-not-enum",
        "steps-registry:doc.R-D3",
        "steps-registry:doc.keys-eq-enum",
    ),
)
def stg212_intent_drift(registry: Registry) -> Iterator[Finding]:
    """The schema's enum and the gate's `allowedIntents` name different intents.

    ## Why this matters
    The schema says what the model may answer, the gate what is accepted. An intent that only the schema has ends the
    run when it is answered; one that only the gate has can never be answered.

    ## How to fix
    Make the enum, `allowedIntents` and the keys of `transitions` the same set. The diagnostic is at the list that
    differs from the other two, once for all steps that share it; if the step's own schema only inherits an enum by
    `allOf`, it is at the place where an own enum would be. Where it is the schema of another step, which agrees with
    it, it stands at `outputSchemaRef`. `abort` is allowed without being listed, and `repeat` without a transition means
    this step again.
    """
    told: set[Place] = set()
    sharing = find_sharing(registry)
    for step in registry.steps.values():
        for each in disagreements(step):
            other = sharing.get(step.key) if each.odd is Side.SCHEMA else None
            at = each.at if other is None else step.at / "outputSchemaRef"
            if each.odd is not Side.TRANSITIONS and at not in told:
                told.add(at)
                others = [(side, at) for side, at in each.places if side is not each.odd or other is not None]
                related = tuple(Related(at, f"{_NAMES[side]} of {quote(step.key)}") for side, at in others)
                message = f"{_NAMES[each.odd]} of step {quote(step.key)} {_describe_difference(each)}{_doubt(other)}"
                causes = () if other is None else (other.at / "outputSchemaRef",)
                found = step.output.found if each.odd is Side.SCHEMA and step.output is not None else None
                doubts = _list_doubts(found) if isinstance(found, Schema) else ()
                yield Finding(at, message, related, causes=(*causes, *doubts))


def _doubt(other: Step | None) -> str:
    return "" if other is None else f"; is its schema that of step {quote(other.key)}?"


def _describe_difference(each: Disagreement) -> str:
    rest = [_NAMES[side] for side, _ in each.places if side is not each.odd]
    others, alone = " and ".join(rest), rest == ["the schema enum"]
    have, lack = ("has", "lacks") if alone else ("have", "lack")
    if each.missing and each.extra:
        return f"has {listing(each.extra)} where {others} {have} {listing(each.missing)}"
    if each.missing:
        return f"lacks {listing(each.missing)}, which {others} {have}"
    return f"has {listing(each.extra)}, which {others} {lack}"


@rule(
    since="0.1",
    origin=(
        "steps-registry:handoff.source-no-gate",
        "steps-registry:handoff.source-no-fields",
        "steps-registry:handoff.source-empty-fields",
    ),
    severity=Severity.WARNING,
)
def stg235_taken_from_whole_answer(registry: Registry) -> Iterator[Finding]:
    """A step takes a value of another step that names no values to hand over.

    ## Why this matters
    A step with an empty list of `handoffFields`, or without them, keeps its whole answer for the steps that follow, and
    the value is taken of that. As soon as its gate lists a single path, it is gone: then only the listed values are
    kept. Values that pass between two steps should be declared at the hand-over.

    ## How to fix
    Add the path of the value to the `handoffFields` of the step that it comes from.
    """
    for each in judge_inputs(registry):
        if each.fate is InputFate.WHOLE and each.given.is_required and each.source is not None:
            source, given = each.source, each.given
            at = source.gate_at if source.gate is not None else source.at.key
            what = f"input {quote(given.name)} of step {quote(each.step.key)} takes {quote(given.key)} of step"
            message = f"{what} {quote(source.key)}, which names no values to hand over"
            yield Finding(each.at, message, (Related(at, "its whole answer is kept"),))


@rule(
    since="0.1",
    origin=("steps-registry:beyond.field-ref-agree", "steps-registry:beyond.closure-intentfield", "rulings:R13"),
)
@of_steps
def stg245_intent_pointer_mismatch(steps: Collection[Step]) -> Iterator[Finding]:
    """A gate's `intentField` and `intentSchemaRef` name different members of the answer.

    ## Why this matters
    `intentSchemaRef` says which values the model may answer, `intentField` where the answer is read. When they part,
    the values are checked at one place and the intent is taken from another, where anything may stand.

    ## How to fix
    Make them name the same member: the field `next_action.action` belongs to the pointer
    `#/properties/next_action/properties/action`.
    """
    for step in steps:
        if step.gate is not None and names_another_member(step):
            read = f"step {quote(step.key)} reads its intent from {quote(step.gate.field)}"
            message = f"{read}, but {quote(step.gate.pointer)} describes another member"
            related = (Related(step.gate_at / "intentSchemaRef", "the pointer"),)
            yield Finding(step.gate_at / "intentField", message, related)


_SHOWN = 3


@rule(
    since="0.1",
    origin=("steps-registry:beyond.intent-required", "rulings:R13", "steps-registry:gate.no-value"),
    severity=Severity.WARNING,
)
@of_steps
def stg246_optional_intent(steps: Collection[Step]) -> Iterator[Finding]:
    """An answer can fit the output schema and have no intent.

    ## Why this matters
    The model is only made to answer what the schema requires. When it leaves the intent out, the gate has nothing to
    read: the run ends as failed, or the fallback intent decides.

    ## How to fix
    Name every part of `intentField` in `required`, at each level of the output schema. Steps that read their intent
    from the same path are told together: each of their schemas needs it.
    """
    told: dict[str, list[tuple[Step, Reading]]] = {}
    for step in steps:
        for each in readings(step, Presence.POSSIBLE):
            if each.member == "intentField" and each.promised.optional is not None and _is_missable(step, each):
                told.setdefault(each.path, []).append((step, each))
    for path, found in told.items():
        (step, first), *others = found
        who = f"steps {listing([each.key for each, _ in found])}" if others else f"step {quote(step.key)}"
        message = f"{who} can answer without an intent: {quote(path)} is not required"
        yield Finding(first.at, message, tuple(_lenient(each for _, each in found)))


def _lenient(found: Iterable[Reading]) -> Iterator[Related]:
    """Yield the schemas that let the intent be left out, and how many more there are."""
    places = list(dict.fromkeys(each.promised.optional.at for each in found if each.promised.optional is not None))
    for at in places[: _SHOWN - 1]:
        yield Related(at, "this schema lets it be left out")
    for at in places[_SHOWN - 1 : _SHOWN]:
        more = f", like {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        yield Related(at, f"this schema lets it be left out{more}")


def _is_missable(step: Step, reading: Reading) -> bool:
    return reading.promised.presence is Presence.POSSIBLE and not names_another_member(step)


@rule(since="0.1", origin=("steps-registry:doc.R-D4", "rulings:R27"))
def stg247_impossible_path(registry: Registry) -> Iterator[Finding]:
    """A gate reads a path that its output schema forbids.

    ## Why this matters
    No answer that fits the schema can have anything there: the schema is closed and does not declare the member, the
    path leads through something that is not an object, or two parts of the schema ask for different types. The value is
    always missing.

    ## How to fix
    Correct the path, or declare the member in the output schema. Parts of a schema hold together: where `allOf` makes
    a member a string, it cannot be an object beside it, so rename one of the two.
    """
    yield from report_broken_paths(registry, Presence.IMPOSSIBLE, "forbids")


@rule(since="0.1", origin=("steps-registry:doc.R-D4", "rulings:R27"), severity=Severity.WARNING)
def stg248_undeclared_path(registry: Registry) -> Iterator[Finding]:
    """A gate reads a path that its output schema does not declare.

    ## Why this matters
    The schema is open there, so an answer may have the member, but nothing asks the model for it. A value that comes
    only by chance is missing when the next step needs it; often the path is only misspelt.

    Or the step's own schema declares the member, and one of its `allOf` declares it otherwise. By JSON Schema both
    hold, and nothing can be there. climpt merges them: a keyword of the step replaces those of its bases.

    ## How to fix
    Correct the path, or declare the member in the output schema, and require it.
    """
    yield from report_broken_paths(registry, Presence.UNDECLARED, "does not declare")
    yield from report_broken_paths(registry, Presence.IMPOSSIBLE, "never has", merged=True)


_SPOKEN_OF = {Presence.IMPOSSIBLE, Presence.UNDECLARED, Presence.POSSIBLE}


@rule(since="0.1", origin=("steps-registry:beyond.field-ref-agree", "rulings:R13"), severity=Severity.WARNING)
@of_steps
def stg274_uncertain_intent(steps: Collection[Step]) -> Iterator[Finding]:
    """An answer that satisfies the schema may have no intent that the gate allows.

    ## Why this matters
    The list at `intentSchemaRef` is valid only if it applies to the value that `intentField` reads. If the schema
    allows other values there, or describes them in ways that cannot be followed, the model may give an answer that the
    gate cannot read: the run fails, or the fallback intent decides.

    ## How to fix
    Give the member that `intentField` reads the list itself, or a `$ref` to it, and require it at every level.
    """
    for step in steps:
        reading = next((each for each in readings(step) if each.member == "intentField"), None)
        why = _why(step, reading) if reading is not None and reading.promised.legible else None
        if reading is not None and why is not None and not (disagreements(step) or names_another_member(step)):
            message = f"step {quote(step.key)} may answer without an allowed intent: {quote(reading.path)} {why}"
            yield Finding(reading.at, message, (Related(step.gate_at / "intentSchemaRef", "the list of intents"),))


def _why(step: Step, reading: Reading) -> str | None:
    if step.output is None or isinstance(step.output.choices, Miss) or reading.promised.presence in _SPOKEN_OF:
        return None
    values = step.output.values.get(reading.path)
    if not isinstance(values, tuple):
        return None if values is Miss.UNKNOWABLE else "can have a value that is not in the list"
    others = [as_text(each) for each in values if not _is_intent(step, each)]
    if others:
        return f"can be {listing(others, 'or')}"
    return "may be absent, as far as stagec can tell" if reading.is_involved else None


def _is_intent(step: Step, given: object) -> bool:
    return isinstance(given, str) and step.gate is not None and given in step.gate.allowed


_WHY = "its output schema is too complex to show"


@rule(since="0.1", origin=("steps-registry:beyond.conditional-domain", "rulings:R9"))
def stg277_uncertain_target(registry: Registry) -> Iterator[Finding]:
    """It cannot be told whether every answer leads on.

    ## Why this matters
    A conditional transition without a `default`, and a jump without a transition, need a value that is always there
    and always has a case. Here the output schema says so in ways that stagec does not follow. If an answer fits the
    schema and has no case, the run fails.

    ## How to fix
    Add a `default`, or a `target` for the jump. Or say it more plainly: require the value and list what it can be as
    its `enum`, in the branch of the intent.
    """
    for step in registry.steps.values():
        for at, reading, message in _list_uncertain(registry, step):
            related = (Related(reading.at, "the value that decides"),)
            yield Finding(at, f"step {quote(step.key)} {message}", related, causes=list_grounds(step))


def _list_uncertain(registry: Registry, step: Step) -> Iterator[tuple[Place, Reading, str]]:
    for each in conditionals(step):
        if each.is_open and each.reading is not None and each.reading.is_uncertain:
            chosen = f"chooses by {quote(each.condition)} on {quote(each.intent)} without a default"
            yield each.at / "targets", each.reading, f"{chosen}, and {_WHY} that every answer has a case"
    reading = open_jump(registry, step)
    if reading is not None and reading.is_uncertain:
        what = f"has no transition for 'jump', and {_WHY} that its target {quote(reading.path)} is always a step"
        yield step.at / "transitions" / "jump", reading, what


@rule(since="0.1", origin=("steps-registry:reg.gate-intent-enum", "rulings:R2"), severity=Severity.WARNING)
@of_steps
def stg294_repeated_intent(steps: Collection[Step]) -> Iterator[Finding]:
    """A gate lists an intent twice.

    ## Why this matters
    The second mention changes nothing. Most often another intent was meant, which the step then cannot answer.

    ## How to fix
    Delete the second mention, or write the intent that was meant.
    """
    for step in steps:
        listed = list_of(object_of(step.body.get("structuredGate")).get("allowedIntents"))
        if step.gate is None or len(step.gate.allowed) == len(listed):
            continue
        known: dict[str, int] = {}
        for index, intent in enumerate(listed):
            if isinstance(intent, str) and known.setdefault(intent, index) != index:
                at = step.allowed_at / index
                fix = Fix(f"remove the second {quote(intent)}", (Edit(Change.REMOVE, at),))
                related = (Related(step.allowed_at / known[intent], "the first"),)
                yield Finding(at, f"step {quote(step.key)} allows {quote(intent)} twice", related, fix)
