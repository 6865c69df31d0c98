"""`stagec.runs`: runs in an event loop, with parts of the caller, of stagec, and people who answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from playable import asking, stages, steps
from world.models.wire import Said, serve

from stagec import runs
from stagec.core.failure import Failure
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.machine import Ask, Call, Outcome, Shell, Started, Turn
from stagec.runs import OwnWorld, Questioned, RunEnded, RunHandle, StepTaken
from stagec.runtime.drivers.local import JournalError, read_journal

T = TypeVar("T")
PAGES = Path(__file__).parents[1] / "plan_vectors" / "docs-repair" / "plan.json"
WRITTEN = Said("I write.", [("c", "submit_page", '{"page": "docs/a.md"}')])
CHECKED = Said("", [("c", "submit_verdict", '{"page": "docs/a.md", "broken": false, "faults": []}')])
STARTED = Started("r1", inputs={"topic": "owls"})


def wait(given: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(given, 20))


async def write(effect: Ask) -> Any:
    return {"answer": {"action": "closing" if "close" in effect.key else "next"}}


def test_a_run_asks_the_caller_and_stagec() -> None:
    async def play() -> tuple[runs.RunResult, list[runs.RunEvent]]:
        async with await runs.start(dump(steps()), STARTED, answers={Ask: write}) as run:
            return await run.result(), [event async for event in run.follow()]

    result, events = wait(play())
    assert (result.outcome, result.failure, result.reason) == (Outcome.DONE, None, "completed")
    assert result.state.executions == 2
    taken = [each for each in events if isinstance(each, StepTaken)]
    assert [each.seq for each in taken] == [*range(len(taken))]
    assert [(move.node, move.to) for each in taken for move in each.moves] == [("draft", ("close",)), ("close", ())]
    assert isinstance(events[-1], RunEnded)
    assert events[-1].to_json()["outcome"] == "done"


def test_plain_functions_answer_in_threads() -> None:
    seen: list[str] = []

    def check(_effect: Shell) -> Any:
        seen.append(threading.current_thread().name)
        return {"exit": 0}

    result = runs.run(dump(steps()), STARTED, answers={Ask: write, Shell: check}, own=None)
    assert result.outcome is Outcome.DONE
    assert seen != [threading.main_thread().name]


def test_a_request_that_nobody_answers_interrupts_the_run(tmp_path: Path) -> None:
    async def play() -> None:
        async with await runs.start(dump(steps()), STARTED, own=None, journal=tmp_path / "r") as run:
            with pytest.raises(Failure, match=r"nobody answers the request 'r1/draft#1/1\.0'"):
                async for _ in run.follow():
                    pass

    wait(play())
    result = runs.run(b"", STARTED, answers={Ask: write}, journal=tmp_path / "r")
    assert result.outcome is Outcome.DONE


def test_what_a_journal_has_is_not_asked_again(tmp_path: Path) -> None:
    asked: list[str] = []
    begun = asyncio.Event()

    async def stop(effect: Ask) -> Any:
        asked.append(effect.key)
        if len(asked) == 2:
            begun.set()
            await asyncio.Event().wait()
        return await write(effect)

    async def play() -> runs.RunResult:
        plan = dump(steps())
        async with await runs.start(plan, STARTED, answers={Ask: stop}, journal=tmp_path / "r") as run:
            await begun.wait()
            assert run.state.executions == 2
        with pytest.raises(JournalError):
            await runs.start(plan, STARTED, journal=tmp_path / "r")
        async with await runs.resume(tmp_path / "r", answers={Ask: stop}) as run:
            assert run.state.executions == 2
            return await run.result()

    assert wait(play()).outcome is Outcome.DONE
    assert asked == ["r1/draft#1/1.0", "r1/close#1/1.0", "r1/close#1/1.0"]
    assert len(read_journal(tmp_path / "r").events) == 4


async def use_tool(effect: Turn) -> Any:
    said = sum(each.role == "assistant" for each in effect.transcript)
    calls = [{"id": "1", "tool": effect.completion, "arguments": {"words": 3}}]
    return {"calls": calls if said else [{"id": "0", "tool": "Bash", "arguments": {"command": "ls"}}]}


async def called(_effect: Call) -> Any:
    return {"value": "owls.txt"}


PARTS = {Turn: use_tool, Call: called}
BUSY = Started("r1", inputs={"busy": True})


def test_people_answer_questions() -> None:
    async def play() -> tuple[list[str], runs.RunResult]:
        kinds = []
        async with await runs.start(dump(asking()), BUSY, answers=PARTS, own=None) as run:
            async for event in run.follow():
                if isinstance(event, Questioned):
                    assert event.question.key in [each.key for each in run.list_questions()]
                    assert event.to_json()["key"] == event.question.key
                    run.answer(event.question.key, yes=True)
                    with pytest.raises(Failure, match="the run asks nobody the question"):
                        run.answer(event.question.key, yes=False)
                    kinds.append(event.question.kind)
            return kinds, await run.result()

    kinds, result = wait(play())
    assert kinds == ["confirm", "grant", "grant", "grant"]
    assert result.outcome is Outcome.DONE


def test_a_run_that_waits_for_people_holds_no_thread() -> None:
    async def play() -> list[int]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        plan = dump(asking())
        handles = [await runs.start(plan, replace(BUSY, run=f"r{number}"), answers=PARTS) for number in range(9)]
        for run in handles:
            async for event in run.follow():
                if isinstance(event, Questioned):
                    break
        waiting = [len(each.list_questions()) for each in handles]
        for run in handles:
            await run.close()
        return waiting

    assert wait(play()) == [1] * 9


def test_an_answer_that_is_there_when_a_run_is_closed_is_kept(tmp_path: Path) -> None:
    async def play() -> None:
        run = await runs.start(dump(asking()), BUSY, answers=PARTS, own=None, journal=tmp_path / "r")
        async for event in run.follow():
            if isinstance(event, Questioned):
                run.answer(event.question.key, yes=True)
                await asyncio.sleep(0)
                await run.close()
                break

    wait(play())
    assert len(read_journal(tmp_path / "r").events) == 2


def test_a_run_can_be_cancelled() -> None:
    async def never(_effect: Ask) -> Any:
        await asyncio.Event().wait()

    async def play() -> runs.RunResult:
        async with await runs.start(dump(steps()), STARTED, answers={Ask: never}) as run:
            run.cancel("nobody needs it")
            return await run.result()

    result = wait(play())
    assert result.outcome is Outcome.FAILED
    assert "nobody needs it" in result.reason


def test_several_follow_a_run_and_one_begins_later() -> None:
    async def read(run: RunHandle, since: int) -> int:
        return len([event async for event in run.follow(since)])

    async def play() -> list[int]:
        async with await runs.start(dump(steps()), STARTED, answers={Ask: write}) as run:
            return [*await asyncio.gather(read(run, 0), read(run, 0)), await read(run, 2)]

    first, second, later = wait(play())
    assert first == second == later + 2


def test_a_run_that_cannot_begin_is_refused() -> None:
    with pytest.raises(Failure, match="there is no input 'more'"):
        runs.run(dump(steps()), Started("r1", inputs={"more": 1}))


def test_a_faulty_scenario_is_a_failure_and_nothing_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "s.json"
    scenario.write_text('{"answer": {}}')
    with pytest.raises(Failure, match=r"s\.json' is not a valid scenario: 1 mistake") as caught:
        runs.run(dump(steps()), STARTED, own=OwnWorld(scenario=scenario))
    (hint,) = caught.value.hints
    assert f"{scenario}:1:2: STG" in hint
    assert "'answer'" in hint
    assert capfd.readouterr() == ("", "")


def test_stagecs_own_models_answer_by_a_scenario(tmp_path: Path) -> None:
    scenario = tmp_path / "s.json"
    scenario.write_text('{"answers": {"draft": [{"action": "next"}], "close": [{"action": "closing"}]}}')
    told: list[runs.RunEvent] = []
    result = runs.run(dump(steps()), STARTED, own=OwnWorld(scenario=scenario), observe=told.append)
    assert result.outcome is Outcome.DONE
    assert isinstance(told[-1], RunEnded)


async def read_page(effect: Turn) -> Any:
    read = [each.text for each in effect.transcript if each.call == "0"]
    arguments: Any = {"words": len(read[0].split())} if read else {"path": "page.md"}
    call = {"id": str(len(read)), "tool": effect.completion if read else "Read", "arguments": arguments}
    return {"calls": [call]}


def test_stagecs_own_tools_work_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("one two three")
    result = runs.run(dump(stages()), Started("r1"), answers={Turn: read_page}, own=OwnWorld(tools_in=tmp_path))
    assert result.outcome is Outcome.DONE
    assert isinstance(result.result, dict)
    assert result.result["parsed"] == {"words": 3}


def test_stagecs_own_models_stop_at_a_budget_and_the_run_goes_on_with_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def go_on(most: int) -> runs.RunResult:
        own = OwnWorld(models={"default": "openai:gpt"}, most_tokens=most)
        started = Started("r1", inputs={"topic": "installation"})
        return runs.run(PAGES.read_bytes(), started, own=own, journal=tmp_path / "r")

    with serve(WRITTEN, CHECKED) as wire:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{wire.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        with pytest.raises(Failure, match="has used 15 tokens"):
            go_on(15)
        assert go_on(16).outcome is Outcome.DONE
    assert len(wire.asked) == 2


def test_a_script_decides_for_people() -> None:
    asked: list[str] = []

    def decide(question: Any) -> bool:
        asked.append(question.sentence)
        return True

    result = runs.run(dump(asking()), BUSY, answers=PARTS, own=None, decide=decide)
    assert result.outcome is Outcome.DONE
    assert asked[0].startswith("may stage 'plan' act: ")
    refused = runs.run(dump(asking()), BUSY, answers=PARTS, own=None)
    assert refused.outcome is Outcome.FAILED
