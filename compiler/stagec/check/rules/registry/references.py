"""Steps, validators and failure patterns that something names, and nothing is called so."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from stagec.check.rules.registry import of_steps, report_undeclared, report_unknown, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import list_of
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import Mention, Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.registry.document import ALLOWED, INTENTS, VERDICTS, Intent, Registry, Step
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.supply import entry_mapping, find_misspelt_verdict, find_unserved_verdict
from stagec.sources.contract.reach import Reference
from stagec.sources.contract.schemas import Miss
from stagec.sources.shape.subschemas import tokens


@rule(
    since="0.1",
    origin=(
        "steps-registry:xref.transition-target",
        "steps-registry:xref.conditional-target",
        "steps-registry:flow.dangling-target",
        "steps-registry:route.target-missing",
        "steps-registry:route.handoff-target",
        "steps-registry:route.escalate-target",
    ),
)
def stg201_unknown_target(registry: Registry) -> Iterator[Finding]:
    """A transition leads to a step that does not exist.

    ## Why this matters
    A run that takes the transition has nowhere to go and dies there, often after hours of work.

    ## How to fix
    Correct the spelling of the target, or declare the step. `null` as a target ends the run and is legal only under
    `closing`.
    """
    yield from report_unknown(registry.lost_targets, registry.step_names, _describe_transition)


def _describe_transition(mention: Mention) -> str:
    _, step, _, intent, *_ = mention.at.pointer
    return f"step {quote(step)} goes to {quote(mention.name)} on {quote(intent)}, but there is no such step"


@rule(since="0.1", origin=("steps-registry:xref.transition-fallback", "steps-registry:flow.dangling-target"))
def stg202_unknown_fallback_step(registry: Registry) -> Iterator[Finding]:
    """A transition's fallback is a step that does not exist.

    ## Why this matters
    `fallback` names the step that is taken when the target cannot start. It is needed exactly when something else has
    gone wrong already, and then it fails too.

    ## How to fix
    Correct the spelling, declare the step, or delete the fallback.
    """
    reported = {mention.name for mention in registry.lost_targets}
    lost = (mention for mention in registry.lost_fallbacks if mention.name not in reported)
    yield from report_unknown(lost, registry.step_names, _describe_fallback)


def _describe_fallback(mention: Mention) -> str:
    _, step, _, intent, *_ = mention.at.pointer
    return f"step {quote(step)} falls back to {quote(mention.name)} on {quote(intent)}, but there is no such step"


@rule(
    since="0.1",
    origin=(
        "steps-registry:xref.entry-mapping",
        "steps-registry:doc.R-A6",
        "steps-registry:boot.entry-step-unknown",
        "steps-registry:boot.entry-mapping-invalid",
        "climpt-1.14:xref.entry-mapping",
    ),
)
def stg203_unknown_entry_step(registry: Registry) -> Iterator[Finding]:
    """A run is to begin at a step that does not exist.

    ## Why this matters
    `entryStepMapping` chooses the first step by the agent's verdict type, `entryStep` is the first step of all others.
    When the step is missing, the run ends before it began.

    ## How to fix
    Correct the spelling, or declare the step.
    """
    if not registry.steps and not registry.broken_steps:
        return  # the document lacks them all, and that is told
    reported = {mention.name for mention in registry.lost_targets}
    lost = [each for each in registry.begun if not registry.has_step(each.name) and each.name not in reported]
    yield from report_unknown(lost, registry.step_names, _describe_entry)


def _describe_entry(mention: Mention) -> str:
    _, *verdict = mention.at.pointer
    if verdict[1:] == ["continuation"]:
        return f"verdict type {quote(verdict[0])} continues at {quote(mention.name)}, but there is no such step"
    way = f"verdict type {quote(verdict[0])} begins" if verdict else "runs begin"
    return f"{way} at {quote(mention.name)}, but there is no such step"


@rule(since="0.1", origin=("steps-registry:xref.condition-validator", "steps-registry:valid.validator-missing"))
def stg204_unknown_validator(registry: Registry) -> Iterator[Finding]:
    """A validation condition names a validator that does not exist.

    ## Why this matters
    The validators of a closure step decide whether a run may end. One that does not exist can neither pass nor fail.

    ## How to fix
    Correct the spelling, or declare the validator under `validators`.
    """
    mentions, names = registry.validator_mentions, registry.validators
    yield from report_undeclared(
        registry, "validators", mentions, names, lambda each: f"there is no validator {quote(each)}"
    )


@rule(since="0.1", origin=("steps-registry:xref.failure-pattern",))
def stg205_unknown_failure_pattern(registry: Registry) -> Iterator[Finding]:
    """A validator names a failure pattern that does not exist.

    ## Why this matters
    The failure pattern chooses the prompt with which a step is tried again. Without it the agent is told that it
    failed, but not why.

    ## How to fix
    Correct the spelling, or declare the pattern under `failurePatterns`.
    """
    mentions, names = registry.pattern_mentions, registry.patterns
    sentence = "there is no failure pattern {}".format
    yield from report_undeclared(registry, "failurePatterns", mentions, names, lambda each: sentence(quote(each)))


_SENTENCES = {
    Miss.NO_FILE: "nothing: there is no such file",
    Miss.NO_MEMBER: "nothing: the file has no such part",
    Miss.NO_SCHEMA: "a value that is not a schema",
}
_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:gate.schema-load",))
def stg214_unresolved_reference(registry: Registry) -> Iterator[Finding]:
    """A `$ref` in a schema leads to nothing.

    ## Why this matters
    A schema with a missing part cannot be given to a model: the run fails when the step starts.

    ## How to fix
    Correct the file name or the pointer behind `#`. References are relative to the file they are written in. When
    several references need the same part, the diagnostic stands where that part is missing.
    """
    lost: dict[tuple[str, str], list[Reference]] = {}
    for each in registry.schemas.references:
        if isinstance(each.found, Miss) and each.found in _SENTENCES:
            file, part = each.target
            lost.setdefault((file, "" if each.found is Miss.NO_FILE else part), []).append(each)
    for target, references in lost.items():
        yield _finding(target, references)


def _finding(target: tuple[str, str], references: Sequence[Reference]) -> Finding:
    first, (file, part) = references[0], target
    message = f"reference {quote(first.text)} leads to {_SENTENCES[Miss(str(first.found))]}"
    if len(references) == 1:
        return Finding(first.at, message)
    if not part.startswith("/") or first.found is Miss.NO_SCHEMA:
        related = tuple(Related(each.at, "needed here too") for each in references[1 : _SHOWN + 1])
        return Finding(first.at, f"{message}; {len(references)} references need it", related)
    related = tuple(Related(each.at, "needed here") for each in references[:_SHOWN])
    return Finding(
        Place(file, tokens(part)), f"{len(references)} references need {quote(part)}, which is missing", related
    )


@rule(since="0.1", origin=("steps-registry:boot.entry-missing", "SR-ENTRY-001"))
def stg215_missing_entry(registry: Registry) -> Iterator[Finding]:
    """A registry does not say where runs begin.

    ## Why this matters
    A run begins at the step that `entryStepMapping` names for the agent's verdict type, or else at `entryStep`. With
    neither, no run can begin.

    ## How to fix
    Map the agent's verdict type to a step, for example `"entryStepMapping": {"poll:state": "initial.issue"}`.
    """
    if registry.steps and "entryStep" not in registry.body and entry_mapping(registry) == {}:
        message = "runs have no first step: there is neither an 'entryStep' nor a verdict type in 'entryStepMapping'"
        yield Finding(registry.at / "entryStepMapping", message)


@rule(
    since="0.1",
    origin=("steps-registry:boot.entry-for-verdict", "steps-registry:doc.R-A3", "SR-GATE-002"),
)
def stg216_verdict_without_entry(registry: Registry) -> Iterator[Finding]:
    """The agent's verdict type has no step to begin at.

    ## Why this matters
    The first step of a run is chosen by the verdict type of `agent.json`. When `entryStepMapping` names only steps of
    other verdict types and there is no `entryStep`, the agent cannot start.

    ## How to fix
    Add the verdict type to `entryStepMapping`, correct a key that was meant to be it, or give an `entryStep` that
    serves all verdict types.
    """
    verdict, agent = find_unserved_verdict(registry), registry.agent
    if verdict is None or agent is None:
        return
    at, misspelt = registry.at / "entryStepMapping", find_misspelt_verdict(registry)
    message = f"the agent's verdict type {quote(verdict)} has no first step"
    related = (Related(agent.verdict_at, "the agent's verdict type"),)
    if misspelt is None:
        yield Finding(at / verdict, message, related)
    else:
        message = f"{message}, but {quote(misspelt)} has one"
        yield Finding((at / misspelt).key, message, related, Guess(misspelt, verdict))


_KNOWN = NameIndex(VERDICTS)
_ALL = f"; there are {listing(VERDICTS)}"


@rule(since="0.1", origin=("steps-registry:beyond.unused-defs",), severity=Severity.WARNING)
def stg217_unknown_verdict_entry(registry: Registry) -> Iterator[Finding]:
    """A key of `entryStepMapping` is not a verdict type.

    ## Why this matters
    No agent can have this verdict type, so the step is never begun at. Mostly the key is a misspelling, or the name
    that the verdict type had in an earlier version.

    ## How to fix
    Write one of `poll:state`, `count:iteration`, `count:check`, `detect:keyword`, `detect:structured`, `detect:graph`,
    `meta:composite` and `meta:custom`, or delete the entry.
    """
    mapping = entry_mapping(registry)
    for key in mapping if isinstance(mapping, dict) else ():
        if key not in VERDICTS and key != find_misspelt_verdict(registry):
            at = (registry.at / "entryStepMapping" / key).key
            message = f"there is no verdict type {quote(key)}{hint(key, _KNOWN) or _ALL}"
            yield Finding(at, message, fix=guess(key, _KNOWN))


_OTHERS = INTENTS - {Intent.CLOSING}
_ABLE = {kind: _OTHERS & allowed for kind, allowed in ALLOWED.items()}


@rule(
    since="0.1",
    origin=(
        "steps-registry:route.terminal-not-closing",
        "steps-registry:route.handoff-null",
        "steps-registry:route.escalate-invalid",
    ),
)
@of_steps
def stg223_null_target(steps: Collection[Step]) -> Iterator[Finding]:
    """A transition leads nowhere although its intent does not end the run.

    ## Why this matters
    `null` as a target ends a run, and only `closing` may do that. Under any other intent the run fails when the
    transition is taken.

    ## How to fix
    Name the step to go to. To end the run, go to a closure step and let it answer `closing`.
    """
    for step in steps:
        able = _OTHERS if step.kind is None else _ABLE[step.kind]
        for move in step.moves:
            if move.target is None and move.intent in able:
                when = f" when the value is {quote(move.case)}" if move.case is not None else ""
                message = f"step {quote(step.key)} goes nowhere on {quote(move.intent)}{when}: only 'closing' may"
                ended = step.at / "transitions" / Intent.CLOSING.value / "target"  # has the target of this one, perhaps
                yield Finding(step.place(move), message, causes=(ended,))


@rule(since="0.1", origin=("steps-registry:doc.R-B11", "rulings:R18"))
@of_steps
def stg224_section_in_flow(steps: Collection[Step]) -> Iterator[Finding]:
    """A section has members that only steps can have.

    ## Why this matters
    A section is a part of prompts: a step whose `c2` is `section` or whose name begins with `section.`. No run ever
    enters it, so a gate, transitions, an output schema or a kind in it mean nothing.

    ## How to fix
    Delete these members, or give the step the name and the `c2` of a phase.
    """
    for step in steps:
        if not step.surplus:
            continue
        first, *others = step.surplus
        related = tuple(Related((step.at / member).key, "has no effect either") for member in others)
        message = f"step {quote(step.key)} is a section and cannot have {listing(step.surplus, 'or')}"
        yield Finding(step.at / first, message, related)


@rule(
    since="0.1",
    origin=("rulings:R18", "steps-registry:flow.boundary", "steps-registry:beyond.jump-needs-target"),
)
def stg225_entered_section(registry: Registry) -> Iterator[Finding]:
    """A run is led into a section.

    ## Why this matters
    A section is a part of prompts: a step whose `c2` is `section` or whose name begins with `section.`. It asks for no
    answer and leads nowhere, so a run that enters it is lost.

    ## How to fix
    Lead to a step of a phase instead.
    """
    sections = {step.key: step for step in registry.steps.values() if step.is_section and not step.surplus}
    if sections:
        names = {*sections, *(step.id for step in sections.values())}
        yield from report_unknown(_mentions(registry, names), NameIndex(()), _describe_way_into_section)


def _mentions(registry: Registry, names: Collection[str | None]) -> Iterator[Mention]:
    for step in registry.steps.values():
        for move in step.moves:
            if move.target in names and move.target is not None and move.intent != Intent.CLOSING:
                yield step.mention(move)
        if step.output is not None and step.output.targets:
            yield from _answers(step, step.output.targets, names)
    yield from (entry for entry in registry.begun if entry.name in names)


def _answers(step: Step, targets: Iterable[object], names: Collection[str | None]) -> Iterator[Mention]:
    if step.gate is not None and Intent.JUMP in step.gate.allowed:
        for value in targets:
            if isinstance(value, str) and value in names:
                yield Mention(value, step.gate_at / "targetField")


def _describe_way_into_section(mention: Mention) -> str:
    top, *rest = mention.at.pointer
    if top != "steps":
        return f"runs begin at {quote(mention.name)}, which is a section and never runs"
    way = "can name" if rest[1] == "structuredGate" else "goes to"
    by = " as the target of a jump" if rest[1] == "structuredGate" else f" on {quote(rest[2])}"
    return f"step {quote(rest[0])} {way} {quote(mention.name)}{by}, which is a section and never runs"


@rule(since="0.1", origin=("climpt-1.14:step.validation-list",))
def stg2036_unknown_validation_step(registry: Registry) -> Iterator[Finding]:
    """A step lists a validation step that does not exist.

    ## Why this matters
    `validationSteps` of a step is in released registries, although no schema and no program of climpt 1.14 knows it. A
    reader takes it for the list of the step's guards, and an unknown name in it guards nothing.

    ## How to fix
    Correct the name, or delete the list.
    """
    known, lost = NameIndex(registry.validation_steps), list[Mention]()
    for step in registry.steps.values() if registry.generation is not Generation.V1_13 else ():
        for index, name in enumerate(list_of(step.body.get("validationSteps"))):
            if isinstance(name, str) and name not in known:
                lost.append(Mention(name, step.at / "validationSteps" / index))
    yield from report_unknown(lost, known, lambda each: f"there is no validation step {quote(each.name)}")
