"""Stage files: ids, members and what a stage results in."""

import posixpath
import re
from collections.abc import Iterator
from posixpath import basename, splitext

from stagec.check.rules.stages import grounds, in_kebab_case, report_missing, report_unconventional, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import Json, object_of
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import Place, spell_path
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.stages.condition_errors import emptiness_of
from stagec.languages.stages.document import Pipeline, Profile, Stage
from stagec.languages.stages.files import find_fallen_keywords, find_misplaced_keys, find_misspelt_keys
from stagec.sources.contract.combinations import combinations
from stagec.sources.contract.schemas import Miss, Schema


@rule(since="0.1", origin=("stage-definitions:id-kebab-case",))
def stg301_malformed_stage_id(pipeline: Pipeline) -> Iterator[Finding]:
    """The id of a stage is not in kebab case.

    ## Why this matters
    Pipelines, state and logs name stages by their ids. Ids of one form cannot differ in letter case or in blanks
    alone, which nobody sees.

    ## How to fix
    Write lower-case letters and digits, with single hyphens between words, and change the places that mention the
    stage.
    """
    yield from report_unconventional(pipeline, Profile.MARKDOWN)


@rule(since="0.1", origin=("stage-definitions:id-kebab-case",), severity=Severity.WARNING)
def stg302_unconventional_stage_id(pipeline: Pipeline) -> Iterator[Finding]:
    """The id of a stage object is not in kebab case.

    ## Why this matters
    Programs that read stage objects take any id, and most of those they come with are in Pascal case. In a Markdown
    stage the same id would be an error, so it has to change when the stage is moved to a file of its own.

    ## How to fix
    Write lower-case letters and digits, with single hyphens between words, or ignore this rule where another program
    gives the ids.
    """
    yield from report_unconventional(pipeline, Profile.OBJECT)


@rule(since="0.1", origin=("stage-definitions:id-duplicate", "Validation/StageDefinitionInvalid"))
def stg303_repeated_stage_id(pipeline: Pipeline) -> Iterator[Finding]:
    """Two stages of a pipeline have the same id.

    ## Why this matters
    A route that names the id means one of them, and which cannot be told.

    ## How to fix
    Give one of them another id. If it is the same stage in two files, list only one.
    """
    first: dict[str, Stage] = {}
    for stage in (*pipeline.stages, *pipeline.inner) if pipeline.is_declared else ():
        other = first.setdefault(stage.id, stage) if stage.id is not None else stage
        if other is not stage:
            message = f"two stages have the id {quote(stage.id)}"
            yield Finding(stage.id_at, message, (Related(other.id_at, "the other one"),))


@rule(
    since="0.1",
    origin=("stage-definitions:unknown-key-near-miss", "stage-definitions:unknown-key"),
    severity=Severity.WARNING,
)
def stg304_misspelt_stage_key(pipeline: Pipeline) -> Iterator[Finding]:
    """A key of a stage's frontmatter looks like a misspelt or misplaced one.

    ## Why this matters
    Keys that the format does not know are metadata, which nothing reads. A misspelt key is metadata, too, and the
    member that was meant is absent without a word. So are `next`, `checks`, `gate`, `hooks` and `policy`, which belong
    below `stagec`, and keywords of a schema without their indentation, or with characters that look like spaces and are
    none in YAML.

    ## How to fix
    Correct the key, or move it below `stagec`, or into its schema. Metadata can have a name that begins with `x-`.
    """
    for stage in pipeline.stages:
        if stage.profile is Profile.MARKDOWN:
            yield from _findings(stage)


def _findings(stage: Stage) -> Iterator[Finding]:
    for key in find_misplaced_keys(stage):
        yield Finding((stage.at / key).key, f"{quote(key)} is not read here: it belongs below 'stagec'")
    for key, schema in find_fallen_keywords(stage):
        said = f"indent {quote(key.strip())} below it if it belongs to the schema"
        yield Finding((stage.at / key).key, f"{quote(key)} is not a part of {quote(schema)} above it: {said}")
    for key, near in find_misspelt_keys(stage):
        at = (stage.at / key).key
        fix = Fix(f"rename it to {quote(near)}", (Edit(Change.RENAME, at, near),))
        message = f"nothing reads {quote(key)}; did you mean {quote(near)}?"
        yield Finding(at, message, (), None if near in stage.members else fix)


_KEYS = ("provider", "model")


