"""Validators, failure patterns, retries and their prompts' variants."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice

from stagec.check.rules.registry import of_steps, report_unknown, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import list_of, object_of, text_in
from stagec.core.nearest import Guess, NameIndex, guess, hint, is_slip
from stagec.core.place import Mention, Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.ir.plan.document import EXTRACTORS
from stagec.languages.registry.conduct import Defect
from stagec.languages.registry.document import Intent, Registry, Step, StepKind
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.guards import LIST_OF_PHASE, POST_LLM, PREFLIGHT, RetryPlan, find_slots
from stagec.languages.registry.read import (
    Exchange,
    find_conditionless,
    find_exchanges,
    find_unused,
    is_attainable,
    list_validators,
    read_success,
)


@rule(since="0.1", origin=("steps-registry:beyond.validation-step-key", "rulings:R5"))
def stg226_idle_validation(registry: Registry) -> Iterator[Finding]:
    """A validation step guards no closure step.

    ## Why this matters
    The key under `validationSteps` names the closure step whose `closing` it guards. When no closure step has this
    name the validators are never run, and the run ends unchecked.

    ## How to fix
    Make the key the name of the closure step that is to be guarded.
    """
    given = registry.body.get("validationSteps")
    keys = tuple(given) if isinstance(given, dict) and registry.steps else ()
    told = {mention.name for mention in registry.lost_targets}.union(registry.broken_steps)
    idle = [key for key in keys if key not in told and _is_idle(registry.step(key), registry.generation)]
    if not idle:
        return
    closures = NameIndex(
        step.key
        for step in registry.steps.values()
        if step.key not in keys and not step.is_section and _can_be_guarded(step, registry.generation)
    )
    for key in idle:
        at, step = (registry.at / "validationSteps" / key).key, registry.step(key)
        message = f"validation step {quote(key)} guards nothing"
        if step is None:
            yield Finding(at, f"{message}: there is no such step{hint(key, closures)}", fix=guess(key, closures))
        else:
            what = "section" if step.kind is None else f"{step.kind.value} step"
            related = (Related(step.kind_at, "its kind follows from this"),) if step.kind is not None else ()
            message = f"{message}: that step is a {what}, no closure step{hint(key, closures)}"
            yield Finding(at, message, related, guess(key, closures), causes=(step.at,))


def _can_be_guarded(step: Step, written: Generation) -> bool:
    return step.kind is StepKind.CLOSURE or written is not Generation.V1_13


def _is_idle(step: Step | None, written: Generation) -> bool:
    """Tell whether this is surely no step that can be guarded; a step of unknown kind may be one."""
    if step is None or step.is_section or written is not Generation.V1_13:
        return step is None or step.is_section
    return step.acts_as in {StepKind.WORK, StepKind.VERIFICATION}


_WHY: Mapping[Defect, str] = {
    Defect.UNREADABLE: "cannot be read: a block is '{{#each NAME}}…{{/each}}' or '{{#if NAME}}…{{/if}}'",
    Defect.UNCLOSED: "is never closed",
    Defect.UNOPENED: "closes no block",
    Defect.STRAY_ELSE: "stands in no '{{#if NAME}}'",
    Defect.SECOND_ELSE: "is the second one of its block",
    Defect.TOO_DEEP: "opens a block inside more than 31 others",
}


@rule(since="0.1", origin=("rulings:R6",))
def stg275_malformed_retry_block(registry: Registry) -> Iterator[Finding]:
    """A block in a retry prompt is not closed, closes nothing, or cannot be read.

    ## Why this matters
    After a validator has failed, its retry prompt contains values from the output. A block that is not written
    correctly means nothing: the model would be shown the tag itself, and what stands in the block once instead of once
    for each element.

    ## How to fix
    A block is `{{#each NAME}}…{{/each}}`, or `{{#if NAME}}…{{/if}}` in which `{{else}}` may stand once. Names are
    letters, digits, `_` and dots, with no blanks behind them. Close each block before the one around it, at most 32
    inside each other.
    """
    for each in registry.prompts.broken_blocks:
        yield Finding(each.at, f"{quote(each.text)} in a retry prompt {_WHY[each.defect]}")


_FORMS = NameIndex(("empty", "exitCode", "contains", "matches"))
_NEEDED = {"exitCode": "a colon and a number", "contains": "a colon and a text", "matches": "a colon and a pattern"}


@rule(since="0.1", origin=("steps-registry:beyond.success-when", "steps-registry:doc.success-when"))
def stg288_unknown_success_condition(registry: Registry) -> Iterator[Finding]:
    """A validator's `successWhen` has no meaning, or can never hold.

    ## Why this matters
    Such a condition never holds. The validator then fails every time, whatever its command does: every attempt is
    refused, and the run ends as failed.

    ## How to fix
    Write `empty` when the command must print nothing, `exitCode:N` with the status from 0 to 255 that it must end
    with, `contains:TEXT` when it must print a text, or `matches:PATTERN` when it must print what a regular expression
    matches. Upper and lower case count.
    """
    for name, body in list_validators(registry):
        written = body.get("successWhen")
        success = read_success(written) if isinstance(written, str) else None
        at = registry.at / "validators" / name / "successWhen"
        if success is None and isinstance(written, str):
            what = f"validator {quote(name)} can never succeed: {quote(written)} is not a condition"
            yield Finding(at, f"{what}{_hint(written)}")
        elif success is not None and not is_attainable(success):
            what = "a program ends with a status from 0 to 255"
            yield Finding(at, f"validator {quote(name)} can never succeed: {what}")


def _hint(written: str) -> str:
    """Return the likely correction; the opposite of a form is none."""
    kind, colon, argument = written.partition(":")
    near = _FORMS.nearest(kind)
    if near == kind:
        return f"; {quote(kind)} needs {_NEEDED.get(kind, 'no argument')}"
    if near is None or kind.lower().startswith(("non", "not", "!")):
        return "; there are 'empty', 'exitCode:N', 'contains:TEXT' and 'matches:PATTERN'"
    return f"; did you mean {quote(f'{near}{colon}{argument}' if near != 'empty' else near)}?"


_KNOWN = NameIndex(EXTRACTORS)
_DOCUMENTED = ("parseBranchName", "parseRemoteStatus", "parseMergeStatus")
_UNKNOWN_EXTRACTOR_SHOWN = 8


@rule(
    since="0.1",
    origin=("steps-registry:beyond.extractor", "steps-registry:doc.extract-params"),
    severity=Severity.WARNING,
)
def stg289_unknown_extractor(registry: Registry) -> Iterator[Finding]:
    """A validator reads a value from its output with an extractor that does not exist.

    ## Why this matters
    An extractor that nobody knows finds nothing. The value is then empty in the retry prompt, and the model does not
    read what it should mend. The documents name `parseBranchName`, `parseRemoteStatus` and `parseMergeStatus`, which
    no runner has.

    ## How to fix
    Correct the name. `stdout`, `stderr`, `errorOutput` and `exitCode` give what the command wrote and how it ended;
    the others look for one thing in it, such as `parseChangedFiles`, `failedTests`, `errors` or `files`.
    """
    lost: dict[str, list[Place]] = {}
    for name, body in list_validators(registry):
        extracted = body.get("extractParams")
        for member, extractor in extracted.items() if isinstance(extracted, dict) else ():
            if isinstance(extractor, str) and extractor not in _KNOWN:
                lost.setdefault(extractor, []).append(registry.at / "validators" / name / "extractParams" / member)
    documented = {each: lost.pop(each) for each in _DOCUMENTED if each in lost}
    for extractor, (first, *others) in lost.items():
        message = f"there is no extractor {quote(extractor)}{hint(extractor, _KNOWN)}"
        yield Finding(first, message, _relate(others), guess(extractor, _KNOWN, *others))
    for first, *others in [[at for places in documented.values() for at in places]] if documented else ():
        message = f"no runner has {listing(documented, 'or')}, although the documents name such an extractor"
        yield Finding(first, message, _relate(others))


def _relate(others: Iterable[Place]) -> tuple[Related, ...]:
    return tuple(Related(at, "here too") for at in islice(others, _UNKNOWN_EXTRACTOR_SHOWN))


@rule(since="0.1", origin=("steps-registry:beyond.extractor",), severity=Severity.WARNING)
def stg290_unmatched_failure_parameter(registry: Registry) -> Iterator[Finding]:
    """A validator extracts other values than its failure pattern takes.

    ## Why this matters
    A value that a failure pattern takes and no validator extracts is empty in the retry prompt: the model does not
    learn what failed.

    ## How to fix
    Give the value one name: in `extractParams` of the validator, in `params` of the failure pattern, and between
    braces in the retry prompt.
    """
    for each in find_exchanges(registry):
        wanted = each.wanted or {}
        missing = [name for name in wanted if name not in each.extracted]
        if missing and not each.extracted:
            message = f"validator {quote(each.validator)} extracts nothing, but its failure pattern"
            related = (Related(wanted[missing[0]], "taken here"),)
            at = registry.at / "validators" / each.validator / "extractParams"
            yield Finding(at, f"{message} {quote(each.pattern)} takes {listing(missing)}", related)
        elif each.wanted is not None:
            yield from _compare(registry, each, missing)


def _compare(registry: Registry, each: Exchange, missing: list[str]) -> Iterator[Finding]:
    """Return the items missing on one side and superfluous on the other; the retry prompt shows which side is right."""
    wanted, read = each.wanted or {}, each.read or frozenset()
    surplus = NameIndex(name for name in each.extracted if name not in wanted)
    left = dict.fromkeys(surplus)
    extracting = registry.at / "validators" / each.validator / "extractParams"
    validator, pattern = f"validator {quote(each.validator)}", f"failure pattern {quote(each.pattern)}"
    for name in missing:
        meant = surplus.nearest(name)
        left.pop(meant or "", None)
        if meant is not None and name in read:
            message, at = (
                f"{validator} extracts {quote(meant)}, but {pattern} takes {quote(name)}",
                each.extracted[meant],
            )
            yield Finding(at, message, (Related(wanted[name], "taken here"),), Guess(meant, name))
        else:
            message = f"{pattern} takes {quote(name)}, which {validator} does not extract{hint(name, surplus)}"
            at, other = (extracting, wanted[name]) if name in read else (wanted[name], extracting)
            fix = None if name in read else guess(name, surplus)
            yield Finding(at, message, (Related(other, "the other side"),), fix)
    for name in left if not missing else ():
        message, at = f"{validator} extracts {quote(name)}, which {pattern} does not take", each.extracted[name]
        taking = registry.at / "failurePatterns" / each.pattern / "params"
        at, other = (taking, at) if name in read else (at, taking)
        yield Finding(at, message, (Related(other, "the other side"),))


@rule(since="0.1", origin=("steps-registry:beyond.validation-step-key", "rulings:R5"), severity=Severity.WARNING)
def stg291_foreign_validation_id(registry: Registry) -> Iterator[Finding]:
    """A validation step calls itself something else than its key.

    ## Why this matters
    The key under `validationSteps` names the closure step that is guarded; `stepId` is the same name once more. Where
    the two differ, one of them was renamed and the other forgotten, and whoever looks for the name finds only one of
    them.

    ## How to fix
    Make `stepId` the same as the key.
    """
    for key, body in object_of(registry.body.get("validationSteps")).items():
        name, step = object_of(body).get("stepId"), registry.step(key)
        is_closure = step is not None and step.kind is StepKind.CLOSURE
        if not isinstance(name, str) or step is None or (registry.generation is Generation.V1_13 and not is_closure):
            continue  # a key that names no step that can be guarded is the mistake, and told
        if name in {key, step.key, step.id}:
            continue
        at = registry.at / "validationSteps" / key / "stepId"
        fix = Fix(f"call it {quote(key)}", (Edit(Change.REPLACE, at, key),))
        message = f"validation step {quote(key)} calls itself {quote(name)}"
        yield Finding(at, message, (Related((registry.at / "validationSteps" / key).key, "its key"),), fix)


_NOUNS: Mapping[str, tuple[str, str, Callable[[Registry], NameIndex]]] = {
    "validators": ("validator", "validation step", lambda registry: registry.validators),
    "failurePatterns": ("failure pattern", "validator", lambda registry: registry.patterns),
}


@rule(since="0.1", origin=("steps-registry:beyond.unused-defs",), severity=Severity.NOTE)
def stg292_unused_validator(registry: Registry) -> Iterator[Finding]:
    """Nothing names a validator or a failure pattern.

    ## Why this matters
    A validator that no validation step names is never run, and the run ends without its check. A failure pattern that
    no validator names selects no prompt. Often the name was changed on one side only.

    ## How to fix
    Name the validator in the `validationConditions` of the closure step that it is to guard, and the failure pattern
    in the validator; or delete them.
    """
    for section, names in find_unused(registry).items():
        what, user, every = _NOUNS[section]
        if len(names) == len(every(registry)) > 1:
            yield Finding((registry.at / section).key, f"no {user} names any {what}")
            continue
        for name in names:
            yield Finding((registry.at / section / name).key, f"no {user} names the {what} {quote(name)}")


@rule(since="0.1", origin=("rulings:R5",), severity=Severity.WARNING)
def stg293_validation_without_condition(registry: Registry) -> Iterator[Finding]:
    """A validation step has no conditions.

    ## Why this matters
    It looks as if the closure step were guarded, but no validator is run before the run counts as completed.

    ## How to fix
    List the validators that must succeed in `validationConditions`, or delete the validation step.
    """
    for guard in find_conditionless(registry):
        yield Finding(guard.post_llm_at, f"validation step {quote(guard.key)} names no validator, so it checks nothing")


@rule(since="0.1", origin=("steps-registry:beyond.extractor", "rulings:R6"), severity=Severity.WARNING)
def stg299_unread_retry_variable(registry: Registry) -> Iterator[Finding]:
    """A retry prompt reads a value that no validator extracts for it.

    ## Why this matters
    When a validator has failed, `{{name}}` in the retry prompt stands for what the validator extracted under that
    name. A name that it does not extract is an empty text: the model is not told what to mend. A prompt that asks by
    `{{#if name}}` can do without.

    ## How to fix
    Correct the name, or extract the value: add it to `extractParams` of the validator and to `params` of its failure
    pattern.
    """
    users: dict[str, dict[str, Exchange]] = {}
    by_pattern: dict[str, list[Exchange]] = {}
    for each in find_exchanges(registry) if registry.prompts.readings else ():
        by_pattern.setdefault(each.pattern, []).append(each)
    for retry in registry.prompts.of_retries:
        if retry.prompt.file is not None:
            for each in by_pattern.get(retry.pattern, ()):
                users.setdefault(retry.prompt.file, {})[each.validator] = each
    for file, exchanging in users.items():
        known = NameIndex(name for each in exchanging.values() for name in (*each.extracted, *(each.wanted or ())))
        for reading in registry.prompts.readings.get(file, ()):
            near = known.nearest(reading.name)
            if reading.name in known or (reading.is_asked and (near is None or not is_slip(reading.name, near))):
                continue
            names = listing(exchanging, "or")
            related = tuple(Related(registry.at / "validators" / each, "extracts other values") for each in exchanging)
            message = f"the retry prompt reads {quote(reading.name)}, which validator {names} does not extract"
            yield Finding(reading.at, f"{message}{hint(reading.name, known)}", related[:3], guess(reading.name, known))


@rule(since="0.1", origin=("climpt-1.14:valid.phase-missing",))
def stg2024_phaseless_validator(registry: Registry) -> Iterator[Finding]:
    """A validator that a condition names has no phase.

    ## Why this matters
    Since climpt 1.14 a validator says when it is run: `preflight` before the model is asked, `postllm` after its
    answer. Without a phase the check of the agent fails.

    ## How to fix
    Write the phase of the list that names the validator: `preflight` for `preflightConditions`, `postllm` for
    `postLLMConditions`. A validator that both lists name has to be declared twice, once for each phase.
    """
    named = find_slots(registry.validation_steps.values())
    for name, slots in named.items():
        validator = registry.declared_validators.get(name)
        if validator is None or "phase" in validator.body:
            continue
        at, phases = validator.at / "phase", {slot.phase for slot in slots}
        only = next(iter(phases)) if len(phases) == 1 else None
        fix = Fix(f"write phase {quote(only)}", (Edit(Change.INSERT, at, only),)) if only is not None else None
        related = tuple(Related(slot.at, "named here") for slot in slots[:_PHASELESS_VALIDATOR_SHOWN])
        yield Finding(at, f"validator {quote(name)} has no phase, but conditions name it", related, fix)


_PHASELESS_VALIDATOR_SHOWN = 3


@rule(since="0.1", origin=("climpt-1.14:valid.phase-slot",))
def stg2025_condition_in_wrong_list(registry: Registry) -> Iterator[Finding]:
    """A condition names a validator of the other phase.

    ## Why this matters
    Validators of the phase `preflight` are run before the model is asked, those of `postllm` after its answer. climpt
    1.14 refuses a condition in the list of the other phase.

    ## How to fix
    Move the condition to the other list, or change the phase of the validator if no other list names it.
    """
    for name, slots in find_slots(registry.validation_steps.values()).items():
        validator = registry.declared_validators.get(name)
        phase = validator.phase if validator is not None else None
        for slot in slots:
            if validator is not None and phase is not None and phase in LIST_OF_PHASE and phase != slot.phase:
                what = f"{quote(LIST_OF_PHASE[slot.phase])} names validator {quote(name)}"
                message = f"{what}, which has the phase {quote(phase)} and belongs in {quote(LIST_OF_PHASE[phase])}"
                yield Finding(slot.at, message, (Related(validator.at / "phase", "its phase"),))


@rule(since="0.1", origin=("climpt-1.14:valid.address",))
def stg2026_two_retry_addresses(registry: Registry) -> Iterator[Finding]:
    """A validation step states two different places of its retry prompts.

    ## Why this matters
    The schema of climpt 1.14 wants the coordinates of retry prompts in `address`, its program reads `c2` and `c3` of
    the validation step itself. stagec reads both forms. Where both are there and differ, two different prompts are
    meant.

    ## How to fix
    Make them equal, or delete one of them.
    """
    for guard in registry.validation_steps.values() if registry.generation is not Generation.V1_13 else ():
        for name in ("c2", "c3"):
            flat, other = text_in(guard.body, name), text_in(guard.address.body, name)
            if "address" in guard.body and flat is not None and other is not None and flat != other:
                message = f"{quote(name)} of validation step {quote(guard.key)} is {quote(flat)}, but {quote(other)}"
                yield Finding(
                    guard.at / name, f"{message} in its address", (Related(guard.address.at / name, "in its address"),)
                )


@rule(since="0.1", origin=("climpt-1.14:valid.preflight-idle-action",), severity=Severity.NOTE)
def stg2027_idle_failure_action(registry: Registry) -> Iterator[Finding]:
    """`onFailure` of a validation step has nothing to act on.

    ## Why this matters
    `onFailure` says what follows when a condition of `postLLMConditions` does not hold. A condition of
    `preflightConditions` that does not hold always ends the run. Without conditions after the answer the member means
    nothing.

    ## How to fix
    Delete `onFailure`, or move the conditions that may be tried again to `postLLMConditions`.
    """
    for guard in registry.validation_steps.values() if registry.generation is not Generation.V1_13 else ():
        if "onFailure" in guard.body and guard.preflight and guard.body.get("postLLMConditions") == []:
            message = (
                f"'onFailure' of validation step {quote(guard.key)} has no effect: it has only preflight conditions"
            )
            yield Finding((guard.at / "onFailure").key, message)


@rule(since="0.1", origin=("climpt-1.14:step.chain-element", "S9"))
@of_steps
def stg2028_malformed_adaptation(steps: Collection[Step]) -> Iterator[Finding]:
    """An element of an adaptation chain cannot be a part of a file name.

    ## Why this matters
    Each element becomes a part of the name of a prompt, as in `f_default_ELEMENT.md`. climpt 1.14 refuses to start with
    an element that is empty, contains `..`, or has other characters than letters, digits, `.`, `_` and `-`.

    ## How to fix
    Write the name of the adaptation as it is in the file name of the prompt, or delete the element.
    """
    for step in steps:
        given = list_of(step.body.get("adaptationChain"))
        for element, written in zip(step.adaptation_chain or (), given, strict=False):
            if isinstance(written, str) and (not _PART.fullmatch(written) or ".." in written):
                said = "is empty" if not written else f"is {quote(written)}, which cannot be a part of a file name"
                yield Finding(element.at, f"an adaptation in the chain of step {quote(step.key)} {said}")


_PART = re.compile(r"[A-Za-z0-9._-]+")


@rule(since="0.1", origin=("climpt-1.14:step.chain-undeclared", "S10"), severity=Severity.NOTE)
def stg2031_undeclared_chain(registry: Registry) -> Iterator[Finding]:
    """A step may repeat itself, but has no adaptation chain.

    ## Why this matters
    Since climpt 1.14 each repeat in a row uses the next element of `adaptationChain`, and a repeat beyond the last one
    ends the run as failed. Without the member the chain is `["default"]`: the step can repeat itself once. In 1.13 it
    could do so until the bound of the agent was reached.

    ## How to fix
    List an adaptation for each repeat in a row that is meant, such as `["default", "default", "default"]`.
    """
    for step in registry.steps.values() if registry.generation is not Generation.V1_13 else ():
        listed = step.gate is not None and Intent.REPEAT in step.gate.allowed
        if listed and step.program is None and "adaptationChain" not in step.body:
            message = f"step {quote(step.key)} can repeat itself once in a row: it has no 'adaptationChain'"
            yield Finding(step.at / "adaptationChain", message, (Related(step.allowed_at, "allows 'repeat'"),))


@rule(since="0.1", origin=("climpt-1.14:step.chain-idle",), severity=Severity.NOTE)
@of_steps
def stg2032_idle_chain(steps: Collection[Step]) -> Iterator[Finding]:
    """A step that cannot repeat itself has an adaptation chain.

    ## Why this matters
    The chain lists the adaptations that repeats of the step use. The gate does not allow `repeat`, so it is never
    read.

    ## How to fix
    Delete `adaptationChain`, or allow `repeat`.
    """
    for step in steps:
        repeats = step.gate is None or Intent.REPEAT in step.gate.allowed
        if step.adaptation_chain is not None and not repeats and not step.is_section:
            at = (step.at / "adaptationChain").key
            yield Finding(at, f"step {quote(step.key)} has an 'adaptationChain', but does not allow 'repeat'")


@rule(since="0.1", origin=("climpt-1.14:step.polling-conditions", "A8"))
@of_steps
def stg2033_polling_with_conditions(steps: Collection[Step]) -> Iterator[Finding]:
    """A closure step that polls has conditions after the answer.

    ## Why this matters
    A closure step whose `c3` is `polling` only looks whether a state has been reached. climpt 1.14 refuses to start an
    agent in which `retry` of such a step has `postLLMConditions`.

    ## How to fix
    Delete `postLLMConditions` of the step, or check the conditions in another closure step.
    """
    for step in steps:
        polls = step.kind is StepKind.CLOSURE and step.address.c3 == "polling"
        if polls and step.retry is not None and list_of(step.retry.body.get("postLLMConditions")):
            at = step.retry.at / "postLLMConditions"
            yield Finding(at, f"closure step {quote(step.key)} polls, so it must not have 'postLLMConditions'")


@rule(since="0.1", origin=("climpt-1.14:step.retry-pattern", "S7"))
def stg2034_unknown_retry_pattern(registry: Registry) -> Iterator[Finding]:
    """`retry` of a step names a failure pattern that does not exist.

    ## Why this matters
    `patternRef` names the failure pattern whose prompt follows a failure. climpt 1.14 refuses to start with a name
    that leads to nothing. The pattern is looked for in `failurePatterns` of the registry, as the documents say.

    ## How to fix
    Correct the name, or declare the failure pattern.
    """
    named = [step.retry.pattern for step in registry.steps.values() if step.retry is not None]
    lost = [each for each in named if each is not None and each.name not in registry.patterns]
    yield from report_unknown(lost, registry.patterns, lambda each: f"there is no failure pattern {quote(each.name)}")


@rule(since="0.1", origin=("climpt-1.14:step.retry-conditions",))
def stg2035_unfit_retry_validator(registry: Registry) -> Iterator[Finding]:
    """`retry` of a step names a validator that does not exist, or one of the other phase.

    ## Why this matters
    The lists `preflightConditions` and `postLLMConditions` of `retry` name validators as those of validation steps do,
    only by name. A name that leads to nothing, or to a validator of the other phase, can never be checked there.

    ## How to fix
    Correct the name, declare the validator, or move the name to the other list.
    """
    plans = [step.retry for step in registry.steps.values() if step.retry is not None]
    named = [(each, phase) for plan in plans for phase, each in _list_named(plan)]
    lost = [each for each, _ in named if each.name not in registry.validators]
    yield from report_unknown(lost, registry.validators, lambda each: f"there is no validator {quote(each.name)}")
    for each, phase in named:
        validator = registry.declared_validators.get(each.name)
        own = validator.phase if validator is not None else None
        if own is not None and own in LIST_OF_PHASE and own != phase and validator is not None:
            message = (
                f"{quote(LIST_OF_PHASE[phase])} names validator {quote(each.name)}, which has the phase {quote(own)}"
            )
            yield Finding(each.at, message, (Related(validator.at / "phase", "its phase"),))


def _list_named(plan: RetryPlan) -> Iterator[tuple[str, Mention]]:
    yield from ((PREFLIGHT, each) for each in plan.preflight)
    yield from ((POST_LLM, each) for each in plan.post_llm)


@rule(since="0.1", origin=("climpt-1.14:step.chain-undeclared", "rulings:T2"), severity=Severity.WARNING)
@of_steps
def stg2045_empty_chain(steps: Collection[Step]) -> Iterator[Finding]:
    """A step may repeat itself, and its adaptation chain is empty.

    ## Why this matters
    Since climpt 1.14 each repeat in a row uses the next element of `adaptationChain`. An empty chain has none, so the
    first repeat ends the run as failed. The transition for `repeat` is never taken.

    ## How to fix
    List an adaptation for each repeat in a row that is meant, such as `["default"]`, or take `repeat` out of the gate,
    the schema and the transitions.
    """
    for step in steps:
        if step.repeats == () and step.program is None and not step.is_section:
            message = f"step {quote(step.key)} allows 'repeat', but its chain is empty: a repeat ends the run as failed"
            yield Finding(step.at / "adaptationChain", message, (Related(step.allowed_at, "allows 'repeat'"),))
