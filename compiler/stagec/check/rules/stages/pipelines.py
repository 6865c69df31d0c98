"""The routes of a pipeline: entries, next stages, joins and hooks."""

from collections.abc import Iterator

from stagec.check.rules.stages import report_missing, routes, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.place import Mention, Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.stages.document import Case, Incoming, IncomingKind, Mode, Pipeline, Stage


@rule(since="0.1", origin=("stage-definitions:entry-unknown", "Validation/StageDefinitionInvalid"))
def stg340_unknown_entry_stage(pipeline: Pipeline) -> Iterator[Finding]:
    """A pipeline begins at a stage that does not exist.

    ## Why this matters
    No run can start. Mostly the stage was renamed, or the name is written in another letter case: names are compared
    exactly.

    ## How to fix
    Write the `id` of one of the pipeline's stages as `entry`, or add the stage.
    """
    entry = pipeline.entry
    if entry is not None:
        sentence = f"runs begin at {quote(entry.name)}, but this pipeline has no such stage"
        yield from report_missing(pipeline, [(entry, sentence)])


@rule(since="0.1", origin=("stage-definitions:next-unknown-stage",))
def stg341_unknown_next_stage(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage is followed by one that does not exist.

    ## Why this matters
    A run that takes this way has nowhere to go on. Mostly the stage was renamed, or its name is written in another
    letter case: names are compared exactly.

    ## How to fix
    Write the `id` of one of the pipeline's stages, or add the stage to `stages`.
    """
    mentions = (
        (each, f"{quote(stage.name)} leads to {quote(each.name)}, but this pipeline has no such stage")
        for stage, case in routes(pipeline)
        for each in case.stages
    )
    yield from report_missing(pipeline, mentions)


@rule(since="0.1", origin=("stage-definitions:join-dangling", "Validation/StageJoinDangling"))
def stg342_dangling_join(pipeline: Pipeline) -> Iterator[Finding]:
    """The join of parallel stages is not a stage of the pipeline.

    ## Why this matters
    Parallel stages hand their results to the stage named by `join`, which runs when all of them have succeeded.
    Without that stage the results are lost. Hosts refuse such a pipeline when they load it, as `StageJoinDangling`.

    The document that defines this code says that the join must be one of `stages`; its own example, and every pipeline
    written by the same authors, has the join outside. A join among its siblings would run twice, so stagec reads the
    sentence as "must be a stage of the pipeline", and refuses the other ([STG343](STG343.md)).

    ## How to fix
    Write the `id` of one of the pipeline's stages, or add the stage.
    """
    mentions = (
        (case.join, f"{quote(stage.name)} joins in {quote(case.join.name)}, which is not a stage (StageJoinDangling)")
        for stage, case in routes(pipeline)
        if case.join is not None and case.mode is Mode.FORK
    )
    yield from report_missing(pipeline, mentions)


@rule(since="0.1", origin=("stage-definitions:join-is-sibling",))
def stg343_join_among_siblings(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage is to run in parallel with others and to join them as well.

    ## Why this matters
    The join starts when all parallel stages have succeeded. A stage that is one of them would run twice, the first
    time without the results it is there to judge.

    ## How to fix
    Take the stage out of `stages`; if it was meant to run beside the others, name another stage as `join`.
    """
    for stage, case in routes(pipeline):
        join = case.join
        if join is None or case.mode is not Mode.FORK:
            continue
        same = [each for each in case.stages if each.name == join.name]
        if same:
            what = f"{quote(join.name)} joins the parallel stages after {quote(stage.name)}"
            related = (Related(same[0].at, "one of the parallel stages"),)
            yield Finding(join.at, f"{what}, but it is one of them and would run twice", related)


@rule(since="0.1", origin=("stage-definitions:join-on-sequential",), severity=Severity.WARNING)
def stg344_ineffective_join(pipeline: Pipeline) -> Iterator[Finding]:
    """A join is named where no stages run in parallel.

    ## Why this matters
    `join` says which stage waits for parallel stages. Without `execution: parallel` it is not read, and the stage that
    it names does not run.

    ## How to fix
    Write `execution: parallel`, or delete `join`; a stage that is to follow another one goes into the `next` of that
    one.
    """
    for stage, case in routes(pipeline):
        if case.join is None or case.mode is None or not case.is_whole:
            continue
        if case.mode is not Mode.FORK or not case.stages:
            message = f"join {quote(case.join.name)} after {quote(stage.name)} has no effect"
            yield Finding(case.join.at.key, f"{message}: nothing runs in parallel before it")


@rule(since="0.1", origin=("stage-definitions:parallel-too-few", "ExtensionHost/InvalidParallelPlan"))
def stg345_lone_sibling(pipeline: Pipeline) -> Iterator[Finding]:
    """Only one stage is to run in parallel.

    ## Why this matters
    There is nothing that it could run beside. Hosts refuse such a plan when the run gets there, as
    `InvalidParallelPlan`. Most often a second stage was lost, or `execution: parallel` was left over.

    ## How to fix
    Name the stages that run together, or write `execution: sequential`, and what was the join into the `next` of the
    stage.
    """
    for stage, case in routes(pipeline):
        if case.mode is Mode.FORK and case.each is None and case.is_whole and len(case.stages) == 1:
            only = case.stages[0]
            message = f"{quote(stage.name)} runs only {quote(only.name)} in parallel; there must be two stages at least"
            yield Finding(only.at, message)


@rule(since="0.1", origin=("stage-definitions:parallel-duplicate-sibling",))
def stg346_repeated_sibling(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage is named twice among those that run in parallel.

    ## Why this matters
    Two executions of one stage with nothing different between them do the same work at the same time, and get in each
    other's way when they write. Mostly another stage was meant.

    ## How to fix
    Name the stage that was meant, or delete the repetition.
    """
    for stage, case in routes(pipeline):
        known: dict[str, Mention] = {}
        for each in case.stages if case.mode is Mode.FORK else ():
            first = known.setdefault(each.name, each)
            if first is not each:
                how = "in parallel" if case.each is None else "for an element"
                what = f"{quote(each.name)} is already one of the stages that run {how}"
                yield Finding(each.at, f"{what} after {quote(stage.name)}", (Related(first.at, "named here"),))


@rule(since="0.1", origin=("stage-definitions:parallel-over-cap",), severity=Severity.NOTE)
def stg347_crowded_fan_out(pipeline: Pipeline) -> Iterator[Finding]:
    """More stages are to run in parallel than may run at the same time.

    ## Why this matters
    This is allowed: the stages that find no room wait until another one has ended, in the order in which they are
    named. But the run takes longer than it looks.

    ## How to fix
    Raise `maxParallel` if the machine and the provider bear it; it is 4 where the pipeline does not say.
    """
    most = pipeline.max_parallel
    if pipeline.body.get("maxParallel", most) != most:
        return  # what is written there cannot be read
    related = (Related(pipeline.at / "maxParallel", "the limit"),) if "maxParallel" in pipeline.body else ()
    for stage, case in routes(pipeline):
        count = len({each.name for each in case.stages})
        if case.mode is Mode.FORK and case.each is None and count > most:
            message = f"{count} stages run in parallel after {quote(stage.name)}, but only {most} at the same time"
            yield Finding(case.at, message, related)


@rule(since="0.1", origin=("stage-definitions:parallel-sibling-next",), severity=Severity.WARNING)
def stg348_unfollowed_route(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage that runs only in parallel with others has a successor.

    ## Why this matters
    After parallel stages their join runs, whatever each of them says under `next`. Only a branch of recovery is
    followed: cases for `verdict: fail`, which lead to stages that end.

    ## How to fix
    Move the route to the join, or delete it. A route that is meant for failures needs `when: {verdict: fail}`.
    """
    ignored = ((stage, case) for stage in pipeline.by_id.values() for case in pipeline.dead_cases(stage))
    for stage, case in ignored if pipeline.is_declared else ():
        if not case.stages:
            continue
        ways = [way for way in pipeline.incoming[stage.name] if way.kind is IncomingKind.SIBLING]
        target = case.stages[0]
        if not pipeline.has_stage(target.name):
            continue  # that there is no such stage is told, and comes first
        what = f"{quote(stage.name)} runs only in parallel with others"
        related = (Related(ways[0].at, "runs in parallel here"),)
        yield Finding(case.at, f"{what}: runs do not follow its route to {quote(target.name)}", related)


@rule(since="0.1", origin=("stage-definitions:sequential-multi",), severity=Severity.WARNING)
def stg349_several_sequential_stages(pipeline: Pipeline) -> Iterator[Finding]:
    """Several stages are named to run one after the other.

    ## Why this matters
    Hosts run them one by one, and what each of them leads to before the next: the second stage of the list starts when
    everything that follows the first has ended. It receives the result of the stage that ran last, which its prompt can
    hardly rely on.

    ## How to fix
    Name one stage, and the second under the `next` of the first. If they do not need each other, write
    `execution: parallel`.
    """
    for stage, case in routes(pipeline):
        if case.mode is Mode.CHAIN:
            names = listing([each.name for each in case.stages])
            message = f"{names} run one after the other after {quote(stage.name)}, each with all that follows it"
            yield Finding(case.stages[1].at, message)


@rule(since="0.1", origin=("stage-definitions:join-shared",))
def stg350_shared_join(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage runs in parallel with others in two places, and the joins are not the same.

    ## Why this matters
    The use of the stage's result depends on its caller, which neither its prompt nor the results name. Most often one
    of the joins was renamed, or the stage was copied into a second list with the wrong one.

    Cases of one stage may join in different stages: only one of them is taken.

    ## How to fix
    Name the same join in both places, or give one of them a stage of its own.
    """
    known: dict[str, tuple[Stage, Mention]] = {}
    told: set[tuple[str, str, str]] = set()
    for stage, case in routes(pipeline):
        for name, join in _find_joined(case, pipeline):
            owner, first = known.setdefault(name, (stage, join))
            pair = (owner.name, stage.name, join.name)
            if owner is not stage and first.name != join.name and pair not in told:
                told.add(pair)
                message = f"{quote(name)} joins in {quote(join.name)} when it runs after {quote(stage.name)}"
                other = f"but in {quote(first.name)} when it runs after {quote(owner.name)}"
                yield Finding(join.at, f"{message}, {other}", (Related(first.at, "the other join"),))


def _find_joined(case: Case, pipeline: Pipeline) -> Iterator[tuple[str, Mention]]:
    """Yield the stages that a join waits for, if it is one that exists, and the join."""
    join = case.join
    if join is not None and case.mode is Mode.FORK and join.name in pipeline.by_id:
        yield from ((each.name, join) for each in case.stages if each.name != join.name)


@rule(since="0.1", origin=("stage-definitions:join-reentered",), severity=Severity.WARNING)
def stg351_reentered_join(pipeline: Pipeline) -> Iterator[Finding]:
    """A join is also come to on another way.

    ## Why this matters
    As a join a stage is handed one result for each of the parallel stages; on another way it is handed one, or none.
    Its prompt has to make sense of both. When the other way begins at one of the parallel stages, the join runs before
    the others have ended, and then once more.

    ## How to fix
    Let the other way lead to a stage of its own, or back to the stage that starts the parallel ones.
    """
    for name, ways in pipeline.incoming.items():
        joins = [way for way in ways if way.kind is IncomingKind.JOIN]
        others = [way for way in ways if way.kind in {IncomingKind.ENTRY, IncomingKind.SUCCESSOR, IncomingKind.CHAINED}]
        for way in others if joins and name in pipeline.by_id else ():
            related = (Related(joins[0].at, "joins parallel stages here"),)
            yield Finding(way.at, f"{quote(name)} joins parallel stages, but {_how(way, joins)}", related)


def _how(way: Incoming, joins: list[Incoming]) -> str:
    if way.kind is IncomingKind.ENTRY:
        return "runs begin there as well"
    if way.kind is IncomingKind.CHAINED:
        return "is run in a sequence as well"
    source = way.sources[0][0]
    if any(source in standing for join in joins for standing in join.sources):
        return f"{quote(source)}, for which it waits, also leads to it"
    return f"{quote(source)} leads to it as well"


@rule(since="0.1", origin=("rulings:pipelines",))
def stg355_unknown_routed_stage(pipeline: Pipeline) -> Iterator[Finding]:
    """A pipeline has settings for a stage that it does not have.

    ## Why this matters
    Runs ignore an entry of `next`, `checks`, `gate`, `hooks` or `policy` whose name no stage has. The stage that was
    meant runs without it.

    ## How to fix
    Write the `id` of one of the pipeline's stages, or delete the entry.
    """
    mentions = ((Mention(each.name, each.at.key), _describe_mention(each)) for each in pipeline.routed)
    yield from report_missing(pipeline, mentions)


def _describe_mention(mention: Mention) -> str:
    member = mention.at.pointer[-2]
    return f"{quote(member)} names {quote(mention.name)}, but this pipeline has no such stage"


_REFUSED = {
    "guard": {*((name, "post") for name in ("RECEIVE_INPUT", "COMPOSE_REQUEST", "TOOL_CALL")), ("RENDER", "pre")},
    "transform": set[tuple[str, str]](),
}
_OBSERVED = {(name, "post") for name in ("SEND_REQUEST", "STREAM_RESPONSE", "RENDER")}
_WORDS = {"pre": "before", "post": "after"}


@rule(since="0.1", origin=("rulings:pipelines", "Validation/HookInvalidAttachment"))
def stg356_unusable_hook_slot(pipeline: Pipeline) -> Iterator[Finding]:
    """A loop hook is of a kind that its slot does not take.

    ## Why this matters
    The message loop has two slots for each of its stages, and each takes certain kinds of hook. Hosts refuse the
    others when they load the pipeline, as `HookInvalidAttachment`.

    | stage | before | after |
    |---|---|---|
    | RECEIVE_INPUT | transform, guard, observer | transform, observer |
    | COMPOSE_REQUEST | transform, guard, observer | transform, observer |
    | SEND_REQUEST | transform, guard, observer | observer |
    | STREAM_RESPONSE | transform, guard, observer | observer |
    | TOOL_CALL | transform, guard, observer | transform, observer |
    | RENDER | transform, observer | observer |

    ## How to fix
    Attach the hook to a slot that takes its kind, or write it as one of a kind that the slot takes.
    """
    hooks = pipeline.body.get("loopHooks")
    for index, each in enumerate(hooks if isinstance(hooks, list) else ()):
        hook = object_of(each)
        stage, when, kind = (str(hook.get(name)) for name in ("stage", "when", "kind"))
        slot = (stage, when)
        if kind in _REFUSED and (slot in _OBSERVED or slot in _REFUSED[kind]):
            taken = ["observer"] if slot in _OBSERVED else ["transform", "observer"]
            message = f"no {quote(kind)} can be attached {_WORDS[slot[1]]} {quote(stage)}, only {listing(taken, 'or')}"
            yield Finding(pipeline.at / "loopHooks" / index / "kind", message)


_LATER = "retry-later"
_DOES = {"defer": "defers", "block": "blocks"}


@rule(since="0.1", origin=("rulings:pipelines",), severity=Severity.WARNING)
def stg387_futile_retry_later(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage waits and asks its gate again, although nothing can change what the gate says.

    ## Why this matters
    A declared gate decides by the context, which is made once, before the gate is first asked. It says the same at
    every try: the run takes all waits of `retryPolicy`, and then the stage fails.

    ## How to fix
    Write `fail` or `ask` in `resolutionPolicy`. Where something outside the run decides, name a callable under `hooks`
    for `gate`: it is called at each try.
    """
    for stage in pipeline.stages:
        if "gate" in stage.conduct.hooks:
            continue
        for answer, at in _find_waiting(stage):
            terms = stage.conduct.gate.get(answer, ())
            if terms:
                what = f"stage {quote(stage.name)} asks its gate again when the gate {_DOES[answer]}"
                message = f"{what}, but the context does not change during a run: the answer is always the same"
                yield Finding(at, message, (Related(terms[0].at, "the gate reads this"),))
                break


def _find_waiting(stage: Stage) -> Iterator[tuple[str, Place]]:
    """Yield the answers of a gate that repeat it, with their places."""
    given, at = stage.members.get("resolutionPolicy"), stage.at / "resolutionPolicy"
    for answer in _DOES:
        if isinstance(given, dict):
            if given.get(answer) == _LATER:
                yield answer, at / answer
        elif given == _LATER:
            yield answer, at
