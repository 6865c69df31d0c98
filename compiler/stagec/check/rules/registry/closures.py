"""Verdicts and conditions that end a run."""

import re
from collections.abc import Collection, Iterable, Iterator

from stagec.check.rules.registry import list_grounds, of_steps, rule
from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.registry.answers import Conditional, always_names_step, conditionals, handoff_keys
from stagec.languages.registry.document import VERDICTS, Intent, Registry, Step
from stagec.languages.registry.generation import CONDITION_LISTS, LEGACY_CONDITIONS, Generation
from stagec.languages.registry.inputs import find_unhanded
from stagec.languages.registry.supply import find_unsupplied, verdicts
from stagec.sources.contract.choices import as_text
from stagec.sources.contract.promise import Presence
from stagec.sources.contract.schemas import Miss


@rule(since="0.1", origin=("steps-registry:beyond.conditional-domain", "rulings:R9"))
def stg242_unknown_condition(registry: Registry) -> Iterator[Finding]:
    """A conditional transition chooses by a value that its step does not hand over.

    ## Why this matters
    `condition` names one of the values that the gate takes from an answer: the last part of a path in `handoffFields`.
    Any other name is never there, so every answer takes the `default`, or none at all.

    ## How to fix
    Correct the name, or add the path of the value to `handoffFields`.
    """
    lost = [(step, each, keys) for step, each, keys in _conditions(registry) if each.condition not in keys]
    told = frozenset(find_unhanded(registry)) if lost else frozenset[tuple[str, str]]()
    for step, each, keys in lost:
        if (step.key, each.condition) not in told:
            has = f"hands over only {listing(keys)}" if keys else "hands over nothing"
            message = f"step {quote(step.key)} chooses by {quote(each.condition)} on {quote(each.intent)}, but {has}"
            related = (Related(step.gate_at / "handoffFields", "its hand-over"),) if keys else ()
            name, known = each.condition.rpartition(".")[2], NameIndex(keys)
            yield Finding(each.at / "condition", f"{message}{hint(name, known)}", related, guess(name, known))


def _conditions(registry: Registry) -> Iterator[tuple[Step, Conditional, tuple[str, ...]]]:
    """Yield every conditional transition with the names that its step hands over."""
    for step in registry.steps.values():
        keys = handoff_keys(step) if step.has_cases else None
        if keys is not None:
            yield from ((step, each, keys) for each in conditionals(step))


_SHOWN = 8
"""So many cases that no value meets are shown."""


@rule(since="0.1", origin=("steps-registry:doc.conditional-default", "steps-registry:beyond.conditional-domain"))
def stg243_uncovered_condition(registry: Registry) -> Iterator[Finding]:
    """A conditional transition leaves answers without a target.

    ## Why this matters
    Without a `default`, an answer whose value has no case cannot be routed: it fits the schema, and the run fails.

    ## How to fix
    Add a `default` case. Or make it impossible to need one: require the value at every level of the output schema,
    give it an `enum`, and write a case for every value. The cases of a boolean are `true` and `false`.
    """
    for step in registry.steps.values():
        for each in conditionals(step):
            is_untaken = each.intent == Intent.JUMP and each.is_open and always_names_step(registry, step)
            if each.is_open and each.reading is not None and not each.reading.is_uncertain and not is_untaken:
                what = f"step {quote(step.key)} chooses by {quote(each.condition)} on {quote(each.intent)}"
                at = each.at / "targets"
                unmet = (Related((at / case).key, "no value meets this case") for case in each.impossible[:_SHOWN])
                related = (Related(each.reading.at, "the value it chooses by"), *unmet)
                yield Finding(at, f"{what} without a default, {_why(each)}", related, causes=list_grounds(step))


def _why(each: Conditional) -> str:
    reasons = []
    presence = each.reading.promised.presence if each.reading is not None else Presence.UNKNOWABLE
    if presence is Presence.UNDECLARED:
        return "but its output schema does not declare that value"
    if each.uncovered:
        reasons.append(f"{listing(each.uncovered)} {'has' if len(each.uncovered) == 1 else 'have'} no case")
    if each.values is Miss.NO_MEMBER:
        reasons.append("its output schema does not name the values")
    if presence is Presence.POSSIBLE:
        reasons.append("an answer may leave the value out")
    return f"but {' and '.join(reasons)}"


@rule(since="0.1", origin=("rulings:R9",), severity=Severity.WARNING)
@of_steps
def stg244_impossible_case(steps: Collection[Step]) -> Iterator[Finding]:
    """A case of a conditional transition can never be taken.

    ## Why this matters
    The output schema names the values that the model may answer, and this case is none of them. Its author believes in
    a path that no run takes; often the case is only misspelt, and the answers meant for it go to the `default`.

    ## How to fix
    Write the case as the schema writes the value, or delete it. The cases of a boolean are `true` and `false`.
    """
    for step in steps:
        for each in conditionals(step):
            if each.is_open or not isinstance(each.values, tuple) or each.reading is None:
                continue
            known = NameIndex(as_text(value) for value in each.values)
            can = f"{quote(each.condition)} is always {listing(known, 'or')}" if known else "there is no such value"
            for case in each.impossible:
                message = f"step {quote(step.key)} never takes {quote(case)} on {quote(each.intent)}:"
                related = (Related(each.reading.at, "the value it chooses by"),)
                at = (each.at / "targets" / case).key
                yield Finding(at, f"{message} {can}{hint(case, known)}", related, guess(case, known))


