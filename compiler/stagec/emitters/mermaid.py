"""A Mermaid flowchart, for pages that draw it themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.diagnostic import Diagnostic
from stagec.core.words import visible
from stagec.emitters import SIGNS, Box, Emitter, Form, Line, Picture, Role, Stroke, forms_of, marks_of

_MOST = 350
"""Boxes and lines; Mermaid refuses more than 500 lines and more than 50,000 characters unless a page allows them."""
_LONGEST = 60

_ROLES: Mapping[Role, tuple[str, str]] = {
    Role.START: ("([", "])"),
    Role.DONE: ("(((", ")))"),
    Role.FAILED: ("((", "))"),
    Role.MISSING: (">", "]"),
    Role.GROUP: ("[(", ")]"),
    Role.CHOICE: ("{", "}"),
}
_JOIN = ("[\\", "/]")
_FORMS: Mapping[Form, tuple[str, str]] = {
    Form.PLAIN: ("[", "]"),
    Form.ROUNDED: ("(", ")"),
    Form.HEXAGON: ("{{", "}}"),
    Form.DOUBLE_OCTAGON: ("[[", "]]"),
    Form.SLANTED: ("[/", "/]"),
    Form.BARS: ("[\\", "\\]"),
    Form.HOUSE: ("[/", "\\]"),
}
_ARROWS: Mapping[Stroke, str] = {
    Stroke.ENTRY: "==>",
    Stroke.GO: "-->",
    Stroke.FORK: "==o",
    Stroke.CHAIN: "==>",
    Stroke.JOIN: "-.-o",
    Stroke.END: "-->",
}
_CLASSES: Mapping[str, str] = {
    "start": "fill:#14532d,stroke:#14532d,color:#ffffff,stroke-width:3px",
    "done": "fill:#bbf7d0,stroke:#166534,color:#14532d,stroke-width:3px",
    "failed": "fill:#fde68a,stroke:#92400e,color:#451a03,stroke-width:3px",
    "missing": "fill:#fee2e2,stroke:#b91c1c,color:#b91c1c,stroke-width:2px,stroke-dasharray:6 3",
    "unreached": "fill:#fee2e2,stroke:#b91c1c,color:#1f2937,stroke-width:2px,stroke-dasharray:6 3",
    "faulty": "fill:#e0f2fe,stroke:#b91c1c,color:#1f2937,stroke-width:4px",
    "doubtful": "fill:#e0f2fe,stroke:#b45309,color:#1f2937,stroke-width:3px",
    "group": "fill:#e5e7eb,stroke:#4b5563,color:#1f2937",
    "choice": "fill:#ffffff,stroke:#4b5563,color:#1f2937",
    "node": "fill:#e0f2fe,stroke:#0369a1,color:#1f2937",
}
_FOUND, _LABELS = 3, 5


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    forms = forms_of(pictures)
    rows = [row for at, picture in enumerate(pictures) for row in _frame(picture, f"p{at}", forms)]
    lines = [(picture, line) for picture in pictures for line in picture.lines]
    lost = [str(at) for at, (picture, line) in enumerate(lines) if _is_lost(line, picture)]
    used = {_class(box) for picture in pictures for box in picture.boxes.values()}
    classes = "".join(f"  classDef is-{name} {look}\n" for name, look in _CLASSES.items() if name in used)
    end = f"  linkStyle {','.join(lost)} stroke:#b91c1c,stroke-dasharray:6 3\n" if lost else ""
    return ("flowchart TB\n" + "".join(f"  {row}\n" for row in rows) + classes + end).encode()


def _frame(picture: Picture, prefix: str, forms: Mapping[str, Form]) -> Iterator[str]:
    names = {box: f"{prefix}n{at}" for at, box in enumerate(picture.boxes)}
    heading = _quote([picture.title, *picture.remarks, *_findings(picture.found)], 2 * _LONGEST)
    yield f"subgraph {prefix} [{heading}]"
    for box in picture.boxes.values():
        opening, closing = _shape(box, forms)
        yield f"  {names[box.id]}{opening}{_quote(_rows(box))}{closing}:::is-{_class(box)}"
    for line in picture.lines:
        told = [*line.labels[:_LABELS], *(["…"] if len(line.labels) > _LABELS else []), *_findings(line.found)]
        told += ["(probably meant)"] if line.is_guess else []
        label = f"|{_quote(told)}|" if told else ""
        yield f"  {names[line.source]} {_ARROWS[line.stroke]}{label} {names[line.target]}"
    yield "end"


def _rows(box: Box) -> Iterator[str]:
    yield f"no such name: {box.name}" if box.role is Role.MISSING else box.name
    members = f"{len(box.members)} nodes" if box.members else ""
    told = [
        box.kind,
        members,
        "waits for all" if box.is_join else "",
        "" if box.is_reached else "never reached",
        *box.notes,
    ]
    yield from ([", ".join(each for each in told if each)] if any(told) else [])
    yield from _findings(box.found)


def _findings(found: tuple[Diagnostic, ...]) -> Iterator[str]:
    marks = marks_of(found)
    yield from (f"{SIGNS[mark.severity]} {mark.code} {mark.name}" for mark in marks[:_FOUND])
    if len(marks) > _FOUND:
        yield f"… and {len(marks) - _FOUND} more"


def _shape(box: Box, forms: Mapping[str, Form]) -> tuple[str, str]:
    if box.role is not Role.NODE:
        return _ROLES[box.role]
    return _JOIN if box.is_join else _FORMS[forms.get(box.kind or "", Form.PLAIN)]


def _class(box: Box) -> str:
    if box.role not in {Role.NODE, Role.GROUP}:
        return box.role.value if box.is_reached else "unreached"
    if not box.is_reached:
        return "unreached"
    worst = max((each.severity.weight for each in box.found), default=0)
    return {3: "faulty", 2: "doubtful"}.get(worst, box.role.value)


def _is_lost(line: Line, picture: Picture) -> bool:
    target = picture.boxes[line.target]
    return target.role is Role.MISSING or not picture.boxes[line.source].is_reached


def _quote(rows: Iterable[str], longest: int = _LONGEST) -> str:
    return f'"{"<br/>".join(_escape(row, longest) for row in rows)}"'


def _escape(text: str, longest: int) -> str:
    """Return a text of which Mermaid and the page around it see letters only: all that could mean more is escaped."""
    if len(text) > longest:
        text = f"{text[: longest * 2 // 3]}…{text[-longest // 3 :]}"
    return (
        "".join(each if each.isalnum() or each in _PLAIN else f"#{ord(each)};" for each in visible(text)) or "(empty)"
    )


_PLAIN = frozenset(" .,:=-_/()'…✓✗⚠·")

EMITTER = Emitter("mermaid", ".mmd", is_text=True, emit=_emit, most=_MOST)
