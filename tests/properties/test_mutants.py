"""Mistakes made at random in real projects are told as one error where they are; edits without meaning are not told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from campaigns import choose
from properties.mutants import equivalent, pipelines, plans, registries, schemas, slips
from properties.mutants.judge import SEVERAL, Bench, Verdict
from properties.mutants.projects import EXAMPLES, PLAN, Change, list_projects

MUTATIONS = {
    **registries.OPERATORS,
    **schemas.OPERATORS,
    **pipelines.OPERATORS,
    **plans.OPERATORS,
    "repeated key": slips.repeated_keys,
    "broken syntax": slips.broken_syntax,
}
EACH = choose(1, whole=2)
"""So many mutants of each project are made by each operator."""
OPERATORS = choose(12, whole=1_000)
"""So many operators are tried with each project."""
IN_PLAN = choose(1, whole=1_000)
"""So many mutants of the example of a stage plan are made by each operator."""
LEAST_RIGHT, LEAST_OF_UNSOUND = 0.95, 0.9
"""In a project with errors of its own, a mistake in what is in error already is folded under that."""
MOST_CASCADES = 0.01
FEW = 2
"""Of a few mutants one may be wrong, whatever part of them that is."""


def sample(name: str, operators: slips.Operators, bench: Bench) -> list[tuple[str, Change]]:
    """Return some changes of some operators, always the same ones; other projects have those of others."""
    chosen: list[tuple[str, Change]] = []
    tried = Random(name).sample(sorted(operators), min(OPERATORS, len(operators)))
    for operator, make in ((each, operators[each]) for each in tried):
        chance = Random(f"{name} {operator}")
        every = list(make(bench.base, chance))
        chosen += [(operator, each) for each in chance.sample(every, min(EACH, len(every)))]
    return chosen


@pytest.fixture(scope="module", params=list_projects(), ids=lambda root: root.name)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    root: Path = request.param
    return Bench(root, tmp_path_factory.mktemp("mutants"))


def test_a_mistake_is_told_as_one_error_where_it_was_made(bench: Bench) -> None:
    judged = [(name, bench.judge(change)) for name, change in sample(bench.base.name, MUTATIONS, bench)]
    wrong = [(name, verdict.what, [each.message for each in verdict.added]) for name, verdict in judged if verdict.what]
    found = Counter(what for _, what, _ in wrong)
    least = LEAST_RIGHT if bench.is_sound else LEAST_OF_UNSOUND
    assert len(wrong) <= max(FEW, (1 - least) * len(judged)), wrong
    assert found[SEVERAL] <= max(1, MOST_CASCADES * len(judged)), wrong


SLIPS: Mapping[str, tuple[slips.Operator, float]] = {
    "pasted member": (slips.pasted_members, MOST_CASCADES),
    "single quotes": (slips.single_quotes, MOST_CASCADES),
    "miscounted brace": (slips.miscounted_braces, MOST_CASCADES),
    "swapped values": (slips.swapped_values, 0.12),
}
"""Slips of a hand, and which part of them may have more than one error."""
OF_SLIPS = choose(3, whole=40)


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_of_the_hand_is_told_as_one_error(slip: str, tmp_path: Path) -> None:
    make, most = SLIPS[slip]
    judged: list[Verdict] = []
    for root in list_projects():
        bench = Bench(root, tmp_path)
        chance = Random(f"{root.name} {slip}")
        every = list(make(bench.base, chance)) if bench.is_sound else []
        judged += [bench.judge(each) for each in chance.sample(every, min(OF_SLIPS, len(every)))]
    several = [[each.message for each in verdict.added] for verdict in judged if verdict.what == SEVERAL]
    assert len(judged) >= choose(8, whole=20)
    assert len(several) <= max(1, most * len(judged)), several


def test_an_edit_without_meaning_is_not_told(bench: Bench) -> None:
    edits = sample(bench.base.name, equivalent.OPERATORS, bench)
    accused = {name: bench.find_accusations(change) for name, change in edits}
    assert {name: added for name, added in accused.items() if added} == {}


def test_every_mistake_in_a_stage_plan_is_told_as_one_error_where_it_was_made(tmp_path: Path) -> None:
    bench = Bench(EXAMPLES / PLAN, tmp_path)
    operators = {**plans.OPERATORS, "repeated key": slips.repeated_keys, "broken syntax": slips.broken_syntax}
    judged = []
    for name, make in operators.items():
        every = list(make(bench.base, Random(name)))
        judged += [(name, bench.judge(each)) for each in Random(name).sample(every, min(IN_PLAN, len(every)))]
    wrong = [(name, verdict.what, [each.message for each in verdict.added]) for name, verdict in judged if verdict.what]
    assert bench.is_sound
    assert wrong == []
    codes = {each.code for _, verdict in judged for each in verdict.added}
    assert len(judged) >= choose(25, whole=60)
    assert len({name for name, _ in judged}) >= 12
    assert len(codes) >= 25


def test_there_are_many_operators() -> None:
    assert len(MUTATIONS) >= 25
