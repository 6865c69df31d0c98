"""S01: read the measurements, and set aside rows that no laboratory can have measured."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from stage import INPUTS, MEASUREMENTS, QUALITY, Wine, end, refuse, write_json, write_wines

RANGES = {
    "fixed_acidity": (3, 17),
    "volatile_acidity": (0.05, 2),
    "citric_acid": (0, 1.7),
    "residual_sugar": (0.3, 70),
    "chlorides": (0.005, 0.7),
    "free_sulfur_dioxide": (1, 290),
    "total_sulfur_dioxide": (5, 450),
    "density": (0.98, 1.04),
    "ph": (2.6, 4.2),
    "sulphates": (0.2, 2.1),
    "alcohol": (7, 16),
    QUALITY: (0, 10),
}
"""The least and the most that a laboratory measures, in the units of the file."""


def fault_of(row: dict[str, str]) -> str | None:
    """Return what is wrong with a row."""
    for name, (least, most) in RANGES.items():
        try:
            value = float(row[name])
        except ValueError:
            return f"{name} is missing" if not row[name] else f"{name} is no number"
        if not least <= value <= most:
            return f"{name} is out of range"
    return None


def main() -> None:
    """Load the data."""
    with Path(INPUTS["dataset"]).open(newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        rows = list(table)
        if set(table.fieldnames or ()) != {*MEASUREMENTS, QUALITY}:
            refuse("the columns are not those of wine measurements")
    faults = [fault_of(row) for row in rows]
    wines: list[Wine] = [
        {name: float(row[name]) for name in RANGES} for row, fault in zip(rows, faults, strict=True) if fault is None
    ]
    print(f"[DATA] {len(rows)} rows, {len(wines)} of them can be used", flush=True)
    write_wines("wine", wines)
    refused = Counter(fault for fault in faults if fault is not None)
    write_json("validation", {"rows": len(rows), "used": len(wines), "refused": dict(sorted(refused.items()))})
    end()


if __name__ == "__main__":
    main()
