"""What every stage of this plan does: read its inputs, write its outputs atomically, tell how far it is."""

from __future__ import annotations

import csv
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

STAGE = os.environ["STAGEC_STAGE_ID"]
INPUTS: dict[str, str] = json.loads(os.environ["STAGEC_INPUTS"])
OUTPUTS: dict[str, str] = json.loads(os.environ["STAGEC_OUTPUTS"])
SEED = 20_260_102
QUALITY = "quality"
MEASUREMENTS = (
    "fixed_acidity",
    "volatile_acidity",
    "citric_acid",
    "residual_sugar",
    "chlorides",
    "free_sulfur_dioxide",
    "total_sulfur_dioxide",
    "density",
    "ph",
    "sulphates",
    "alcohol",
)
Wine = dict[str, float]


_BEGUN = time.monotonic()


def progress(part: float, text: str) -> None:
    """Say how much of the work is done, from 0 to 1."""
    print(f"[STAGE:progress:id={STAGE}:pct={100 * part:.0f}:msg={text}]", flush=True)


def end() -> None:
    """Say that the stage has ended well; whoever runs it has said that it began."""
    print(f"[STAGE:end:id={STAGE}:status=success:duration={time.monotonic() - _BEGUN:.1f}s]", flush=True)


def refuse(why: str) -> None:
    """End the stage as failed."""
    print(f"[STAGE:end:id={STAGE}:status=failed]", flush=True)
    sys.exit(f"{STAGE}: {why}")


def read_wines(name: str) -> list[Wine]:
    """Return the rows of an input."""
    with Path(INPUTS[name]).open(newline="", encoding="utf-8") as file:
        return [{column: float(cell) for column, cell in row.items()} for row in csv.DictReader(file)]


def read_json(name: str) -> Any:
    """Return the value in an input."""
    return json.loads(Path(INPUTS[name]).read_text(encoding="utf-8"))


def write_wines(name: str, wines: Iterable[Wine]) -> None:
    """Write an output with a row for each wine."""
    write_table(name, (*MEASUREMENTS, QUALITY), ([wine[key] for key in (*MEASUREMENTS, QUALITY)] for wine in wines))


def write_table(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write an output as a table."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows([f"{cell:g}" if isinstance(cell, float) else cell for cell in row] for row in rows)
    write_text(name, text.getvalue())


def write_json(name: str, value: object) -> None:
    """Write an output as JSON, with numbers of six digits: their last bits differ between machines."""
    write_text(name, json.dumps(_round(value), indent=2) + "\n")


def write_text(name: str, text: str) -> None:
    """Write an output so that nobody ever sees a part of it: a temporary file in the same folder is renamed."""
    path = Path(OUTPUTS[name])
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _round(each) for key, each in value.items()}
    return [_round(each) for each in value] if isinstance(value, list) else value
