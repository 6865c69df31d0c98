"""Sums, scales and errors: the little mathematics that the stages share."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from stage import MEASUREMENTS, QUALITY, SEED, Wine

FOLDS = 5
Row = list[float]


class Scale:
    """Means and deviations of measurements, with which models compare grams and degrees."""

    def __init__(self, means: Row, deviations: Row) -> None:
        self.means = means
        self.deviations = deviations

    @classmethod
    def of(cls, wines: Sequence[Wine]) -> Scale:
        """Return the scale of some wines."""
        columns = [[wine[name] for wine in wines] for name in MEASUREMENTS]
        return cls([mean(each) for each in columns], [deviation(each) or 1.0 for each in columns])

    def row(self, wine: Wine) -> Row:
        """Return the measurements of a wine in deviations from the means."""
        parts = zip(MEASUREMENTS, self.means, self.deviations, strict=True)
        return [(wine[name] - middle) / spread for name, middle, spread in parts]


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation."""
    middle = mean(values)
    return math.sqrt(math.fsum((each - middle) ** 2 for each in values) / len(values))


def correlate(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the correlation of two columns; nothing correlates with a column of equal values."""
    spread = deviation(left) * deviation(right)
    both = mean([a * b for a, b in zip(left, right, strict=True)]) - mean(left) * mean(right)
    return both / spread if spread else 0.0


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the sum of the products."""
    return math.fsum(map(float.__mul__, left, right))


def error(guesses: Sequence[float], truths: Sequence[float]) -> float:
    """Return the root of the mean squared error."""
    return math.sqrt(mean([(guess - truth) ** 2 for guess, truth in zip(guesses, truths, strict=True)]))


def fold(wines: Sequence[Wine], number: int) -> tuple[list[Wine], list[Wine]]:
    """Return the wines to learn from and those to judge by, in one fold of a cross-validation."""
    order = list(range(len(wines)))
    random.Random(SEED).shuffle(order)
    held = set(order[number::FOLDS])
    return [each for at, each in enumerate(wines) if at not in held], [wines[at] for at in sorted(held)]


def judge(guess: Callable[[Wine], float], wines: Sequence[Wine]) -> float:
    """Return the error of a model on some wines."""
    return error([guess(wine) for wine in wines], [wine[QUALITY] for wine in wines])
