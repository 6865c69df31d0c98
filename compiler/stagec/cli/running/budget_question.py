"""Ask at the terminal for more when a budget of a run is used up."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from time import monotonic

from stagec.cli.running.people import TERMINAL, Answers, PeopleSetup, ReadLine, read_line
from stagec.cli.streams import put_error, say
from stagec.core.words import visible
from stagec.drivers.usage_ledger import describe_usage
from stagec.world.budget import Excess, Extend

_NO = {"n", "no"}
_MOST = 10**15
"""So much more at most: nobody means a larger number."""


def choose_extend(setup: PeopleSetup) -> Extend | None:
    """Return who is asked for more: somebody at the terminal, and nobody where a policy answers."""
    return BudgetQuestion(setup.seconds).ask if setup.answers is Answers.ASK else None


class BudgetQuestion:
    """Says what is used, and of what, and asks how much more a run may use; no answer in time is a no."""

    def __init__(self, seconds: float | None, read: ReadLine = read_line) -> None:
        self._seconds, self._read = seconds, read

    def ask(self, excess: Excess) -> Decimal | None:
        """Return how much more; None when the run is to stop."""
        with TERMINAL:
            put_error(f"\n{visible(excess.told)}\n")
            # what nodes have used, those that have used most first
            nodes = excess.nodes.items()
            for name, used in sorted(nodes, key=lambda each: -each[1].input - each[1].output)[:_SHOWN]:
                line = f"{name}: {', '.join(describe_usage(used))}"
                put_error(f"  {visible(line)}\n")
            put_error("  no: the run stops, and can be resumed\n")
            end = None if self._seconds is None else monotonic() + self._seconds
            while (word := self._read_word(excess, end)) not in _NO:
                amount = read_amount(word, excess)
                if amount is not None:
                    return amount
            return None

    def _read_word(self, excess: Excess, end: float | None) -> str:
        put_error(f"How many more {excess.unit}, or [n]o: ")
        line = self._read(None if end is None else max(0.0, end - monotonic()))
        if line is None:
            say("no: no answer")
            return "no"
        return line.strip().lower()


def read_amount(word: str, excess: Excess) -> Decimal | None:
    """Return an amount above zero, of tokens a whole one; nothing of what is none."""
    try:
        amount = Decimal(word.removeprefix("$").replace(",", ""))
    except InvalidOperation:
        return None
    is_amount = amount.is_finite() and 0 < amount <= _MOST
    return amount if is_amount and (excess.unit != "tokens" or amount == int(amount)) else None


_SHOWN = 10
