"""Placeholders of templates: how they are written, and which names they know."""

from collections.abc import Iterator

from stagec.check.rules.stages import grounds, relate_repeated, rule
from stagec.core.brackets import Bracketed, find_bracketed
from stagec.core.diagnostic import Severity
from stagec.core.nearest import Guess, NameIndex, guess, hint, is_slip
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.value import replace
from stagec.core.words import format_count, quote
from stagec.languages.stages.document import (
    ELEMENT,
    PROVIDED,
    RESERVED,
    Pipeline,
    Placeholder,
    PlaceholderForm,
    Profile,
    Stage,
)
from stagec.languages.stages.elements import is_of_element
from stagec.languages.stages.placeholder_errors import PlaceholderError, WrongPlaceholder, find_wrong_placeholders


@rule(since="0.1", origin=("stage-definitions:placeholder-namespace",))
def stg320_foreign_placeholder(pipeline: Pipeline) -> Iterator[Finding]:
    """A placeholder reads a source that prompts cannot read.

    ## Why this matters
    A prompt is made of the context, under `ctx`, and of what the stage says of itself, under `stage`. There is nothing
    else, so the stage cannot start.

    ## How to fix
    Write `{{ctx.task}}` for an input of the run, `{{ctx.upstream[0].parsed.summary}}` for the result of the stage
    before. Write `{{"{{"}}` for two opening braces that stay as they are: `{{"{{"}} name }}` is the text `{{ name }}`.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.FOREIGN):
        which = f"placeholder {quote(each.placeholder.text)} names nothing"
        near = _guess_meant_context(pipeline, each.placeholder)
        yield Finding(each.placeholder.at, f"{which}: there are only 'ctx' and 'stage'{near}", relate_repeated(each))


def _guess_meant_context(pipeline: Pipeline, placeholder: Placeholder) -> str:
    root = str(placeholder.path[0])
    names = [*PROVIDED, *(pipeline.context or ())]
    free = pipeline.context is None and len(placeholder.path) == 1
    if free or root in names:
        return f"; did you mean {quote(f'ctx.{root}')}?"
    if root.lower() in _CONTEXT:
        return "; did you mean 'ctx'?"
    return hint(root, NameIndex(("ctx", "stage")))


_CONTEXT = {"context", "ctxt", "cxt", "ctc", "xtc", "cx", "ct", "tcx"}
"""Common misspellings of `ctx`: the name is too short for a search by similarity."""


@rule(since="0.1", origin=("stage-definitions:placeholder-env",))
def stg321_environment_placeholder(pipeline: Pipeline) -> Iterator[Finding]:
    """A placeholder reads the environment or the settings.

    ## Why this matters
    They hold secrets, and a prompt is sent to a model. Neither is recognised in a prompt, so the stage cannot start.

    ## How to fix
    Hand over what the stage needs to know as a value of the context, and read it as `{{ctx.name}}`.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.ENVIRONMENT):
        what = "the environment" if each.placeholder.path[0] == "env" else "the settings"
        message = f"placeholder {quote(each.placeholder.text)} reads {what}, which no prompt can"
        yield Finding(each.placeholder.at, message, relate_repeated(each))


@rule(since="0.1", origin=("stage-definitions:placeholder-ctx-attempts",))
def stg322_attempts_placeholder(pipeline: Pipeline) -> Iterator[Finding]:
    """A placeholder reads the attempts of its own stage.

    ## Why this matters
    The prompt is made once, before the first attempt, and is not made again when the work is tried once more. Whatever
    the placeholder stood for would always be about the first attempt.

    ## How to fix
    Delete it: why an attempt was not accepted is told to the model in a further message.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.ATTEMPTS):
        message = (
            f"placeholder {quote(each.placeholder.text)} reads attempts, but a prompt is made before the first one"
        )
        yield Finding(each.placeholder.at, message, relate_repeated(each))


@rule(since="0.1", origin=("stage-definitions:placeholder-ctx-host",))
def stg323_host_placeholder(pipeline: Pipeline) -> Iterator[Finding]:
    """A placeholder reads the host.

    ## Why this matters
    `ctx.host` is an interface for code. It has no text that could stand in a prompt.

    ## How to fix
    Let a setup hook ask the host and put the answer into the context under a name of its own.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.HOST):
        message = f"placeholder {quote(each.placeholder.text)} reads the host, which only code can"
        yield Finding(each.placeholder.at, message, relate_repeated(each))


