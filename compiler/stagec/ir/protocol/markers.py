"""Markers: lines such as `[STAGE:begin:id=S01_load_data]` in the output of a process, and their parser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from stagec.core.place import Place
from stagec.core.value import value

Status = Literal["success", "failed", "interrupted"]
Reason = Literal["timeout", "abort", "error"]


def format_stage_begin(stage: str) -> str:
    """Return the marker of a stage that starts."""
    return _format("STAGE", "begin", {"id": stage})


def format_stage_progress(stage: str, percent: float, message: str = "") -> str:
    """Return the marker of a stage that goes on; `percent` is brought into 0 to 100."""
    said = {"msg": message} if message else {}
    return _format("STAGE", "progress", {"id": stage, "pct": f"{min(max(percent, 0), 100):.0f}", **said})


def format_stage_end(stage: str, status: Status, seconds: float) -> str:
    """Return the marker of a stage that has ended."""
    return _format("STAGE", "end", {"id": stage, "status": status, "duration": f"{max(seconds, 0):.1f}s"})


def format_checkpoint_saved(checkpoint: str, stage: str, manifest: str) -> str:
    """Return the marker of a checkpoint; a manifest whose path a marker cannot carry is not named."""
    named = {} if _UNSAFE.search(manifest) else {"manifest": manifest}
    return _format("CHECKPOINT", "saved", {"id": checkpoint, "stage": stage, **named})


def format_checkpoint_emergency(checkpoint: str, stage: str, reason: Reason) -> str:
    """Return the marker of a checkpoint of what an interrupted or failed stage has left."""
    return _format("CHECKPOINT", "emergency", {"id": checkpoint, "stage": stage, "reason": reason})


def format_rehydrated(checkpoint: str) -> str:
    """Return the marker of a run that continues from a checkpoint."""
    return _format("REHYDRATED", None, {"from": checkpoint})


def _format(kind: str, subtype: str | None, attributes: Mapping[str, str]) -> str:
    """Return a marker; what would end a value or the line is replaced, since nothing can escape it."""
    parts = [kind, *(() if subtype is None else (subtype,)), *(f"{key}={text}" for key, text in attributes.items())]
    safe = [_UNSAFE.sub(lambda unsafe: _SHOWN.get(unsafe[0], " "), part) for part in parts]
    return f"[{':'.join(safe)}]"


_UNSAFE = re.compile(r"[:\[\]]|\s+|[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_SHOWN = {":": "-", "[": "(", "]": ")"}


LONGEST_LINE = 65_536
"""Bytes of a line that count; what follows in the same line is left out, so that a line without end needs no memory."""


class Category(StrEnum):
    """The subject of a type of marker."""

    RESEARCH_PROCESS = "research_process"
    DATA_OPERATIONS = "data_operations"
    CALCULATIONS = "calculations"
    ARTIFACTS = "artifacts"
    INSIGHTS = "insights"
    WORKFLOW = "workflow"
    SCIENTIFIC = "scientific"
    UNKNOWN = "unknown"


_TYPES: Mapping[Category, str] = {
    Category.RESEARCH_PROCESS: "OBJECTIVE HYPOTHESIS EXPERIMENT OBSERVATION ANALYSIS CONCLUSION",
    Category.DATA_OPERATIONS: "DATA SHAPE DTYPE RANGE MISSING MEMORY",
    Category.CALCULATIONS: "CALC METRIC STAT CORR",
    Category.ARTIFACTS: "PLOT ARTIFACT TABLE FIGURE",
    Category.INSIGHTS: "FINDING INSIGHT PATTERN",
    Category.WORKFLOW: "STEP STAGE CHECKPOINT CHECK INFO WARNING ERROR DEBUG REHYDRATED",
    Category.SCIENTIFIC: (
        "CITATION LIMITATION NEXT_STEP DECISION SO_WHAT INDEPENDENT_CHECK CHALLENGE_RESPONSE VERIFICATION_CODE"
    ),
}
CATEGORIES: Mapping[str, Category] = {name: category for category, names in _TYPES.items() for name in names.split()}
"""The types that the protocol knows, each with its category."""


@value
class Marker:
    """One marker of a stream.

    `type` has `_` for every `-`. `written` is all between the first `:` and the first `]`, empty if there is no `:`.
    `line` and `column` count from one, columns in code points. Bytes that are no UTF-8 are U+FFFD.
    """

    type: str
    written: str
    content: str
    line: int
    column: int = 1

    @property
    def text(self) -> str:
        """The marker as a line."""
        return f"[{self.type}{':' if self.written else ''}{self.written}] {self.content}".rstrip()

    @property
    def subtype(self) -> str | None:
        """The first part without `=`, with `_` for every `-`; of a citation all that is written."""
        return _split(self.type, self.written)[0]

    @property
    def attributes(self) -> Mapping[str, str]:
        """The values by name: the last of several counts, and a further part without `=` has the empty value."""
        return _split(self.type, self.written)[1]

    @property
    def valid(self) -> bool:
        """Tell whether the protocol knows the type."""
        return self.type in CATEGORIES

    @property
    def category(self) -> Category:
        """The subject of the type."""
        return CATEGORIES.get(self.type, Category.UNKNOWN)

    @property
    def stage(self) -> str | None:
        """The id of the stage that a STAGE marker names, also by position: `[STAGE:begin:NAME]`."""
        given = self.attributes.get("id")
        return self.positional_stage if given is None and self.type == "STAGE" else given

    def is_of(self, stage: str) -> bool:
        """Tell whether a marker names a stage; a name by position may lack the number of the stage."""
        name = self.positional_stage
        return self.stage == stage or (name is not None and stage.endswith(f"_{name}"))

    @property
    def positional_stage(self) -> str | None:
        """The name in place of a missing `id=`, if only one part can be it."""
        bare = [name for name, text in self.attributes.items() if not text]
        fits = self.type == "STAGE" and self.subtype in STAGE_SUBTYPES and "id" not in self.attributes
        return bare[0] if fits and len(bare) == 1 and bare[0] else None


STAGE_SUBTYPES = ("begin", "end", "progress")
CHECKPOINT_SUBTYPES = ("saved", "begin", "end", "emergency")
END_STATUSES = ("success", "failed", "interrupted")
REASONS = {
    "timeout": "timeout",
    "abort": "abort",
    "error": "error",
    "watchdog_timeout": "timeout",
    "manual_abort": "abort",
}
"""Why a checkpoint may be written in an emergency: as it is written, and as it is meant."""


@value
class BrokenMarker:
    """A line that begins like a marker and is none; `text` is the line from its `[` on."""

    type: str
    text: str
    line: int
    column: int = 1


_SHORT = 1_000
"""The longest value of a marker that is remembered together with others, in characters."""


def _split(kind: str, written: str) -> tuple[str | None, Mapping[str, str]]:
    return (_split_short if len(written) <= _SHORT else _split_long)(kind, written)


def _split_parts_markers(kind: str, written: str) -> tuple[str | None, Mapping[str, str]]:
    """Split what is written in a marker into its subtype and its attributes: every `:` separates, nothing escapes."""
    if kind == "CITATION":
        return written or None, MappingProxyType({})
    subtype: str | None = None
    attributes: dict[str, str] = {}
    for part in written.split(":") if written else ():
        name, equals, text = part.partition("=")
        if equals or subtype is not None:
            attributes[name] = text
        else:
            subtype = part.replace("-", "_")
    return subtype, MappingProxyType(attributes)


_split_short = lru_cache(maxsize=256)(_split_parts_markers)
_split_long = lru_cache(maxsize=1)(_split_parts_markers)


_WIDE = (*map(chr, range(0x2000, 0x200B)), *"\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff")
_BLANKS = "\t\n\v\f\r " + "".join(_WIDE)
"""White space of the reference parser, which is that of JavaScript; a byte order mark belongs to it."""
_INDENT = rb"(?:[\t\v\f\r ]|" + b"|".join(each.encode() for each in _WIDE) + rb")*+"
_INTACT = rb"([A-Z][A-Z0-9_-]*+)(?::([^\]\n]++))?+\]([^\n]*+)"
_BROKEN = rb"(STAGE|CHECKPOINT|REHYDRATED)(?![A-Za-z0-9_-])[^\n]*+"
_LINE = re.compile(rb"\n(" + _INDENT + rb")\[(?:" + _INTACT + rb"|" + _BROKEN + rb")")


class MarkerParser:
    """Finds the markers in a stream of bytes, in whatever pieces it comes; needs memory for one piece and one line.

    A marker begins its line, but for white space. Lines end with LF or CR LF. Nothing that a stream has in it raises.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        """The beginning of the line that has not ended."""
        self._ended = 0

    @property
    def lines(self) -> int:
        """Return how many lines have come, with the one that has not ended."""
        return self._ended + self.is_in_line

    @property
    def is_in_line(self) -> bool:
        """Tell whether the last line has not ended."""
        return bool(self._rest)

    def feed(self, piece: bytes) -> list[Marker]:
        """Return the markers of all lines that end in a further piece."""
        return [each for each in self.scan(piece) if type(each) is Marker]

    def scan(self, piece: bytes) -> list[Marker | BrokenMarker]:
        """Return the markers of all lines that end in a further piece, and what only begins like one."""
        end = piece.rfind(b"\n")
        if end < 0:
            self._keep(piece)
            return []
        first = self._ended + 1
        lines = b"".join((b"\n", self._rest, memoryview(piece)[:end]))
        self._ended += lines.count(b"\n")
        self._rest.clear()
        self._keep(memoryview(piece)[end + 1 :])
        return list(_find_markers(lines, first)) if b"[" in lines else []

    def close(self) -> list[Marker]:
        """Return the marker of the last line if no line feed has ended it."""
        return self.feed(b"\n") if self.is_in_line else []

    def _keep(self, piece: bytes | memoryview) -> None:
        """Keep enough of a line to show that it is too long."""
        self._rest += piece[: max(0, LONGEST_LINE + 1 - len(self._rest))]


