"""Try the mutants of a plan: which test notices each, and which have no effect on any run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from random import Random

from stagec.core.shelf import members
from stagec.core.value import replace, value
from stagec.core.workers import Workers
from stagec.flow_tests.document import FlowTest
from stagec.flow_tests.execution import Observation, run_test
from stagec.flow_tests.expectations import find_mismatches
from stagec.mutation.equivalence import Equivalence
from stagec.mutation.mutant import Mutant, Operator
from stagec.plan import Plan
from stagec.plan.loader import load
from stagec.plan.references import dangling
from stagec.plan.soundness import unsound
from stagec.runtime.answer_schemas import AnswerSchemas, prepare
from stagec.runtime.program import Program, program_of


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
    from stagec.mutation import operators

    return members(operators, Operator)


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
    """Yield what becomes of each mutant of the plan in a file; `seen` is what came of each test without a change."""
    workers: Workers[tuple[Mutant, tuple[int, ...]], Trial] = Workers(make_trial, (data, tuple(tests)), jobs)
    yield from workers.work([(each, _choose_tests(each, seen)) for each in mutants])


def _choose_tests(mutant: Mutant, seen: Iterable[Observation]) -> tuple[int, ...]:
    """Return the numbers of the tests that come to what was changed; runs of the others cannot differ."""
    return tuple(at for at, each in enumerate(seen) if mutant.node is None or mutant.node in each.touched)


def make_trial(given: tuple[bytes, tuple[FlowTest, ...]]) -> Callable[[tuple[Mutant, tuple[int, ...]]], Trial]:
    """Return what tries a mutant of the plan in a file, with the tests of these numbers."""
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
    """Return the first thing that a test says against a plan; nothing when it passes."""
    found = run_test(program, test)
    if found.trouble is not None:
        return found.trouble
    return next((each.told for each in find_mismatches(test.expected, found)), None)
