"""Gates: their targets, and the paths that they read in an answer."""

from collections.abc import Collection, Iterator

from stagec.check.rules.registry import list_grounds, of_steps, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.registry.answers import (
    Disagreement,
    Reading,
    Side,
    can_jump,
    disagreements,
    find_known_elsewhere,
    has_member,
    list_offered_by,
    names_another_member,
    open_jump,
    strangers,
)
from stagec.languages.registry.document import (
    ALLOWED,
    INTENTS,
    KIND_OF_PHASE,
    Gate,
    Intent,
    Registry,
    Step,
    StepKind,
    Transition,
)
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.read import count_to_closure
from stagec.sources.contract.choices import as_text
from stagec.sources.contract.promise import Presence
from stagec.sources.contract.schemas import Miss


@rule(
    since="0.1",
    origin=(
        "steps-registry:step.kind-intents",
        "steps-registry:flow.escalate-kind",
        "SR-VALID-001",
        "steps-registry:route.intent-kind",
        "steps-registry:flow.closing-from-nonclosure",
    ),
)
@of_steps
def stg207_intent_foreign_to_kind(steps: Collection[Step]) -> Iterator[Finding]:
    """A gate allows an intent that steps of its kind may not answer.

    ## Why this matters
    The kind of a step limits what it can decide: work steps may `handoff` but never end a run, only verification may
    `escalate`, only closure may answer `closing`. A runner refuses an intent outside that set.

    | kind | intents |
    |---|---|
    | work | next, repeat, jump, handoff |
    | verification | next, repeat, jump, escalate |
    | closure | closing, repeat |

    `abort` is allowed for every kind.

    ## How to fix
    Remove the intent from `allowedIntents`, the schema's enum and the transitions, or give the step the kind that fits
    it.
    """
    for step in steps:
        if step.gate is None or step.kind is None or step.acts_as is not None:
            continue
        foreign = {each: at for each, at in step.gate.allowed.items() if each in INTENTS - ALLOWED[step.kind]}
        if foreign:
            yield _finding(step, step.kind, foreign)


def _finding(step: Step, kind: StepKind, foreign: dict[str, int]) -> Finding:
    """Blame the kind where it alone stands against the intents and the phase, else the intents."""
    meant = KIND_OF_PHASE.get(step.phase or "")
    able = [each.value for each in ALLOWED if foreign.keys() <= ALLOWED[each]]
    only = f": only {' or '.join(able)} steps may" if able else ""
    message = f"{kind.value} step {quote(step.key)} may not answer {listing(foreign)}{only}"
    first = step.allowed_at / next(iter(foreign.values())) if len(foreign) == 1 else step.allowed_at
    if step.states_kind and meant is not None and foreign.keys() <= ALLOWED[meant]:
        return Finding(step.kind_at, message, (Related(first, "the intents it allows"),))
    if step.states_kind:
        return Finding(first, message, (Related(step.kind_at, "the step's kind"),))
    return Finding(first, message, (Related(step.kind_at, "the step's kind follows from its phase"),))


@rule(since="0.1", origin=("steps-registry:step.kind-fallback-intent", "rulings:R14", "SR-VALID-001"))
@of_steps
def stg208_unusable_fallback_intent(steps: Collection[Step]) -> Iterator[Finding]:
    """A gate's fallback intent is none of the intents it allows.

    ## Why this matters
    `fallbackIntent` is what a step is taken to have answered when no intent can be read from its answer. An intent
    that the gate or the step's kind does not allow cannot stand in for anything.

    ## How to fix
    Choose one of `allowedIntents`, or delete the fallback: without `failFast: false` it is never used.
    """
    for step in steps:
        gate = step.gate
        if gate is None or gate.fallback not in INTENTS or gate.fallback in gate.allowed or not gate.allowed:
            continue
        if gate.fallback != Intent.ABORT and gate.fallback in find_known_elsewhere(step):
            continue  # then the gate's list is at fault, and that is told
        at = step.at / "structuredGate" / "fallbackIntent"
        message = f"step {quote(step.key)} falls back to {quote(gate.fallback)}, but allows only"
        related = (Related(step.allowed_at, "the intents it allows"),)
        yield Finding(at, f"{message} {listing(gate.allowed)}", related)


