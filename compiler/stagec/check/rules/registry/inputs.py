"""Inputs: values that a step takes from another one and passes on, and the variables of prompts that they fill."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from stagec.check.rules.registry import (
    describe_lost_source,
    describe_optional,
    describe_unhanded,
    relate_optional,
    relate_unhanded,
    rule,
)
from stagec.core.diagnostic import Severity
from stagec.core.json import object_of, text_in
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.registry.document import Registry, Step
from stagec.languages.registry.files import AGENT, Agent
from stagec.languages.registry.inputs import (
    PROVIDED,
    HiddenInput,
    InputFate,
    JudgedInput,
    find_hidden_inputs,
    judge_inputs,
)
from stagec.languages.registry.supply import (
    Usage,
    find_early,
    find_meant,
    find_optional,
    find_unfilled,
    find_unlisted,
    find_unregistered,
    find_unsupplied,
    find_usages,
    list_arguments,
)
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
    An input sets the variable with its own name, and one with the name of its source, in which `_` replaces each dot:
    the sources `a.b_c` and `a_b.c` give the same name. What the agent or its runner supplies comes first, then the
    variables named after sources, the later input before the earlier one. The prompt does not have the value of this
    input.

    ## How to fix
    Rename the input and let the prompt read that name, or take the input out.
    """
    for each in find_hidden_inputs(registry):
        what = f"input {quote(each.given.name)} of step {quote(each.step.key)} has no effect"
        other, related = _find_other(registry, each)
        yield Finding(each.given.at.key, f"{what}: {other} gives the variable {quote(each.name)}", related)


def _find_other(registry: Registry, hidden: HiddenInput) -> tuple[str, tuple[Related, ...]]:
    """Return the source that sets the variable in place of an input, and its place."""
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
    """An input names no step as its source, or one that does not exist.

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
    """A step receives a text that may be empty, and cannot start with an empty one.

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
    """Yield the inputs without which steps cannot start, with the blank value and the other places that take it."""
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
    Other steps can have the values in `handoffFields`, each under the last part of its path; where that lists none, the
    members of the whole answer. A name that is missing there has no value, and the step that needs it cannot start.

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


_UNSUPPLIED_VARIABLE_SHOWN = 3


@rule(since="0.1", origin=("steps-registry:doc.R-A2", "steps-registry:uv.no-supply", "rulings:R17"))
def stg272_unsupplied_variable(registry: Registry) -> Iterator[Finding]:
    """A prompt's variable comes from nowhere.

    ## Why this matters
    A step's `uvVariables` are put into its prompt. A variable that nothing supplies ends the run when the step starts.

    A variable is supplied by a parameter of the agent of the same name, by an input of the step, whose variable is
    named after where it comes from (`initial.issue.approach` gives `initial_issue_approach`), or by the runner:
    `iteration`, `completed_iterations`, `max_iterations`, `remaining`, `previous_summary`, `check_count`, and with the
    setting of the verdict that it is made of `completion_keyword` (`verdictKeyword`) and `max_checks` (`maxChecks`).
    Where the verdict is `poll:state`, the caller gives `repository`. System prompts are made of `agent_name` and
    `verdict_criteria`, and steps may have them too. The name may begin with `uv-`.

    ## How to fix
    Correct the spelling, declare the parameter, or add the input. The name must be that of the parameter: `issue`, not
    `issue_number`.
    """
    agent = registry.agent
    if agent is None or not agent.is_whole:
        return
    known = NameIndex((*agent.parameters, *sorted(PROVIDED)))
    lost = find_unsupplied(registry)
    if not agent.declared and len(lost.keys() - _WHY.keys()) > 0:
        yield _report_undeclared(agent, {name: found for name, found in lost.items() if name not in _WHY})
        lost = {name: found for name, found in lost.items() if name in _WHY}
    for name, ((step, at), *others) in lost.items():
        also = f" and {len(others)} more" if others else ""
        related = tuple(Related(other, "needed here too") for _, other in others[:_UNSUPPLIED_VARIABLE_SHOWN])
        message = f"nothing supplies the variable {quote(name)} of step {quote(step.key)}{also}"
        meant = None if name in _WHY else guess(name, known, *(other for _, other in others))
        yield Finding(at, f"{message}{_WHY.get(name) or _hint(name, known)}", related, meant)


