"""Values that templates, conditions and inputs read of results and of the context."""

from collections.abc import Iterator, Mapping

from stagec.check.rules.stages import relate_repeated, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import spell_path
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.languages.stages.document import RESULT, Pipeline, Placeholder, Stage
from stagec.languages.stages.freezing import find_required
from stagec.languages.stages.inner import explain_refusal
from stagec.languages.stages.placeholder_errors import PlaceholderError, WrongPlaceholder, find_wrong_placeholders
from stagec.languages.stages.reads import find_refused
from stagec.sources.contract.choices import as_text
from stagec.sources.contract.conflict import find_contradiction
from stagec.sources.contract.promise import Presence

_RESULT = 3
"""`ctx`, `upstream` and the index come before the member of a result."""


@rule(since="0.1", origin=("stage-definitions:upstream-field",))
def stg332_unknown_result_member(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads a member that no result has.

    ## Why this matters
    After a stage has run, others can read its `verdict` with the `reason`, its result as `parsed`, whether `capHit`,
    the `attemptCount`, and the `output` of an exit hook. Only `parsed` and `output` have members.

    ## How to fix
    The result of the stage is under `parsed`: `{{ctx.upstream[0].parsed.summary}}`.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.RESULT_MEMBER):
        why = _explain_result_member(each.placeholder)
        message = f"placeholder {quote(each.placeholder.text)} cannot be filled: {why}"
        meant = guess(str(each.placeholder.path[_RESULT]), NameIndex(RESULT))
        yield Finding(each.placeholder.at, message, relate_repeated(each), meant)


def _explain_result_member(placeholder: Placeholder) -> str:
    member = placeholder.path[_RESULT]
    if member in RESULT:
        return f"the {quote(member)} of a result has no members"
    near = hint(str(member), NameIndex(RESULT)) or "; what a stage hands in is under 'parsed'"
    return f"a result has no {quote(member)}{near}"


@rule(since="0.1", origin=("stage-definitions:upstream-transcript",))
def stg333_transcript_read(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads the transcript of another stage.

    ## Why this matters
    The conversation of a stage is dropped when the stage ends, and never comes to another one: no such value is there.

    ## How to fix
    Ask the stage to hand in what the next one needs, as a member of its `completionSchema`, or let its exit hook write
    a summary to `output`, which is read as `{{ctx.upstream[0].output.summary}}`.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.TRANSCRIPT):
        message = f"placeholder {quote(each.placeholder.text)} reads a transcript, which never leaves its stage"
        yield Finding(each.placeholder.at, message, relate_repeated(each))


@rule(since="0.1", origin=("stage-definitions:stage-ref-unknown",))
def stg334_unknown_stage_field(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads a member that its stage does not have.

    ## Why this matters
    Under `stage` a prompt can read the frontmatter of its own file. An absent value cannot be filled in, so the stage
    cannot start.

    ## How to fix
    Correct the name. A prompt can rely on `stage.id` and `stage.name`.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.STAGE_FIELD):
        message = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}, but its frontmatter has no"
        name = str(each.placeholder.path[1])
        known = _index_fields(pipeline, each.stage)
        near = hint(name, known) if name not in known else ""
        message = f"{message} {quote(_field(each.placeholder))}{near}"
        yield Finding(each.placeholder.at, message, relate_repeated(each), guess(name, known))


def _field(placeholder: Placeholder) -> str:
    return placeholder.text.strip("{} \t\r\n").removeprefix("stage.")


def _index_fields(pipeline: Pipeline, stage: Stage) -> NameIndex:
    return pipeline.memo.once(("fields", stage.at), lambda: NameIndex(stage.members))


@rule(since="0.1", origin=("stage-definitions:stage-ref-unknown",), severity=Severity.WARNING)
def stg335_unlisted_stage_field(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads a field of its stage that prompts are not promised.

    ## Why this matters
    Of the frontmatter, only `id` and `name` are documented to be readable in a prompt. Another runtime may not fill in
    the rest.

    ## How to fix
    Write what the model has to know into the prompt itself.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.UNLISTED_FIELD):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        message = f"{what}, but prompts can rely only on 'stage.id' and 'stage.name'"
        yield Finding(each.placeholder.at, message, relate_repeated(each))


_NAME = 2
"""`ctx` and the name come before the path into the value."""


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved",))
def stg336_impossible_context_path(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads a path that a value of the context cannot have.

    ## Why this matters
    The JSON Schema that the pipeline declares for the value leaves no room for anything at the path: it is closed
    there, or the path leads through something that is not an object. `workflowRunId` and `stageExecutionId` are texts.
    Nothing can be filled in, so the stage cannot start.

    ## How to fix
    Correct the path, or declare the member in the schema under `context`.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.CONTEXT_PATH):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        related = (*_schema(pipeline, each), *relate_repeated(each))
        yield Finding(each.placeholder.at, f"{what}, but {_explain_impossible_path(each)}", related, _guess(each))


def _guess(each: WrongPlaceholder) -> Guess | None:
    path, promised = each.placeholder.path, each.promised
    return guess(str(path[_NAME + promised.followed]), promised.near) if promised is not None else None


