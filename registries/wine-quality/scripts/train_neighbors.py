"""S05: choose by cross-validation how many of the most similar wines are asked for their quality."""

from __future__ import annotations

from heapq import nsmallest

from stage import QUALITY, end, progress, read_wines, write_json
from wines import FOLDS, Scale, error, fold, mean

COUNTS = (1, 5, 15, 30)


def main() -> None:
    """Train the model."""
    wines = read_wines("train")
    errors: dict[int, list[float]] = {count: [] for count in COUNTS}
    for number in range(FOLDS):
        learned, judged = fold(wines, number)
        scale = Scale.of(learned)
        known = [(scale.row(wine), wine[QUALITY]) for wine in learned]
        near = [nearest(scale.row(wine), known, max(COUNTS)) for wine in judged]
        for count in COUNTS:
            guesses = [mean(each[:count]) for each in near]
            errors[count].append(error(guesses, [wine[QUALITY] for wine in judged]))
        progress((number + 1) / FOLDS, f"fold {number + 1}")
    best = min(COUNTS, key=lambda count: mean(errors[count]))
    write_json("model", {"neighbors": best})
    write_json("metrics", {"errors": {str(count): mean(errors[count]) for count in COUNTS}, "best": best})
    print(f"[METRIC:cross_validated_error] {mean(errors[best]):.4f}", flush=True)
    end()


def nearest(row: list[float], known: list[tuple[list[float], float]], count: int) -> list[float]:
    """Return the qualities of the most similar wines, the most similar one first."""
    distances = ((sum((a - b) ** 2 for a, b in zip(row, other, strict=True)), quality) for other, quality in known)
    return [quality for _, quality in nsmallest(count, distances)]


if __name__ == "__main__":
    main()