def _report_undeclared(agent: Agent, lost: Mapping[str, Sequence[tuple[Step, Place]]]) -> Finding:
    """Say once of an agent without parameters what it would have to declare."""
    related = tuple(Related(at, "needed here") for (_, at), *_ in lost.values())[:_UNSUPPLIED_VARIABLE_SHOWN]
    who = f"variable{'s' if len(lost) > 1 else ''} {listing(lost)}"
    return Finding(agent.at / "parameters", f"nothing supplies the {who}: the agent declares no parameters", related)


_WHY = {
    "completion_keyword": ": the agent's verdict has no 'verdictKeyword'",
    "max_checks": ": the agent's verdict has no 'maxChecks'",
    "repository": ": only an agent whose verdict is 'poll:state' is given one",
}
"""Why a variable of the runner is not supplied."""


def _hint(name: str, known: NameIndex) -> str:
    """Suggest the nearest parameter, or the one to which a word was added: `issue` for `issue_number`."""
    shorter = name.rpartition("_")[0]
    return hint(shorter, NameIndex((shorter,))) if shorter in known else hint(name, known)


@rule(since="0.1", origin=("rulings:R17",), severity=Severity.NOTE)
def stg273_unjudged_variables(registry: Registry) -> Iterator[Finding]:
    """Whether the variables of prompts are supplied cannot be judged, because there is no agent definition.

    ## Why this matters
    Variables come from the parameters of the agent. Without `agent.json` beside the registry nobody can tell whether
    they exist.

    ## How to fix
    Put the agent definition beside the registry. Nothing is wrong when it is kept elsewhere.
    """
    if registry.agent is not None:
        return
    lost = {name: at for name, ((_, at), *_) in find_unsupplied(registry).items()}
    for step in registry.steps.values():
        lost = {each.name: each.at for each in list_arguments(step)} | lost
    beside = Place(posixpath.join(posixpath.dirname(registry.at.file), AGENT))  # which may be there and broken
    for at in tuple(lost.values())[:1]:
        message = f"stagec cannot tell what supplies {listing(lost)} without an agent definition"
        yield Finding(at, message, causes=(beside,))


@rule(
    since="0.1",
    origin=("steps-registry:uv.template-undeclared", "steps-registry:prompt.uv-not-provided", "PR-RESOLVE-005"),
)
def stg278_undeclared_variable(registry: Registry) -> Iterator[Finding]:
    """A prompt reads a variable that its step does not declare.

    ## Why this matters
    `{uv-name}` in a prompt is filled in with the variable of that name. The step's `uvVariables` say which these are;
    one that is not among them is most likely misspelt, and then nothing supplies it and the step cannot start.

    ## How to fix
    Correct the name in the prompt, or add it to `uvVariables`. Names that the runner supplies itself, such as
    `iteration`, need not be declared.
    """
    lost: dict[tuple[str, str], list[Usage]] = {}
    for usage in find_usages(registry):
        for name, at in usage.undeclared.items():
            lost.setdefault((at.file, name), []).append(usage)
    for (_, name), (first, *others) in lost.items():
        also = f" and {len(others)} more do" if others else " does"
        declared = tuple(Related(each.step.at / "uvVariables", "its declaration") for each in (first, *others))
        message = f"the prompt reads the variable {quote(name)}, which step {quote(first.step.key)}{also} not declare"
        near = f"; did you mean {quote(first.meant[name])}?" if first.meant.get(name, name) != name else ""
        meant = Guess(name, first.meant[name]) if near else None
        yield Finding(first.undeclared[name], f"{message}{near}", declared[:_UNSUPPLIED_VARIABLE_SHOWN], meant)


@rule(since="0.1", origin=("steps-registry:uv.template-unused",), severity=Severity.WARNING)
def stg279_unused_variable(registry: Registry) -> Iterator[Finding]:
    """A step declares a variable that its prompt does not read.

    ## Why this matters
    A step cannot start without a text for each of its `uvVariables`. One that the prompt does not read is demanded for
    nothing, or the prompt has another name for it, and the model is not told what it should be.

    ## How to fix
    Write `{uv-name}` where the prompt should have it, or take the name out of `uvVariables`. `{name}` and `{{name}}`
    are no variables: they stay as they are written.
    """
    early = {each.at for each in find_early(registry)}
    for usage in find_usages(registry):
        prompt = registry.prompts.of_steps[usage.step.key].file or ""
        for name, at in usage.unused.items():
            if at not in early:
                message = (
                    f"step {quote(usage.step.key)} declares {quote(name)}, but its prompt {quote(prompt)} does not"
                )
                yield Finding(at, f"{message} read it")


