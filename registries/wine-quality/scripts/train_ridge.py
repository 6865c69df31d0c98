"""S04: fit a ridge regression, whose penalty a cross-validation chooses.

This is the long stage of the plan: it waits WINE_PAUSE seconds after each step, as if the data were larger.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from stage import MEASUREMENTS, QUALITY, Wine, end, progress, read_wines, write_json
from wines import FOLDS, Row, Scale, dot, fold, judge, mean

PENALTIES = (0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
PAUSE = float(os.environ.get("WINE_PAUSE", "0.5"))


def solve(matrix: list[Row], right: Row) -> Row:
    """Solve a system of linear equations by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for at in range(size):
        best = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[best] = rows[best], rows[at]
        for row in range(at + 1, size):
            factor = rows[row][at] / rows[at][at]
            rows[row] = [below - factor * above for below, above in zip(rows[row], rows[at], strict=True)]
    found = [0.0] * size
    for at in reversed(range(size)):
        found[at] = (rows[at][size] - dot(rows[at][at + 1 : size], found[at + 1 :])) / rows[at][at]
    return found


class Ridge:
    """A linear model of the quality."""

    def __init__(self, wines: Sequence[Wine], penalty: float) -> None:
        self.scale = Scale.of(wines)
        self.base = mean([wine[QUALITY] for wine in wines])
        columns = list(zip(*map(self.scale.row, wines), strict=True))
        above = [wine[QUALITY] - self.base for wine in wines]
        matrix = [[dot(left, right) for right in columns] for left in columns]
        for at in range(len(matrix)):
            matrix[at][at] += penalty
        self.weights = solve(matrix, [dot(column, above) for column in columns])

    def guess(self, wine: Wine) -> float:
        """Return the quality that the model expects."""
        return self.base + dot(self.weights, self.scale.row(wine))


def main() -> None:
    """Train the model."""
    wines = read_wines("train")
    errors = {}
    for done, penalty in enumerate(PENALTIES):
        found = []
        for number in range(FOLDS):
            learned, judged = fold(wines, number)
            found.append(judge(Ridge(learned, penalty).guess, judged))
            time.sleep(PAUSE)
            progress((done * FOLDS + number + 1) / (len(PENALTIES) * FOLDS), f"penalty {penalty:g}, fold {number + 1}")
        errors[penalty] = mean(found)
    best = min(PENALTIES, key=lambda penalty: errors[penalty])
    model = Ridge(wines, best)
    write_json(
        "model",
        {
            "penalty": best,
            "base": model.base,
            "means": dict(zip(MEASUREMENTS, model.scale.means, strict=True)),
            "deviations": dict(zip(MEASUREMENTS, model.scale.deviations, strict=True)),
            "weights": dict(zip(MEASUREMENTS, model.weights, strict=True)),
        },
    )
    write_json("metrics", {"errors": {f"{penalty:g}": errors[penalty] for penalty in PENALTIES}, "best": best})
    print(f"[METRIC:cross_validated_error] {errors[best]:.4f}", flush=True)
    end()


if __name__ == "__main__":
    main()