@rule(since="0.1", origin=("stage-definitions:placeholder-expression",))
def stg324_placeholder_expression(pipeline: Pipeline) -> Iterator[Finding]:
    """A placeholder is more than a path.

    ## Why this matters
    Prompts are filled in, not computed: there are no conditions, loops, filters, defaults, calls or literals. Decisions
    belong in the pipeline, where they can be checked.

    ## How to fix
    Write a path, such as `{{ctx.task}}`. Where the prompt depends on something, make two stages of it and let the
    cases of the stage before choose between them.

    For two opening braces that stay as they are, for example in code, write `{{"{{"}}`.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.EXPRESSION):
        message = f"placeholder {quote(each.placeholder.text)} is an expression; a placeholder can only be a path"
        yield Finding(each.placeholder.at, message, relate_repeated(each))


@rule(since="0.1", origin=("stage-definitions:placeholder-malformed",))
def stg325_malformed_placeholder(pipeline: Pipeline) -> Iterator[Finding]:
    """A placeholder cannot be read.

    ## Why this matters
    It is not closed, is empty, has too many braces, or is not quite a path. The stage cannot start.

    ## How to fix
    A placeholder is a path between two opening and two closing braces: names with a dot before each, and indexes in
    square brackets, such as `{{ctx.upstream[0].parsed.summary}}`. Spaces may stand inside the braces only around the
    path. For two opening braces that stay as they are, write `{{"{{"}}`.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.MALFORMED):
        message = f"placeholder {quote(each.placeholder.text)} {_explain_form(each.placeholder)}"
        yield Finding(each.placeholder.at, message, relate_repeated(each))


def _explain_form(placeholder: Placeholder) -> str:
    if placeholder.form is PlaceholderForm.UNCLOSED:
        return "has no closing braces"
    if placeholder.form is PlaceholderForm.EMPTY:
        return "is empty"
    if placeholder.text.startswith("{{{"):
        return "has more than two braces"
    if placeholder.text.strip("{} \t\r\n") in {"ctx", "stage"}:
        return "names nothing in it"
    return "is not a path, such as 'ctx.task' or 'ctx.upstream[0].parsed'"


@rule(since="0.1", origin=("stage-definitions:placeholder-dollar-syntax",), severity=Severity.WARNING)
def stg326_dollar_placeholder(pipeline: Pipeline) -> Iterator[Finding]:
    """A placeholder is written in the way of the other form of stages.

    ## Why this matters
    In Markdown a placeholder has two braces, `{{ctx.task}}`; in a stage object it has a dollar sign and one name,
    `${ctx.task}`. Text in another form stays as it is, and the model reads the braces.

    ## How to fix
    Write it in the way of the form that the stage has. In a stage object only whole values of the context can be read.
    """
    for stage in pipeline.stages:
        for each in stage.body.literals:
            yield Finding(each.at, f"{quote(each.text)} stays as it is: {_right(stage, each)}")


def _right(stage: Stage, literal: Placeholder) -> str:
    if stage.profile is Profile.MARKDOWN:
        inner = literal.text[2:-1].strip()
        return f"a placeholder in Markdown is written {quote('{{' + inner + '}}')}"
    root, name, *_ = literal.path
    meant = f"${{{root}.{name}}}"
    if root == "ctx" and meant != literal.text:
        return f"a placeholder in a stage object is written {quote(meant)}"
    return "a placeholder in a stage object is one name under 'ctx', such as '${ctx.task}'"


