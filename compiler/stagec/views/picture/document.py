"""A drawing of one flow: boxes, lines and what was found wrong with them, with the forms and signs of all formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.ir.flow import Flow


class Role(StrEnum):
    """The role of a box."""

    NODE = "node"
    START = "start"
    """An entry of runs: one box for each, labelled with the name that selects it."""
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """The end of a run that waits for a person, in flows where waiting is an end."""
    MISSING = "missing"
    """A name that an edge leads to and that nothing has."""
    GROUP = "group"
    """Several nodes drawn as one."""
    EVERY = "every"
    """Every node, where what almost all do alike is drawn once."""
    CHOICE = "choice"
    """The point where the ways of several nodes meet if their answers choose among the same nodes."""


class Stroke(StrEnum):
    """The stroke of a line: distinguished by its form, not by colour alone."""

    ENTRY = "entry"
    GO = "go"
    FORK = "fork"
    """To one of several nodes that run together."""
    CHAIN = "chain"
    """To one of several nodes that run one after the other."""
    JOIN = "join"
    """From a node that runs together with others to the one that runs when all have ended."""
    """To where the node was entered from."""
    END = "end"


class Fate(StrEnum):
    """The change of a box or a line, in a drawing that compares two sides."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


FATE_SIGNS: Mapping[Fate, str] = {Fate.ADDED: "+", Fate.REMOVED: "-", Fate.CHANGED: "~"}
"""The sign before what has been added, removed or changed, so that neither colour nor line alone shows it."""


