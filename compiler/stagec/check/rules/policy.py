"""STG9xx: opinions, and what other runners make of a registry; silent until selected."""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import object_of, text_in
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import quote
from stagec.languages.registry.document import VERDICTS, Registry
from stagec.languages.registry.generation import Generation

FAMILY = Family(__name__, (range(900, 950),), Registry, optional=True)
rule = FAMILY.rule


@rule(
    since="0.1",
    origin=("steps-registry:step.gate-needs-kind", "SR-VALID-004"),
    severity=Severity.WARNING,
    groups=("portability",),
)
def stg901_kindless_gate(registry: Registry) -> Iterator[Finding]:
    """A step with a gate leaves its kind to be inferred.

    ## Why this matters
    stagec infers the kind of a step from `c2`, as the documents say. Some runners refuse a gate on a step without an
    explicit `stepKind`.

    ## How to fix
    Write `stepKind`. `--fix` adds the kind that is inferred.
    """
    for step in registry.steps.values() if registry.generation is Generation.V1_13 else ():
        if step.gate is None or step.kind is None or step.states_kind:
            continue
        at = step.at / "stepKind"
        fix = Fix(f"write stepKind {quote(step.kind)}", (Edit(Change.INSERT, at, step.kind.value),))
        yield Finding(at, f"step {quote(step.key)} has a gate but no stepKind; {step.kind.value} is inferred", fix=fix)


@rule(since="0.1", origin=("steps-registry:flow.initial-handoff",), severity=Severity.WARNING, groups=("portability",))
def stg902_initial_handoff(registry: Registry) -> Iterator[Finding]:
    """A first step of a flow hands off.

    ## Why this matters
    The documents allow it. Some runners warn of it: they expect an initial step to go on to its continuation first.

    ## How to fix
    Let the step go on with `next`, and hand off from its continuation.
    """
    for step in registry.steps.values():
        listed = step.gate is not None and "handoff" in step.gate.allowed
        if step.phase == "initial" and (listed or "handoff" in (step.intents or ())):
            yield Finding(step.at / "transitions" / "handoff", f"initial step {quote(step.key)} takes 'handoff'")


@rule(since="0.1", origin=("steps-registry:flow.self-loop-next",), severity=Severity.WARNING, groups=("portability",))
def stg903_self_loop_next(registry: Registry) -> Iterator[Finding]:
    """A step goes on with itself by `next`.

    ## Why this matters
    The documents allow it. Some runners warn of it: they expect `repeat` where a step runs again.

    ## How to fix
    Answer `repeat` instead, or lead `next` to another step.
    """
    for step in registry.steps.values():
        for move in step.moves:
            if move.intent == "next" and not move.is_fallback and move.target == step.key:
                yield Finding(step.place(move), f"step {quote(step.key)} leads to itself on 'next'")


@rule(
    since="0.1",
    origin=("steps-registry:boot.graph-needs-entrystep",),
    severity=Severity.WARNING,
    groups=("portability",),
)
def stg904_graph_without_entry_step(registry: Registry) -> Iterator[Finding]:
    """The verdict type is `detect:graph`, but there is no `entryStep`.

    ## Why this matters
    `entryStepMapping` names where runs begin, and that is enough. Some runners need `entryStep` for this verdict type.

    ## How to fix
    Write `entryStep`, besides the mapping if there is one.
    """
    agent = registry.agent
    if agent is None or agent.verdict != "detect:graph" or "entryStep" in agent.settings:
        return
    if "entryStep" not in registry.body:
        related = (Related(agent.verdict_at, "the agent's verdict type"),)
        message = "verdict type 'detect:graph' requires 'entryStep', which is missing"
        yield Finding(registry.at / "entryStep", message, related)