_SHOWN = 8


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved", "Validation/StageCtxUnresolved"))
def stg327_unknown_context_name(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads a name that the pipeline's context does not declare.

    ## Why this matters
    `context` lists what a run is given under `ctx`. A name that is not there is never given, so the stage cannot
    start.

    ## How to fix
    Correct the name, or declare it under `context` with a JSON Schema, which may be empty: `branch: {}`.
    """
    known = NameIndex((*(pipeline.context or ()), *PROVIDED))
    lost: dict[str, list[WrongPlaceholder]] = {}
    for each in find_wrong_placeholders(pipeline, PlaceholderError.CONTEXT_NAME):
        lost.setdefault(str(each.placeholder.path[1]), []).append(each)
    for name, found in lost.items():
        first = found[0]
        message = f"stage {quote(first.stage.name)} reads {quote(f'ctx.{name}')}, which the context does not declare"
        others = [one.at for each in found for one in (each.placeholder, *each.again)]
        places = dict.fromkeys(at for at in others if at != first.placeholder.at)
        related = (*(Related(at, "read here too") for at in [*places][:_SHOWN]), _relate_declared(pipeline))
        yield Finding(first.placeholder.at, f"{message}{hint(name, known)}", related, guess(name, known, *places))


def _relate_declared(pipeline: Pipeline) -> Related:
    return Related((pipeline.at / "context").key, "the declared context")


@rule(since="0.1", origin=("stage-definitions:ctx-reserved-write",))
def stg328_reserved_context_name(pipeline: Pipeline) -> Iterator[Finding]:
    """The context of a pipeline declares a name that has a meaning of its own.

    ## Why this matters
    `upstream`, `workflowRunId` and `stageExecutionId` are given to every stage, `attempts` and `host` are kept for
    code. An input of this name is never seen.

    ## How to fix
    Choose another name, and read that one in the prompts.
    """
    for name in pipeline.context or ():
        if name in RESERVED or is_of_element(pipeline, name):
            why = "every stage has it already" if name in PROVIDED else "it is reserved for code"
            why = "it is the element, or its number, for which a stage runs" if name in ELEMENT else why
            message = f"the context cannot declare {quote(name)}: {why}"
            yield Finding((pipeline.at / "context" / name).key, message)


@rule(since="0.1", origin=("stage-definitions:upstream-on-entry",))
def stg329_upstream_at_entry(pipeline: Pipeline) -> Iterator[Finding]:
    """The stage where runs begin reads the result of a stage before it.

    ## Why this matters
    Nothing has run before the entry, so there is no result to read, and the run fails at once. Also when the pipeline
    comes back to the stage later: its prompt has to be complete on every way that leads to it.

    ## How to fix
    Read what the run is given, such as `{{ctx.task}}`. A stage that is to run first and again later needs a second
    definition for the second time.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.AT_ENTRY):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        also = "" if each.everywhere else "also "
        related = (Related(each.ways[0].at, "a run begins here"), *relate_repeated(each))
        message = f"{what}, but {also}begins a run: no stage has run before it"
        yield Finding(each.placeholder.at, message, related, causes=grounds(pipeline, each.stage))


@rule(since="0.1", origin=("stage-definitions:upstream-on-sibling",))
def stg330_upstream_in_sibling(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage that runs beside others reads the result of a stage before it.

    ## Why this matters
    Parallel stages start from the context alone: they are handed no results, not even that of the stage that starts
    them. The run fails where the stage should start.

    ## How to fix
    Read what the run is given, such as `{{ctx.task}}`, or run the stage on its own, after the one whose result it
    needs.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.IN_SIBLING):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        also = "" if each.everywhere else "also "
        related = (Related(each.ways[0].at, "here it runs in parallel"), *relate_repeated(each))
        message = f"{what}, but {also}runs in parallel, where no result is handed over"
        yield Finding(each.placeholder.at, message, related, causes=grounds(pipeline, each.stage))