def read_markers(data: bytes) -> list[Marker]:
    """Return the markers of a whole log."""
    parser = MarkerParser()
    return [*parser.feed(data), *parser.close()]


def _find_markers(lines: bytes, line: int) -> Iterator[Marker | BrokenMarker]:
    """Yield the markers in lines with a line feed in front of each; `line` is the number of the first."""
    position, count = 0, lines.count
    for match in _LINE.finditer(lines):
        start = match.start()
        line += count(b"\n", position, start)
        position = start
        whole = match.end() - start <= LONGEST_LINE
        kept = match if whole else _LINE.match(lines[start : start + 1 + LONGEST_LINE])
        found = None if kept is None else _read_line(kept, line)
        if found is not None:
            yield found


def _read_line(match: re.Match[bytes], line: int) -> Marker | BrokenMarker | None:
    """Return the marker on a line; as in the reference parser, a carriage return inside the content breaks it."""
    indent, kind, written, content, broken = match.groups()
    column = len(indent.decode()) + 1 if indent else 1
    name = (kind or broken).replace(b"-", b"_").decode()
    if kind:
        text = content.removesuffix(b"\r").decode("utf-8", "replace").strip(_BLANKS)
        if "\r" not in text:
            return Marker(name, written.decode("utf-8", "replace") if written else "", text, line, column)
    if name not in CATEGORIES:
        return None
    return BrokenMarker(name, match[0][1 + len(indent) :].removesuffix(b"\r").decode(errors="replace"), line, column)


