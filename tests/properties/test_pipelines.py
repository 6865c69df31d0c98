"""Random pipelines: both graphs of their flows agree, and a simulation of their runs starts the same stages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from campaigns import choose
from graph.oracle import NetworkxGraph

from stagec.core.budgets import Budgets
from stagec.ir.flow import Flow
from stagec.ir.graph import Graph, build
from stagec.languages.stages import FRONTEND
from stagec.languages.stages.condition_errors import find_unreached_cases
from stagec.languages.stages.document import IncomingKind, Pipeline
from stagec.sources.read import Sources

CHUNKS, CHUNK = choose(4, whole=20), choose(30, whole=60)
MOST, DEEPEST = 1_000, 8
"""So many states of a run are looked at before the simulation gives up, and scopes inside each other."""

Machine = dict[str, Any]
Term = tuple[Any, ...]
"""What is left of a run: `("run", stage, sibling)`, `("fork", terms, join)`, `("chain", term, rest)`, or nothing."""

DONE: Term = ()


def has_unreached(found: Pipeline) -> bool:
    """Tell whether a case is an error because no result is left to it; its way counts as one then."""
    return any(True for each in found.stages for _ in find_unreached_cases(found, each))


def machine(random: Random) -> Machine:
    """Return a small pipeline without mistakes: cases, forks, joins, sequences, recoveries, checks, cycles, islands."""
    names = "abcdef"[: random.randint(1, 6)]
    checks = {name: [{"verdict": random.choice(("fail", "retry"))}] for name in names if random.random() < 0.15}
    stages = [{**stage(name), "next": cases} for name in names if (cases := routes(random, names)) is not None]
    known = {each["id"] for each in stages}
    stages += [stage(name) for name in names if name not in known]
    return {
        "id": "demo",
        "entry": "a",
        "maxStageExecutions": 99,
        "stages": stages,
        **({"checks": checks} if checks else {}),
    }


def stage(name: str) -> dict[str, Any]:
    return {"id": name, "body": "Go.", "turnCap": 1, "completionTool": "done", "completionSchema": {"type": "object"}}


def routes(random: Random, names: str) -> Any:
    """Return the cases of a stage, of which any may match, or nothing."""
    count = random.choice((0, 0, 1, 1, 1, 2, 3))
    cases = []
    for number in range(count):
        when = {"verdict": "fail"} if random.random() < 0.25 else {"parsed.case": number}
        cases.append({"when": when, **target(random, names)})
    return cases or None


def target(random: Random, names: str) -> dict[str, Any]:
    kind = random.random()
    if kind < 0.15:
        return {"stages": []}
    if kind < 0.65 or len(names) < 3:
        return {"stages": [random.choice(names)]}
    if kind < 0.75:
        return {"stages": random.choices(names, k=random.choice((2, 3)))}
    siblings = random.sample(names, k=random.choice((2, 2, 3)))
    others = [name for name in names if name not in siblings]
    join = {"join": random.choice(others)} if others and random.random() < 0.8 else {}
    return {"stages": siblings, "execution": "parallel", **join}


class Simulation:
    """Every run of a machine, step by step, as far as they can be followed."""

    def __init__(self, given: Machine) -> None:
        self._routes = {each["id"]: each.get("next", []) for each in given["stages"]}
        self._failing = set(given.get("checks", ()))
        self.started: set[str] = set()
        self.completes = False
        self.is_whole = self._explore(self._run(given["entry"]))

    def _explore(self, first: Term) -> bool:
        seen, todo, whole = {first}, [first], True
        for term in todo:
            fresh = set(self._steps(term)) - seen
            self.completes = self.completes or DONE in fresh
            seen |= fresh
            shallow = sorted((each for each in fresh if depth(each) <= DEEPEST), key=repr)
            whole = whole and len(shallow) == len(fresh)
            todo.extend(shallow)
            if len(seen) > MOST:
                return False
        return whole

    def _run(self, name: str, *, sibling: bool = False) -> Term:
        self.started.add(name)
        return ("run", name, sibling)

    def _steps(self, term: Term) -> Iterator[Term]:
        """Yield what may be left after the next step; a run that fails is over and left out."""
        match term:
            case ("run", name, sibling):
                yield from self._outcomes(name, sibling=sibling)
            case ("chain", first, rest):
                yield from (self._chain(left, rest) for left in self._steps(first))
            case ("fork", terms, join):
                for at, each in enumerate(terms):
                    yield from (self._fork((*terms[:at], left, *terms[at + 1 :]), join) for left in self._steps(each))

    def _outcomes(self, name: str, *, sibling: bool) -> Iterator[Term]:
        recoveries = [case for case in self._routes[name] if case["when"] == {"verdict": "fail"}]
        others = [] if sibling else [case for case in self._routes[name] if case not in recoveries]
        yield from map(self._follow, recoveries[:1])  # the first takes all failures
        if name not in self._failing:
            yield from map(self._follow, others)
            if not others:
                yield DONE

    def _follow(self, case: dict[str, Any]) -> Term:
        names = case["stages"]
        if case.get("execution") == "parallel":
            return self._fork(tuple(self._run(each, sibling=True) for each in names), case.get("join"))
        return self._chain(self._run(names[0]), tuple(names[1:])) if names else DONE

    def _chain(self, first: Term, rest: tuple[str, ...]) -> Term:
        if first == DONE:
            return self._chain(self._run(rest[0]), rest[1:]) if rest else DONE
        return ("chain", first, rest) if rest else first

    def _fork(self, terms: tuple[Term, ...], join: str | None) -> Term:
        left = tuple(sorted((each for each in terms if each != DONE), key=repr))
        if left:
            return ("fork", left, join)
        return self._run(join) if join is not None else DONE


def depth(term: Term) -> int:
    """Return how many scopes are open inside each other."""
    match term:
        case ("chain", first, _):
            return 1 + depth(first)
        case ("fork", terms, _):
            return 1 + max(map(depth, terms))
    return 0


def read(root: Path, given: Machine) -> Pipeline:
    sources = Sources(root, Budgets(), {"pipeline.json": json.dumps(given).encode()})
    (found,) = FRONTEND.read(sources, ("pipeline.json",))
    assert isinstance(found, Pipeline)
    return found


def lower(found: Pipeline) -> Flow:
    flow = FRONTEND.lower(found)
    assert flow is not None
    assert flow.exact
    return flow


def answers(graph: Graph | NetworkxGraph) -> dict[str, object]:
    return {
        "startable": graph.startable(),
        "completing": graph.completing(),
        "traps": graph.traps(),
        "components": set(graph.components()),
        "cycles": graph.cycles(),
        "shortest": graph.shortest_run(""),
    }


def is_mixed(found: Pipeline) -> bool:
    """Tell whether a stage runs both in parallel and alone: a node has the edges of both."""
    arrivals = [{way.kind for way in ways} for ways in found.incoming.values()]
    return any(IncomingKind.SIBLING in each and len(each) > 1 for each in arrivals)


def compared(simulated: Simulation, graph: Graph) -> tuple[set[str], bool]:
    """Return the stages that either finds and the other does not, and whether they differ in that runs complete."""
    return simulated.started ^ graph.startable(), simulated.completes != ("a" in graph.completing())


@pytest.mark.parametrize("random", list(map(Random, range(CHUNKS))), ids=range(CHUNKS))
def test_the_flow_of_a_pipeline_says_which_stages_its_runs_start(random: Random, tmp_path: Path) -> None:
    compared_whole = 0
    for _ in range(CHUNK):
        given = machine(random)
        found = read(tmp_path, given)
        graph, simulated = build(lower(found)), Simulation(given)
        assert answers(graph) == answers(NetworkxGraph(graph.flow)), given
        assert simulated.started <= graph.startable(), given
        assert not simulated.completes or "a" in graph.completing(), given
        if simulated.is_whole and not is_mixed(found) and not has_unreached(found):
            compared_whole += 1
            assert compared(simulated, graph) == (set(), False), given
    assert compared_whole > CHUNK // 3
