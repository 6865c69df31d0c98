"""S02: summarize every measurement, and correlate all of them."""

from __future__ import annotations

from stage import MEASUREMENTS, QUALITY, end, progress, read_wines, write_json, write_table
from wines import correlate, deviation, mean


def main() -> None:
    """Explore the data."""
    wines = read_wines("wine")
    names = (*MEASUREMENTS, QUALITY)
    columns = {name: [wine[name] for wine in wines] for name in names}
    summary = {
        name: {
            "mean": mean(values),
            "deviation": deviation(values),
            "least": min(values),
            "most": max(values),
            "with_quality": correlate(values, columns[QUALITY]),
        }
        for name, values in columns.items()
    }
    write_json("summary", summary)
    rows = []
    for done, (name, values) in enumerate(columns.items(), 1):
        rows.append([name, *(round(correlate(values, other), 4) for other in columns.values())])
        progress(done / len(names), f"correlated {name}")
    write_table("correlations", ("", *names), rows)
    end()


if __name__ == "__main__":
    main()
