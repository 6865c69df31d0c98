"""STG7xx: values that nodes read and demand, compared with the schemas of their producers on every path."""

from collections.abc import Iterable, Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import Place, spell_path
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import listing, quote
from stagec.ir.flow import Read, Source, Unmet
from stagec.ir.graph import Graph, noun
from stagec.sources.contract.promise import Presence, Promise

FAMILY = Family(__name__, (range(700, 800),), Graph)
rule = FAMILY.rule


_WORST = (Presence.IMPOSSIBLE, Presence.UNDECLARED, Presence.POSSIBLE, Presence.UNKNOWABLE)
"""Of one path read of several nodes only the worst is told."""
_CONTRACT_SHOWN = 8


def reading(graph: Graph, presence: Presence) -> Iterator[tuple[Read, tuple[Source, ...], tuple[Related, ...]]]:
    """Yield the reads of nodes whose producers promise no more than this, each path of the same producers once.

    With each come the nodes that promise no more, and the other places at which the same is read.
    """
    same: dict[tuple[object, ...], list[Read]] = {}
    numbers: dict[tuple[str, ...], int] = {}
    shared: dict[int, int] = {}  # many reads of a node have the very same sources
    for each in graph.flow.reads:
        if id(each.sources) not in shared:
            shared[id(each.sources)] = numbers.setdefault(tuple(one.node for one in each.sources), len(numbers))
        same.setdefault((each.node, each.path, shared[id(each.sources)]), []).append(each)
    for first, *others in same.values():
        known = [(each.promised, each) for each in first.sources if each.promised is not None]
        found = [(_find_presence(promised, each), each) for promised, each in known if _is_judged(promised)]
        told = next((worst for worst in _WORST if worst in {one for one, _ in found}), None)
        if told is presence:
            again = tuple(Related(each.at, "read here too") for each in others if each.at != first.at)
            yield first, tuple(each for one, each in found if one is presence), again[:_CONTRACT_SHOWN]


def _find_presence(promised: Promise, source: Source) -> Presence:
    return Presence.IMPOSSIBLE if source.is_barred else promised.presence


def _is_judged(promised: Promise) -> bool:
    """Tell whether a promise says something; a schema that cannot be read has a diagnostic of its own."""
    return promised.presence is not Presence.UNKNOWABLE or promised.legible


def tell(graph: Graph, read: Read) -> str:
    """Return `stage 'work' reads 'parsed.title'`, or `demands` for what a schema requires."""
    verb = "requires" if read.is_demanded else "reads"
    return f"{noun(graph, 'node')} {quote(read.node)} {verb} {quote(spell_path(read.path))}"


def owners(graph: Graph, sources: Iterable[Source | Unmet]) -> str:
    """Return `stage 'plan'` or `stages 'test' and 'lint'`."""
    names = tuple(dict.fromkeys(each.node for each in sources))
    return f"{noun(graph, 'node')}{'s' if len(names) > 1 else ''} {listing(names)}"


def nearest(read: Read, source: Source) -> str:
    """Return the name that was most likely meant where a path breaks off."""
    lost = _find_lost_name(read, source)
    return hint(*lost) if lost is not None else ""


def guess_read(read: Read, source: Source) -> Guess | None:
    """Return a replacement for the name at which a path breaks off."""
    lost = _find_lost_name(read, source)
    return guess(*lost) if lost is not None else None


def _find_lost_name(read: Read, source: Source) -> tuple[str, NameIndex] | None:
    """Return the name at which a path breaks off, and those that are there."""
    promised = source.promised
    if promised is None or promised.followed >= len(read.path):
        return None
    name = str(read.path[promised.followed])
    return (name, promised.near) if name not in promised.near else None


def relate_sources(sources: Iterable[Source]) -> tuple[Related, ...]:
    """Return the places that define the results of nodes."""
    return tuple(Related(each.at, f"the result of {quote(each.node)}") for each in sources if each.at is not None)


