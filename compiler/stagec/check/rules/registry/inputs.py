"""What a step takes of another, and what it hands over."""

from collections.abc import Iterator

from stagec.check.rules.registry import describe_lost_source, describe_unhanded, relate_unhanded, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.nearest import Guess
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.languages.registry.document import Registry
from stagec.languages.registry.inputs import HiddenInput, InputFate, JudgedInput, find_hidden_inputs, judge_inputs
from stagec.sources.contract.promise import Blank


@rule(
    since="0.1",
    origin=("steps-registry:handoff.source-missing", "steps-registry:handoff.key-not-produced"),
    severity=Severity.WARNING,
)
def stg234_idle_input(registry: Registry) -> Iterator[Finding]:
    """An input that a step can do without never has a value.

    ## Why this matters
    The step that it comes from does not exist, or never hands over such a key. The step starts with the default or
    with nothing instead, whatever happened before.

    ## How to fix
    Correct the name in `from`, or take the input out.
    """
    for each in judge_inputs(registry):
        if each.is_vital:
            continue
        if each.fate is InputFate.LOST:
            yield Finding(each.at, describe_lost_source(each))
        elif each.fate is InputFate.UNHANDED:
            yield Finding(each.given.at / "from", describe_unhanded(each), relate_unhanded(each))


@rule(since="0.1", origin=("steps-registry:agent.param-required-default",), severity=Severity.WARNING)
def stg236_useless_default(registry: Registry) -> Iterator[Finding]:
    """A parameter that every run has to be given has a default.

    ## Why this matters
    A default stands for a value that the caller leaves out. A required parameter cannot be left out, so the default
    never counts, and one of the two is not meant.

    ## How to fix
    Take `required` out, or `default`.
    """
    agent = registry.agent
    for name, body in agent.declared.items() if agent is not None else ():
        given, at = object_of(body), (agent.at if agent is not None else registry.at) / "parameters" / name
        if given.get("required") is True and "default" in given:
            message = f"parameter {quote(name)} is required, so its default is never used"
            yield Finding(at / "default", message, (Related(at / "required", "required here"),))


@rule(since="0.1", origin=("steps-registry:beyond.input-uv-name",), severity=Severity.WARNING)
def stg238_hidden_input(registry: Registry) -> Iterator[Finding]:
    """An input is handed over, and its variable has another value.

    ## Why this matters
    An input gives the variable with its own name, and one that is named after its source with `_` for each dot: that
    of `a.b_c` and that of `a_b.c` are the same. What the agent or its runner supplies comes first, then the variables
    named after sources, the later input before the earlier one. The prompt does not have the value of this input.

    ## How to fix
    Rename the input and let the prompt read that name, or take the input out.
    """
    for each in find_hidden_inputs(registry):
        what = f"input {quote(each.given.name)} of step {quote(each.step.key)} has no effect"
        other, related = _find_other(registry, each)
        yield Finding(each.given.at.key, f"{what}: {other} gives the variable {quote(each.name)}", related)


def _find_other(registry: Registry, hidden: HiddenInput) -> tuple[str, tuple[Related, ...]]:
    """Say what gives the variable in place of an input, and where."""
    if hidden.other is not None:
        return f"input {quote(hidden.other.name)}", (Related(hidden.other.at.key, "the other input"),)
    agent = registry.agent
    if agent is None or hidden.name not in agent.parameters:
        return "the runner", ()
    return "the agent's caller", (Related(agent.at / "parameters" / hidden.name, "the parameter"),)


@rule(
    since="0.1",
    origin=(
        "steps-registry:handoff.source-missing",
        "steps-registry:input.bad-from",
        "steps-registry:input.required-missing",
    ),
)
def stg283_unknown_input_source(registry: Registry) -> Iterator[Finding]:
    """An input comes from a step that does not exist, or does not say from which.

    ## Why this matters
    `from` names a step and, after the last dot, the key under which it hands a value over. Without such a step nothing
    is handed over, and the step that needs the value cannot start.

    ## How to fix
    Correct the name: `"from": "initial.issue.approach"` is `approach` of step `initial.issue`. Sections hand nothing
    over.
    """
    for each in judge_inputs(registry):
        if each.fate is InputFate.MALFORMED:
            message = (
                f"input {quote(each.given.name)} of step {quote(each.step.key)} comes from {quote(each.given.source)}"
            )
            yield Finding(each.at, f"{message}, which must be a step and a key with a dot between them")
        elif each.fate is InputFate.LOST and each.is_vital:
            meant = Guess(each.given.step, each.near) if each.near is not None else None
            yield Finding(each.at, describe_lost_source(each), fix=meant)


