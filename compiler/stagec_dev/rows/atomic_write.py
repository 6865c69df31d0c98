"""Files that are written whole or not at all, in the way in which checkpoints are."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.disk import RefusedWriteError, open_folder
from stagec.core.json import Json
from stagec.world.stages.publication import write_durably
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind


def _claims(file: str) -> bool:
    return file == "stage-protocol/atomic_write.json"


def _answer(_root: Path, row: Row) -> Json:
    given = row.given["data"]
    data = b"x" * row.given["bytes"] if given is None else str(given).encode()
    with TemporaryDirectory() as folder, open_folder(folder) as opened:
        path = f"missing/folders/{row.given['name']}"
        try:
            for each in (b"{}", data):  # the second one takes the place of the first
                write_durably(opened, path, each)
        except RefusedWriteError:
            left = Path(folder, path).read_bytes() == b"{}"
            return {"ok": False, "whole": left and _is_alone(Path(folder, path))}
        return {"ok": True, "whole": Path(folder, path).read_bytes() == data and _is_alone(Path(folder, path))}


def _is_alone(path: Path) -> bool:
    return os.listdir(path.parent) == [path.name]


def _compare(row: Row, got: Any) -> Agreement:
    return Agreement.AGREE if got == {"ok": row.given["ok"], "whole": True} else Agreement.DISAGREE


ATOMIC_WRITE = RowKind(_claims, list_rows, _answer, _compare)
