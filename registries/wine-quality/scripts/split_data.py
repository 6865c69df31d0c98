"""S03: split the wines into a training set and a test set; every fifth wine of each quality is for the test."""

from __future__ import annotations

import random

from stage import QUALITY, SEED, end, read_wines, write_wines

PARTS = 5


def main() -> None:
    """Split the data."""
    wines = read_wines("wine")
    order = list(range(len(wines)))
    random.Random(SEED).shuffle(order)
    order.sort(key=lambda at: wines[at][QUALITY])
    held = set(order[::PARTS])
    write_wines("train", (wine for at, wine in enumerate(wines) if at not in held))
    write_wines("test", (wine for at, wine in enumerate(wines) if at in held))
    print(f"[DATA] {len(wines) - len(held)} wines to learn from, {len(held)} to judge by", flush=True)
    end()


if __name__ == "__main__":
    main()