@rule(
    since="0.1",
    origin=("steps-registry:uv.continuation-only-in-initial", "steps-registry:prompt.missing-uv", "PR-RESOLVE-003"),
)
def stg280_early_variable(registry: Registry) -> Iterator[Finding]:
    """An `initial` step at which runs begin needs a variable that only an earlier step could supply.

    ## Why this matters
    `previous_summary` is what the model said at the end of the step before, `completed_iterations` how many steps are
    over. Where a run begins there is no step before: other runners give the variable no value and cannot start the
    step, and stagec has nothing to tell the model there.

    ## How to fix
    Take the variable out of the first step and its prompt. A `continuation.*` step can have it.
    """
    entries = list(registry.entries.values())
    for each in find_early(registry):
        message = f"step {quote(each.step.key)} needs {quote(each.name)}, which has no value where a run begins"
        begins = (entry.at for entry in entries if registry.step(entry.name) is each.step)
        yield Finding(each.at, message, tuple(Related(at, "runs begin here") for at in begins))


@rule(
    since="0.1",
    origin=("steps-registry:uv.optional-no-default", "steps-registry:prompt.missing-uv", "PR-RESOLVE-003"),
)
def stg281_ungiven_variable(registry: Registry) -> Iterator[Finding]:
    """A step needs a parameter that no run has to be given, and there is no default.

    ## Why this matters
    A step cannot start while one of its variables has no text. A parameter that is neither required nor has a default
    is not there when the caller leaves it out, and so is one whose default is the empty text.

    ## How to fix
    State `"required": true`, or give the parameter a `default` that says something. With `"required": false` the
    caller has to give it all the same, and only a warning says so (`STG282`).
    """
    for each in find_optional(registry):
        if not each.is_stated:
            yield Finding(each.at, describe_optional(each), relate_optional(each))


@rule(since="0.1", origin=("steps-registry:uv.optional-no-default",), severity=Severity.WARNING)
def stg282_optional_variable(registry: Registry) -> Iterator[Finding]:
    """A step needs a parameter that is said to be optional, and there is no default.

    ## Why this matters
    A step cannot start while one of its variables has no text. stagec asks for the parameter when a run starts,
    although the agent says that it can be left out; another runner starts without it and fails when it comes to the
    step.

    ## How to fix
    State `"required": true`, or give the parameter a `default` that says something.
    """
    for each in find_optional(registry):
        if each.is_stated:
            yield Finding(each.at, f"{describe_optional(each)}: every run must supply it", relate_optional(each))


@rule(since="0.1", origin=("steps-registry:uv.frontmatter-extra", "steps-registry:beyond.frontmatter-block"))
def stg285_unregistered_variable(registry: Registry) -> Iterator[Finding]:
    """The frontmatter of a prompt lists a variable that its step does not declare.

    ## Why this matters
    Only the registry counts: what `uvVariables` of the step does not name is not supplied, whatever the prompt says of
    itself. Other runners refuse an agent whose prompts and registry differ.

    ## How to fix
    Add the variable to `uvVariables` of the step, or take it out of the frontmatter.
    """
    for step, mention, near in find_unregistered(registry):
        what = f"the prompt lists the variable {quote(mention.name)}, which step {quote(step.key)} does not declare"
        meant = Guess(mention.name, near) if near is not None else None
        hint = f"; did you mean {quote(near)}?" if near is not None else ""
        yield Finding(mention.at, f"{what}{hint}", (Related(step.at / "uvVariables", "its declaration"),), meant)