@rule(since="0.1", origin=("steps-registry:doc.R-F11",), severity=Severity.WARNING, groups=("portability",))
def stg905_both_entry_forms(registry: Registry) -> Iterator[Finding]:
    """Both `entryStep` and `entryStepMapping` say where runs begin.

    ## Why this matters
    The mapping counts for the verdict types it names, and `entryStep` for the others. Some checks of registries want
    only one of them.

    ## How to fix
    Keep `entryStepMapping` and name every verdict type there.
    """
    if "entryStep" in registry.body and "entryStepMapping" in registry.body:
        related = (Related((registry.at / "entryStepMapping").key, "the mapping"),)
        yield Finding((registry.at / "entryStep").key, "'entryStep' stands beside 'entryStepMapping'", related)


@rule(since="0.1", origin=("steps-registry:doc.R-C6",), severity=Severity.WARNING, groups=("portability",))
def stg906_retry_without_limit(registry: Registry) -> Iterator[Finding]:
    """A validation step retries without saying how often.

    ## Why this matters
    Three failures end the run when `maxAttempts` is missing. Some checks of registries want it written.

    ## How to fix
    Write `maxAttempts`.
    """
    given = registry.body.get("validationSteps")
    for key, step in given.items() if isinstance(given, dict) else ():
        action = step.get("onFailure") if isinstance(step, dict) else None
        if isinstance(action, dict) and action.get("action") == "retry" and "maxAttempts" not in action:
            at = registry.at / "validationSteps" / key / "onFailure" / "maxAttempts"
            yield Finding(at, f"validation step {quote(key)} retries, but does not say how often")


@rule(since="0.1", origin=("steps-registry:doc.model",), severity=Severity.WARNING, groups=("portability",))
def stg907_unread_model(registry: Registry) -> Iterator[Finding]:
    """A step chooses a model.

    ## Why this matters
    The documents let a step choose. Some runners never read it and use the same model for all steps.

    ## How to fix
    Do not rely on it where such a runner is used, or choose the model for the whole agent.
    """
    for step in registry.steps.values():
        if "model" in step.body:
            yield Finding((step.at / "model").key, f"step {quote(step.key)} chooses a model, which some runners ignore")


@rule(since="0.1", origin=("climpt-1.14:step.retry-unread",), severity=Severity.WARNING, groups=("portability",))
def stg908_unread_retry(registry: Registry) -> Iterator[Finding]:
    """A step has `retry`, which no runner reads.

    ## Why this matters
    climpt 1.14 checks the member when it starts, and never acts on it: nothing is tried again because of it.

    ## How to fix
    Guard the step by a validation step, whose `onFailure` is read.
    """
    for step in registry.steps.values():
        if step.retry is not None:
            yield Finding(step.retry.at.key, f"step {quote(step.key)} has a 'retry', which no runner reads")


@rule(
    since="0.1",
    origin=("climpt-1.14:step.chain-prompt", "PR-C3L-004"),
    severity=Severity.WARNING,
    groups=("portability",),
)
def stg909_variant_replaced_by_base(registry: Registry) -> Iterator[Finding]:
    """A repeat uses the prompt without adaptation.

    ## Why this matters
    The documents of climpt let the prompt without adaptation take the place of a missing variant, and stagec does so.
    climpt 1.14.0 looks for the variant alone: even for the adaptation `default` it wants `f_EDITION_default.md`, and
    the repeat fails.

    ## How to fix
    Write the prompt under the name that climpt looks for; it may be a copy.
    """
    for key, prompts in registry.prompts.of_repeats.items():
        lost = [each for each in prompts if each is not None and each.file == each.tried[-1] != each.tried[0]]
        if lost:
            step = registry.steps[key]
            chain = step.adaptation_chain
            at = step.at / "adaptationChain" if chain is None else chain[prompts.index(lost[0])].at
            message = f"climpt 1.14.0 wants {quote(lost[0].tried[0])} for a repeat of step {quote(key)}"
            yield Finding(at, f"{message}, and does not look for {quote(lost[0].tried[-1])}")


