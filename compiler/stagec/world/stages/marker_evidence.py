"""What the markers in the output of a stage say about it: evidence, and no authority."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from stagec.protocol.markers import Marker, MarkerParser

_STATUSES = frozenset({"success", "failed", "interrupted"})
_WHOLE = 100
_MOST = 8
"""Other stages whose names are kept."""

Hear = Callable[[float, str], None]
"""Is told how many percent of its work a stage says that it has done, and what else it says."""


class MarkerEvidence:
    """Reads the standard output of a stage piece by piece.

    `status` is that of the last marker with which the stage says that it ends. `others` are the stages that are not
    this one, of which it prints markers all the same: these say nothing.
    """

    def __init__(self, stage: str, hear: Hear) -> None:
        self._stage, self._hear = stage, hear
        self._parser = MarkerParser()
        self.status: str | None = None
        self.others: list[str] = []

    def take(self, piece: bytes) -> None:
        """Take a further piece of the output."""
        self._judge(self._parser.feed(piece))

    def close(self) -> None:
        """Take the last line if nothing has ended it."""
        self._judge(self._parser.close())

    def _judge(self, markers: Iterable[Marker]) -> None:
        """Take the markers that have arrived together; of what they say about progress, the last counts."""
        progress = None
        for marker in markers:
            if marker.type != "STAGE":
                continue
            named, subtype = marker.stage, marker.subtype
            if named not in {None, self._stage} and not marker.is_of(self._stage):
                self._remember(str(named))
            elif subtype == "progress":
                progress = marker
            elif subtype == "end":
                status = marker.attributes.get("status")
                self.status = status if status in _STATUSES else None
        if progress is not None:
            self._tell_progress(progress)

    def _remember(self, other: str) -> None:
        if other not in self.others and len(self.others) < _MOST:
            self.others.append(other)

    def _tell_progress(self, marker: Marker) -> None:
        with suppress(ValueError):
            percent = float(marker.attributes.get("pct", ""))
            if 0 <= percent <= _WHOLE:
                self._hear(percent, marker.content or marker.attributes.get("msg", ""))