_UNROUTED = {"repeat", "abort"}


@rule(since="0.1", origin=("steps-registry:step.gate-needs-transitions", "SR-VALID-004"))
@of_steps
def stg209_gate_without_transitions(steps: Collection[Step]) -> Iterator[Finding]:
    """A step has a gate but no transitions.

    ## Why this matters
    The gate turns an answer into an intent, and transitions say where each intent leads. Without them every answer but
    `repeat` and `abort` ends in an error.

    ## How to fix
    Add `transitions` with one entry for every allowed intent, or remove the gate.
    """
    for step in steps:
        if step.gate is None or "transitions" in step.body:
            continue
        needed = [intent for intent in step.gate.allowed if intent not in _UNROUTED]
        if needed:
            message = f"step {quote(step.key)} has a gate but no transitions, so no transition takes {listing(needed)}"
            related = (Related(step.allowed_at, "the intents that need one"),)
            yield Finding(step.at / "transitions", message, related)


@rule(
    since="0.1",
    origin=(
        "steps-registry:flow.intent-without-transition",
        "steps-registry:flow.dead-transition",
        "steps-registry:doc.R-B4",
        "steps-registry:route.handoff-missing",
        "steps-registry:route.escalate-missing",
    ),
)
@of_steps
def stg213_unrouted_intent(steps: Collection[Step]) -> Iterator[Finding]:
    """A step's transitions do not take exactly the intents that its gate allows.

    ## Why this matters
    An allowed intent without a transition is an answer that leads nowhere: the run fails when the model gives it. A
    transition for an intent that is not allowed is never taken, so its author believes in a path that does not exist.

    ## How to fix
    Give every allowed intent a transition, and delete the transitions of all others. `abort` needs none; `repeat`
    without one means this step again; `jump` needs none when the answer names the target.
    """
    for step in steps:
        for each in disagreements(step):
            if each.odd is Side.TRANSITIONS:
                others = [at for side, at in each.places if side is not each.odd]
                related = tuple(Related(at, "the intents that can be answered") for at in others)
                yield Finding(
                    each.at, f"the transitions of step {quote(step.key)} {_describe_difference(each)}", related
                )


def _describe_difference(each: Disagreement) -> str:
    parts = [f"lack {listing(each.missing)}, which the gate allows"] if each.missing else []
    if each.extra:
        parts.append(f"take {listing(each.extra)}, which the gate does not allow")
    return " and ".join(parts)


@rule(
    since="0.1",
    origin=("steps-registry:boot.flow-steps-incomplete", "steps-registry:doc.R-B6", "SR-GATE-003"),
)
@of_steps
def stg219_gate_without_output_schema(steps: Collection[Step]) -> Iterator[Finding]:
    """A step has a gate but no output schema.

    ## Why this matters
    The gate reads an intent from the step's answer. Without an output schema nothing makes the model answer in a shape
    that holds one.

    ## How to fix
    Add `outputSchemaRef` with the file and the name of a schema that holds the gate's `intentField`.
    """
    for step in steps:
        if step.gate is not None and "outputSchemaRef" not in step.body:
            message = f"step {quote(step.key)} has a gate but no output schema from which it could read an intent"
            yield Finding(step.at / "outputSchemaRef", message, (Related(step.gate_at, "the gate"),))


@rule(
    since="0.1",
    origin=("steps-registry:boot.flow-steps-incomplete", "steps-registry:doc.R-B6", "SR-GATE-003"),
)
def stg220_transitions_without_gate(registry: Registry) -> Iterator[Finding]:
    """A step has transitions but no gate, although other steps of the registry have one.

    ## Why this matters
    The gate turns an answer into an intent, and an intent chooses the transition. In a registry with gates an agent
    does not start while one of its routed steps has none.

    ## How to fix
    Give the step a `structuredGate`, or remove its transitions.
    """
    for step in registry.gateless:
        gated = next(each for each in registry.steps.values() if each.gate is not None)
        message = f"step {quote(step.key)} has transitions but no gate, so no answer can take them"
        yield Finding(step.gate_at, message, (Related(gated.gate_at, f"step {quote(gated.key)} has one"),))


