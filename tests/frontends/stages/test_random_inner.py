"""Random pipelines in pipelines: none has an error, and runs pass the stages that the files say, one by one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from campaigns import choose

from stagec.check.pipeline import Meaning, Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.usage import Assumed
from stagec.ir.plan import dump, verify
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.history import History, dump_event, load_event
from stagec.runtime.drivers.replay import advance_through, digest_step, replay_twice
from stagec.runtime.machine import Answered, Event, Started, State, advance, load
from stagec.runtime.machine.exchange import Turn, read_key
from stagec.runtime.machine.failures import FailureKind
from stagec.sources.project.settings import Settings

BOUND, LEVELS = 130, 3
Files = dict[str, dict[str, Any]]
RESULT = {"type": "object", "required": ["n"], "properties": {"n": {"enum": [0, 1, 2]}}}


def make_project(random: Random) -> Files:
    """Return pipelines by their files: each level runs those below it as stages, and the outermost one may repeat."""
    files: Files = {}
    for level in reversed(range(LEVELS)):
        for number in range(1 if level == 0 else 2):
            below = [file for file in files if file.startswith(f"p{level + 1}")]
            files[f"p{level}-{number}/pipeline.json"] = _make_pipeline(random, below, is_outer=level == 0)
    return files


def _make_pipeline(random: Random, below: list[str], *, is_outer: bool) -> dict[str, Any]:
    """Return a pipeline whose stages lead to later ones, all of them to the last, which is the output."""
    names = [f"s{at}" for at in range(random.randint(1, 4 if is_outer else 3))]
    stages, routes, read = [], {}, "ctx.task" if is_outer else "ctx.given"
    for at, name in enumerate(names):
        later = names[at + 1 :]
        if below and random.random() < 0.5:
            stages.append({"id": name, "pipeline": f"../{random.choice(below)}", "inputs": {"given": read}})
        else:
            stages.append(_make_stage(name, read))
        if later and random.random() < 0.3:
            both = [f"{name}x", f"{name}y"]
            stages += [_make_stage(each, read) for each in both]
            routes[name] = {"stages": both, "execution": "parallel", "join": later[0]}
        elif later:
            routes[name] = [{"when": {"parsed.n": 0}, "stages": [random.choice(later)]}, {"stages": [later[0]]}]
        elif is_outer and random.random() < 0.7:
            routes[name] = [{"when": {"parsed.n": [0, 1]}, "stages": [random.choice(names)]}, {"stages": []}]
    context = {"task" if is_outer else "given": {"type": "string"}}
    own = {"maxStageExecutions": BOUND} if is_outer else {"output": names[-1]}
    if not is_outer and random.random() < 0.3:
        own["maxStageExecutions"] = BOUND  # more than any run of it needs
    return {"id": "p", "entry": names[0], "stages": stages, "context": context, "next": routes, **own}


def _make_stage(name: str, read: str) -> dict[str, Any]:
    body = f"See ${{{read}}}, then call `done`."
    return {
        "id": name,
        "body": body,
        "turnCap": 1,
        "allowedTools": [],
        "completionTool": "done",
        "completionSchema": RESULT,
    }


class Reference:
    """Follows what the files say, without a flow: a pipeline in a pipeline is a call."""

    def __init__(self, files: Files, seed: int) -> None:
        self._files, self._seed = files, seed
        self._visits: Counter[str] = Counter()

    def answer(self, node: str) -> int | None:
        """Return what a stage hands in at its next visit; nothing where it fails."""
        self._visits[node] += 1
        random = Random(f"{self._seed} {node} {self._visits[node]}")  # noqa: S311
        return None if random.random() < 0.03 and node[-1] not in "xy" else random.randrange(3)

    def follow(self, file: str, prefix: str = "") -> Iterator[str]:
        """Yield the stages of a run; the last result is returned."""
        pipeline = self._files[file]
        stages = {each["id"]: each for each in pipeline["stages"]}
        name: str | None = pipeline["entry"]
        while name is not None:
            called = stages[name].get("pipeline")
            if called is not None:
                result = yield from self.follow(called.removeprefix("../"), f"{prefix}{name}/")
            else:
                yield prefix + name
                result = self.answer(prefix + name)
            if result is None:
                return None
            route = pipeline["next"].get(name)
            if isinstance(route, dict):
                for sibling in route["stages"]:
                    yield prefix + sibling
                    self.answer(prefix + sibling)
                name = route["join"]
            else:
                name = self._choose(route, result)
        return result

    @staticmethod
    def _choose(cases: list[dict[str, Any]] | None, result: int) -> str | None:
        for case in cases or ():
            wanted = case.get("when", {}).get("parsed.n", result)
            if result in (wanted if isinstance(wanted, list) else [wanted]):
                return next(iter(case["stages"]), None)
        return None


def play(meaning: Meaning, answers: Reference) -> tuple[list[str], State]:
    """Run the plan of a flow, and hold its journal against a replay; return the stages in the order of their turns."""
    data = dump(meaning.plan())
    program, state, path = load(data), State(), list[str]()
    events: list[Event] = [Started("run", inputs={"task": "TASK"})]
    for event in events:  # grows while it is read
        state = advance(program, state, load_event(dump_event(event))).state
        if state.pending and state.ended is None:
            key, effect = next(iter(state.pending.items()))
            assert isinstance(effect, Turn)
            path.append(read_key(key).node)
            assert effect.transcript[0].text == "See TASK, then call `done`."
            n = answers.answer(path[-1])
            call = {"id": "1", "tool": "done", "arguments": {"n": n}}
            events.append(Answered(key, {"text": "?"} if n is None else {"calls": [call]}))
    digests = tuple(digest_step(number, step) for number, (_, step) in enumerate(advance_through(program, events)))
    replayed = replay_twice(program, load(data), History(data, program.digest, tuple(events), digests))
    assert replayed == state
    return path, state


@pytest.mark.parametrize("seed", range(choose(12, whole=600)))
def test_a_run_passes_the_stages_that_the_pipelines_say(seed: int, tmp_path: Path) -> None:
    files = make_project(Random(seed))  # noqa: S311
    texts = {file: json.dumps(each).encode() for file, each in files.items()}
    outer = "p0-0/pipeline.json"
    found = compile_project(Project(tmp_path, (tmp_path / outer,), Settings(), texts))
    assert [each for each in found.diagnostics if each.severity is Severity.ERROR] == []
    (meaning,) = found.meanings
    plan = meaning.plan()
    assert verify(dump(plan)).plan == plan
    assert [*plan.nodes] == [*meaning.flow.nodes]
    (entry,) = bound(plan, Assumed()).entries
    for run in range(3):
        path, state = play(meaning, Reference(files, run))
        expected = list(islice(Reference(files, run).follow(outer), BOUND + 1))
        is_cut = len(expected) > BOUND  # parallel stages do not begin unless there is room for both
        assert path == (expected[: len(path)] if is_cut and len(path) >= BOUND - 1 else expected), files
        assert (state.failure is not None and state.failure.kind == FailureKind.BOUND) == is_cut
        assert state.failure is not None or state.ended is Outcome.DONE
        assert state.executions <= (entry.executions.most or BOUND)
