"""What becomes of a stage of each status after each event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stagec.core.json import Json
from stagec.protocol.lifecycle import StageEvent, StageStatus, follow_event
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind


def _claims(file: str) -> bool:
    return file == "stage-protocol/state_machine.json"


def _answer(_root: Path, row: Row) -> Json:
    status, event = StageStatus(row.given["from"]), StageEvent(row.given["event"])
    try:
        return {"to": follow_event(status, event).value}
    except ValueError:
        return {"to": None}


def _compare(row: Row, got: Any) -> Agreement:
    return Agreement.AGREE if row.given["to"] == got["to"] else Agreement.DISAGREE


STATE_MACHINE = RowKind(_claims, list_rows, _answer, _compare)
