"""A process is killed in a step that asks a model 17 times: what was answered is not repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from threading import Event as Flag
from typing import Any

import pytest
from campaigns import choose
from playable import steps

from stagec.cli.running.world_sources import Memory
from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.document import Limits, Tool
from stagec.ir.plan.facts import facts
from stagec.ir.plan.node import Edge, Fork, Go, Outcome, Stop
from stagec.runtime.drivers.local.drive import RunSession, proceed, restore, rewind
from stagec.runtime.drivers.local.journal import create, open_journal, read_journal
from stagec.runtime.drivers.replay import advance_through
from stagec.runtime.drivers.requests import Inbox
from stagec.runtime.drivers.usage_ledger import UsageLedger
from stagec.runtime.machine import Answered, Program, Started, State, load
from stagec.runtime.machine.exchange import Ask, Effect, Rewound, read_key, whole_key
from stagec.runtime.world.budget import Budget, BudgetedWorld, BudgetReached
from stagec.runtime.world.composed import ComposedWorld
from stagec.runtime.world.models.model_world import ModelChoice, ModelSetup, ModelWorld
from stagec.runtime.world.models.port import Listener, ModelCall, ModelReply, ModelRequest, TokenUse
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.tools.step_calls import StepCalls
from stagec.runtime.world.tools.toolbox import Toolbox

ROUNDS = 16
USED = TokenUse(10, 5, 1, "0.01")
ANY = Budget()
KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
TWO = Limits(20, parallel=2)


class Killed(BaseException):
    """Stands for the end of a process: nothing handles it."""


class Model:
    """Calls a tool 16 times before its answer; the conversation alone says how far it is."""

    def __init__(self, kill_at: int = 0, node: str = "draft") -> None:
        self.asked: list[ModelRequest] = []
        self.asked_later: list[ModelRequest] = []
        self._kill_at, self._node = kill_at, node

    def request(self, key: str, request: ModelRequest, _listen: Listener | None) -> ModelReply:
        if read_key(key).node != self._node:
            self.asked_later.append(request)
            if self._kill_at > ROUNDS + 1 and len(self.asked_later) == 1:
                raise Killed
            return ModelReply("", usage=USED, output={"action": "closing"})
        self.asked.append(request)
        if len(self.asked) == self._kill_at:
            raise Killed
        done = sum(each.role == "tool" for each in request.messages)
        if done == ROUNDS:
            return ModelReply("", usage=USED, output={"action": "next"})
        number = done // 2  # each call is made twice, so that equal calls are told apart
        return ModelReply("", (ModelCall(f"c{done}", "Look", {"number": number}),), USED)

    def cancel(self, key: str) -> None: ...

    def close(self) -> None: ...


class Look:
    """A tool that remembers the keys of its calls, as what it changes would."""

    names = ("Look",)

    def __init__(self, kill_at: int = 0) -> None:
        self.keys: list[str] = []
        self._kill_at = kill_at

    def define(self, name: str) -> ToolDefinition:
        return ToolDefinition(name, "", {"type": "object"})

    def call(self, key: str, _tool: str, arguments: Object) -> Any:
        self.keys.append(key)
        if len(self.keys) == self._kill_at:
            raise Killed
        return {"seen": arguments["number"]}

    def cancel(self, key: str) -> None: ...

    def close(self) -> None: ...


class Rest:
    """Runs the validation of the last step."""

    def takes(self, _effect: Effect) -> bool:
        return True

    def overlaps(self, _effect: Effect) -> bool:
        return False

    def answer(self, _effect: Effect) -> Json:
        return {"exit": 0, "stdout": "", "stderr": ""}

    def cancel(self, key: str) -> None: ...

    def close(self) -> None: ...


def make_plan() -> bytes:
    plan = steps()
    draft: Any = plan.nodes["draft"]
    nodes = {**plan.nodes, "draft": replace(draft, act=replace(draft.act, tools=("Look",)))}
    plan = replace(plan, nodes=nodes, tools={"Look": Tool("unknown", "read")})
    return dump(replace(plan, facts=facts(plan)))


PLAN = make_plan()


def program() -> Program:
    return load(PLAN)


def execute(path: Path, model: Model, look: Look, *, budget: Budget = ANY, is_heard: bool = False) -> State:
    """Begin a run, or resume it, as a process does."""
    run, is_new = program(), not path.exists()
    toolbox = Toolbox(run.plan, (look,), Redactor({}))
    models = ModelWorld(run.plan, ModelSetup(model, ModelChoice("some:model"), StepCalls(toolbox)))
    world = BudgetedWorld(ComposedWorld((models, toolbox, Rest())), budget)
    memory = Memory(world)
    with closing(create(path, PLAN, run.digest) if is_new else open_journal(path)) as journal:
        state = restore(run, journal.history, memory.observe)
        inbox = Inbox() if is_heard else None
        session = RunSession(run, journal, world, inbox=inbox, redactor=Redactor({}), parts=memory.parts)
        return proceed(session, state, Started("r", None, {"topic": "t"}) if is_new else None)


def requests_of(path: Path) -> int:
    """Return how many requests the ledger of a run counts; the price is that of as many."""
    ledger = UsageLedger()
    for event, step in advance_through(program(), read_journal(path).events):
        ledger.take(event, step)
    total = ledger.total or TokenUse()
    assert total.cost is None or float(total.cost) == pytest.approx(total.requests * 0.01)
    return total.requests


@pytest.mark.parametrize("is_heard", [False, True])
@pytest.mark.parametrize("k", range(1, ROUNDS + 2))
def test_a_kill_at_a_request_repeats_that_request_alone(k: int, tmp_path: Path, *, is_heard: bool) -> None:
    path, first, look = tmp_path / "one.run", Model(k), Look()
    with pytest.raises(Killed):
        execute(path, first, look, is_heard=is_heard)
    assert requests_of(path) == k - 1
    second, whole = Model(), Model()
    assert execute(path, second, look, is_heard=is_heard).ended is Outcome.DONE
    execute(tmp_path / "whole.run", whole, Look())
    assert [*first.asked[:-1], *second.asked] == whole.asked
    assert len(look.keys) == len(set(look.keys)) == ROUNDS
    assert requests_of(path) == requests_of(tmp_path / "whole.run")
    assert restore(program(), read_journal(path)).ended is Outcome.DONE


@pytest.mark.parametrize("k", [1, 2, ROUNDS])
def test_a_call_without_a_result_is_made_again_under_its_key(k: int, tmp_path: Path) -> None:
    path, first, again = tmp_path / "one.run", Look(k), Look()
    with pytest.raises(Killed):
        execute(path, Model(), first)
    second = Model()
    execute(path, second, again)
    assert len(second.asked) == ROUNDS + 1 - k
    assert Counter([*first.keys, *again.keys]) == Counter(
        {**dict.fromkeys(set(first.keys + again.keys), 1), first.keys[-1]: 2}
    )


@pytest.mark.parametrize("k", [1, 5, 9])
def test_a_budget_counts_what_was_used_before_a_kill_once(k: int, tmp_path: Path) -> None:
    path, first, second = tmp_path / "one.run", Model(k), Model()
    with pytest.raises(Killed):
        execute(path, first, Look(), budget=Budget(tokens=150))
    with pytest.raises(BudgetReached):
        execute(path, second, Look(), budget=Budget(tokens=150))
    assert len(first.asked) - 1 + len(second.asked) == 10
    with pytest.raises(BudgetReached):
        execute(path, Model(), Look(), budget=Budget(tokens=150))


class Talkative(Model):
    """Has found a key, and writes it into everything that it says."""

    def request(self, key: str, request: ModelRequest, listen: Listener | None) -> ModelReply:
        assert KEY not in repr(request)
        reply = super().request(key, request, listen)
        calls = tuple(replace(each, arguments={"number": KEY}) for each in reply.calls)
        output = {**reply.output, "found": KEY} if isinstance(reply.output, dict) else None
        return replace(reply, text=KEY, calls=calls, output=output)


@pytest.mark.parametrize("k", [2, ROUNDS + 1, ROUNDS + 2])
def test_a_model_is_told_the_same_with_and_without_a_kill(
    k: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    path, first, second, whole = tmp_path / "one.run", Talkative(k), Talkative(), Talkative()
    with pytest.raises(Killed):
        execute(path, first, Look())
    execute(path, second, Look())
    execute(tmp_path / "whole.run", whole, Look())
    assert [*first.asked[: k - 1], *second.asked] == whole.asked
    assert [*second.asked_later] == whole.asked_later
    assert sum(each.role == "tool" for each in whole.asked_later[0].messages) == ROUNDS


def test_a_step_goes_on_while_a_person_is_asked_in_the_thread_of_the_run(tmp_path: Path) -> None:
    plan, is_over = steps(), Flag()
    draft, close = plan.nodes["draft"], replace(plan.nodes["close"], validation=None)
    act: Any = draft.act
    both = (Edge("next", Fork(("look", "person"))), Edge("repeat", Go("draft")))
    ends = (Edge("next", Stop(Outcome.DONE)), Edge("repeat", Stop(Outcome.FAILED)))
    look = replace(draft, act=replace(act, tools=("Look",)), edges=ends)
    close = replace(close, edges=(Edge("closing", Stop(Outcome.DONE)), Edge("repeat", Stop(Outcome.FAILED))))
    nodes = {"draft": replace(draft, edges=both), "look": look, "person": close}
    plan = replace(
        plan, nodes=nodes, entries={"": "draft"}, validators={}, tools={"Look": Tool("unknown", "read")}, limits=TWO
    )
    run = load(dump(replace(plan, facts=facts(plan))))

    class Last(Look):
        def call(self, key: str, tool: str, arguments: Object) -> Any:
            if len(self.keys) == ROUNDS - 1:
                is_over.set()
            return super().call(key, tool, arguments)

    class People(Rest):
        def answer(self, effect: Effect) -> Json:
            if read_key(effect.key).node == "draft":
                return {"answer": {"action": "next"}}
            assert is_over.wait(60)
            return {"answer": {"action": "closing"}}

    toolbox = Toolbox(run.plan, (Last(),), Redactor({}))
    choice = ModelChoice(nodes={"look": "some:model"})
    models = ModelWorld(run.plan, ModelSetup(Model(node="look"), choice, StepCalls(toolbox)))
    world = BudgetedWorld(ComposedWorld((models, toolbox, People())), ANY)
    memory = Memory(world)
    with closing(create(tmp_path / "one.run", dump(run.plan), run.digest)) as journal:
        session = RunSession(run, journal, world, parts=memory.parts)
        assert proceed(session, State(), Started("r", None, {"topic": "t"})).ended is Outcome.DONE
    history = read_journal(tmp_path / "one.run")
    assert len(history.events) == 4 + 2 * ROUNDS
    assert restore(run, history).ended is Outcome.DONE


def test_a_step_is_answered_whole_where_no_journal_keeps_its_parts() -> None:
    look = Look()
    toolbox = Toolbox(program().plan, (look,), Redactor({}))
    models = ModelWorld(program().plan, ModelSetup(Model(), ModelChoice("some:model"), StepCalls(toolbox)))
    world = BudgetedWorld(ComposedWorld((models, toolbox, Rest())), ANY)
    Memory(world)
    told: Any = world.answer(Ask("r/draft#1/1.0", "Draft", tools=("Look",)))
    assert (told["answer"], len(look.keys)) == ({"action": "next"}, ROUNDS)


class Spending(Model):
    """Uses any number of tokens for each request."""

    def __init__(self, chance: Random, kill_at: int = 0) -> None:
        super().__init__(kill_at)
        self._chance = chance
        self.used: list[int] = []

    def request(self, key: str, request: ModelRequest, listen: Listener | None) -> ModelReply:
        reply = super().request(key, request, listen)
        self.used.append(self._chance.randrange(1, 100))
        return replace(reply, usage=TokenUse(self.used[-1], 0, 1, "0.01"))


@pytest.mark.parametrize("seed", range(choose(10, whole=200)))
def test_kills_take_no_run_over_its_budget_by_more_than_one_request(seed: int, tmp_path: Path) -> None:
    path, chance, used = tmp_path / "one.run", Random(seed), list[int]()  # noqa: S311
    budget, is_killed = Budget(tokens=chance.randrange(10, 1_200)), True
    while is_killed:
        model, is_killed = Spending(chance, chance.randrange(8)), False
        try:
            execute(path, model, Look(), budget=budget)
        except Killed:
            is_killed = True
        except BudgetReached:
            idle = Spending(chance)
            with pytest.raises(BudgetReached):
                execute(path, idle, Look(), budget=budget)
            assert idle.used == []
        used += model.used
    assert sum(used) < (budget.tokens or 0) + max(used)
    assert requests_of(path) == len(used)
    last = Spending(chance)
    if restore(program(), read_journal(path)).ended is None:
        execute(path, last, Look())
    assert len(used) + len(last.used) == requests_of(path) == ROUNDS + 2


def test_a_branch_that_begins_before_the_step_repeats_it_and_its_cost_counts(tmp_path: Path) -> None:
    path = tmp_path / "one.run"
    with pytest.raises(Killed):
        execute(path, Model(6), Look())
    with closing(open_journal(path)) as journal:
        rewind(journal, Rewound(1))
    second = Model()
    assert execute(path, second, Look()).ended is Outcome.DONE
    assert len(second.asked) == ROUNDS + 1
    execute(tmp_path / "whole.run", Model(), Look())
    assert requests_of(path) == requests_of(tmp_path / "whole.run") + 5


def test_a_branch_that_begins_within_the_step_keeps_what_was_answered_before(tmp_path: Path) -> None:
    path = tmp_path / "one.run"
    with pytest.raises(Killed):
        execute(path, Model(6), Look())
    with closing(open_journal(path)) as journal:
        rewind(journal, Rewound(5))  # behind two responses and two results
    second = Model(4)
    with pytest.raises(Killed):
        execute(path, second, Look())
    third = Model()
    assert execute(path, third, Look()).ended is Outcome.DONE
    assert len(third.asked) == ROUNDS + 1 - 2 - 3
    execute(tmp_path / "whole.run", Model(), Look())
    assert requests_of(path) == requests_of(tmp_path / "whole.run") + 3


@pytest.mark.parametrize(
    "damage", [lambda _: None, lambda part: {**part, "calls": [1]}, lambda _: {"call": "c", "result": {}}]
)
def test_a_part_that_no_session_writes_is_told(damage: Callable[[Any], Any], tmp_path: Path) -> None:
    path = tmp_path / "one.run"
    with pytest.raises(Killed):
        execute(path, Model(3), Look())
    history = read_journal(path)
    path.unlink()
    with closing(create(path, history.plan, history.digest)) as journal:
        for seq, event in enumerate(history.events):
            is_first = isinstance(event, Answered) and whole_key(event.key) is not None and seq == 1
            journal.append(replace(event, answer=damage(event.answer)) if is_first else event)
            journal.take_digest(history.step_digests[seq])
    with pytest.raises(Failure, match="its journal holds another response"):
        execute(path, Model(), Look())