def _explain_impossible_path(each: WrongPlaceholder) -> str:
    path, promised = each.placeholder.path, each.promised
    followed = promised.followed if promised is not None else 0
    inside, name = spell_path(path[: _NAME + followed]), str(path[_NAME + followed])
    near = hint(name, promised.near) if promised is not None else ""
    return f"{quote(inside)} cannot have {quote(name)}{near}"


def _schema(pipeline: Pipeline, each: WrongPlaceholder) -> Iterator[Related]:
    declared = (pipeline.context or {}).get(str(each.placeholder.path[1]))
    if declared is not None:
        yield Related(declared.at, "the schema of the value")


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved",), severity=Severity.WARNING)
def stg337_uncertain_context_path(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads a path that a value of the context may lack.

    ## Why this matters
    The JSON Schema that the pipeline declares for the value does not require the path, so a run may begin with a value
    that lacks it. Nothing can be filled in then, and the stage cannot start.

    ## How to fix
    Require every part of the path in the schema under `context`, or read a whole value that is always there. An
    element of a list is there for sure only where `minItems` says so.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.UNCERTAIN_CONTEXT_PATH):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        related = (*_relate_schema(pipeline, each), *relate_repeated(each))
        yield Finding(each.placeholder.at, f"{what}, {_explain_uncertain_path(each)}", related)


def _explain_uncertain_path(each: WrongPlaceholder) -> str:
    name = quote(f"ctx.{each.placeholder.path[1]}")
    if each.promised is not None and each.promised.presence is Presence.UNDECLARED:
        return f"which the schema of {name} does not declare"
    return f"which a valid value of {name} may leave out"


def _relate_schema(pipeline: Pipeline, each: WrongPlaceholder) -> Iterator[Related]:
    declared = (pipeline.context or {}).get(str(each.placeholder.path[1]))
    optional = None if each.promised is None else each.promised.optional
    if optional is not None:
        yield Related(optional.at, "this schema lets it be left out")
    elif declared is not None:
        yield Related(declared.at, "the schema of the value")


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved",))
def stg338_unsatisfiable_context(pipeline: Pipeline) -> Iterator[Finding]:
    """No value satisfies the schema of a value that every run needs, or its default does not.

    ## Why this matters
    A run begins only with a value for each name of the context, and each value must satisfy its schema. Where two
    parts of the schema exclude each other, every value is refused, so no run can begin. A run that is not given the
    value has its `default`. If the schema refuses that, this run cannot begin.

    ## How to fix
    Change the shown part or the one that contradicts it: a lower bound above the upper one, a value of another type, a
    member that is required and forbidden. Write a `default` that satisfies the schema, or none.
    """
    context = pipeline.context or {}
    needed = [name for name, is_needed in find_required(pipeline).items() if is_needed and name in context]
    for name in needed:
        found = find_contradiction(pipeline.schemas, context[name])
        if found is not None:
            why = f": nothing can be its {quote(spell_path(found.path))}" if found.path else ""
            related = () if found.against is None else (Related(found.against, "this contradicts it"),)
            yield Finding(found.at, f"no value of {quote(f'ctx.{name}')} satisfies its schema{why}", related)
    for name, schema in context.items():
        default = object_of(schema.value).get("default")
        if default is None or find_contradiction(pipeline.schemas, schema) is not None:
            continue
        complaint = explain_refusal(pipeline.schemas, schema, default)
        if complaint is not None:
            message = f"the schema of {quote(f'ctx.{name}')} refuses its default: {complaint}"
            yield Finding(schema.at / "default", message, causes=(schema.at,))


@rule(since="0.1", origin=("stage-definitions:inputs-schema-invalid",))
def stg339_narrower_inputs(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage refuses a result that the stage before it may hand in.

    ## Why this matters
    Before a stage starts, each result that it is handed has to fit its `inputsSchema`. Here the `completionSchema` of
    the stage before it accepts a value that the `inputsSchema` refuses. With this value the run fails. It is a warning
    where only a stage that its gate skips, or that has failed for an element of a list, has such a result.

    ## How to fix
    Narrow the `completionSchema`, widen the `inputsSchema`, or send such results elsewhere with a case under `next`.
    """
    for name, stage in pipeline.by_id.items() if pipeline.is_declared else ():
        for each in find_refused(pipeline, name, stage):
            given, path = quote(as_text(each.given)), quote(spell_path(each.path))
            what = f"stage {quote(name)} refuses {given} at {path}"
            key, why = _SOURCES[each.path[0] == "parsed"]
            related = () if each.verdict is not None else (Related(each.source.at / key, why),)
            may = _VERDICTS.get(each.verdict, "may hand in")
            severity = None if each.verdict is None else Severity.WARNING
            message = f"{what}, which stage {quote(each.source.name)} {may}"
            yield Finding(each.demanded, message, related, severity=severity)


_VERDICTS: Mapping[str | None, str] = {"skip": "hands in if its gate skips it", "fail": "hands in if it fails"}
_SOURCES = (("retryPolicy", "it may take so many attempts"), ("completionSchema", "this schema accepts the value"))
"""The members that decide about a value of a result outside of `parsed`, and about one inside."""