@rule(since="0.1", origin=("steps-registry:boot.graph-needs-gate", "SR-GATE-004"))
def stg221_graph_without_gate(registry: Registry) -> Iterator[Finding]:
    """The agent is judged by its graph of steps, but no step has a gate.

    ## Why this matters
    Under the verdict type `detect:graph` a run is done when the transitions lead out of the graph. Transitions are
    chosen by gates; without any, the run never moves and the agent does not start.

    ## How to fix
    Give every step a `structuredGate` and transitions, or choose a verdict type that fits an agent without them.
    """
    agent = registry.agent
    if agent is None or agent.verdict != "detect:graph" or not registry.steps or registry.broken_steps:
        return
    if not any("structuredGate" in step.body for step in registry.steps.values()):
        message = "the verdict type is 'detect:graph', but no step of the registry has a gate"
        yield Finding(agent.verdict_at, message, (Related(registry.at / "steps", "the steps"),))


@rule(since="0.1", origin=("steps-registry:doc.closing-null", "steps-registry:beyond.closing-null", "rulings:R4"))
def stg222_closing_with_target(registry: Registry) -> Iterator[Finding]:
    """A `closing` transition leads to a step.

    ## Why this matters
    `closing` asks for the end of the run: the validators of the closure step are run, and when they pass the run is
    completed. It leads to no step, so a target is never honoured.

    ## How to fix
    Set the target to `null`. To go on to another step, use the intent that fits the step's kind.
    """
    for step in registry.steps.values():
        if not step.intents or Intent.CLOSING not in step.intents:
            continue
        if step.kind is not None and Intent.CLOSING not in ALLOWED[step.kind]:
            continue
        moves = [move for move in step.moves if _leads_on(move, registry)]
        if moves:
            message = f"step {quote(step.key)} goes to {quote(moves[0].target)} on 'closing', which ends the run"
            related = tuple(Related(step.place(move), "ends the run too") for move in moves[1:])
            yield Finding(step.place(moves[0]), f"{message}: the target must be null", related)


def _leads_on(move: Transition, registry: Registry) -> bool:
    """Tell whether this leads to an existing step under `closing`; of the others another rule speaks."""
    return (
        move.intent == Intent.CLOSING
        and not move.is_fallback
        and move.target is not None
        and registry.has_step(move.target)
    )


@rule(since="0.1", origin=("steps-registry:flow.intent-kind-transition", "steps-registry:flow.escalate-kind"))
@of_steps
def stg231_transition_foreign_to_kind(steps: Collection[Step]) -> Iterator[Finding]:
    """A step has a transition for an intent that steps of its kind may not answer.

    ## Why this matters
    The kind of a step limits what it can decide. The gate does not allow the intent, so the transition is never taken,
    and allowing it would not help: a runner refuses intents outside the set of the kind.

    | kind | intents |
    |---|---|
    | work | next, repeat, jump, handoff |
    | verification | next, repeat, jump, escalate |
    | closure | closing, repeat |

    ## How to fix
    Delete the transition, or give the step the kind that fits it.
    """
    for step in steps:
        for intent in _foreign(step):
            able = " or ".join(kind.value for kind in ALLOWED if intent in ALLOWED[kind])
            message = f"step {quote(step.key)} cannot take {quote(intent)}: only {able} steps may"
            related = (Related(step.kind_at, "the step's kind follows from this"),)
            yield Finding((step.at / "transitions" / intent).key, message, related)


def _foreign(step: Step) -> list[str]:
    """Return the intents that the transitions take against the step's kind; of listed ones another rule speaks."""
    if step.kind is None or not step.intents or step.intents <= ALLOWED[step.kind]:
        return []
    listed = step.gate.allowed.keys() if step.gate is not None else frozenset[str]()
    return sorted((step.intents & INTENTS) - ALLOWED[step.kind] - listed)


