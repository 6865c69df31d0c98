"""Texts with markers, answered with the markers that stagec finds in them.

A row has the answers of two parsers; where they differ, `recommended` begins with the name of the one to follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from stagec.core.json import Json
from stagec.protocol.markers import Marker, read_markers
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind


def _claims(file: str) -> bool:
    path = PurePosixPath(file)
    return path.parent.name == "stage-protocol" and path.name.startswith("markers_") and path.suffix == ".json"


def _answer(_root: Path, row: Row) -> Json:
    found = read_markers(str(row.given["text"]).encode(errors="surrogatepass"))
    unknown = [each.type for each in found if not each.valid]
    return {
        "markers": [_show(each) for each in found],
        "validCount": len(found) - len(unknown),
        "unknownCount": len(unknown),
        "unknownTypes": list(dict.fromkeys(unknown)),
    }


def _show(marker: Marker) -> dict[str, Json]:
    return {
        "type": marker.type,
        "subtype": marker.subtype,
        "attributes": dict(marker.attributes),
        "content": marker.content,
        "lineNumber": marker.line,
        "valid": marker.valid,
        "category": str(marker.category),
    }


def _compare(row: Row, got: Any) -> Agreement:
    wanted = _find_expected(row.given)
    if wanted is None:
        return Agreement.UNKNOWN
    counts = wanted if isinstance(wanted, dict) else {}
    same = all(got.get(name) == given for name, given in counts.items() if name != "markers")
    markers = counts["markers"] if counts else wanted
    return Agreement.AGREE if same and _is_like(markers, got["markers"]) else Agreement.DISAGREE


def _find_expected(given: Mapping[str, Any]) -> Any:
    """Return the answer that is wanted: that of the reference parser unless the row recommends the other."""
    recommended = given.get("recommended")
    if recommended is not None and not isinstance(recommended, str):
        return recommended
    return given.get("expected_py" if str(recommended).startswith("py") else "expected_ts")


def _is_like(wanted: Any, got: list[dict[str, Json]]) -> bool:
    """Tell whether all that is said of each marker is so; the parsers do not say the same things."""
    return len(wanted) == len(got) and all(
        each.items() <= found.items() for each, found in zip(wanted, got, strict=True)
    )


MARKERS = RowKind(_claims, list_rows, _answer, _compare)