SUBTYPES = {"STAGE": STAGE_SUBTYPES, "CHECKPOINT": CHECKPOINT_SUBTYPES, "REHYDRATED": ()}
"""The subtypes of the types that stagec itself writes; other types may have any."""


@value
class MarkerPart:
    """The text between two colons of a marker: `name=text`, or a text alone, which then is the name.

    `start` counts characters of what is written in the marker. A part `continues` the value before it if that has most
    likely been cut in two by a colon of its own.
    """

    name: str
    text: str | None
    start: int
    end: int
    continues: bool


@value
class MarkedLine:
    """One line of a log with a marker in it.

    `stage` is the stage that runs while the log is written, if that is known. `is_first` tells whether no line before
    had a marker of the same type.
    """

    file: str
    marker: Marker | BrokenMarker
    stage: str | None = None
    is_first: bool = True

    @property
    def at(self) -> Place:
        """The place of the whole marker, without its content."""
        marker = self.marker
        inside = marker.text if isinstance(marker, BrokenMarker) else f"[{marker.type}:{marker.written}]"
        return self._place(0, len(inside) - (isinstance(marker, Marker) and not marker.written))

    @property
    def parts(self) -> tuple[MarkerPart, ...]:
        """The parts of the marker, in order; none of a citation."""
        marker = self.marker
        return _split_parts_marked_line(marker.type, marker.written) if isinstance(marker, Marker) else ()

    def marker_of(self, kind: str, *subtypes: str) -> Marker | None:
        """Return the marker if it is of one type, and of one of some subtypes where there are any."""
        marker = self.marker
        if isinstance(marker, BrokenMarker) or marker.type != kind:
            return None
        return marker if not subtypes or marker.subtype in subtypes else None

    def find(self, name: str) -> Place:
        """Return the place of the attribute that counts of those with a name, or of the marker if there is none."""
        found = [each for each in self.parts if each.name == name]
        return self.place(found[-1]) if found else self.at

    def place(self, first: MarkerPart, last: MarkerPart | None = None) -> Place:
        """Return the place of a part, or from one to another."""
        head = len(f"[{self.marker.type}:")
        return self._place(head + first.start, head + (last or first).end)

    def _place(self, start: int, end: int) -> Place:
        """Return a stretch of the marker: a log is the list of its lines, and a range counts in its line."""
        indent = self.marker.column - 1
        return Place(self.file, (self.marker.line - 1,), range=(indent + start, indent + end))


