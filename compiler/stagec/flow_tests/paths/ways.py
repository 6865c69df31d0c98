"""Results of a node that take different ways on, each made up so that it satisfies the schema of the node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product

from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.lazy_sequence import LazySequence
from stagec.core.place import Key
from stagec.core.value import value
from stagec.plan.act import Converse, Prompt
from stagec.plan.document import Judge
from stagec.plan.gate import Among, Exists, Gate, IntentGate, JudgeGate, Reads, Term, VerdictGate
from stagec.plan.node import Edge, Named, Node
from stagec.runtime import Program
from stagec.runtime.gate import ALIASES, judge_result, read_handoff, read_intent, read_target
from stagec.runtime.json_values import all_hold, follow
from stagec.world.required_values import collect_required_values, find_in_answer, read_text
from stagec.world.samples import RequiredValue, make_samples

_COMBINATIONS = 200
"""Combinations of values that conditions are about which are tried for one outcome."""
_VARIANTS = 2
"""Results that are kept for one way: later nodes may need what schemas do not demand."""


@value
class WayResult:
    """A result, and in a word which way it takes, for whoever sees it among others."""

    name: str
    result: Object


class WayFinder:
    """Makes up results for the nodes of a program; each result may have one of `extra` besides."""

    def __init__(
        self, program: Program, extra: Iterable[RequiredValue] = (), rank: Callable[[Edge], int] | None = None
    ) -> None:
        self._program, self._rank = program, rank
        self._extra = (None, *extra)
        self._known: dict[str, LazySequence[WayResult]] = {}

    def find(self, name: str) -> LazySequence[WayResult]:
        """Return results of a node, those for edges in front that come first, or whose rank is lower."""
        if name not in self._known:
            self._known[name] = LazySequence(self._list_ways(name))
        return self._known[name]

    def _list_ways(self, name: str) -> Iterator[WayResult]:
        """Yield few results for each way, and no result twice."""
        kept: dict[str, list[Object]] = {}
        for way in self._try(name, self._program.plan.nodes[name]):
            found = kept.setdefault(way.name, [])
            if len(found) < _VARIANTS and way.result not in found:
                yield WayResult(f"{way.name}{' again' * len(found)}", way.result)
                found.append(way.result)

    def _try(self, name: str, node: Node) -> Iterator[WayResult]:
        schema = node.act.schema if isinstance(node.act, Prompt | Converse) else None
        for extra, (outcome, required) in product(self._extra, [*self._list_required(name, node)]):
            wanted = required if extra is None else (*required, extra)
            for sample in islice(make_samples(self._program, schema, wanted), _VARIANTS):
                taken = self._describe(name, node.gate, sample)
                if taken is not None and outcome in {None, taken.partition(" ")[0]}:
                    yield WayResult(taken if extra is None else f"{taken} with {extra.value}", sample)

    def _list_required(self, name: str, node: Node) -> Iterator[tuple[str | None, tuple[RequiredValue, ...]]]:
        """Yield what results may have to hold, with the outcome that is meant, if any is."""
        if isinstance(node.gate, JudgeGate):
            judge = self._program.plan.judge
            yield from ((None, required) for required in ((), *(() if judge is None else _list_signals(judge))))
            return
        if not isinstance(node.gate, IntentGate):
            terms = [term for edge in node.edges for term in edge.when]
            if isinstance(node.gate, VerdictGate):
                terms += [term for check in node.gate.checks for term in check.when]
            yield from ((None, required) for required in self._combine(node.gate, terms))
            return
        routes = self._program.routes[name].items()
        for outcome, edges in routes if self._rank is None else sorted(routes, key=self._rank_way):
            words = (outcome, *(word for word, meant in ALIASES.items() if meant == outcome))
            targets = [edge.target for edge in edges]
            named = [node for each in targets if isinstance(each, Named) for node in each.nodes]
            free = () if all(isinstance(each, Named) for each in targets) else (None,)
            for word, chosen in product(words, (*named, *free)):
                said = tuple(collect_required_values(node.gate, word, chosen, ()))
                terms = [term for edge in edges for term in edge.when]
                yield from ((outcome, (*said, *required)) for required in self._combine(node.gate, terms))

    def _rank_way(self, way: tuple[str, tuple[Edge, ...]]) -> int:
        return 0 if self._rank is None else min(map(self._rank, way[1]))

    def _combine(self, gate: Gate, terms: Iterable[Term]) -> Iterator[tuple[RequiredValue, ...]]:
        """Yield combinations of values that conditions tell apart, the one without any requirement first."""
        values: dict[tuple[Key, ...], list[RequiredValue]] = {}
        for term in terms:
            path = find_in_answer(gate, term)
            if path:
                values.setdefault(path, []).extend(self._list_values(path, term))
        yield ()
        yield from islice(
            product(*({repr(each): each for each in some}.values() for some in values.values())), _COMBINATIONS
        )

    def _list_values(self, path: tuple[Key, ...], term: Term) -> Iterator[RequiredValue]:
        """Yield values at a path for which a condition holds, and some for which it does not."""
        match term:
            case Among(values=values):
                yield from (RequiredValue(path, each) for each in values)
            case Reads(texts=texts):
                yield from (RequiredValue(path, read_text(each)) for each in texts)
                yield from (RequiredValue(path, text) for text in texts)
            case Exists():
                yield RequiredValue(path, "text")
        yield from (RequiredValue(path, other) for other in _OTHERS)
        yield RequiredValue(path, absent=True)

    def _describe(self, name: str, gate: Gate, sample: Object) -> str | None:
        """Return which way a result takes: its outcome, the number of its edge, and the node that it names."""
        routes = self._program.routes[name]
        if isinstance(gate, IntentGate):
            outcome, named = read_intent(gate, sample), read_target(gate, sample)
            if outcome is None:
                return None
            result: Json = {"answer": sample, "handoff": read_handoff(gate, sample)}
            place = _find_edge(routes.get(outcome, ()), result, named)
            return f"{outcome} {place}{'' if named is None else f' {named}'}"
        if isinstance(gate, VerdictGate):
            given: Object = {"verdict": "ok", "reason": "", "attemptCount": 1, "parsed": sample, "capHit": False}
            verdict = judge_result(gate, given).verdict
            return f"{verdict} {_find_edge(routes.get('ok', ()), {**given, 'verdict': verdict})}"
        judge = self._program.plan.judge
        signals = () if judge is None else _list_signals(judge)
        return f"answer {[all(follow(sample, each.path) == each.value for each in some) for some in signals]}"


def _list_signals(judge: Judge) -> Iterator[tuple[RequiredValue, ...]]:
    """Yield what an answer holds in which a judge sees that the work is done."""
    conditions = [object_of(each) for each in list_of(judge.settings.get("conditions"))]
    kinds = [(judge.kind, judge.settings), *((each.get("type"), object_of(each.get("config"))) for each in conditions)]
    for kind, settings in kinds:
        if kind == "detect:keyword":
            yield from ((RequiredValue((name,), settings.get("verdictKeyword")),) for name in _TEXTS)
        elif kind == "detect:structured":
            needed = settings.get("requiredFields")
            fields = [str(each) for each in (needed if isinstance(needed, list) else object_of(needed))]
            yield (
                RequiredValue(("type",), settings.get("signalType")),
                *(RequiredValue((each,), "text") for each in fields),
            )
        elif kind == "detect:graph":
            yield (RequiredValue(("status",), "completed"),)
            yield (RequiredValue(("complete",), value=True),)


_TEXTS = ("text", "summary", "message", "reason", "result", "status", "stepId")
"""Members in which answers commonly have a text."""


def _find_edge(edges: Iterable[Edge], result: Json, named: str | None = None) -> int | None:
    """Return the number of the first edge that counts for a result."""
    for at, edge in enumerate(edges):
        if all_hold(edge.when, result) and not (isinstance(edge.target, Named) and named not in edge.target.nodes):
            return at
    return None


_OTHERS: tuple[Json, ...] = (True, False, 0, 1, "text", "other", None, {}, [])
"""Values of which few conditions hold."""