@rule(since="0.1", origin=("stage-definitions:upstream-index",))
def stg331_upstream_index_out_of_range(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads a result that is not handed over, or no particular one.

    ## Why this matters
    A stage that follows another is handed one result, the first, whose index is 0; a join is handed one for each
    parallel stage, in the order in which `stages` lists them. There is no other, so the stage cannot start.

    ## How to fix
    Give the index of a result that is handed over on every way that leads to the stage: `{{ctx.upstream[0].parsed}}`.
    """
    for each in find_wrong_placeholders(pipeline, PlaceholderError.INDEX):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        related = (*_where(each), *relate_repeated(each))
        causes = grounds(pipeline, each.stage)
        yield Finding(each.placeholder.at, f"{what}, but {_explain_index(each)}", related, causes=causes)


def _explain_index(each: WrongPlaceholder) -> str:
    if any(way.elements is not None for way in each.ways):
        return "is handed as many results as the list has elements: read all of them as 'ctx.upstream'"
    if not each.ways:
        return "does not say which result: the first is 'ctx.upstream[0]'"
    handed = len(each.ways[0].sources)
    where = "" if each.everywhere else "on one path to it "
    last = quote(f"ctx.upstream[{handed - 1}]")
    return f"{where}is handed only {format_count(handed, 'result')}, {f'the last as {last}' if handed > 1 else last}"


def _where(each: WrongPlaceholder) -> Iterator[Related]:
    for way in each.ways:
        if way.elements is not None:
            yield Related(way.at, "here it joins the elements of a list")
            continue
        yield Related(way.at, f"here it is handed {format_count(len(way.sources), 'result')}")


_ESCAPE = PlaceholderForm.ESCAPE
_TOLD = ("{{", "{{{")
"""Texts that other rules report in every form of stages; in stage objects also `${`, which is theirs."""


@rule(since="0.1", origin=("stage-definitions:placeholder-dollar-syntax",), severity=Severity.WARNING)
def stg378_foreign_placeholder_syntax(pipeline: Pipeline) -> Iterator[Finding]:
    """A placeholder is written as another template language writes it.

    ## Why this matters
    In Markdown a placeholder is `{{ctx.task}}`, in a stage object `${ctx.task}`. `{ctx.task}`, `<%= ctx.task %>`,
    `{% ctx.task %}`, `[[ctx.task]]` and their like stay as they are: the model reads the brackets and not the value.

    ## How to fix
    Write the placeholder as stages do. Brackets in blocks of code are left alone, and so are names that the pipeline's
    context does not declare.
    """
    known = NameIndex((*(pipeline.context or ()), *PROVIDED))
    for stage in pipeline.stages:
        found: dict[tuple[str, str], list[Place]] = {}
        escaped = {item.at.range[1] for item in stage.body.placeholders if item.form is _ESCAPE and item.at.range}
        for each in find_bracketed(stage.body.text, besides=_TOLD):
            meant = _guess_meant_path(pipeline, each, known)
            if meant is not None and not (escaped and (_place(stage, each).range or (0,))[0] in escaped):
                found.setdefault((stage.body.text[each.start : each.end], meant), []).append(_place(stage, each))
        for (text, meant), (first, *others) in found.items():
            right = f"{{{{{meant}}}}}" if stage.profile is Profile.MARKDOWN else f"${{ctx.{meant.split('.')[1]}}}"
            related = tuple(Related(at, "here too") for at in others[:_SHOWN] if at != first)
            message = f"{quote(text)} stays as it is: a placeholder is written {quote(right)}"
            yield Finding(first, message, related, Guess(text, right, tuple(others)))


def _guess_meant_path(pipeline: Pipeline, each: Bracketed, known: NameIndex) -> str | None:
    """Return the path that was meant, if it is surely one of ours."""
    declared = pipeline.context or {}
    for name in each.names:
        root, _, rest = name.partition(".")
        member = rest.partition(".")[0].partition("[")[0]
        if root in {"ctx", "stage"} and member and each.opener != "${" and (not each.is_fenced or member in known):
            near = known.nearest(member) if root == "ctx" and declared and member not in known else None
            return name if near is None else f"{root}.{near}{rest.removeprefix(member)}"
        if root.partition("[")[0] in declared and not (each.is_fenced or (each.is_code and each.opener[-1] == "{")):
            return f"ctx.{name}"
    return None


def _place(stage: Stage, each: Bracketed) -> Place:
    start = stage.body.at.range[0] if stage.body.at.range is not None else None
    return stage.body.at if start is None else replace(stage.body.at, range=(start + each.start, start + each.end))


@rule(since="0.1", origin=("stage-definitions:ctx-unresolved",), severity=Severity.WARNING)
def stg379_misspelt_provided_name(pipeline: Pipeline) -> Iterator[Finding]:
    """A prompt reads a name of the context that differs by one slip from a name that every stage has.

    ## Why this matters
    `upstream`, `workflowRunId` and `stageExecutionId` are given to every stage. A name with a slip in it is another
    name: a run has to bring it, and where it does not, the stage cannot start. As the pipeline does not declare its
    context, nobody can tell.

    ## How to fix
    Correct the name. If it is meant, declare it under the pipeline's `context`.
    """
    found: dict[str, list[Place]] = {}
    for stage in pipeline.stages if not isinstance(pipeline.body.get("context"), dict) else ():
        for each in stage.body.placeholders:
            root, *rest = each.path or ("",)
            if each.form is PlaceholderForm.PATH and root == "ctx" and rest[0] not in RESERVED:
                found.setdefault(str(rest[0]), []).append(each.at)
    for name, (first, *others) in found.items():
        near = next((each for each in PROVIDED if is_slip(name, each)), None)
        if near is not None:
            related = tuple(Related(at, "here too") for at in others[:_SHOWN])
            message = f"{quote(f'ctx.{name}')} is not a name that every stage has"
            message = f"{message}; did you mean {quote(f'ctx.{near}')}?"
            yield Finding(first, message, related, Guess(name, near, tuple(others)))
