"""S06: measure the errors of both models on wines that neither has seen."""

from __future__ import annotations

from stage import MEASUREMENTS, QUALITY, end, progress, read_json, read_wines, write_json, write_table
from train_neighbors import nearest
from wines import Scale, dot, error, mean


def main() -> None:
    """Evaluate the models."""
    train, test = read_wines("train"), read_wines("test")
    ridge, neighbors = read_json("ridge"), read_json("neighbors")
    weights = [ridge["weights"][name] for name in MEASUREMENTS]
    linear = Scale(
        [ridge["means"][name] for name in MEASUREMENTS], [ridge["deviations"][name] for name in MEASUREMENTS]
    )
    scale = Scale.of(train)
    known = [(scale.row(wine), wine[QUALITY]) for wine in train]
    truths = [wine[QUALITY] for wine in test]
    guesses = {
        "always the mean": [mean([wine[QUALITY] for wine in train])] * len(test),
        "ridge": [ridge["base"] + dot(weights, linear.row(wine)) for wine in test],
        "neighbors": [mean(nearest(scale.row(wine), known, neighbors["neighbors"])) for wine in test],
    }
    progress(0.8, "all models have guessed")
    errors = {name: error(each, truths) for name, each in guesses.items()}
    write_json("metrics", {"wines": len(test), "errors": errors, "best": min(errors, key=lambda name: errors[name])})
    rows = zip(truths, *([round(guess, 3) for guess in each] for each in guesses.values()), strict=True)
    write_table("predictions", (QUALITY, *guesses), rows)
    end()


if __name__ == "__main__":
    main()
