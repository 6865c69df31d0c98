"""Budgets of runs: what models may use, counted from the answers in the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from threading import Condition, Event, Lock, Thread
from time import monotonic

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import NOTHING, replace, value
from stagec.runtime.machine.exchange import Ask, Effect, Turn, read_key
from stagec.runtime.world.composed import ComposedWorld, Recorder
from stagec.runtime.world.models.port import TokenUse, add_usage, read_usage


@value
class Budget:
    """The most that a run may use: tokens in and out together, US dollars, and seconds of this process; None: any."""

    tokens: int | None = None
    cost: Decimal | None = None
    seconds: float | None = None


@value
class Excess:
    """An exhausted budget: its option, the amounts used and allowed, and the use of each node."""

    option: str
    told: str
    unit: str
    used: Decimal
    most: Decimal
    nodes: Mapping[str, TokenUse] = NOTHING


class BudgetReached(Failure):
    """Stops a run; it goes on when it is resumed with `options`, or with more."""

    def __init__(self, excess: Excess) -> None:
        super().__init__(excess.told)
        enough = excess.most if excess.option == _TIME else excess.used + excess.most
        self.options = (excess.option, format(enough, "f"))


Extend = Callable[[Excess], Decimal | None]
"""Returns how much more a run may use; None: nothing, the run stops."""

_SOON, _DAY = 0.2, 86_400.0
"""Seconds between two attempts to cancel a request, and seconds of a day."""
_TOKENS, _COST, _TIME = "--max-tokens", "--max-cost", "--max-time"


_GROWTH, _SHARE = 4, 10
"""A request is expected to use at most so many times as much as the largest before, or this part of the budget,"""
_TOKENS_AT_LEAST, _COST_AT_LEAST = Decimal(20_000), Decimal("0.25")
"""or so much, whichever is most: a small budget is spent by one request after the other."""


class BudgetedWorld:
    """A world that asks no model any more when a budget is used up, unless somebody extends it.

    It is asked before each request to a model, also in the course of a step. What is under way is not broken off for
    tokens or cost; when the time is over, it is. A request waits for those that are under way while they may use the
    budget up, if each is much larger than those before: so a run uses at most one request more than its tokens and its
    money. While somebody is asked for more, no request to a model begins, and the time does not count.
    """

    def __init__(self, world: ComposedWorld, budget: Budget, extend: Extend | None = None) -> None:
        self._world, self._budget, self._extend = world, budget, extend
        self._begin = monotonic()
        self._nodes: dict[str, TokenUse] = {}
        self._open: dict[str, TokenUse] = {}
        """The use of unanswered requests, by key."""
        self._lock, self._turn = Lock(), Lock()
        self._ended = Condition(self._lock)
        self._under_way: set[str] = set()
        self._largest: TokenUse | None = None
        """The most tokens, and the highest price, of a request until now."""
        self._cancelled: set[str] = set()
        self.overlaps, self.takes, self.name_provider = world.overlaps, world.takes, world.name_provider
        world.be_metered(self)

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request, or raise `BudgetReached`."""
        if not isinstance(effect, Ask | Turn):
            return self._world.answer(effect)
        self.reserve(effect)
        try:
            has_limit = self._budget.seconds is not None
            answer = self._answer_in_time(effect) if has_limit else self._world.answer(effect)
            self._count(effect, answer)
        finally:
            self._end(effect.key)
        return answer

    def _answer_in_time(self, effect: Effect) -> Json:
        """Return the answer to a request; one that is under way when the time is over is cancelled."""
        over, reached = Event(), list[BudgetReached]()
        Thread(target=self._cancel_late, args=(effect.key, over, reached), daemon=True).start()
        try:
            return self._world.answer(effect)
        except Failure as failure:
            if reached:
                raise reached[0] from failure
            raise
        finally:
            over.set()

    def _cancel_late(self, key: str, over: Event, reached: list[BudgetReached]) -> None:
        """Cancel a request when the time is over, unless somebody gives it more, or it is `over` before."""
        try:
            while not over.wait(self._find_rest()):
                self._extend_time(over)
        except BudgetReached as error:
            reached.append(error)
            self._world.cancel(key)
        while not over.wait(_SOON):  # what the request does next may begin only now
            self._world.cancel(key)

    def _extend_time(self, over: Event) -> None:
        """Ask for more time if it is over; raise `BudgetReached` if nobody gives it."""
        with self._turn:
            excess = self._find_time_excess({})
            if excess is not None and not over.is_set():
                self._ask_for_more(excess)

    def _find_rest(self) -> float:
        """Return the seconds that are left of the time, at most a day."""
        return min(max(0.0, self._begin + (self._budget.seconds or 0.0) - monotonic()), _DAY)

    def be_recorded(self, recorder: Recorder) -> None:
        """Have a journal keep the parts of answers that take several requests to models."""
        self._world.be_recorded(recorder)

    def recall_parts(self, effect: Effect, used: TokenUse) -> None:
        """Count what the parts of an answer have used that is not there yet."""
        with self._lock:
            self._open[effect.key] = used

    def lose(self, effect: Effect, used: TokenUse) -> None:
        """Count what was used for parts of an answer to which the run does not come back."""
        node = read_key(effect.key).node
        with self._lock:
            self._nodes[node] = add_usage((self._nodes.get(node, TokenUse()), used))

    def recall(self, effect: Effect, answer: Json) -> None:
        """Count what was used before this process began."""
        self._count(effect, answer)
        self._world.recall(effect, answer)

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more; one that waits for more of a budget is not made."""
        self._cancelled.add(key)
        self._world.cancel(key)
        with self._ended:
            self._ended.notify_all()

    def admit(self, effect: Effect) -> None:
        """Return when a model may be asked; raise `BudgetReached` when a budget is used up and nobody extends it."""
        if not isinstance(effect, Ask | Turn):
            return
        with self._turn:
            self._admit(effect)

    def reserve(self, effect: Effect) -> None:
        """Return when a request to a model may begin, which is under way from now on."""
        with self._turn:
            self._admit(effect)
            while not self._wait_for_room(effect.key):
                self._admit(effect)
            self._admit(effect)
            with self._lock:
                self._under_way.add(effect.key)

    def _wait_for_room(self, key: str) -> bool:
        """Tell whether a request may begin, or is cancelled; wait for that as long as the time is not over."""
        rest = None if self._budget.seconds is None else self._find_rest()
        with self._ended:
            return self._ended.wait_for(lambda: key in self._cancelled or self._has_room(), rest)

    def _admit(self, effect: Effect) -> None:
        """Return when no budget is used up; raise `BudgetReached` when one is and nobody extends it."""
        while (excess := next(self._find_excesses(), None)) is not None:
            if effect.key in self._cancelled:
                raise BudgetReached(excess)
            self._ask_for_more(excess)

    def _ask_for_more(self, excess: Excess) -> None:
        """Extend a budget as somebody says; who has refused once is not asked again."""
        begin = monotonic()
        more = None if self._extend is None else self._extend(excess)
        self._begin += monotonic() - begin
        if more is None:
            self._extend = None
            raise BudgetReached(excess)
        enough = excess.used + more
        if excess.option == _TOKENS:
            self._budget = replace(self._budget, tokens=int(enough))
        elif excess.option == _COST:
            self._budget = replace(self._budget, cost=enough)
        else:
            self._budget = replace(self._budget, seconds=float(enough))

    def _count(self, effect: Effect, answer: Json) -> None:
        node, used = read_key(effect.key).node, read_usage(answer)
        with self._lock:
            if self._open.pop(effect.key, None) is None:  # otherwise the answer has what is counted already
                self._measure(used)
            self._nodes[node] = add_usage((self._nodes.get(node, TokenUse()), used))

    def _measure(self, used: TokenUse) -> None:
        """Remember the most that a request has used."""
        known = self._largest or TokenUse()
        cost = max(Decimal(each.cost or 0) for each in (known, used))
        self._largest = TokenUse(max(each.input + each.output for each in (known, used)), cost=format(cost, "f"))

    def _has_room(self) -> bool:
        """Tell whether what is under way leaves something of the tokens and of the money, as far as anybody knows."""
        most, number = self._budget, len(self._under_way)
        if not number or (most.tokens is None and most.cost is None):
            return True
        if self._largest is None:
            return False
        used = add_usage((*self._nodes.values(), *self._open.values()))
        tokens, cost = Decimal(used.input + used.output), Decimal(used.cost or 0)
        sums = (
            (Decimal(most.tokens or 0), tokens, Decimal(self._largest.input), _TOKENS_AT_LEAST),
            (most.cost or Decimal(0), cost, Decimal(self._largest.cost or 0), _COST_AT_LEAST),
        )
        expected = ((limit, spent, max(each * _GROWTH, limit / _SHARE, least)) for limit, spent, each, least in sums)
        return all(spent + number * each < limit for limit, spent, each in expected if limit)

    def _end(self, key: str) -> None:
        with self._ended:
            self._under_way.discard(key)
            self._ended.notify_all()

    def spend(self, effect: Effect, used: TokenUse) -> None:
        """Count what one request has used in the course of an answer that is not there yet; it is over."""
        with self._lock:
            self._measure(used)
            self._open[effect.key] = add_usage((self._open.get(effect.key, TokenUse()), used))
        self._end(effect.key)

    def _find_excesses(self) -> Iterator[Excess]:
        """Yield the budgets that are used up."""
        with self._lock:
            opened = [(read_key(key).node, used) for key, used in self._open.items()]
            names = dict.fromkeys((*self._nodes, *(name for name, _ in opened)))
            found = (
                (name, add_usage((self._nodes.get(name, TokenUse()), *(used for node, used in opened if node == name))))
                for name in names
            )
            nodes = {name: each for name, each in found if each.requests}
        uses, most = add_usage(nodes.values()), self._budget
        tokens = uses.input + uses.output
        if most.tokens is not None and tokens >= most.tokens:
            told = f"the run has used {tokens:,} tokens: {_TOKENS} allows {most.tokens:,}"
            yield Excess(_TOKENS, told, "tokens", Decimal(tokens), Decimal(most.tokens), nodes)
        if most.cost is not None and uses.requests:
            if uses.cost is None:
                raise Failure(
                    f"the price of a model is unknown, so {_COST} cannot hold: leave it out, or use {_TOKENS}"
                )
            if Decimal(uses.cost) >= most.cost:
                told = f"the run has cost {uses.cost} US dollars: {_COST} allows {format(most.cost, 'f')}"
                yield Excess(_COST, told, "US dollars", Decimal(uses.cost), most.cost, nodes)
        excess = self._find_time_excess(nodes)
        if excess is not None:
            yield excess

    def _find_time_excess(self, nodes: Mapping[str, TokenUse]) -> Excess | None:
        """Return the excess if the time is over, else None."""
        seconds, most = monotonic() - self._begin, self._budget.seconds
        if most is None or seconds < most:
            return None
        told = f"the run has taken {seconds:,.1f} s: {_TIME} allows {most:g} s"
        return Excess(_TIME, told, "seconds", Decimal(str(seconds)), Decimal(str(most)), nodes)
