"""Make wine.csv: 800 invented wines whose measurements belong together as those of real wines do.

Usage: python3 data/make_wine.py > data/wine.csv
"""

from __future__ import annotations

import random

SEED = 1_599
WINES = 800
COLUMNS = (
    "fixed_acidity,volatile_acidity,citric_acid,residual_sugar,chlorides,free_sulfur_dioxide,"
    "total_sulfur_dioxide,density,ph,sulphates,alcohol,quality"
)
DIGITS = (1, 3, 2, 1, 3, 0, 0, 5, 2, 2, 1, 0)
FAULTS = {37: (8, ""), 181: (8, "0.33"), 402: (10, "105"), 403: (10, "n/a"), 640: (7, "9.968"), 711: (1, "")}
"""What a laboratory got wrong: by row, a column and what is in it."""


def wine(chance: random.Random) -> list[str]:
    """Return the measurements of a wine: ripe grapes give alcohol, care keeps vinegar out, sugar makes it dense."""
    ripeness, care, sweetness = chance.gauss(0, 1), chance.gauss(0, 1), chance.gauss(0, 1)
    alcohol = min(14.9, max(8.4, 10.4 + 0.9 * ripeness - 0.2 * sweetness + chance.gauss(0, 0.35)))
    volatile = min(1.4, max(0.12, 0.53 - 0.13 * care + chance.gauss(0, 0.07)))
    citric = min(1.0, max(0.0, 0.27 + 0.14 * care + chance.gauss(0, 0.09)))
    fixed = min(15.5, max(4.7, 8.3 + 3.4 * (citric - 0.27) + chance.gauss(0, 1.0)))
    sugar = min(15.0, max(0.9, 2.5 + 0.9 * sweetness + chance.gauss(0, 0.3)))
    chlorides = min(0.4, max(0.02, 0.085 - 0.012 * care + chance.gauss(0, 0.02)))
    free = min(70.0, max(2.0, chance.gammavariate(2.4, 6.5)))
    total = free + max(4.0, chance.gammavariate(2.0, 14.0) + 3 * sweetness)
    density = 0.9968 - 0.0009 * (alcohol - 10.4) + 0.00035 * (sugar - 2.5) + 0.0005 * (fixed - 8.3) / 1.7
    ph = min(4.0, max(2.8, 3.31 - 0.06 * (fixed - 8.3) + chance.gauss(0, 0.09)))
    sulphates = min(1.9, max(0.35, 0.65 + 0.07 * care + chance.gauss(0, 0.11)))
    liked = 5.63 + 0.36 * (alcohol - 10.4) - 1.7 * (volatile - 0.53) + 1.1 * (sulphates - 0.65) + chance.gauss(0, 0.55)
    quality = min(8, max(3, round(liked)))
    values = (fixed, volatile, citric, sugar, chlorides, free, total, density, ph, sulphates, alcohol, quality)
    return [f"{value:.{digits}f}" for value, digits in zip(values, DIGITS, strict=True)]


def main() -> None:
    """Print the table."""
    chance = random.Random(SEED)
    print(COLUMNS)
    for number in range(WINES):
        cells = wine(chance)
        if number in FAULTS:
            column, text = FAULTS[number]
            cells[column] = text
        print(",".join(cells))


if __name__ == "__main__":
    main()