_KNOWN = NameIndex(sorted(INTENTS))
_RESERVED = "fallback"


@rule(since="0.1", origin=("steps-registry:flow.unknown-intent-key", "steps-registry:doc.R-B12", "rulings:R2"))
def stg232_unknown_transition_intent(registry: Registry) -> Iterator[Finding]:
    """A transition stands under a name that is not an intent.

    ## Why this matters
    There are seven intents: `next`, `repeat`, `jump`, `handoff`, `closing`, `escalate` and `abort`. A transition under
    any other name is never taken. `fallback` is reserved: it is a member of a transition, beside its target.

    ## How to fix
    Correct the spelling, or delete the transition. Where an allowed intent has no transition yet, the misspelt one is
    most likely it, and `--fix` renames it.
    """
    for step in registry.steps.values():
        for key in _list_unknown(step, registry.intents):
            what = "belongs inside a transition" if key == _RESERVED else f"is not an intent{hint(key, _KNOWN)}"
            message = f"step {quote(step.key)} has a transition for {quote(key)}, which {what}"
            yield Finding((step.at / "transitions" / key).key, message, (), _fix(step, key))


def _list_unknown(step: Step, known: frozenset[str]) -> list[str]:
    """Return the keys of the transitions that are no intents; of those that the gate lists another rule speaks."""
    if not step.intents or step.intents <= known:
        return []
    listed = step.gate.allowed.keys() if step.gate is not None else frozenset[str]()
    return sorted(step.intents - known - listed)


def _fix(step: Step, key: str) -> Fix | None:
    near = _KNOWN.nearest(key) if key != _RESERVED else None
    if near is None or step.gate is None or near not in step.gate.allowed or near in (step.intents or ()):
        return None
    return Fix(f"rename it to {quote(near)}", (Edit(Change.RENAME, step.at / "transitions" / key, near),))


@rule(since="0.1", origin=("steps-registry:doc.R-B14", "rulings:R10"))
@of_steps
def stg240_jump_without_target_field(steps: Collection[Step]) -> Iterator[Finding]:
    """A step may jump, but its gate does not say where the target is read.

    ## Why this matters
    With `jump` the answer itself names the next step. Without `targetField` nobody reads that name, so a jump leads
    nowhere, or always to the one step of `transitions.jump`, whatever the model answered.

    ## How to fix
    Add `targetField` with the path of the target in the answer, and name the steps it can be in the output schema's
    enum. Where the step never chooses its own target, remove `jump` from `allowedIntents`, the enum and the
    transitions.
    """
    for step in steps:
        is_nothing = step.gate is not None and (not has_member(step, "targetField") or step.gate.target_field == "")
        if step.gate is not None and can_jump(step) and is_nothing:
            message = f"step {quote(step.key)} allows 'jump', but its gate has no 'targetField' to read the target from"
            related = (Related(step.allowed_at / step.gate.allowed["jump"], "the intent that needs it"),)
            yield Finding(step.gate_at / "targetField", message, related)


@rule(
    since="0.1",
    origin=(
        "steps-registry:beyond.jump-needs-target",
        "steps-registry:flow.intent-without-transition",
        "rulings:R10",
        "steps-registry:route.jump-target",
    ),
)
def stg241_open_jump(registry: Registry) -> Iterator[Finding]:
    """A jump can name a step that does not exist, and no rule decides what happens then.

    ## Why this matters
    The target of a jump comes from the model's answer. Unless the schema makes the model choose among existing steps,
    an answer can fit the schema and still lead nowhere.

    ## How to fix
    Require the target at every level of the output schema and list the steps it can be as its `enum` or `const`, or
    give `transitions.jump` a `target` that is taken when the answer names no step.
    """
    for step in registry.steps.values():
        reading = open_jump(registry, step)
        if reading is not None and not reading.is_uncertain:
            what = f"step {quote(step.key)} has no transition for 'jump', and its target {quote(reading.path)}"
            message = f"{what} {_why(registry, reading)}"
            optional = reading.promised.optional
            related = () if optional is None else (Related(optional.at, "this schema lets it be left out"),)
            lost = strangers(registry, reading)
            at = reading.at if lost else step.at / "transitions" / "jump"
            yield Finding(at, message, related, causes=() if lost else list_grounds(step))


