"""Run the tests of a plan on its mutants: the test that detects each, and the mutants that change no run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from stagec.change.flow_tests.document import FlowTest
from stagec.change.flow_tests.execution import Observation, run_test
from stagec.change.flow_tests.expectations import find_mismatches
from stagec.change.mutation.equivalence import Equivalence
from stagec.change.mutation.mutant import Mutant, Operator
from stagec.core.place import Key, Place, Pointer
from stagec.core.shelf import members
from stagec.core.value import replace, value
from stagec.core.workers import Workers
from stagec.ir.flow import Flow, FlowNode
from stagec.ir.plan import Plan
from stagec.ir.plan.loader import load
from stagec.ir.plan.soundness import dangling, unsound
from stagec.runtime.machine.answer_schemas import AnswerSchemas, prepare
from stagec.runtime.machine.program import Program, program_of
from stagec.sources.tree import Tree

_WORDS: Mapping[Key, tuple[str, ...]] = {
    "turns": ("turnCap",),
    "tools": ("allowedTools", "tools"),
    "schema": ("completionSchema", "outputSchemaRef"),
    "accepts": ("inputsSchema",),
    "retry": ("retryPolicy", "resilience", "retry"),
    "retryable": ("sideEffects", "retryable"),
    "gate": ("structuredGate", "checks"),
    "intents": ("allowedIntents",),
    "handoff": ("handoffFields",),
    "fallback": ("fallbackIntent",),
    "variables": ("inputs", "uvVariables"),
    "inputs": ("inputs", "context", "parameters"),
    "admission": ("admission", "gate"),
    "hooks": ("hooks",),
    "needs": ("dependencies", "dependsOn"),
    "validation": ("validation",),
    "limits": ("maxStageExecutions", "maxParallel"),
    "parallel": ("maxParallel",),
    "executions": ("maxStageExecutions",),
}
"""The words for the members of plans in sources, by front end."""


class SourcePlaces:
    """Finds the places of a flow, as exactly as its front end has kept them."""

    def __init__(self, flow: Flow, trees: Mapping[str, Tree]) -> None:
        self._flow, self._trees = flow, trees

    def find(self, mutant: Mutant) -> Place:
        """Return the place of the value that a mutant changes, or of its parent."""
        flow, at = self._flow, mutant.at
        name = mutant.node if mutant.node is not None else self._find_scheduled(at)
        node = None if name is None else flow.nodes.get(name)
        if node is not None:
            return self._find_in_node(node, at)
        if at[0] == "entries" and str(at[1]) in flow.entries:
            return flow.entries[str(at[1])].at
        if at[0] == "limits" and "parallel" not in at and flow.bound is not None:
            return flow.bound.at
        return self._descend(flow.at, at)

    def _find_scheduled(self, at: Pointer) -> str | None:
        return str(at[at.index("needs") + 1]) if "needs" in at else None

    def _find_in_node(self, node: FlowNode, at: Pointer) -> Place:
        parts = dict(node.parts)
        way = at[2:] if at[0] == "nodes" else at
        if way[:1] == ("edges",):
            edges = [each.at for each in node.edges]
            found = edges[int(way[1])] if int(way[1]) < len(edges) else node.at
            return found if found.pointer else node.at
        if way[:2] == ("act", "prompt") and "prompt" in parts:
            return parts["prompt"]
        if way[:2] == ("act", "schema") and "schema" in parts:
            return self._follow(parts["schema"], way[2:])
        return self._descend(node.at, way)

    def _descend(self, base: Place, way: Pointer) -> Place:
        """Return the place below a base that some member of a way is called by, the base where there is none."""
        found = base
        for key in way:
            for candidate in self._list_candidates(base if found is base else found, key):
                if self._has(candidate):
                    found = candidate
                    break
        return found

    def _list_candidates(self, at: Place, key: Key) -> Iterator[Place]:
        for word in (*_WORDS.get(key, ()), key):
            yield at / word
            if at.pointer[-1:] == ("id",):  # a definition is known by the member that names it
                yield Place(at.file, (*at.pointer[:-1], word))

    def _follow(self, base: Place, way: Pointer) -> Place:
        """Return the deepest place below a base on a way."""
        found = base
        for key in way:
            if not self._has(found / key):
                break
            found = found / key
        return found

    def _has(self, at: Place) -> bool:
        held: Any = self._trees[at.file].value if at.file in self._trees else None
        for key in at.pointer:
            is_member = isinstance(held, dict) and key in held
            if not is_member and not (isinstance(held, list) and isinstance(key, int) and key < len(held)):
                return False
            held = held[key]
        return held is not None


@value
class Trial:
    """The result of trying a mutant: the number of the test that notices it with its complaint, or why no run differs.

    With neither, the mutant survives.
    """

    mutant: Mutant
    test: int | None = None
    told: str = ""
    equivalent: str | None = None

    @property
    def survives(self) -> bool:
        """Tell whether some run may differ, and no test notices."""
        return self.test is None and self.equivalent is None


def list_operators() -> tuple[Operator, ...]:
    """Return every operator of the shelf, by name."""
    from stagec.change.mutation import operators

    return tuple(sorted(members(operators, Operator), key=lambda each: each.name))


def list_mutants(plan: Plan, wanted: Collection[str] | None = None) -> Iterator[Mutant]:
    """Yield the mutants of a plan that are plans themselves; `wanted` are the names of operators, None all."""
    for each in list_operators():
        if wanted is None or each.name in wanted:
            yield from (mutant for mutant in each.list_mutants(plan) if _is_plan(mutant, plan))


def _is_plan(mutant: Mutant, plan: Plan) -> bool:
    """Tell whether runs can have a mutant as their plan: all that it refers to is there, and it keeps its promises."""
    changed = mutant.apply(plan)
    if any(dangling(changed)) or unsound(changed):
        return False
    try:
        for text in mutant.fields.get("contents", {}).values():
            prepare(text)
    except ValueError:  # no schema that can be used
        return False
    return True


def choose_sample(mutants: Sequence[Mutant], limit: int | None, seed: int) -> Sequence[Mutant]:
    """Return at most so many mutants, in their order; the same seed chooses the same ones."""
    if limit is None or limit >= len(mutants):
        return mutants
    chosen = sorted(Random(seed).sample(range(len(mutants)), limit))
    return [mutants[each] for each in chosen]


def try_mutants(
    data: bytes, tests: Sequence[FlowTest], seen: Sequence[Observation], mutants: Sequence[Mutant], jobs: int
) -> Iterator[Trial]:
    """Yield the result of each mutant of the plan in a file; `seen` has the results of the tests without a change."""
    workers: Workers[tuple[Mutant, tuple[int, ...]], Trial] = Workers(make_trial, (data, tuple(tests)), jobs)
    yield from workers.work([(each, _choose_tests(each, seen)) for each in mutants])


def _choose_tests(mutant: Mutant, seen: Iterable[Observation]) -> tuple[int, ...]:
    """Return the numbers of the tests that come to what was changed; runs of the others cannot differ."""
    return tuple(at for at, each in enumerate(seen) if mutant.node is None or mutant.node in each.touched)


def make_trial(given: tuple[bytes, tuple[FlowTest, ...]]) -> Callable[[tuple[Mutant, tuple[int, ...]]], Trial]:
    """Return a function that tries a mutant of the plan in a file, with the tests of these numbers."""
    data, tests = given
    plan = load(data).plan
    equivalence = Equivalence(plan)
    contents: dict[str, str] = {}  # of all mutants: what a text is called follows from it
    schemas = AnswerSchemas(contents)

    def try_one(item: tuple[Mutant, tuple[int, ...]]) -> Trial:
        mutant, chosen = item
        changed = mutant.apply(plan)
        contents.update(changed.contents)
        program = replace(program_of(changed), answer_schemas=schemas)
        for at in chosen:
            told = find_complaint(program, tests[at])
            if told is not None:
                return Trial(mutant, at, told)
        return Trial(mutant, equivalent=equivalence.explain(mutant, changed))

    return try_one


def find_complaint(program: Program, test: FlowTest) -> str | None:
    """Return the first thing that a test says against a plan; None if it passes."""
    found = run_test(program, test)
    if found.trouble is not None:
        return found.trouble
    return next((each.told for each in find_mismatches(test.expected, found)), None)