_NEEDS = {
    "count:iteration": ("maxIterations",),
    "count:check": ("maxChecks",),
    "detect:keyword": ("verdictKeyword",),
    "detect:structured": ("signalType",),
    "meta:composite": ("operator", "conditions"),
    "meta:custom": ("handlerPath",),
}


@rule(since="0.1", origin=("steps-registry:agent.verdict-config", "steps-registry:boot.verdict-ctor", "AC-VERDICT-002"))
def stg267_incomplete_verdict(registry: Registry) -> Iterator[Finding]:
    """An agent's verdict type lacks a setting without which it cannot be judged.

    ## Why this matters
    The verdict type says how an agent knows that it is done. It is made before the first step, and an agent whose
    verdict cannot be made does not start.

    | verdict type | needs |
    |---|---|
    | `count:iteration` | `maxIterations` |
    | `count:check` | `maxChecks` |
    | `detect:keyword` | `verdictKeyword` |
    | `detect:structured` | `signalType` |
    | `meta:composite` | `operator`, `conditions` |
    | `meta:custom` | `handlerPath` |

    The conditions of `meta:composite` need the same, each in its own `config`.

    ## How to fix
    Add the setting to `runner.verdict.config` of the agent definition.
    """
    for verdict in verdicts(registry):
        if verdict.is_condition and verdict.kind == "meta:composite":
            continue  # no condition can be that
        lacking = [each for each in _NEEDS.get(verdict.kind, ()) if verdict.settings.get(each) in (None, "", [])]
        if lacking:
            at = verdict.at / "config" / lacking[0]
            yield Finding(at, f"verdict type {quote(verdict.kind)} needs {listing(lacking)} in its configuration")


_ABLE = tuple(each for each in VERDICTS if each != "meta:composite")


@rule(since="0.1", origin=("steps-registry:doc.R-F15", "steps-registry:boot.verdict-ctor", "AC-VERDICT-010"))
def stg270_foreign_verdict_condition(registry: Registry) -> Iterator[Finding]:
    """A condition of a composite verdict is of a type that no condition can have.

    ## Why this matters
    `meta:composite` joins the verdicts of its conditions. A condition that is of no known type, or composite itself,
    cannot be judged, and the agent does not start.

    ## How to fix
    Write one of `poll:state`, `count:iteration`, `count:check`, `detect:keyword`, `detect:structured`, `detect:graph`
    and `meta:custom`. Conditions of a condition belong into the list of the whole.
    """
    for verdict in verdicts(registry):
        if verdict.is_condition and verdict.kind not in _ABLE:
            why = "is composite itself" if verdict.kind in VERDICTS else "has an unknown type"
            known = NameIndex(() if verdict.kind in VERDICTS else _ABLE)
            message = f"condition {quote(verdict.kind)} of a composite verdict {why}{hint(verdict.kind, known)}"
            yield Finding(verdict.at / "type", message, fix=guess(verdict.kind, known))


_ARGUMENT = re.compile(r"(?<![\w.$])args\??\.([A-Za-z_$][\w$]*)")


@rule(since="0.1", origin=("steps-registry:doc.R-A5",))
def stg271_unknown_condition_argument(registry: Registry) -> Iterator[Finding]:
    """A step's condition asks for an argument that the agent does not have.

    ## Why this matters
    `args.name` in a step's `condition` is the value of the agent's parameter of that name. When there is none, it is
    never defined, and the step applies always or never, whatever the caller gives.

    ## How to fix
    Correct the spelling, or declare the parameter in the agent definition.
    """
    agent = registry.agent
    if agent is None or not agent.is_whole:
        return
    conditions = ((step, step.body.get("condition")) for step in registry.steps.values())
    asked = [(step, name) for step, text in conditions if isinstance(text, str) for name in _arguments(text)]
    lost = [(step, name) for step, name in asked if name not in agent.parameters]
    told = find_unsupplied(registry) if lost else {}  # a prompt needs it too, and there it is told
    for step, name in lost:
        if name not in told:
            message = f"the condition of step {quote(step.key)} asks for {quote(name)}, but the agent has no such"
            near = hint(name, agent.parameters)
            at = step.at / "condition"
            yield Finding(at, f"{message} parameter{near}", fix=guess(name, agent.parameters))


def _arguments(condition: str) -> Iterable[str]:
    return dict.fromkeys(_ARGUMENT.findall(condition))


@rule(since="0.1", origin=("climpt-1.14:valid.legacy-conditions",))
def stg2023_legacy_conditions(registry: Registry) -> Iterator[Finding]:
    """A validation step of a registry of climpt 1.14 has `validationConditions`.

    ## Why this matters
    climpt 1.14 has two lists in its place: `preflightConditions` are judged before the model is asked, and a run ends
    when one does not hold; `postLLMConditions` are judged after its answer, and `onFailure` says what follows. The old
    list is refused.

    ## How to fix
    Move each condition into one of the lists, and write the phase of its validator. In 1.13 all conditions were judged
    after the answer. Write both lists, even if one of them is empty.
    """
    for guard in registry.validation_steps.values() if registry.generation is not Generation.V1_13 else ():
        if LEGACY_CONDITIONS in guard.body:
            at = (guard.at / LEGACY_CONDITIONS).key
            message = f"validation step {quote(guard.key)} has '{LEGACY_CONDITIONS}', which 1.14 refuses"
            yield Finding(at, f"{message}: it requires {listing(CONDITION_LISTS)}")