_NAME = re.compile(r"[\w.-]+")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_PROSE = frozenset({"msg", "message", "text"})
"""Attributes whose values are sentences."""


@lru_cache(maxsize=1)
def _split_parts_marked_line(kind: str, written: str) -> tuple[MarkerPart, ...]:
    return () if kind == "CITATION" or not written else tuple(_list_parts(kind, written.split(":")))


def _list_parts(kind: str, parts: list[str]) -> Iterator[MarkerPart]:
    start, has_subtype, is_cut = 0, False, False
    before: MarkerPart | None = None
    for index, part in enumerate(parts):
        name, equals, text = part.partition("=")
        subtype = part.replace("-", "_")
        is_subtype = not equals and not has_subtype and subtype in SUBTYPES.get(kind, (subtype,))
        is_last_and_empty = not part and index == len(parts) - 1
        is_cut = not is_subtype and not is_last_and_empty and _is_rest(part, before, is_cut=is_cut)
        has_subtype = has_subtype or is_subtype
        found = MarkerPart(name, text if equals else None, start, start + len(part), is_cut)
        before = before if is_cut else found if equals else None
        yield found
        start += len(part) + 1


def _is_rest(part: str, before: MarkerPart | None, *, is_cut: bool) -> bool:
    """Tell whether a part looks less like one of its own than like the rest of the value before it."""
    name, equals, _ = part.partition("=")
    if before is None or equals:
        return before is not None and _NAME.fullmatch(name) is None
    return is_cut or _WORD.fullmatch(part) is None or before.name in _PROSE or " " in (before.text or "")