def _why(registry: Registry, reading: Reading) -> str:
    lost = strangers(registry, reading)
    if lost:
        near = hint(str(lost[0]), registry.step_names)
        return f"can be {listing(lost, 'or')}, but there is no such step{near}"
    if reading.promised.presence is Presence.UNDECLARED:
        return "is not declared in its output schema"
    if reading.values is Miss.NO_MEMBER:
        return "can be anything: its output schema names no values"
    return "can be missing from an answer"


_SHOWN = 3


@rule(
    since="0.1",
    origin=("steps-registry:doc.no-fallback-when-failfast", "steps-registry:beyond.dead-fields", "rulings:R14"),
    severity=Severity.NOTE,
)
@of_steps
def stg249_unused_fallback_intent(steps: Collection[Step]) -> Iterator[Finding]:
    """A gate has a fallback intent that is never used.

    ## Why this matters
    Under `failFast`, which holds unless it is set to `false`, a run ends when no intent can be read. The fallback
    intent looks as if it caught that case, and does not.

    ## How to fix
    Delete `fallbackIntent`, or set `failFast` to `false` when the run shall go on with it.
    """
    found = [step for step in steps if step.gate is not None and _is_unused(step.gate)]
    if not found:
        return
    first, *others = found
    related = tuple(Related(each.gate_at / "fallbackIntent", "this one is not used either") for each in others[:_SHOWN])
    message = f"steps {listing([step.key for step in found])} never use their fallback intents: they fail fast"
    if first.gate is not None and not others:
        message = f"step {quote(first.key)} never falls back to {quote(first.gate.fallback)}: it fails fast"
    yield Finding(first.gate_at / "fallbackIntent", message, related)


def _is_unused(gate: Gate) -> bool:
    return gate.fail_fast and gate.fallback in gate.allowed


@rule(since="0.1", origin=("steps-registry:doc.failfast-prod", "rulings:R27"))
@of_steps
def stg250_unhandled_failure(steps: Collection[Step]) -> Iterator[Finding]:
    """A gate goes on when no intent can be read, but does not say with which.

    ## Why this matters
    `failFast: false` keeps a run alive when the answer has no intent. Without `fallbackIntent` there is still nothing
    to go on with, so the run ends all the same, only later and with a less helpful message.

    ## How to fix
    Add a `fallbackIntent` out of `allowedIntents`, or delete `failFast`.
    """
    for step in steps:
        if step.gate is not None and not step.gate.fail_fast and not has_member(step, "fallbackIntent"):
            message = f"step {quote(step.key)} does not fail fast, but has no fallbackIntent to continue with"
            yield Finding(step.gate_at / "failFast", message)


@rule(since="0.1", origin=("steps-registry:doc.R-B15", "rulings:R11"), severity=Severity.WARNING)
@of_steps
def stg251_missing_handoff_fields(steps: Collection[Step]) -> Iterator[Finding]:
    """A step may hand off, but declares no hand-over.

    ## Why this matters
    `handoffFields` names the values that later steps can take. Without it, nothing says what the closure step needs of
    the steps before it: their whole answers are kept, and a change of a schema takes a value away without a word.

    ## How to fix
    Add `handoffFields` with the paths that the next step needs. An empty list says that it needs none.
    """
    for step in steps:
        if step.gate is None or "handoff" not in step.gate.allowed or has_member(step, "handoffFields"):
            continue
        if step.kind is None or "handoff" in ALLOWED[step.kind]:
            what = f"step {quote(step.key)} allows 'handoff', but has no handoffFields"
            message = f"{what}, so it names no values to hand over"
            related = (Related(step.allowed_at / step.gate.allowed["handoff"], "the intent that needs them"),)
            yield Finding(step.gate_at / "handoffFields", message, related)


