"""Dependencies between the stages of a plan."""

from collections.abc import Iterator

from stagec.check.rules.envelopes import rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, listing, quote
from stagec.languages.envelopes.document import Dependency, DependencyKind, StagePlan
from stagec.languages.envelopes.ids import find_repeated_ids, number_stages
from stagec.languages.envelopes.inputs import (
    DependencyCycle,
    find_concurrent,
    find_cycles,
    find_lost_stages,
    share_cycle,
)


@rule(since="0.1", origin=("stage-protocol:unknown-dependency",))
def stg437_unknown_dependency(plan: StagePlan) -> Iterator[Finding]:
    """A stage depends on a stage that the plan does not have.

    ## Why this matters
    The stage can never start, because its dependency never completes.

    ## How to fix
    Write the id of a stage of the plan, exactly as it stands there, or remove the dependency.
    """
    for each in find_lost_stages(plan):
        if each.dependencies:
            first, *others = (*each.dependencies, *each.inputs)
            related = tuple(Related(at, "mentioned here too") for at in others[:_SHOWN])
            message = f"no stage of the plan has the id {quote(each.name)}{each.hint}"
            yield Finding(first, message, related, each.guess, each.causes)


_SHOWN = 8


@rule(since="0.1", origin=("stage-protocol:self-dependency",))
def stg438_self_dependency(plan: StagePlan) -> Iterator[Finding]:
    """A stage depends on itself.

    ## Why this matters
    It can never start, because it waits for its own end.

    ## How to fix
    Remove the dependency, or name the stage that was meant.
    """
    repeated = {each.at: (each.id_at,) for each in find_repeated_ids(plan)}
    for stage in plan.envelopes:
        for odd in stage.oddities:
            if odd.kind is DependencyKind.OWN:
                message = f"stage {quote(stage.name)} depends on itself"
                yield Finding(odd.at, message, causes=repeated.get(stage.at, ()))


@rule(since="0.1", origin=("stage-protocol:dependency-cycle",))
def stg439_dependency_cycle(plan: StagePlan) -> Iterator[Finding]:
    """Stages depend on each other in a cycle.

    ## Why this matters
    Each of them waits for another one, so none of them can ever start. An input that reads the output of a stage is a
    dependency too, also where it is not declared.

    ## How to fix
    Remove one of the dependencies. Where a stage both reads from and writes for another one, make two stages of it.
    """
    repeated = tuple(each.id_at for each in find_repeated_ids(plan))
    for cycle in find_cycles(plan):
        ways = zip(cycle.ways, (*cycle.way[1:], cycle.way[0]), strict=True)
        related = tuple(Related(at, f"needs {quote(stage.name)}") for at, stage in list(ways)[:_SHOWN])
        yield Finding(cycle.way[0].at / "dependencies", _describe(cycle), related, causes=repeated)


def _describe(cycle: DependencyCycle) -> str:
    """Return the cycle from its first stage back to it, and how many stages are in this or another cycle with it."""
    names = [quote(stage.name) for stage in cycle.way]
    shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], f"{len(names) - _SHOWN} more"]
    more = len(cycle.stages) - len(cycle.way)
    others = f"; {more} more are in such cycles with them" if more else ""
    return f"stages depend on each other in a cycle: {' -> '.join([*shown, names[0]])}{others}"


@rule(since="0.1", origin=("stage-protocol:duplicate-dependency",), severity=Severity.WARNING)
def stg440_duplicate_dependency(plan: StagePlan) -> Iterator[Finding]:
    """A stage names a dependency twice.

    ## Why this matters
    Once is enough, so the second one may have been meant for another stage.

    ## How to fix
    Remove one of them, or name the stage that was meant.
    """
    for stage in plan.envelopes:
        first = {each.name: each.at for each in reversed(tuple(stage.list_mentions()))} if stage.oddities else {}
        wrong = {odd.name for odd in stage.oddities if odd.kind in {DependencyKind.UNKNOWN, DependencyKind.OWN}}
        for odd in stage.oddities:
            if odd.kind is DependencyKind.REPEATED and odd.name not in wrong:
                related = (Related(first[odd.name], "named here first"),)
                fix = Fix("remove the repetition", (Edit(Change.REMOVE, odd.at),))
                message = f"dependency {quote(odd.name)} is named twice"
                yield Finding(odd.at, message, related, fix)