@rule(since="0.1", origin=("climpt-1.14:step.retry-pattern", "S7"), severity=Severity.WARNING, groups=("portability",))
def stg910_misplaced_failure_pattern(registry: Registry) -> Iterator[Finding]:
    """`retry` of a step names a failure pattern of the registry.

    ## Why this matters
    The documents of climpt have failure patterns in the registry. The start of climpt 1.14.0 looks for them in
    `agent.json`, where its own schema allows none, and refuses every agent in which `patternRef` is written.

    ## How to fix
    Delete `patternRef` to start the agent with climpt 1.14.0.
    """
    for step in registry.steps.values():
        pattern = step.retry.pattern if step.retry is not None else None
        if pattern is not None and pattern.name in registry.patterns:
            message = f"climpt 1.14.0 does not look for failure pattern {quote(pattern.name)} in the registry"
            yield Finding(pattern.at, message)


@rule(since="0.1", origin=("climpt-1.14:valid.address",), severity=Severity.WARNING, groups=("portability",))
def stg911_unread_retry_address(registry: Registry) -> Iterator[Finding]:
    """A validation step has its coordinates in an address.

    ## Why this matters
    The schema of climpt 1.14 wants them there, and its released agents have them there. Its program reads `c2` and
    `c3` of the validation step itself, and looks for retry prompts in `undefined/undefined`.

    ## How to fix
    Write `c2` and `c3` beside `address`, with the same values.
    """
    for guard in registry.validation_steps.values() if registry.generation is not Generation.V1_13 else ():
        if "address" in guard.body and not {"c2", "c3"} <= guard.body.keys():
            message = f"climpt 1.14.0 does not read the address of validation step {quote(guard.key)}"
            yield Finding((guard.at / "address").key, message)


@rule(
    since="0.1",
    origin=("climpt-1.14:boot.entry-for-verdict", "AC-VERDICT-012"),
    severity=Severity.WARNING,
    groups=("portability",),
)
def stg912_entry_step_alone(registry: Registry) -> Iterator[Finding]:
    """An agent of climpt 1.14 begins at `entryStep`, and has no pair of entries for its verdict type.

    ## Why this matters
    The documents let `entryStep` alone say where runs begin. climpt 1.14.0 requires a pair for most verdict types: all
    but `detect:graph`, `meta:composite` and `meta:custom`. Without it the agent does not start.

    ## How to fix
    Write a pair for the verdict type in `entryStepMapping`; both of its steps may be that of `entryStep`.
    """
    agent, verdict = registry.agent, registry.agent.verdict if registry.agent is not None else None
    if agent is None or registry.generation is Generation.V1_13 or verdict not in VERDICTS or verdict in _FREE:
        return
    mapping = object_of(registry.body.get("entryStepMapping"))
    if "entryStep" in registry.body and verdict not in mapping:
        message = f"climpt 1.14.0 requires a pair of entries for the verdict type {quote(verdict)} beside 'entryStep'"
        yield Finding((registry.at / "entryStep").key, message, (Related(agent.verdict_at, "the verdict type"),))


_FREE = ("detect:graph", "meta:composite", "meta:custom")


@rule(
    since="0.1",
    origin=("steps-registry:reg.version-semver", "steps-registry:agent.version", "rulings:T6"),
    severity=Severity.WARNING,
    groups=("portability",),
)
def stg913_suffixed_version(registry: Registry) -> Iterator[Finding]:
    """A version has more than three numbers.

    ## Why this matters
    `1.0.0-beta.1` and `1.0.0+build.7` are semantic versions. The loader of climpt takes only three numbers, and
    refuses the file.

    ## How to fix
    Write the three numbers alone where climpt loads the file.
    """
    agent = registry.agent
    given = [(registry.at, text_in(registry.body, "version")), (agent.at, agent.version) if agent is not None else None]
    for at, version in filter(None, given):
        if version is not None and not {"-", "+"}.isdisjoint(version):
            yield Finding(at / "version", f"climpt takes versions of three numbers, not {quote(version)}")