@rule(since="0.1", origin=("rulings:R2",), severity=Severity.WARNING)
@of_steps
def stg252_excluded_intent(steps: Collection[Step]) -> Iterator[Finding]:
    """An intent is listed where the schema lists its intents, and another part of the schema rules it out.

    ## Why this matters
    All parts of a schema hold together: what `allOf` or a referenced schema forbids, an enum beside it cannot allow.
    The intent looks possible, and no answer that fits the schema can ever have it.

    ## How to fix
    Add the intent to the other list too, or remove it from this one, `allowedIntents` and the transitions.
    """
    for step in steps:
        if step.gate is None or step.output is None or not step.output.excluded or names_another_member(step):
            continue
        for each in step.output.excluded:
            intent = as_text(each.given)
            if intent in step.gate.allowed:
                message = f"no answer can be {quote(intent)}: another part of the schema excludes it"
                related = () if each.by is None else (Related(each.by, "this part"),)
                yield Finding(each.at, message, related)


@rule(since="0.1", origin=("rulings:R26",), severity=Severity.WARNING)
@of_steps
def stg253_target_mode_mismatch(steps: Collection[Step]) -> Iterator[Finding]:
    """A gate's `targetMode` needs a member that the step does not have.

    ## Why this matters
    `dynamic` says that the answer names the next step, `conditional` that a value of the answer chooses it. A reader,
    and every tool that trusts the mode, looks for a choice that nobody makes.

    ## How to fix
    Add what the mode needs, `targetField` for `dynamic` or a transition with `condition` and `targets` for
    `conditional`, or choose `explicit`, the default: the transitions alone decide.
    """
    for step in steps:
        lack = _lack(step)
        if lack is not None and step.gate is not None:
            message = f"the target mode of step {quote(step.key)} is {quote(step.gate.target_mode)}, but {lack}"
            yield Finding(step.gate_at / "targetMode", message)


def _lack(step: Step) -> str | None:
    mode = step.gate.target_mode if step.gate is not None else None
    if mode == "dynamic" and not has_member(step, "targetField") and not can_jump(step):
        return "it has no targetField"
    if mode == "conditional" and step.intents is not None and all(move.case is None for move in step.moves):
        return "none of its transitions has conditions"
    return None


@rule(since="0.1", origin=("steps-registry:beyond.handoff-collision",), severity=Severity.WARNING)
@of_steps
def stg254_repeated_handoff_key(steps: Collection[Step]) -> Iterator[Finding]:
    """Two hand-off paths end in the same name, so one value overwrites the other.

    ## Why this matters
    A value is handed over under the last part of its path: `analysis.summary` and `result.summary` both arrive as
    `summary`, and only the later one is there.

    ## How to fix
    Remove one of the paths, or give the members different names in the output schema.
    """
    for step in steps:
        handoff = step.gate.handoff if step.gate is not None else None
        first: dict[str, int] = {}
        for index, path in enumerate(handoff or ()):
            key = path.rpartition(".")[2]
            if key and first.setdefault(key, index) != index:
                at = step.gate_at / "handoffFields"
                message = f"step {quote(step.key)} hands over two paths as {quote(key)}"
                yield Finding(at / index, message, (Related(at / first[key], "the earlier path"),))


@rule(since="0.1", origin=("steps-registry:doc.R-F12",), severity=Severity.WARNING)
def stg268_unbounded_poll(registry: Registry) -> Iterator[Finding]:
    """An agent waits for a state and does not say how many iterations it may take.

    ## Why this matters
    A state that never comes is waited for until the default of the runner is reached, which is another in every
    runner.

    ## How to fix
    Add `maxIterations` to `runner.verdict.config`.
    """
    agent = registry.agent
    if agent is not None and agent.is_whole and agent.verdict == "poll:state" and "maxIterations" not in agent.settings:
        at = agent.at / "runner" / "verdict" / "config" / "maxIterations"
        yield Finding(
            at, f"verdict type {quote(agent.verdict)} has no 'maxIterations', so only a runner's default bounds a run"
        )