@rule(since="0.1", origin=("stage-definitions:upstream-parsed-path",))
def stg701_impossible_read(graph: Graph) -> Iterator[Finding]:
    """A prompt reads a member that the result never has.

    ## Why this matters
    What a node hands in fits its schema, and the schema leaves no room for anything at the path: it is closed there,
    or the path leads through something that is not an object. Or every result that leads here is without it: nothing
    was handed in, because the stage has failed or was skipped, or the case asks that it is not there. The prompt cannot
    be filled in, so every run fails there.

    ## How to fix
    Correct the path, or declare the member in the schema of the node that hands it in. An `output` is there only where
    an exit hook makes one.
    """
    for read, sources, again in reading(graph, Presence.IMPOSSIBLE):
        what = tell(graph, read)
        is_allowed = all(each.is_barred and _is_allowed(each) for each in sources)
        lack = "has that leads there" if is_allowed else f"can have{nearest(read, sources[0])}"
        message = f"{what}, which no result of {owners(graph, sources)} {lack}"
        causes = (*graph.grounds(each.node for each in sources), *_find_demands(graph, read))
        yield Finding(read.at, message, (*relate_sources(sources), *again), guess_read(read, sources[0]), causes)


def _find_demands(graph: Graph, read: Read) -> Iterator[Place]:
    """Yield the places where the reader's schema demands, against every result, the value that it reads or something
    around it.
    """
    for each in graph.flow.demands:
        paths = {one.path for one in each.unmet if one.path}
        if each.node == read.node and any(read.path[: len(path)] == path for path in paths):
            yield each.at


def _is_allowed(source: Source) -> bool:
    return source.promised is not None and source.promised.presence is not Presence.IMPOSSIBLE


@rule(since="0.1", origin=("stage-definitions:upstream-parsed-path", "rulings:T2"), severity=Severity.WARNING)
def stg702_uncertain_read(graph: Graph) -> Iterator[Finding]:
    """A stage reads or demands a member that the result may leave out.

    ## Why this matters
    The schema of the node that hands it in declares the path and does not require it: a result without it is accepted,
    and then the stage cannot start: the prompt cannot be filled in, or the result does not fit its `inputsSchema`. An
    element of a list is there for sure only where `minItems` says so. Where conditions (`if`, `dependentRequired`, …)
    decide whether the path is required, stagec may not be able to show that it always is; then it says so in a note.

    ## How to fix
    Require every part of the path in that schema, or read a whole that is always there.
    """
    for presence, why in _WHY.items():
        for read, sources, again in reading(graph, presence):
            message = f"{tell(graph, read)}, which {why.format(owners(graph, sources))}"
            causes = graph.grounds(each.node for each in sources)
            severity = Severity.NOTE if presence is Presence.UNKNOWABLE else None
            yield Finding(read.at, message, (*_lenient(sources), *again), causes=causes, severity=severity)


_WHY = {
    Presence.POSSIBLE: "a result of {} may leave out",
    Presence.UNKNOWABLE: "a result of {} may leave out as far as stagec can tell",
}


def _lenient(sources: tuple[Source, ...]) -> Iterator[Related]:
    for each in sources:
        if each.promised is not None and each.promised.optional is not None:
            yield Related(each.promised.optional.at, "this schema lets it be left out")


_UNSATISFIABLE_INPUTS_SHOWN = 4