@rule(since="0.1", origin=("steps-registry:uv.frontmatter-missing",), severity=Severity.WARNING)
def stg286_unlisted_variable(registry: Registry) -> Iterator[Finding]:
    """The frontmatter of a prompt lists variables, and not one that its step declares.

    ## Why this matters
    Whoever reads the prompt takes the list in its frontmatter for all that it can use. Only the registry counts, so
    the two should say the same.

    ## How to fix
    Add the variable to `uvVariables` in the frontmatter, or delete that list.
    """
    for step, at, names in find_unlisted(registry):
        message = f"the prompt does not list {listing(names)}, which step {quote(step.key)} declares"
        yield Finding(at, message, (Related(step.at / "uvVariables", "its declaration"),))


@rule(
    since="0.1",
    origin=(
        "steps-registry:c3l.c2-pattern",
        "steps-registry:c3l.c3-pattern",
        "steps-registry:c3l.directive-pattern",
        "steps-registry:c3l.layer-pattern",
    ),
)
def stg287_unlisted_coordinate(registry: Registry) -> Iterator[Finding]:
    """The C3L configuration of an agent does not allow a coordinate that the registry uses.

    ## Why this matters
    Prompts are found by `c2` and `c3`. The configuration `{agentId}-{c1}-user.yml` says by a pattern which values
    these can have; other runners find no prompt at any other value.

    ## How to fix
    Add the value to the pattern of `directiveType` (`c2`) or `layerType` (`c3`), or correct the coordinate.
    """
    prompts = registry.prompts
    found = [registry.steps[key].address.body for key, prompt in prompts.of_steps.items() if prompt.file is not None]
    guards = registry.validation_steps
    found += [guards[each.step].address.body for each in prompts.of_retries if each.prompt.file is not None]
    missing = [each for each in registry.coordinates if not each.is_there]
    if missing:
        names = " and none for ".join(f"'{each.coordinate}'" for each in missing)
        yield Finding(missing[0].at, f"the C3L configuration has no pattern for {names}")
    for each in registry.coordinates:
        used = dict.fromkeys(text_in(body, each.coordinate) for body in found)  # other faults speak of the others
        lost = [name for name in used if name and each.values is not None and name not in each.values]
        if lost and each.is_there:
            yield Finding(each.at, f"the C3L configuration does not allow {listing(lost)} for '{each.coordinate}'")


_FOREIGN_VARIABLE_SYNTAX_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:beyond.placeholders",), severity=Severity.WARNING)
def stg297_foreign_variable_syntax(registry: Registry) -> Iterator[Finding]:
    """A variable is written as another template language writes it.

    ## Why this matters
    In a prompt a variable is `{uv-issue}`. `{issue}`, `{{issue}}`, `${issue}`, `<%= issue %>` and their like stay as
    they are: the model reads the brackets and not the value.

    ## How to fix
    Write `{uv-` and the name of the variable, and declare it in `uvVariables`. In code, brackets may mean what they
    say. Of these members, only a variable is reported that the step declares and its prompt never reads.
    """
    found: dict[tuple[str, str, str], list[Place]] = {}
    for literal, right in find_meant(registry):
        found.setdefault((literal.at.file, literal.text, right), []).append(literal.at)
    for (_, text, right), (first, *others) in found.items():
        related = tuple(Related(at, "here too") for at in others[:_FOREIGN_VARIABLE_SYNTAX_SHOWN])
        yield Finding(first, f"{quote(text)} is not the form of a variable; write {quote(right)}", related)


@rule(since="0.1", origin=("steps-registry:beyond.placeholders",), severity=Severity.NOTE)
def stg298_unfilled_placeholder(registry: Registry) -> Iterator[Finding]:
    """A prompt has a hole in brackets that nothing fills.

    ## Why this matters
    `{issue_content}` and `{{issue_content}}` look like places for a value, but only `{uv-name}` is one. Such text stays
    as it is. The model may be meant to read it so, as a part of its answer.

    ## How to fix
    If a value is meant, make it a variable: `{uv-issue_content}`, declared in `uvVariables` and supplied by a
    parameter or an input.
    """
    for first, *others in find_unfilled(registry):
        texts = dict.fromkeys(each.text for each in (first, *others))
        related = tuple(Related(each.at, "here too") for each in others[:_FOREIGN_VARIABLE_SYNTAX_SHOWN])
        verb = "stays as it is" if len(texts) == 1 else "stay as they are"
        yield Finding(first.at, f"{listing(texts)} {verb}: nothing replaces such text", related)