@rule(since="0.1", origin=("stage-definitions:provider-key",), severity=Severity.WARNING)
def stg305_ineffective_provider(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage names a provider or a model.

    ## Why this matters
    A stage runs with the provider and the model of its session, and the key is metadata that nothing reads.

    ## How to fix
    Write the model below `stagec`, as `policy: {model: …}`: stagec asks it, other programs do not. Or remove the key,
    or keep it under a name that begins with `x-`.
    """
    for stage in pipeline.stages:
        for key in _KEYS if stage.profile is Profile.MARKDOWN else ():
            if key in stage.members:
                message = f"{quote(key)} has no effect: a stage runs with the provider and the model of its session"
                yield Finding((stage.at / key).key, message)


@rule(since="0.1", origin=("stage-definitions:stage-file-id",), severity=Severity.NOTE)
def stg306_differing_file_name(pipeline: Pipeline) -> Iterator[Finding]:
    """The name of a stage's file differs from the stage's id.

    ## Why this matters
    People look for the stage `plan` in `plan.md`. Programs go by the id alone.

    ## How to fix
    Rename the file, or change the id where nothing mentions it.
    """
    for stage in pipeline.stages:
        stem = splitext(basename(stage.at.file))[0]
        named = stage.profile is Profile.MARKDOWN and stage.id is not None and in_kebab_case(stage.id)
        if named and stage.id != stem:
            yield Finding(stage.id_at, f"stage {quote(stage.id)} is in a file named {quote(stem)}")


_UNKNOWN_BACKOFF_KNOWN = re.compile(r"none|(?:fixed|exponential):[0-9]{1,12}")
_FORMS = NameIndex(("none", "fixed", "exponential"))
_NAMES = NameIndex(("none", "fixed:<ms>", "exponential:<ms>"))


@rule(since="0.1", origin=("stage-definitions:retry-policy-backoff",), severity=Severity.WARNING)
def stg307_unknown_backoff(pipeline: Pipeline) -> Iterator[Finding]:
    """The backoff of a retry policy is not one that is known.

    ## Why this matters
    `backoff` says how long to wait before the next attempt: `none`, `fixed:<ms>` or `exponential:<ms>`. Anything else
    waits not at all.

    ## How to fix
    Write one of the three, with a whole number of milliseconds, such as `fixed:500`.
    """
    for stage in pipeline.stages:
        given = object_of(stage.members.get("retryPolicy")).get("backoff")
        if isinstance(given, str) and given and not _UNKNOWN_BACKOFF_KNOWN.fullmatch(given):
            near = hint(given.partition(":")[0], _NAMES)
            message = f"unknown backoff {quote(given)}, expected 'none', 'fixed:<ms>' or 'exponential:<ms>'{near}"
            yield Finding(stage.at / "retryPolicy" / "backoff", message, fix=_guess(given))


def _guess(given: str) -> Guess | None:
    """Return the form that was most likely meant, with the time that is given."""
    name, _, time = given.partition(":")
    near = _FORMS.guess(name)
    return Guess(name, near) if near is not None and (near == "none") is not time.isdecimal() else None


_POLICIES = ("retry-later", "skip", "fail", "ask")
_UNKNOWN_RESOLUTION_POLICY_KNOWN = NameIndex(_POLICIES)


@rule(since="0.1", origin=("stage-definitions:resolution-policy-enum",), severity=Severity.WARNING)
def stg308_unknown_resolution_policy(pipeline: Pipeline) -> Iterator[Finding]:
    """The resolution policy of a stage is not one that is known.

    ## Why this matters
    It decides about a stage whose gate defers or blocks: `retry-later`, `skip`, `fail` or `ask`. Anything else acts as
    `fail`.

    ## How to fix
    Write one of the four, or one for each: `{defer: retry-later, block: fail}`.
    """
    for stage in pipeline.stages:
        for given, at in _policies(stage):
            if isinstance(given, str) and given and given not in _UNKNOWN_RESOLUTION_POLICY_KNOWN:
                wanted = listing(_POLICIES, "or")
                meant = hint(given, _UNKNOWN_RESOLUTION_POLICY_KNOWN)
                message = f"unknown resolution policy {quote(given)}, expected {wanted}{meant}"
                yield Finding(at, message, fix=guess(given, _UNKNOWN_RESOLUTION_POLICY_KNOWN))


def _policies(stage: Stage) -> Iterator[tuple[Json, Place]]:
    given, at = stage.members.get("resolutionPolicy"), stage.at / "resolutionPolicy"
    if isinstance(given, dict):
        yield from ((given[answer], at / answer) for answer in ("defer", "block") if answer in given)
    else:
        yield given, at


@rule(since="0.1", origin=("stage-definitions:body-empty",), severity=Severity.WARNING)
def stg310_empty_prompt(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage has no prompt.

    ## Why this matters
    The body of a stage is the system prompt. Without one the model is told nothing but which tools there are.

    ## How to fix
    Write what the stage is to do, and that it ends by calling the completion tool.
    """
    for stage in pipeline.stages:
        told = stage.profile is Profile.MARKDOWN or isinstance(stage.members.get("body"), str)
        if told and not stage.body.text.strip():
            yield Finding(stage.body.at, f"stage {quote(stage.name)} has no prompt")


@rule(since="0.1", origin=("stage-definitions:completion-schema-root",), severity=Severity.WARNING)
def stg313_non_object_result(pipeline: Pipeline) -> Iterator[Finding]:
    """The completion schema of a stage accepts no object.

    ## Why this matters
    A stage hands in its result by calling a tool, and the arguments of a tool are an object. A schema that asks for a
    list or a text can never be met.

    ## How to fix
    Make the root an object and put the value under a member.
    """
    for stage in pipeline.stages:
        kinds = _kinds(pipeline, stage)
        if kinds and "object" not in kinds:
            message = f"the result of stage {quote(stage.name)} must be {listing(sorted(kinds), 'or')}"
            yield Finding(_at(stage), f"{message} by this schema, but the arguments of a tool are an object")


def _kinds(pipeline: Pipeline, stage: Stage) -> frozenset[str]:
    """Return the types that a completion schema leaves to a result; none when that cannot be told."""
    ways = combinations(pipeline.schemas, (stage.result,)) if isinstance(stage.result, Schema) else None
    if not ways or any(way.types is None for way in ways):
        return frozenset()
    return frozenset(kind for way in ways for kind in way.types or ())


def _at(stage: Stage) -> Place:
    at = stage.at / "completionSchema"
    given = stage.members["completionSchema"]
    return at / "type" if isinstance(given, dict) and "type" in given else at


_SENTENCES = {
    Miss.NO_FILE: "nothing: there is no such file",
    Miss.NO_MEMBER: "nothing: the schema has no such part",
    Miss.NO_SCHEMA: "a value that is not a schema",
}


@rule(since="0.1", origin=("stage-definitions:completion-schema-ref", "rulings:R20"))
def stg314_unresolved_stage_reference(pipeline: Pipeline) -> Iterator[Finding]:
    """A `$ref` in a schema of a stage or of the context leads to nothing.

    ## Why this matters
    A schema with a missing part cannot be given to a model: the stage fails before its first turn.

    ## How to fix
    Correct the file name or the pointer behind `#`. A `#` alone means the schema in which it is written, not the file,
    and files are relative to the one in which they are named.
    """
    for each in pipeline.references:
        if isinstance(each.found, Miss) and each.found in _SENTENCES:
            yield Finding(each.at, f"reference {quote(each.text)} leads to {_SENTENCES[each.found]}")


@rule(since="0.1", origin=("stage-definitions:sm-config", "stage-definitions:entry-unknown"))
def stg315_unknown_configured_stage(pipeline: Pipeline) -> Iterator[Finding]:
    """The configuration of a state machine begins at a stage that does not exist.

    ## Why this matters
    Its `entry` names the stage where runs begin. A host that attaches the machine finds no such stage.

    ## How to fix
    Correct the name: names are compared exactly.
    """
    yield from report_missing(
        pipeline, ((each, f"there is no stage {quote(each.name)} to begin with") for each in pipeline.configured)
    )


@rule(since="0.1", origin=("stage-definitions:completion-schema-invalid",))
def stg316_unsatisfiable_result(pipeline: Pipeline) -> Iterator[Finding]:
    """No result satisfies the completion schema of a stage.

    ## Why this matters
    A stage is done when it hands in a result that satisfies its schema. Where two parts of the schema exclude each
    other, every result is refused, until the stage runs out of turns and fails.

    ## How to fix
    Change the shown part or the one that contradicts it: a lower bound above the upper one, a value of another type, a
    member that is required and forbidden.
    """
    for stage in pipeline.stages:
        found = emptiness_of(pipeline, stage)
        if found is not None:
            why = f": nothing can be its {quote(spell_path(found.path))}" if found.path else ""
            related = () if found.against is None else (Related(found.against, "this contradicts it"),)
            message = f"no result of stage {quote(stage.name)} satisfies its schema{why}"
            causes = grounds(pipeline, stage)
            yield Finding(found.at, message, related, causes=causes, spoils=causes)


@rule(since="0.1", origin=("rulings:pipelines",))
def stg353_unmatched_stage_file(pipeline: Pipeline) -> Iterator[Finding]:
    """A pipeline lists stage files, and there are none.

    ## Why this matters
    The stages that were meant are missing, and every name that leads to them leads nowhere.

    ## How to fix
    Write a path relative to the pipeline; `*` stands for any part of a name, `**` for any folders. Files outside the
    project are not read. Patterns are compared with a million files at most; those beyond are not looked for, so write
    few patterns, and below a folder that holds little else.
    """
    folder = posixpath.dirname(pipeline.at.file)
    for pattern in pipeline.patterns:
        if not pattern.found:
            path = posixpath.normpath(posixpath.join(folder, pattern.text))
            what = "no file of the project matches" if set(pattern.text) & set("*?[") else "the project has no file"
            if not pattern.searched:
                what = "too many files were compared with the patterns above; none is sought for"
            advice = "" if "." in pattern.text else "; 'stages' names files, such as 'plan.md'"
            yield Finding(pattern.at, f"{what} {quote(path)}{advice}")


@rule(since="0.1", origin=("rulings:pipelines",))
def stg354_twice_said_conduct(pipeline: Pipeline) -> Iterator[Finding]:
    """A pipeline and one of its stages say the same thing of the stage.

    ## Why this matters
    `next`, `checks`, `gate`, `hooks` and `policy` may stand in the pipeline or in the stage itself. In both places they
    can disagree, and one of them is not followed.

    ## How to fix
    Delete one of the two.
    """
    for stage in pipeline.by_id.values():
        for member, given, own in stage.conduct.twice:
            message = f"the pipeline and the stage itself both define {quote(member)} of {quote(stage.name)}"
            yield Finding(given.key, message, (Related(own.key, "defined here"),))