@rule(since="0.1", origin=("stage-definitions:inputs-schema-invalid",))
def stg703_unsatisfiable_inputs(graph: Graph) -> Iterator[Finding]:
    """A node demands a value that it never receives.

    ## Why this matters
    Before a stage starts, each result that it is handed has to fit its `inputsSchema`. No result of the stage named
    here ever does, so every run that comes this way fails at this stage. After a stage has failed, its result has no
    `parsed`, unless a check rejected what was handed in.

    ## How to fix
    The schema is about a whole result, an object with `verdict`, `reason`, `capHit`, `attemptCount`, `parsed` where
    something was handed in, and sometimes `output`. An accepted result has an empty `reason` and no cap hit. The result
    of the stage before is under `parsed`. Let both schemas agree.
    """
    for each in graph.flow.demands:
        first, *others = each.unmet
        alike = [first, *(other for other in others if other.path == first.path)]
        what = f"{noun(graph, 'node')} {quote(each.node)} requires"
        of = f"{what} {quote(spell_path(first.path))} in its input" if first.path else f"{what} something in its input"
        failed = " that has failed" if all(one.is_failed for one in alike) else ""
        meant = f"; did you mean {quote(spell_path(first.meant))}?" if first.meant is not None else ""
        message = f"{of}, but no result of {owners(graph, alike)}{failed} can meet that{meant}"
        causes = (*graph.grounds(one.node for one in each.unmet), *(one.demanded for one in each.unmet))
        yield Finding(each.at, message, tuple(_sides(each.unmet[:_UNSATISFIABLE_INPUTS_SHOWN])), causes=causes)


def _sides(unmet: tuple[Unmet, ...]) -> Iterator[Related]:
    for each in unmet:
        yield Related(each.demanded, "this is required")
        yield Related(each.offered, f"the result of {quote(each.node)}")


@rule(since="0.1", origin=("stage-definitions:upstream-parsed-path",), severity=Severity.WARNING)
def stg704_undeclared_read(graph: Graph) -> Iterator[Finding]:
    """A prompt reads a member that the schema of the result does not declare.

    ## Why this matters
    The schema is open, so the node may hand it in, but nothing asks the model for it. When it is not there, the prompt
    cannot be filled in and the run fails; often the path is only misspelt.

    ## How to fix
    Correct the path, or declare the member in the schema of the node that hands it in, and require it.
    """
    for read, sources, again in reading(graph, Presence.UNDECLARED):
        what = tell(graph, read)
        message = f"{what}, which the schema of {owners(graph, sources)} does not declare{nearest(read, sources[0])}"
        causes = graph.grounds(each.node for each in sources)
        yield Finding(read.at, message, (*relate_sources(sources), *again), guess_read(read, sources[0]), causes)


@rule(since="0.1", origin=("steps-registry:beyond.input-dominance", "steps-registry:input.required-missing"))
def stg705_read_before_result(graph: Graph) -> Iterator[Finding]:
    """A node needs the result of another one that need not have run before.

    ## Why this matters
    A value that an earlier node hands over is there when that node has run. Where a run can come to the reader without
    it, nothing has the value, and the reader cannot start. A node that reads of itself has no result at its first
    visit. Runs begin at every entry, also at the `continuation` of a pair, and an answer that may name any node leads
    to all of them.

    ## How to fix
    Read of a node that every way comes by, lead the other ways past it, or let the reader do without: `"required":
    false`, or a `default`.
    """
    flow = graph.flow
    kept = [each for each in flow.reads if each.kept]
    if not kept or not graph.exact or flow.suspect or flow.lost:
        return
    naming = [flow.nodes[each] for each in sorted(flow.open & graph.startable())[:1]]
    what = f"an answer may name any {noun(graph, 'node')}"
    named = tuple(Related(each.decided_at or each.at, what) for each in naming)
    for read in kept:
        lost = [each for each in read.sources if not graph.is_before(each.node, read.node)]
        for source in lost:
            what = f"{noun(graph, 'node')} {quote(read.node)} needs {quote(spell_path(read.path))} of"
            gap = f"{quote(source.node)}, but a run can reach it without that result"
            message = f"{what} {gap if source.node != read.node else 'itself, and has no result at its first visit'}"
            needed = (Related(source.at.key, "whose result it needs"),) if source.at else ()
            yield Finding(read.at, message, (*needed, *named))
