"""The protocol's guidelines for the names of artifacts."""

from __future__ import annotations

import re

_METRICS = re.compile(r"(?:^|[_-])metrics?(?:$|[_-])")
_SUFFIXES = {
    "parquet": ("_df.parquet",),
    "pkl": ("_model.pkl",),
    "metrics": ("_metrics.json",),
    "md": ("_report.md", "_summary.md"),
}
"""How names end, by the ending of the file or by what it is about; later pages than the protocol say `_summary`."""


def expect_name(output: str, path: str) -> str:
    """Return what the file of an output should be named like, or nothing if it is or no guideline is about it."""
    file = path.rpartition("/")[2]
    stem, dot, ending = file.rpartition(".")
    is_about_metrics = ending == "json" and (_METRICS.search(stem) or _METRICS.search(output))
    suffixes = _SUFFIXES.get("metrics" if is_about_metrics else ending, ("",))
    return "" if not dot or not stem or file.endswith(suffixes) else f"{{name}}{suffixes[0]}"