@rule(since="0.1", origin=("stage-protocol:dependency-short-ref",), severity=Severity.WARNING)
def stg441_short_dependency(plan: StagePlan) -> Iterator[Finding]:
    """A dependency is the number of a stage without its words.

    ## Why this matters
    The protocol names dependencies by whole ids. The number means the stage only as long as no other one has it.

    ## How to fix
    Write the whole id.
    """
    for stage, odd in ((each, odd) for each in plan.envelopes for odd in each.oddities):
        if odd.kind is DependencyKind.SHORT and odd.meant:
            message = f"dependency {quote(odd.name)} is short for {quote(odd.meant[0])}"
            yield Finding(odd.at, message, fix=_fix(odd, is_named=odd.meant[0] in stage.dependencies))
        elif odd.kind is DependencyKind.SHORT:
            yield Finding(odd.at, f"dependency {quote(odd.name)} is the number of a stage, and not its id")


def _fix(odd: Dependency, *, is_named: bool) -> Fix:
    if is_named:
        return Fix("leave it out, as the stage is named already", (Edit(Change.REMOVE, odd.at),))
    return Fix("write the whole id", (Edit(Change.REPLACE, odd.at, odd.meant[0]),))


@rule(since="0.1", origin=("stage-protocol:dependency-short-ref-ambiguous",))
def stg442_ambiguous_dependency(plan: StagePlan) -> Iterator[Finding]:
    """A dependency is the number of several stages.

    ## Why this matters
    Which of them the stage has to wait for cannot be told.

    ## How to fix
    Write the whole id of each stage that is meant.
    """
    for odd in (odd for stage in plan.envelopes for odd in stage.oddities):
        if odd.kind is DependencyKind.AMBIGUOUS:
            yield Finding(
                odd.at, f"dependency {quote(odd.name)} may be {listing(plan.by_number.get(odd.name, odd.meant), 'or')}"
            )


@rule(since="0.1", origin=("stage-protocol:dependency-order",), severity=Severity.WARNING)
def stg443_dependency_on_later_number(plan: StagePlan) -> Iterator[Finding]:
    """A stage depends on a stage with a higher number.

    ## Why this matters
    Numbers tell the order of stages to whoever reads folders and logs. Here they tell the wrong one. The plan still
    runs in the order of its dependencies.

    ## How to fix
    Number the stages in the order in which they run.
    """
    numbers = number_stages(plan)
    for stage in plan.envelopes:
        number = numbers.get(stage.name, 0)
        later = [name for name in stage.needs if numbers[name] > number] if number > 0 else []
        places = stage.place_mentions() if later else {}
        for name in sorted(later):
            at = places.get(name)
            if at is not None and not share_cycle(plan, stage, plan.by_id[name]):
                message = f"stage {quote(stage.name)} depends on {quote(name)}, which has a higher number"
                yield Finding(at, message)


@rule(since="0.1", origin=("stage-protocol:dependency-unused",), severity=Severity.NOTE, groups=("pedantic",))
def stg444_unused_dependency(plan: StagePlan) -> Iterator[Finding]:
    """A stage reads nothing from a stage that it depends on.

    ## Why this matters
    A dependency that only orders stages is legal. It may also be left over, and then makes the run longer than it has
    to be.

    ## How to fix
    Remove the dependency if the stages can run in any order.
    """
    for stage in plan.envelopes if not plan.alone else ():
        read = {given.producer for given in stage.inputs.values()}
        places = stage.place_mentions()
        for name in stage.needs:
            at = places.get(name)
            if name not in read and at is not None:
                message = f"stage {quote(stage.name)} depends on {quote(name)}, but reads nothing from it"
                yield Finding(at, message)


@rule(since="0.1", origin=("stage-protocol:parallel-stage",), severity=Severity.NOTE, groups=("pedantic",))
def stg445_concurrent_stages(plan: StagePlan) -> Iterator[Finding]:
    """Stages may run at the same time.

    ## Why this matters
    Neither of two stages waits for the other. stagec runs such stages at the same time, up to `maxParallel`; other
    programs of the protocol run one after the other, so an order that is missing shows only here.

    ## How to fix
    Add a dependency where one stage has to wait for another. Otherwise there is nothing to do.
    """
    pair = None if plan.alone else find_concurrent(plan)
    if pair is not None:
        one, other = pair
        message = f"stages {quote(one.name)} and {quote(other.name)} may run at the same time"
        yield Finding(other.id_at, f"{message}, {format_count(plan.max_parallel, 'stage')} at most")
