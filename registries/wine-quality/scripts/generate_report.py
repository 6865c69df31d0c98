"""S07: write the report."""

from __future__ import annotations

from stage import MEASUREMENTS, end, read_json, write_text


def main() -> None:
    """Generate the report."""
    validation, summary = read_json("validation"), read_json("summary")
    ridge, metrics = read_json("ridge"), read_json("metrics")
    refused = ", ".join(f"{count} because {why}" for why, count in validation["refused"].items())
    strongest = sorted(MEASUREMENTS, key=lambda name: -abs(summary[name]["with_quality"]))[:4]
    lines = [
        "# Quality of wines",
        "",
        f"{validation['used']} of {validation['rows']} wines can be used. Set aside: {refused or 'none'}.",
        "",
        "| measurement | mean | correlation with the quality | weight in the ridge regression |",
        "|---|---|---|---|",
        *(describe(name, summary[name], ridge["weights"][name]) for name in strongest),
        "",
        f"Errors on {metrics['wines']} wines that no model has seen, in points of quality:",
        "",
        *(f"- {name}: {error:.3f}" for name, error in metrics["errors"].items()),
        "",
        f"The best model is: {metrics['best']}.",
    ]
    write_text("report", "\n".join(lines) + "\n")
    end()


def describe(name: str, found: dict[str, float], weight: float) -> str:
    """Return the row of a measurement."""
    return f"| {name} | {found['mean']:.3f} | {found['with_quality']:+.2f} | {weight:+.3f} |"


if __name__ == "__main__":
    main()
