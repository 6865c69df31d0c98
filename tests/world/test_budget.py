"""Budgets: what is used up stops a run, unless somebody gives it more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from random import Random
from time import sleep
from typing import Any

import pytest
from campaigns import choose

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.runtime.machine import Effect
from stagec.runtime.machine.exchange import Ask, Wait
from stagec.runtime.world import budget as module
from stagec.runtime.world.budget import Budget, BudgetedWorld, BudgetReached, Excess, Extend
from stagec.runtime.world.composed import Meter
from stagec.runtime.world.models.port import TokenUse

FIRST, SECOND = Ask("r/write#1/1.0", "p"), Ask("r/check#1/1.0", "p")


class Spender:
    """A world each of whose answers has used as much."""

    def __init__(self, cost: str | None = "0.5") -> None:
        self.cost = cost
        self.asked: list[str] = []
        self.cancelled: list[str] = []

    def answer(self, effect: Effect) -> Json:
        self.asked.append(effect.key)
        return {"usage": {"input": 10, "output": 5, "requests": 1, "cost": self.cost}}

    def recall(self, effect: Effect, answer: Json) -> None: ...

    def be_metered(self, _meter: object) -> None: ...

    def overlaps(self, _effect: Effect) -> bool:
        return True

    def takes(self, _effect: Effect) -> bool:
        return True

    def name_provider(self, _effect: Effect) -> str:
        return ""

    def cancel(self, key: str) -> None:
        self.cancelled.append(key)


def _limit(given: Budget, extend: Extend | None = None, cost: str | None = "0.5") -> tuple[BudgetedWorld, Spender]:
    spender: Any = Spender(cost)
    return BudgetedWorld(spender, given, extend), spender


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what lets seconds pass for budgets."""
    now = [1000.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])

    def pass_time(seconds: float) -> None:
        now[0] += seconds

    return pass_time


@pytest.mark.parametrize(
    ("given", "options"),
    [(Budget(tokens=15), ("--max-tokens", "30")), (Budget(cost=Decimal("0.5")), ("--max-cost", "1.0"))],
)
def test_what_is_used_up_stops_the_run_and_says_how_it_goes_on(given: Budget, options: tuple[str, str]) -> None:
    world, spender = _limit(given)
    world.answer(FIRST)
    with pytest.raises(BudgetReached) as caught:
        world.answer(SECOND)
    assert caught.value.options == options
    assert spender.asked == [FIRST.key]


def test_what_is_not_used_up_stops_nothing() -> None:
    world, spender = _limit(Budget(tokens=16, cost=Decimal("0.51"), seconds=1e6))
    world.answer(FIRST)
    world.answer(SECOND)
    assert spender.asked == [FIRST.key, SECOND.key]


def test_only_models_have_a_budget(clock: Callable[[float], None]) -> None:
    world, spender = _limit(Budget(tokens=1, cost=Decimal("0.1"), seconds=1))
    world.answer(FIRST)
    clock(2)
    world.answer(Wait("r/check#1/1.0", 1))
    assert len(spender.asked) == 2


def test_what_was_used_before_counts_and_time_does_not(clock: Callable[[float], None]) -> None:
    clock(100)
    world, _ = _limit(Budget(tokens=15, seconds=10))
    world.recall(FIRST, {"usage": {"input": 10, "output": 5, "requests": 1, "cost": None}})
    with pytest.raises(BudgetReached, match="used 15 tokens"):
        world.answer(SECOND)


def test_somebody_hears_what_is_used_and_of_what_and_gives_more() -> None:
    heard: list[Excess] = []

    def extend(excess: Excess) -> Decimal:
        heard.append(excess)
        return Decimal(15)

    world, spender = _limit(Budget(tokens=15), extend)
    for _ in range(3):
        world.answer(FIRST)
        world.answer(SECOND)
    assert [(each.option, each.used, each.most) for each in heard] == [
        ("--max-tokens", used, used) for used in (15, 30, 45, 60, 75)
    ]
    assert {name: each.requests for name, each in heard[1].nodes.items()} == {"write": 1, "check": 1}
    assert len(spender.asked) == 6


def test_more_counts_from_what_is_used_and_time_stands_still_for_the_question(clock: Callable[[float], None]) -> None:
    asked = []

    def extend(excess: Excess) -> Decimal:
        asked.append(excess.used)
        clock(1000)
        return Decimal(5)

    world, spender = _limit(Budget(seconds=10), extend)
    clock(12)
    world.answer(FIRST)
    clock(4)
    world.answer(FIRST)
    clock(2)
    world.answer(FIRST)
    assert asked == [12, 18]
    assert len(spender.asked) == 3


def test_each_budget_is_asked_about_on_its_own() -> None:
    asked = []

    def extend(excess: Excess) -> Decimal:
        asked.append(excess.option)
        return Decimal(1000)

    world, _ = _limit(Budget(tokens=1, cost=Decimal("0.1")), extend)
    world.answer(FIRST)
    world.answer(FIRST)
    assert asked == ["--max-tokens", "--max-cost"]


