"""Scenarios that cover flows: they do what they claim, and there are few of them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import pytest
from benchmarks._scaling.pipelines import PIPELINES
from campaigns import choose, sample
from frontends.stages.freezing.test_random_pipelines import covered, meaning_of
from orchestrated import write_orchestrator
from properties.test_pipelines import stage
from random_steps import Arcs, make_graph, make_plan, make_tree

from stagec.change.flow_tests.coverage import CoveredPart, list_parts, measure_coverage
from stagec.change.flow_tests.paths.choices import AnswerChoice
from stagec.change.flow_tests.paths.finder import PathFinder, PathSet, find_paths, list_starts
from stagec.change.flow_tests.paths.search import Played, Player
from stagec.change.flow_tests.watched_steps import WatchedSteps
from stagec.change.flow_tests.witness import search_briefly
from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.core.value import replace, value
from stagec.ir.plan import dump
from stagec.runtime.machine import Answered, Event, Program, Started, State, StepResult, advance, load
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.samples import _Maker
from stagec.sources.project.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "registries"
SIZES = choose(4, whole=12)


def folders() -> list[Path]:
    """Return the examples and the agents of the corpus."""
    found = [each for each in sorted(EXAMPLES.iterdir()) if each.is_dir()]
    if "STAGEC_CORPUS" in os.environ:
        agents = sorted((Path(os.environ["STAGEC_CORPUS"]).resolve() / "agents").iterdir())
        found += sample([each for each in agents if each.is_dir()], 8, full=8)
    return found


def programs(folder: Path) -> Iterator[Program]:
    """Yield the programs of a project without errors."""
    compiled = compile_project(Project(folder, (folder,), Settings()))
    if all(each.severity is not Severity.ERROR for each in compiled.diagnostics):
        yield from (load(dump(each.plan())) for each in compiled.meanings if each.has_plan)


def test_a_program_without_inputs_has_one_beginning() -> None:
    first, others = list_starts(program_of(make_plan(make_tree(Random(1), 5))))
    assert (len(first), others) == (1, ())


def check_claims(program: Program, found: PathSet) -> None:
    """Check that everything is either covered, as `stagec test` measures it, or missing with a reason."""
    measured = measure_coverage(program.plan, [each.found for each in found.paths])
    missing = {each.item for each in found.missing if isinstance(each.item, CoveredPart)}
    assert measured.run | missing == {*list_parts(program.plan)}
    assert measured.run.isdisjoint(missing)
    assert [each.why for each in found.missing if not each.why or each.why.startswith("no scenario")] == []
    for each in found.paths:
        others = [other.found for other in found.paths if other is not each]
        assert measure_coverage(program.plan, others).run < measured.run, "a run covers nothing of its own"


@pytest.mark.parametrize("folder", folders(), ids=lambda each: each.name)
def test_scenarios_of_examples_and_agents_cover_what_they_claim(folder: Path) -> None:
    for program in programs(folder):
        found = find_paths(program)
        check_claims(program, found)
        assert folder.parent != EXAMPLES or not found.missing


@pytest.mark.parametrize("seed", range(SIZES))
def test_a_tree_has_a_scenario_for_each_leaf(seed: int) -> None:
    arcs = make_tree(Random(seed), 4 + 7 * seed)
    found = find_paths(program_of(make_plan(arcs)))
    assert len(found.paths) == sum(each == [None] for each in arcs)
    assert (found.missing, found.coverage.percent) == ((), 100)


@pytest.mark.parametrize("seed", range(SIZES))
def test_a_graph_with_cycles_has_as_few_scenarios_as_can_be(seed: int) -> None:
    arcs = make_graph(Random(seed), 4 + 5 * seed, 3 + 7 * seed)
    found = find_paths(program_of(make_plan(arcs)))
    assert (found.missing, len(found.paths)) == ((), count_needed(arcs))


def test_more_executions_than_one_set_has_room_for_are_left_out_by_name() -> None:
    steps = 120  # each may be the last one, which takes more than 7,000 executions in all
    program = program_of(make_plan([*([at + 1, None] for at in range(steps)), [None]]))
    found = find_paths(program)
    check_claims(program, found)
    lengths = [len(each.found.path) for each in found.paths]
    assert max(lengths) == steps + 1
    assert sum(lengths) - sorted(lengths)[-2] <= 6_000 <= sum(lengths), "the run that fills the room is the last"
    assert found.missing
    assert {each.why for each in found.missing} == {
        "not written: the other runs have 6,000 executions together, which is the most; see '--to'"
    }


def make_pipeline(folder: Path, title: str, count: int) -> Program:
    """Return the program of a pipeline with so many of something."""
    files = next(each.files for each in PIPELINES.rows if each.title == title)(count, faulty=False)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(str(text))
    return next(programs(folder))


@pytest.mark.parametrize("title", ["boolean fields of cases", "paths of cases"])
@pytest.mark.parametrize("count", [3, 40])
def test_each_case_about_a_member_of_its_own_is_taken(title: str, count: int, tmp_path: Path) -> None:
    program = make_pipeline(tmp_path, title, count)
    found = find_paths(program)
    check_claims(program, found)
    assert not found.missing


@pytest.mark.parametrize("title", ["boolean fields of cases", "paths of cases", "terms of a case"])
def test_four_times_as_many_cases_are_compiled_with_as_few_made_up_answers(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    make = _Maker.simplest

    def counted(self: _Maker, schema: Any, depth: int) -> Any:
        made[-1] += depth == 0
        return make(self, schema, depth)

    monkeypatch.setattr(_Maker, "simplest", counted)
    for count in (60, 240):
        made.append(0)
        folder = tmp_path / str(count)
        make_pipeline(folder, title, count)
        compile_project(Project(folder, (folder,), Settings()), search_briefly)
    assert 0 < made[0] == made[1]


def test_every_branch_of_a_wide_fork_is_come_to(tmp_path: Path) -> None:
    program = make_pipeline(tmp_path, "siblings", 24)
    found = find_paths(program)
    check_claims(program, found)
    assert {part.node for part in found.coverage.run} == {*program.plan.nodes}
    assert {each.why for each in found.missing} == {
        "no answer that leads there was found, and 3,000 further answers led to nothing new"
    }


def test_the_search_of_a_fork_ends_where_each_answer_takes_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stagec.change.flow_tests.paths.search._WORK", 200)
    found = find_paths(make_pipeline(tmp_path, "siblings", 30))
    reasons = {each.why.partition(", and ")[2] for each in found.missing}
    assert reasons == {"the search was given up: forks with too many branches"}


def count_needed(arcs: Arcs) -> int:
    """Return how many ways a graph needs at least: the most arcs of which no way takes two (Dilworth's theorem).

    All arcs of a strong component count as one.
    """
    graph = nx.DiGraph([(at, to) for at, leads in enumerate(arcs) for to in leads if to is not None])
    graph.add_node(0)
    condensed = nx.condensation(graph)
    place = condensed.graph["mapping"]
    between = [(place[at], None if to is None else place[to]) for at, leads in enumerate(arcs) for to in leads]
    elements = [each for each in between if each[0] != each[1]]
    elements += dict.fromkeys(each for each in between if each[0] == each[1])
    after = {each: {each, *nx.descendants(condensed, each)} for each in condensed}
    order = nx.Graph()
    left = [("l", at) for at in range(len(elements))]
    order.add_nodes_from([*left, *(("r", at) for at in range(len(elements)))])
    for at, (_, end) in enumerate(elements):
        for other, (begin, _) in enumerate(elements):
            if at != other and end is not None and begin in after[end]:
                order.add_edge(("l", at), ("r", other))
    matched = nx.bipartite.hopcroft_karp_matching(order, left)
    return len(elements) - len(matched) // 2


@value
class Optimum:
    """The fewest ways of a graph that are no longer than a limit and take all arcs for which there is room."""

    ways: int
    arcs: int


def find_optimum(arcs: Arcs, limit: int) -> Optimum | None:
    """Return the optimum, by trying all ways and all sets of them; None where there are too many ways."""
    masks = list_ways(arcs, limit)
    if masks is None:
        return None
    wanted = 0
    for each in masks:
        wanted |= each
    holders = {bit: [each for each in masks if each >> bit & 1] for bit in range(wanted.bit_length())}
    most = max(each.bit_count() for each in masks)
    best = wanted.bit_count()

    def take(left: int, used: int) -> None:
        nonlocal best
        if not left:
            best = min(best, used)
        elif used - (-left.bit_count() // most) < best:
            rarest = min((bit for bit in holders if left >> bit & 1), key=lambda bit: len(holders[bit]))
            for each in sorted(holders[rarest], key=lambda each: -(each & left).bit_count()):
                take(left & ~each, used + 1)

    take(wanted, 0)
    return Optimum(best, wanted.bit_count())


def list_ways(arcs: Arcs, limit: int) -> list[int] | None:
    """Return the arcs that ways take, as bits; of ways that take less than another one, none."""
    numbered = [(at, to) for at, leads in enumerate(arcs) for to in leads]
    front, ended = {0: [0]}, list[int]()
    for _ in range(limit):
        following: dict[int, list[int]] = {}
        for number, (source, target) in enumerate(numbered):
            made = [each | 1 << number for each in front.get(source, ())]
            (ended if target is None else following.setdefault(target, [])).extend(made)
        front = {at: leave_out_parts(masks) for at, masks in following.items()}
        ended = leave_out_parts(ended)
        if sum(map(len, front.values())) > 300:
            return None
    return ended


def leave_out_parts(masks: list[int]) -> list[int]:
    kept: list[int] = []
    for each in sorted(set(masks), key=int.bit_count, reverse=True):
        if all(each | other != other for other in kept):
            kept.append(each)
    return kept


@pytest.mark.parametrize(("room", "most"), [(2, 12), (3, 12), (5, 8)])
def test_narrow_limits_get_as_few_scenarios_as_can_be(room: int, most: int) -> None:
    looked = 0
    for seed in range(choose(5, whole=30)):
        random = Random(seed)
        arcs = make_graph(random, random.randrange(4, most), random.randrange(4, most))
        limit = find_depth(arcs) + room
        best = find_optimum(arcs, limit)
        if best is not None:
            found = find_paths(program_of(make_plan(arcs, limit)))
            taken = sum(each.kind in {"edge", "case"} for each in found.coverage.run)
            assert Optimum(len(found.paths), taken) == best, seed
            looked += 1
    assert looked > 0


def find_depth(arcs: Arcs) -> int:
    """Return how far from the beginning the farthest step is."""
    graph = nx.DiGraph([(at, to) for at, leads in enumerate(arcs) for to in leads if to is not None])
    graph.add_node(0)
    return max(nx.single_source_shortest_path_length(graph, 0).values())


def test_limits_that_cut_runs_short_cost_one_run_or_a_tenth_more() -> None:
    for seed in range(choose(6, whole=24)):
        random = Random(seed)
        arcs = make_graph(random, random.randrange(4, 25), random.randrange(4, 25))
        limit = 2 * find_depth(arcs) + 4
        program = program_of(make_plan(arcs, limit))
        found = find_paths(program)
        check_claims(program, found)
        assert not found.missing
        needed = max(count_needed(arcs), -(-sum(map(len, arcs)) // limit))
        assert len(found.paths) <= max(needed + 1, 1.1 * needed), seed


def test_what_a_limit_keeps_runs_from_is_missing_with_the_reason() -> None:
    found = find_paths(program_of(make_plan([[1], [2], [None]], limit=2)))
    assert {each.why for each in found.missing} == {"no run reaches it, and limits end some runs first"}
    assert {each.told for each in found.missing} == {"step 's2'", "'s2' → the end on 'way0'"}


@pytest.mark.parametrize("seed", range(choose(6, whole=20)))
def test_forks_chains_and_joins_of_random_pipelines_are_claimed_as_they_run(seed: int, tmp_path: Path) -> None:
    meaning, is_clean = meaning_of(tmp_path, covered(Random(seed)))
    if is_clean:
        program = program_of(meaning.plan())
        check_claims(program, find_paths(program))


@pytest.mark.parametrize("seed", range(choose(6, whole=40)))
def test_a_run_is_the_same_as_if_each_silent_turn_was_executed(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    given = covered(random)
    for each in given["stages"]:
        each |= {"turnCap": random.randint(1, 5), "retryPolicy": {"maxAttempts": random.randint(1, 3)}}
    meaning, is_clean = meaning_of(tmp_path, given)
    play = Player.play
    compared = 0

    def play_both(player: Player, played: Played, choice: AnswerChoice) -> Played | None:
        nonlocal compared
        after = play(player, played, choice)
        assert after == play(player, played, replace(choice, repeats=False))
        compared += choice.repeats
        return after

    monkeypatch.setattr(Player, "play", play_both)
    if is_clean:
        find_paths(program_of(meaning.plan()))
        assert compared


def test_a_search_takes_as_many_steps_for_a_high_turn_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: Counter[int] = Counter()
    for cap in (5, 500):

        def count(*given: Any, cap: int = cap) -> StepResult:
            steps[cap] += 1
            return advance(*given)

        stages = [{**stage(name), "turnCap": cap} for name in "abc"]
        meaning, _ = meaning_of(tmp_path, {"id": "demo", "entry": "a", "next": {"a": "b", "b": "c"}, "stages": stages})
        program = program_of(meaning.plan())
        monkeypatch.setattr("stagec.change.flow_tests.watched_steps.advance", count)
        assert not PathFinder(program).cover().missing
    assert steps[5] == steps[500] > 0


def test_no_step_is_made_twice_for_the_runs_that_begin_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, str]] = []

    def watch(program: Program, state: State, event: Event) -> StepResult:
        if isinstance(event, Answered):
            made.append((event.key, json.dumps([event.answer, [*state.pending], state.executions])))
        return advance(program, state, event)

    names = [f"s{at}" for at in range(12)]
    stages = [{**stage(name), "turnCap": 1} for name in names]
    meaning, _ = meaning_of(tmp_path, {"id": "demo", "entry": "s0", "next": dict(pairwise(names)), "stages": stages})
    monkeypatch.setattr("stagec.change.flow_tests.watched_steps.advance", watch)
    found = find_paths(program_of(meaning.plan()))
    assert (len(found.paths), found.missing) == (len(names) + 1, ())
    assert max(Counter(made).values()) == 1


def test_kept_steps_tell_apart_answers_that_are_equal_in_python() -> None:
    program = program_of(make_plan([[1, 1], [None, 0]]))
    steps = WatchedSteps(program, 100)
    begun = steps.advance(State(), Started("test"))
    (asked,) = begun.state.pending
    answers: list[Any] = [{"answer": {"found": each}} for each in (1, True, 1.0, "1")]
    found = [steps.advance(begun.state, Answered(asked, each)) for each in answers]
    assert len({id(each) for each in found}) == len(answers)
    assert all(
        steps.advance(begun.state, Answered(asked, each)) is known for each, known in zip(answers, found, strict=True)
    )


def test_phases_run_their_agents(tmp_path: Path) -> None:
    write_orchestrator(tmp_path)
    found = {each.plan.id: find_paths(each) for each in programs(tmp_path)}
    assert [each.missing for each in found.values()] == [()] * len(found)
    (paths,) = (each.paths for name, each in found.items() if name not in {"builder", "reviewer"})
    assert any("failed" in json.dumps(each.test.scenario) for each in paths)


def test_the_shortest_run_to_a_node_is_the_only_one() -> None:
    program = program_of(make_plan([[1, 2], [3], [2, 3], [None, 0]]))
    found = find_paths(program, to="s3")
    assert [each.found.path for each in found.paths] == [("s0", "s1", "s3")]


def test_pairs_of_edges_are_covered() -> None:
    program = program_of(make_plan([[1, 1], [None, 0]]))
    single, double = find_paths(program), find_paths(program, pairs=True)
    assert (len(single.paths), len(double.paths)) == (1, 2)
    taken: set[Any] = set()
    for each in double.paths:
        edges = [edge[:2] for edge in each.found.taken]
        taken |= {*pairwise(edges)}
    assert len(taken) == 6


def test_each_end_of_a_chain_of_stages_needs_a_run_of_its_own() -> None:
    (program,) = programs(EXAMPLES / "wine-quality")
    found = find_paths(program)
    deepest = 6  # stages one after the other: each may fail, and be interrupted, after those before have succeeded
    assert (len(found.paths), found.missing) == (2 * deepest + 1, ())


def test_a_long_chain_of_stages_gets_as_many_runs_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stagec.change.flow_tests.paths.finder._ROOM", 12)
    (program,) = programs(EXAMPLES / "wine-quality")
    found = find_paths(program)
    check_claims(program, found)
    lengths = [each.found.executions for each in found.paths]
    assert sum(lengths) - min(lengths) <= 12 + max(lengths)
    assert {each.why for each in found.missing} == {
        "not written: the other runs have 12 executions together, which is the most; see '--to'"
    }