@value
class Box:
    """One thing in a drawing.

    `name` is what people read, `kind` what kind of node it is. `is_reached` tells whether any run comes here, `is_join`
    whether it waits for others. `members` are the nodes that a group stands for. `found` are the diagnostics at or
    inside the place of the node; `details` what is known of it, by heading, for formats that can show it; `notes` what
    is shown of it besides, such as how it stands in a run. `opens` is the id of the flow that runs inside of it.
    `fate` is None where nothing is compared; `changes` say what differs, each in a sentence and perhaps further lines.
    """

    id: str
    name: str
    role: Role
    kind: str | None = None
    is_reached: bool = True
    is_join: bool = False
    members: tuple[str, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    details: Mapping[str, Json] = NOTHING
    notes: tuple[str, ...] = ()
    opens: str | None = None
    fate: Fate | None = None
    changes: tuple[str, ...] = ()
    area: str = ""
    """The area of the drawing that the box is in; empty where it is in none."""


@value
class Line:
    """One possible move. `labels` are the outcomes and conditions under which it is made, one for each edge drawn.

    `is_guess` marks a move that was written wrongly and leads to what was most likely meant. Of a changed line
    `before` are the labels that it had.
    """

    source: str
    target: str
    stroke: Stroke
    labels: tuple[str, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    is_guess: bool = False
    fate: Fate | None = None
    before: tuple[str, ...] = ()


@value
class Picture:
    """A drawing: boxes by id in the order of the flow, lines, and remarks such as that something was left out.

    `changes` are those of the whole flow; `fate` is None where nothing is compared.
    """

    id: str
    title: str
    boxes: Mapping[str, Box]
    lines: tuple[Line, ...]
    remarks: tuple[str, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    """The findings of the flow that belong to no box and no line."""
    fate: Fate | None = None
    changes: tuple[str, ...] = ()
    areas: Mapping[str, str] = NOTHING
    """The titles of the areas in which the boxes of inner flows are; `a/b` is in `a`. Some may be without boxes.

    The first row is the name, each further row an input."""


@value
class Area:
    """An area with the boxes and the areas that are in it and in no smaller one."""

    name: str
    title: str
    boxes: tuple[Box, ...]
    areas: tuple[Area, ...]


def arrange(picture: Picture) -> Area:
    """Return the whole of a drawing as an area: an area without a box is left out."""
    boxes: dict[str, list[Box]] = {}
    for box in picture.boxes.values():
        boxes.setdefault(box.area, []).append(box)
    inside: dict[str, list[Area]] = {}
    for name in sorted(picture.areas, key=lambda each: -each.count("/")):  # the innermost first
        own, areas = tuple(boxes.get(name, ())), tuple(inside.get(name, ()))
        if own or areas:
            around = next((each for each in _list_around(name) if each in picture.areas), "")
            inside.setdefault(around, []).append(Area(name, picture.areas[name], own, areas))
    return Area("", picture.title, tuple(boxes.get("", ())), tuple(inside.get("", ())))


def _list_around(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def describe_fate(fate: Fate | None) -> str:
    """Return `+ added`, or nothing where nothing has changed."""
    return f"{FATE_SIGNS[fate]} {fate}" if fate is not None and fate in FATE_SIGNS else ""


def list_fates(pictures: Iterable[Picture]) -> list[Fate]:
    """Return the changes in drawings, except for unchanged parts."""
    found: set[Fate | None] = set()
    for picture in pictures:
        found.update(box.fate for box in picture.boxes.values())
        found.update(line.fate for line in picture.lines)
    return [fate for fate in FATE_SIGNS if fate in found]


def describe_labels(line: Line) -> tuple[str, ...]:
    """Return the labels of a line, each with what has become of it: those that are as before first."""
    if line.fate in {Fate.ADDED, Fate.REMOVED}:
        return tuple(f"{FATE_SIGNS[line.fate]} {label}" for label in line.labels or (line.fate.value,))
    if line.fate is not Fate.CHANGED:
        return line.labels
    gone = (f"{FATE_SIGNS[Fate.REMOVED]} {label}" for label in line.before if label not in line.labels)
    new = (f"{FATE_SIGNS[Fate.ADDED]} {label}" for label in line.labels if label not in line.before)
    return (*(label for label in line.labels if label in line.before), *gone, *new)


def head_of(change: str) -> str:
    """Return the sentence of a change without its further lines."""
    return change.partition("\n")[0]


DONE = "done"
FAILED = "failed"
INTERRUPTED = "interrupted"


def box_of(node: str) -> str:
    """Return the id of a node's box."""
    return f"node:{node}"


def missing_of(name: str) -> str:
    """Return the id of the box for a name that nothing has."""
    return f"missing:{name}"


def start_of(flow: Flow, node: str) -> str:
    """Return the id of the box from which runs begin at a node."""
    return f"start:{node}" if node in flow.nodes else f"start:missing:{node}"


def schedule_of(name: str) -> str:
    """Return the id of the box from which the nodes of a schedule begin."""
    return f"schedule:{name}"


def group_of(name: str) -> str:
    """Return the id of a box that stands for several."""
    return f"group:{name}"


def choice_of(number: int) -> str:
    """Return the id of the box from which lines lead to what the answers of several nodes may name."""
    return f"choice:{number}"


def every_of(number: int) -> str:
    """Return the id of a box that stands for every node, or for almost every one."""
    return f"every:{number}"


def block_of(first: str) -> str:
    """Return the id of what is placed as one box though it is many, of which this is the first."""
    return f"block:{first}"


class Form(StrEnum):
    """The outline of a node."""

    PLAIN = "plain"
    """Of nodes that have no kind."""
    ROUNDED = "rounded"
    HEXAGON = "hexagon"
    DOUBLE_OCTAGON = "double octagon"
    SLANTED = "slanted"
    BARS = "bars"
    HOUSE = "house"


_KNOWN: Mapping[str, Form] = {
    "work": Form.ROUNDED,
    "verification": Form.HEXAGON,
    "closure": Form.DOUBLE_OCTAGON,
    "actionable": Form.SLANTED,
    "blocking": Form.BARS,
    "terminal": Form.HOUSE,
}
_OTHERS = (Form.SLANTED, Form.BARS, Form.HOUSE)
"""Forms of all other kinds, in the order of their names."""


def forms_of(pictures: Iterable[Picture]) -> Mapping[str, Form]:
    """Return the form of each kind of node in drawings, whatever the order in which they come."""
    boxes = (box for picture in pictures for box in picture.boxes.values())
    kinds = {box.kind for box in boxes if box.kind is not None and box.role is Role.NODE}
    others = sorted(kinds - _KNOWN.keys())
    known = {kind: form for kind, form in _KNOWN.items() if kind in kinds}
    return known | {kind: _OTHERS[at % len(_OTHERS)] for at, kind in enumerate(others)}


SIGNS: Mapping[Severity, str] = {Severity.ERROR: "✗", Severity.WARNING: "⚠", Severity.NOTE: "·"}
"""The sign before a finding, so that colour alone does not show its severity."""


@value
class Mark:
    """Findings of one rule and one severity."""

    severity: Severity
    code: str
    name: str
    times: int


def marks_of(found: Iterable[Diagnostic]) -> list[Mark]:
    """Return one mark for each rule and severity, the heaviest first."""
    counts: dict[tuple[str, str, Severity], int] = {}
    for each in found:
        key = each.code, each.name, each.severity
        counts[key] = counts.get(key, 0) + 1
    marks = [Mark(severity, code, name, times) for (code, name, severity), times in counts.items()]
    return sorted(marks, key=lambda mark: (-mark.severity.weight, mark.code))


class Tint(NamedTuple):
    """The colours of an area and of its border on a light ground."""

    fill: str
    edge: str


INK = "#1f2937"
"""The colour of text in every area of the palette."""


TINTS: Mapping[Form, Tint] = {
    Form.PLAIN: Tint("#f3f4f6", "#374151"),
    Form.ROUNDED: Tint("#dbeafe", "#1d4ed8"),
    Form.HEXAGON: Tint("#ede9fe", "#6d28d9"),
    Form.DOUBLE_OCTAGON: Tint("#ccfbf1", "#0f766e"),
    Form.SLANTED: Tint("#fce7f3", "#9d174d"),
    Form.BARS: Tint("#ecfccb", "#3f6212"),
    Form.HOUSE: Tint("#e2e8f0", "#334155"),
}