_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:input.required-missing", "rulings:T2"), severity=Severity.WARNING)
def stg2048_empty_input(registry: Registry) -> Iterator[Finding]:
    """A step is handed a text that may be empty, with which it cannot start.

    ## Why this matters
    A variable that a step declares has no value if its text is empty. The default of an input does not help: it stands
    for a value that is missing. The run then fails at the step.

    ## How to fix
    Write `"minLength": 1` in the schema of the step that hands the text over.
    """
    for found, blank, again in _list_blank(registry):
        if not blank.is_named:
            step, source = quote(found.step.key), quote(found.given.step)
            message = f"step {step} cannot start if {quote(found.given.key)} of {source} is empty, which is possible"
            yield Finding(found.at, message, again)


@rule(since="0.1", origin=("steps-registry:input.required-missing", "rulings:T2"))
def stg2049_blank_input(registry: Registry) -> Iterator[Finding]:
    """A step is handed a value with which it cannot start.

    ## Why this matters
    A variable that a step declares has no value if it is handed null or an empty text. The schema of the step that
    hands the value over allows this value by name, and the default of an input does not help: it stands for a value
    that is missing. The run then fails at the step.

    ## How to fix
    Take null or the empty text out of that schema, or the variable out of the step.
    """
    for found, blank, again in _list_blank(registry):
        if blank.is_named:
            step, source = quote(found.step.key), quote(found.given.step)
            given = "null" if blank.given is None else "an empty text"
            message = f"step {step} cannot start if {quote(found.given.key)} of {source} is {given}, which is possible"
            yield Finding(found.at, message, again)


def _list_blank(registry: Registry) -> Iterator[tuple[JudgedInput, Blank, tuple[Related, ...]]]:
    """Yield what steps take and cannot start with, each with the blank value and the other places that take it."""
    same: dict[tuple[str, str], list[tuple[JudgedInput, Blank]]] = {}
    for each in judge_inputs(registry):
        blank = each.blank if each.fate in {InputFate.HANDED, InputFate.WHOLE} else None
        if blank is not None:
            same.setdefault((each.step.key, each.given.source), []).append((each, blank))
    for (first, blank), *others in same.values():
        yield first, blank, tuple(Related(other.at, "taken here too") for other, _ in others[:_SHOWN])


@rule(
    since="0.1",
    origin=(
        "steps-registry:handoff.key-not-produced",
        "steps-registry:handoff.source-empty-fields",
        "steps-registry:handoff.source-no-fields",
    ),
)
def stg284_unhanded_input(registry: Registry) -> Iterator[Finding]:
    """A step needs a value that the step it comes from never hands over.

    ## Why this matters
    Other steps can have the values in `handoffFields`, each under the last part of its path; where that lists none,
    the members of the whole answer. What is not among them has no value, and the step that needs it cannot start.

    ## How to fix
    Correct the key, or add the path of the value to the `handoffFields` of the step that it comes from.
    """
    same: dict[tuple[Place, str | None], list[JudgedInput]] = {}
    for each in judge_inputs(registry):
        if each.fate is InputFate.UNHANDED and each.is_vital:
            is_bare = each.at.pointer[-1:] == ("structuredGate",)  # the step hands over nothing at all
            same.setdefault((each.at, None if is_bare else each.given.key), []).append(each)
    for first, *others in same.values():
        also = tuple(Related(other.given.at, "taken here too") for other in others[:_SHOWN])
        causes = (first.step.at, *(() if first.source is None else (first.source.at,)))
        yield Finding(first.at, describe_unhanded(first), (*relate_unhanded(first), *also), causes=causes)
