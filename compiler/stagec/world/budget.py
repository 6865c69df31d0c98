"""Budgets of runs: what models may use, counted from the answers in the journal."""

from __future__ import annotations

from decimal import Decimal
from threading import Lock
from time import monotonic

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import value
from stagec.runtime.exchange import Ask, Effect, Turn
from stagec.world.composed import ComposedWorld
from stagec.world.models.port import TokenUse
from stagec.world.models.usage import add_usage, read_usage


@value
class Budget:
    """The most that a run may use: tokens in and out together, US dollars, and seconds of this process; None: any."""

    tokens: int | None = None
    cost: Decimal | None = None
    seconds: float | None = None


class BudgetedWorld:
    """A world that asks no model any more when a budget is used up; the run stops, and can be resumed with more.

    What is under way is not broken off, so a run may use a little more than its budget.
    """

    def __init__(self, world: ComposedWorld, budget: Budget) -> None:
        self._world, self._budget = world, budget
        self._begin = monotonic()
        self._uses = TokenUse()
        self._lock = Lock()
        self.overlaps, self.cancel = world.overlaps, world.cancel

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request, or raise `Failure` when a budget is used up."""
        if not isinstance(effect, Ask | Turn):
            return self._world.answer(effect)
        self._refuse_excess()
        answer = self._world.answer(effect)
        self._count(answer)
        return answer

    def recall(self, effect: Effect, answer: Json) -> None:
        """Count what was used before this process began."""
        self._count(answer)
        self._world.recall(effect, answer)

    def _count(self, answer: Json) -> None:
        with self._lock:
            self._uses = add_usage((self._uses, read_usage(answer)))

    def _refuse_excess(self) -> None:
        uses, most = self._uses, self._budget
        if most.tokens is not None and uses.input + uses.output >= most.tokens:
            raise Failure(f"the run has used {uses.input + uses.output:,} tokens: --max-tokens allows {most.tokens:,}")
        if most.cost is not None and uses.requests:
            if uses.cost is None:
                raise Failure(
                    "the price of a model is unknown, so --max-cost cannot hold: leave it out, or use --max-tokens"
                )
            if Decimal(uses.cost) >= most.cost:
                raise Failure(f"the run has cost {uses.cost} US dollars: --max-cost allows {most.cost}")
        if most.seconds is not None and monotonic() - self._begin >= most.seconds:
            raise Failure(f"the run has taken {most.seconds:g} s: --max-time allows no more")
