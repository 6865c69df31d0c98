"""STG7xx: what nodes read and demand of each other, against what their schemas promise, along every way."""

from collections.abc import Iterable, Iterator

from stagec.contract.promise import Presence, Promise
from stagec.core.guess import Guess, guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import spell_path
from stagec.core.rule import Family, Related
from stagec.core.words import listing, quote
from stagec.graph import Graph, noun
from stagec.model.flow import Read, Source, Unmet

FAMILY = Family(__name__, (range(700, 800),), Graph)
rule = FAMILY.rule

_WORST = (Presence.IMPOSSIBLE, Presence.UNDECLARED, Presence.POSSIBLE, Presence.UNKNOWABLE)
"""Of one path read of several nodes only the worst is told."""
_SHOWN = 8


def reading(graph: Graph, presence: Presence) -> Iterator[tuple[Read, tuple[Source, ...], tuple[Related, ...]]]:
    """Yield what nodes read of others whose schemas promise no more than this, each path of the same others once.

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
        found = [(promised.presence, each) for promised, each in known if _is_judged(promised)]
        told = next((worst for worst in _WORST if worst in {one for one, _ in found}), None)
        if told is presence:
            again = tuple(Related(each.at, "read here too") for each in others if each.at != first.at)
            yield first, tuple(each for one, each in found if one is presence), again[:_SHOWN]


def _is_judged(promised: Promise) -> bool:
    """Tell whether a promise says something; a schema that cannot be read has a diagnostic of its own."""
    return promised.presence is not Presence.UNKNOWABLE or promised.legible


def tell(graph: Graph, read: Read) -> str:
    """Return `stage 'work' reads 'parsed.title'`, or `demands` for what a schema requires."""
    verb = "demands" if read.is_demanded else "reads"
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
    """Return what to write in place of a name at which a path breaks off."""
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
    """Return where it is said what nodes hand in."""
    return tuple(Related(each.at, f"what {quote(each.node)} hands in") for each in sources if each.at is not None)