@rule(
    since="0.1",
    origin=("steps-registry:gate.enum-drift", "steps-registry:step.kind-intents", "rulings:R1"),
    severity=Severity.NOTE,
)
def stg269_onesided_abort(registry: Registry) -> Iterator[Finding]:
    """Only one of the schema's enum and the gate's `allowedIntents` lists `abort`.

    ## Why this matters
    `abort` is always allowed and ends the run as failed, so nothing breaks. But a model answers only what the schema's
    enum lists: with `abort` in the gate alone it can never give up, and with `abort` in the enum alone a reader of the
    gate does not learn that it can.

    ## How to fix
    List `abort` in both, or in neither.
    """
    for step in registry.steps.values() if registry.generation is Generation.V1_13 else ():
        offered, gate = list_offered_by(step), step.gate
        if offered is None or gate is None or (Intent.ABORT in offered) is (Intent.ABORT in gate.allowed):
            continue
        message = f"step {quote(step.key)} lists 'abort' only"
        if Intent.ABORT in offered:
            related = (Related(step.allowed_at, "the intents it allows"),)
            yield Finding(offered[Intent.ABORT], f"{message} in the schema enum", related)
        else:
            yield Finding(step.allowed_at / gate.allowed[Intent.ABORT], f"{message} in allowedIntents")


@rule(since="0.1", origin=("climpt-1.14:flow.intent-without-transition", "S3"), severity=Severity.WARNING)
def stg2043_unrouted_repeat(registry: Registry) -> Iterator[Finding]:
    """A gate allows `repeat`, and no transition is written for it.

    ## Why this matters
    A step repeats itself without a transition, and the check of an agent wants none. The start of climpt 1.14 does
    want one, and refuses the registry.

    ## How to fix
    Write the transition: `"repeat": {"target": "THE STEP ITSELF"}`. `--fix` does so.
    """
    for step in registry.steps.values() if registry.generation is not Generation.V1_13 else ():
        allowed = step.gate.allowed if step.gate is not None else {}
        if Intent.REPEAT in allowed and step.intents is not None and Intent.REPEAT not in step.intents:
            at = step.allowed_at / allowed[Intent.REPEAT]
            edit = Edit(Change.INSERT, step.at / "transitions" / "repeat", {"target": step.key})
            fix = Fix(f"lead 'repeat' to {quote(step.key)}", (edit,))
            yield Finding(
                at, f"step {quote(step.key)} allows 'repeat' without a transition, which 1.14 refuses", fix=fix
            )


@rule(since="0.1", origin=("climpt-1.14:wf.verdict-out-of-reach",), severity=Severity.WARNING)
def stg2044_count_before_closure(registry: Registry) -> Iterator[Finding]:
    """An agent that counts iterations is done before a closure step can be reached.

    ## Why this matters
    With the verdict type `count:iteration` a run ends when `maxIterations` iterations are done, and each step is one
    of them. Where the shortest way from the first step to a closure step is longer, no run ever reaches a closure
    step: nothing is closed, and no verdict is given.

    ## How to fix
    Raise `maxIterations` to at least the number of steps that the message names, or shorten the way.
    """
    agent = registry.agent
    most = agent.settings.get("maxIterations") if agent is not None and agent.verdict == _COUNTING else None
    if agent is None or registry.generation is Generation.V1_13 or not isinstance(most, int) or isinstance(most, bool):
        return
    least = count_to_closure(registry, _COUNTING)
    if least is not None and least > most >= 1:
        at = agent.at / "runner" / "verdict" / "config" / "maxIterations"
        message = f"runs end after {most} of the {least} steps that are needed to reach a closure step"
        related = (Related(registry.entries[_COUNTING].at, "runs begin here"),)
        yield Finding(at, message, related, causes=(related[0].at,))


_COUNTING = "count:iteration"
