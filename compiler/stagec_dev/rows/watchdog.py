"""When a watchdog acts on stages of several durations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stagec.core.json import Json
from stagec.protocol.watchdog import GRACE, grace_of, tier_of, watch_times
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind, is_out_of_scope, out_of_scope


def _claims(file: str) -> bool:
    return file == "stage-protocol/watchdog.json"


def _answer(_root: Path, row: Row) -> Json:
    if row.given["kind"] != "recommended":
        return out_of_scope("how upstream's programs and older pages escalate")
    duration = row.given["maxDurationSec"]
    times, grace = watch_times(duration), grace_of(duration)
    return {
        "tier": tier_of(duration).value,
        "soft": times.warn / 1000,
        "hard_sigint": times.interrupt / 1000,
        "sigterm": times.terminate / 1000,
        "sigkill": times.kill / 1000,
        "grace": grace,
        "clamped": grace < GRACE,
    }


def _compare(row: Row, got: Any) -> Agreement:
    if is_out_of_scope(got):
        return Agreement.OUT_OF_SCOPE
    return Agreement.AGREE if all(row.given[key] == each for key, each in got.items()) else Agreement.DISAGREE


WATCHDOG = RowKind(_claims, list_rows, _answer, _compare)
