"""Pipelines that run as stages of others: missing ones, their inputs and their ends."""

from collections.abc import Iterator

from stagec.check.rules.stages import report_missing, rule, show_value
from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.stages.document import CallError, Pipeline, name_around
from stagec.languages.stages.inner import (
    DEEPEST,
    LARGEST,
    InnerError,
    InnerMistake,
    InputError,
    InputMistake,
    find_inner_mistake,
    find_input_mistakes,
    find_stray_ends,
)

_UNKNOWN = {
    CallError.UNKNOWN: "but there is no such pipeline",
    CallError.OUTSIDE: "which is outside the project: '--root' names the folder that has both",
}


@rule(since="0.1", origin=("rulings:pipelines",))
def stg392_unknown_inner_pipeline(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage is a pipeline that does not exist.

    ## Why this matters
    `pipeline` of a stage is the path of a pipeline's file, relative to the file that says it. There is no pipeline at
    this path, so no run can pass this stage.

    ## How to fix
    Correct the path. It names the file, such as `../security/pipeline.yaml`, and not the folder or the `id`.
    """
    for stage in pipeline.inner:
        inner = stage.inner
        if inner is not None and inner.error in _UNKNOWN:
            message = f"stage {quote(stage.name)} runs {quote(inner.mention.name)}, {_UNKNOWN[inner.error]}"
            yield Finding(inner.mention.at, message)


@rule(since="0.1", origin=("rulings:pipelines",))
def stg393_circular_pipelines(pipeline: Pipeline) -> Iterator[Finding]:
    """A pipeline runs itself as a stage, directly or through others.

    ## Why this matters
    Each run would begin another one before it ends, without an end. A loop is written with `next`, and
    `maxStageExecutions` bounds it.

    ## How to fix
    Let a stage of one of the pipelines do the work itself, or write the loop with `next`.
    """
    for stage in pipeline.inner:
        inner = stage.inner
        if inner is None or inner.error is not CallError.CIRCULAR:
            continue
        if len(inner.cycle) == 1:
            message = f"stage {quote(stage.name)} runs the pipeline that it is a stage of"
        else:
            message = f"the pipelines {listing(inner.cycle)} run each other as stages"
        yield Finding(inner.mention.at, message)


@rule(since="0.1", origin=("rulings:pipelines",))
def stg394_wrong_inner_input(pipeline: Pipeline) -> Iterator[Finding]:
    """The inputs of a pipeline that runs as a stage do not fit its `context`.

    ## Why this matters
    The prompts of the inner pipeline read the names that its `context` declares. Around it they are other names, so
    `inputs` says for each which one it is, `{task: ctx.goal}`, or which constant, `{limit: {const: 3}}`. A name has
    to be declared around it, and its schema has to refuse whatever the inner one refuses: a run checks what it is
    given by the outer schema alone. The message shows a value that only the outer one accepts. Where stagec can
    neither find one nor prove that there is none, it warns.

    The plan has a constant in the texts of prompts and in gates. A prompt cannot read what is not in it, and stages
    cannot run for its elements.

    ## How to fix
    Write each name that the inner pipeline declares, and no other. Give it `ctx.` and a name of this pipeline's
    `context`, whose schema says as much as the inner one, or a constant that the inner schema accepts.
    """
    for each in find_input_mistakes(pipeline):
        is_declared = each.error in _BY_SCHEMA
        declared = Related((each.inner.at / "context" / each.name).key, "declared here")
        is_misnamed = each.error is InputError.UNDECLARED
        fix = guess(each.name, NameIndex(each.inner.context or ())) if is_misnamed else None
        related = (declared,) if is_declared else () if each.reader is None else (Related(each.reader, "read here"),)
        inside, around = each.inner.at / "context" / each.name, name_around(each.given)
        causes = (inside, *((pipeline.at / "context" / around,) if around is not None else ()))
        severity = Severity.WARNING if each.error is InputError.UNDECIDED else None
        yield Finding(each.at, _describe_input(pipeline, each), related, fix, causes=causes, severity=severity)


_BY_SCHEMA = {
    InputError.MISSING,
    InputError.REFUSED,
    InputError.UNDECIDED,
    InputError.CONSTANT,
}
"""Errors because of declarations of the inner pipeline."""


def _describe_input(pipeline: Pipeline, each: InputMistake) -> str:
    name, inner = quote(each.name), quote(each.inner.id)
    match each.error:
        case InputError.UNDECLARED:
            near = hint(each.name, NameIndex(each.inner.context or ()))
            return f"pipeline {inner} declares no {name} under 'context'{near}"
        case InputError.UNKNOWN:
            near = hint(name_around(each.given) or "", NameIndex(pipeline.context or ()))
            return f"{quote(each.given)} does not exist: this pipeline declares no such name under 'context'{near}"
        case InputError.UNDECIDED:
            why = f": its {quote(each.why)} may refuse one" if each.why else ""
            return (
                f"stagec cannot tell whether pipeline {inner} accepts every value of {quote(each.given)} as {name}{why}"
            )
        case _:
            why = each.why or ""
            told = {"given": quote(each.given), "why": why, "it": quote(why), "refused": show_value(each.refused)}
            return _INPUTS[each.error].format(name=name, bare=each.name, inner=inner, **told)


_INPUTS = {
    InputError.MISSING: "pipeline {inner} is not given {name}: write it under 'inputs', such as '{bare}: ctx.{bare}'",
    InputError.PATH: "{given} is not a name of the context: write an input as 'ctx.NAME', a constant as '{{const: …}}'",
    InputError.REFUSED: "{given} may be {refused}, which pipeline {inner} refuses as {name}",
    InputError.CONSTANT: "pipeline {inner} refuses this constant as {name}: {why}",
    InputError.LACKING: "a prompt of pipeline {inner} reads {it}, which this constant does not have",
    InputError.LISTED: "pipeline {inner} runs stages for the elements of {name}: give it a name, not a constant",
}


@rule(since="0.1", origin=("rulings:pipelines",))
def stg395_unfit_inner_pipeline(pipeline: Pipeline) -> Iterator[Finding]:
    """A pipeline cannot run as a stage, or not at this place.

    ## Why this matters
    The stages of an inner pipeline become stages of the whole: `review/scan` is the stage `scan` of the pipeline that
    runs as `review`. Settings of a run as a whole cannot hold for a part of it, and are refused: a bound of stage
    executions that a run of it may reach, hooks, a security mode or a tool catalogue of its own. The stages after it
    see the result of the inner `output`, so there must be one, and it must be a success.

    ## How to fix
    Change the inner pipeline as the message says, or give the work to stages of this pipeline.
    """
    for stage in pipeline.inner:
        found = find_inner_mistake(pipeline, stage)
        if found is not None:
            related = () if found.cause is None else (Related(found.cause, "written here"),)
            causes = tuple(found.inner.at / member for member in ("output", "context"))
            if found.error is InnerError.TOOLS:
                causes = (*causes, found.inner.at / "tools", Place(found.at.file, ("tools",)))
            yield Finding(found.at, _describe_mistake(found), related, causes=causes)


_INSIDE = {
    InnerError.NO_OUTPUT: "it declares no 'output', which names the stage whose result it returns",
    InnerError.NO_CONTEXT: "it declares no 'context', the names that it is given",
    InnerError.BOUNDED: "its 'maxStageExecutions' is for runs of its own, and this run may reach it",
    InnerError.TIMED: "its 'runDeadline' is for runs of its own; give its stages deadlines, or this run",
    InnerError.HOOKS: "its stage {name} has hooks",
    InnerError.SKIPS: "its output {name} has a gate, and may have no result",
    InnerError.CHAIN: "after its stage {name}, several stages run one after the other",
    InnerError.DEMANDS: "its entry {name} has an 'inputsSchema', and is handed no results",
    InnerError.TOOLS: "its tools are those of another catalogue; name the same one under 'tools' in both",
    InnerError.SESSION: "{name} differs from that of this pipeline",
}
_AROUND = {
    InnerError.DEEP: f"at most {DEEPEST} pipelines run inside each other",
    InnerError.LARGE: f"with the stages of such pipelines, this one has more than {LARGEST:,}",
    InnerError.CONDUCT: "{name} is for its stages, in its own file",
    InnerError.VERDICT: "a run continues after it only when it succeeds, so no case may ask for a verdict",
    InnerError.SIBLING: "it cannot run beside others, for elements or in a sequence",
    InnerError.TAKEN: "{name} is called like one of its stages",
}


def _describe_mistake(found: InnerMistake) -> str:
    stage, name = quote(found.stage.name), quote(found.name)
    if found.error in _AROUND:
        return f"stage {stage} is a pipeline: {_AROUND[found.error].format(name=name)}"
    why = _INSIDE[found.error].format(name=name)
    return f"pipeline {quote(found.inner.id)} cannot run as stage {stage}: {why}"


@rule(since="0.1", origin=("rulings:pipelines",))
def stg396_unknown_output_stage(pipeline: Pipeline) -> Iterator[Finding]:
    """The `output` of a pipeline is not a stage of it.

    ## Why this matters
    Where the pipeline runs as a stage of another one, the next stages read the result of the output.

    ## How to fix
    Write the `id` of one of the pipeline's stages, the one at which its runs end.
    """
    output = pipeline.output
    if output is not None:
        sentence = f"the output is the result of {quote(output.name)}, but this pipeline has no such stage"
        yield from report_missing(pipeline, [(output, sentence)])


@rule(since="0.1", origin=("rulings:pipelines",))
def stg397_end_beside_output(pipeline: Pipeline) -> Iterator[Finding]:
    """A completed run may end without a result of the stage that is the `output`.

    ## Why this matters
    Where the pipeline runs as a stage of another one, what follows reads the result of the output. So each completed
    run has to end there: after a success of this stage, and beside no other.

    ## How to fix
    Lead the other stage to the output, or name it as `output`. Parallel stages need a `join`.
    """
    output = pipeline.output
    known = set[object]()
    for name, at in find_stray_ends(pipeline):
        if output is None or at in known:
            continue
        known.add(at)
        related = (Related(output.at, "the output"),)
        if name == output.name:
            yield Finding(at, f"runs may end here without a success of {quote(name)}, which is the output", related)
        else:
            yield Finding(at, f"runs may end at {quote(name)}, but the output is {quote(output.name)}", related)