def test_a_no_stops_the_run_and_is_not_asked_for_again() -> None:
    asked = []

    def refuse(excess: Excess) -> None:
        asked.append(excess.option)

    world, _ = _limit(Budget(tokens=15), refuse)
    world.answer(FIRST)
    for _ in range(3):
        with pytest.raises(BudgetReached):
            world.answer(SECOND)
    assert len(asked) == 1


def test_of_many_that_wait_one_asks_and_nobody_begins_before_the_answer() -> None:
    world, spender = _limit(Budget(tokens=1), lambda _excess: Decimal(1000) if waiting.wait(20) else None)
    waiting = threading.Event()
    world.answer(FIRST)
    threads = [threading.Thread(target=world.answer, args=(Ask(f"r/s{n}#1/1.0", "p"),)) for n in range(8)]
    for each in threads:
        each.start()
    assert spender.asked == [FIRST.key]
    waiting.set()
    for each in threads:
        each.join(20)
    assert len(spender.asked) == 9


def test_a_request_that_was_cancelled_before_its_turn_is_not_made_and_asks_for_nothing() -> None:
    world, spender = _limit(Budget(tokens=1), lambda _excess: Decimal(1000))
    world.answer(FIRST)
    world.cancel(SECOND.key)
    with pytest.raises(BudgetReached):
        world.answer(SECOND)
    assert (spender.asked, spender.cancelled) == ([FIRST.key], [SECOND.key])
    world.answer(FIRST)
    assert len(spender.asked) == 2


def test_a_price_that_nobody_knows_holds_no_budget() -> None:
    world, _ = _limit(Budget(cost=Decimal(5)), lambda _: Decimal(5), cost=None)
    world.answer(FIRST)
    with pytest.raises(Failure, match="price of a model is unknown"):
        world.answer(SECOND)


class Hanging(Spender):
    """A world that answers as soon as a request is cancelled, and not before."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()

    def answer(self, effect: Effect) -> Json:
        super().answer(effect)
        assert self.over.wait(20)
        raise Failure("the request was cancelled")

    def cancel(self, key: str) -> None:
        super().cancel(key)
        self.over.set()


def test_a_request_that_is_under_way_when_the_time_is_over_is_cancelled() -> None:
    hanging: Any = Hanging()
    with pytest.raises(BudgetReached, match=r"has taken .* s: --max-time allows 0.05 s") as caught:
        BudgetedWorld(hanging, Budget(seconds=0.05)).answer(FIRST)
    assert hanging.cancelled == [FIRST.key]
    assert caught.value.options == ("--max-time", "0.05")


def test_a_request_that_is_under_way_goes_on_if_somebody_gives_more_time() -> None:
    hanging: Any = Hanging()
    given = [Decimal("0.05")]
    with pytest.raises(BudgetReached):
        BudgetedWorld(hanging, Budget(seconds=0.05), lambda _: given.pop() if given else None).answer(FIRST)
    assert (given, hanging.asked) == ([], [FIRST.key])


def test_a_request_that_waits_for_another_is_given_up_with_it_when_the_time_is_over() -> None:
    hanging: Any = Hanging()
    world = BudgetedWorld(hanging, Budget(tokens=1_000, seconds=0.05))

    def ask() -> None:
        with suppress(BudgetReached):
            world.answer(FIRST)

    first = threading.Thread(target=ask)
    first.start()
    while not hanging.asked:
        sleep(0.001)
    with pytest.raises(BudgetReached, match=r"--max-time allows 0\.05 s"):
        world.answer(SECOND)
    first.join(10)
    assert (hanging.asked, first.is_alive()) == ([FIRST.key], False)


def test_a_fault_in_time_stays_what_it_is() -> None:
    hanging: Any = Hanging()
    hanging.over.set()
    with pytest.raises(Failure, match="was cancelled") as caught:
        BudgetedWorld(hanging, Budget(seconds=600)).answer(FIRST)
    assert not isinstance(caught.value, BudgetReached)


@pytest.mark.parametrize("seed", range(choose(20, whole=200)))
def test_no_run_is_over_its_budget_by_more_than_one_request(seed: int) -> None:
    """Several nodes ask at once, each several times for one answer, as steps do that call tools."""
    random = Random(seed)  # noqa: S311
    tokens, sizes = random.randrange(10, 3_000), [random.randrange(1, 200) for _ in range(200)]
    meters: list[Meter] = []
    spent: list[int] = []

    class Steps(Spender):
        def be_metered(self, meter: Meter) -> None:
            meters.append(meter)

        def answer(self, effect: Effect) -> Json:
            total = 0
            for index in range(3):
                if index:
                    meters[0].reserve(effect)
                size = sizes.pop()
                sleep(0)
                spent.append(size)
                meters[0].spend(effect, TokenUse(size, 0, 1))
                total += size
            return {"usage": {"input": total, "output": 0, "requests": 3}}

    whole: Any = Steps()
    world = BudgetedWorld(whole, Budget(tokens=tokens))

    def ask(node: str) -> None:
        with suppress(BudgetReached):
            for visit in range(1, 15):
                world.answer(Ask(f"r/{node}#{visit}/1.0", "p"))

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(spent) < tokens + max(spent)
    assert sum(spent) >= tokens or len(spent) == 168
