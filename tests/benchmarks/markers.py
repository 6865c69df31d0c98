"""Markers: every tenth line of a hundred megabytes, against a pattern on every line, without limits and pieces."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from stagec.ir.protocol.markers import Marker, MarkerParser
from stagec_dev.cost import Benchmark

_SIZE = 100_000_000
_PIECE = 1 << 16
_LINES = (
    "[STAGE:progress:id=S01_load_data:pct={percent}] Loading rows",
    *("2026-01-01T12:00:00Z INFO loader read row {row} of the table of wines" for _ in range(9)),
)
_MARKER = re.compile(r"\s*\[([A-Z][A-Z0-9_-]*)(?::([^\]]+))?\]\s*(.*)")


def _measure(folder: Path) -> tuple[float, float]:
    log = folder / "run.log"
    text = "".join(f"{line.format(percent=row % 100, row=row)}\n" for row in range(5_000) for line in _LINES).encode()
    with log.open("wb") as stream:
        for _ in range(_SIZE // len(text)):
            stream.write(text)
    started = time.process_time()
    found = _count(_parse(log))
    parsed = time.process_time()
    same = _count(_parse_lines(log))
    ended = time.process_time()
    assert found == same == _SIZE // len(text) * 5_000
    return parsed - started, ended - parsed


def _count(markers: Iterable[Marker]) -> int:
    return sum(bool(each.attributes["pct"]) for each in markers)


def _parse(log: Path) -> Iterator[Marker]:
    parser = MarkerParser()
    with log.open("rb", buffering=0) as stream:
        while piece := stream.read(_PIECE):
            yield from parser.feed(piece)


def _parse_lines(log: Path) -> Iterator[Marker]:
    with log.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            match = _MARKER.match(line)
            if match is not None:
                yield Marker(match[1], match[2] or "", match[3], number)


MARKERS = Benchmark("markers of a log of 100 MB, one line in ten", "a pattern tried on every line", _measure, wish=1.2)
