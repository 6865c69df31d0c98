"""A Mermaid flowchart, for pages that draw it themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from stagec.core.diagnostic import Diagnostic
from stagec.core.words import format_count, visible
from stagec.views.emitters import (
    SIGNS,
    Area,
    Box,
    Emitter,
    Fate,
    Form,
    Limit,
    Line,
    Picture,
    Role,
    Stroke,
    arrange,
    describe_fate,
    describe_labels,
    forms_of,
    head_of,
    list_fates,
    marks_of,
)
from stagec.views.picture.document import INK, TINTS
from stagec.views.picture.layout.document import wrap

_MOST_LINES, _MOST_CHARACTERS = 500, 50_000
"""The limits of pages that allow no more: `maxEdges` and `maxTextSize` of Mermaid."""
_COLUMNS, _TITLE_COLUMNS = 22, 60
"""Characters of a row; Mermaid breaks wider ones at any blank."""
_LONGEST = 400
"""Characters of a name that are shown; what names nothing in a project of people is longer."""
_FOUND, _LABELS, _MEMBERS, _CHANGES = 3, 12, 12, 4

_ROLES: Mapping[Role, tuple[str, str]] = {
    Role.START: ("([", "])"),
    Role.DONE: ("(((", ")))"),
    Role.FAILED: ("((", "))"),
    Role.INTERRUPTED: ("((", "))"),
    Role.MISSING: (">", "]"),
    Role.GROUP: ("[(", ")]"),
    Role.EVERY: ("[(", ")]"),
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
_GUESS = "-.->"


def _name(form: Form) -> str:
    return form.value.replace(" ", "-")


_LOOKS: Mapping[str, str] = {
    "start": "fill:#14532d,stroke:#4ade80,color:#ffffff,stroke-width:3px",
    "done": "fill:#bbf7d0,stroke:#166534,color:#14532d,stroke-width:3px",
    "failed": "fill:#fde68a,stroke:#92400e,color:#451a03,stroke-width:3px",
    "interrupted": "fill:#fef3c7,stroke:#92400e,color:#451a03,stroke-width:2px",
    "missing": "fill:#fee2e2,stroke:#dc2626,color:#991b1b,stroke-width:2px,stroke-dasharray:6 3",
    "group": f"fill:#e5e7eb,stroke:#6b7280,color:{INK}",
    "every": f"fill:#e5e7eb,stroke:#6b7280,color:{INK}",
    "choice": f"fill:#ffffff,stroke:#6b7280,color:{INK}",
    **{_name(form): f"fill:{tint.fill},stroke:{tint.edge},color:{INK}" for form, tint in TINTS.items()},
    "doubtful": "stroke:#b45309,stroke-width:3px",
    "faulty": "stroke:#dc2626,stroke-width:4px",
    "unreached": "fill:#fee2e2,stroke:#dc2626,stroke-width:2px,stroke-dasharray:6 3",
    "same": f"fill:#f3f4f6,stroke:#8b949e,color:{INK},stroke-width:1px",
    "added": "fill:#d6f5e3,stroke:#00875a,color:#064e3b,stroke-width:4px",
    "removed": "fill:#fdece2,stroke:#c2410c,color:#7c2d12,stroke-width:2px,stroke-dasharray:6 4",
    "changed": "fill:#dfe9ff,stroke:#2563eb,color:#1e3a8a,stroke-width:3px,stroke-dasharray:14 4 3 4",
}
"""The styles of boxes, readable on light and dark pages: one for each kind, then those for further marks."""
_AREA = "fill:transparent,stroke:#8b949e"
"""Of a whole drawing: the page is its ground."""
_NOTE = f"fill:#fef9c3,stroke:#a16207,color:{INK}"
_LOST = "stroke:#dc2626,stroke-dasharray:6 3"
_FATES: Mapping[Fate, str] = {
    Fate.ADDED: "stroke:#00875a,stroke-width:4px",
    Fate.REMOVED: "stroke:#c2410c,stroke-width:2px,stroke-dasharray:5 5",
    Fate.CHANGED: "stroke:#2563eb,stroke-width:3px,stroke-dasharray:14 4 3 4",
}
"""The styles of lines by what has become of them."""
_STATES = {3: "faulty", 2: "doubtful"}


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    return _text(pictures).encode()


def _text(pictures: tuple[Picture, ...]) -> str:
    forms = forms_of(pictures)
    rows = [row for at, picture in enumerate(pictures) for row in _frame(picture, f"p{at}", forms)]
    lines = [(picture, line) for picture in pictures for line in picture.lines]
    lost = [str(at) for at, (picture, line) in enumerate(lines) if _is_lost(picture, line)]
    fates = {fate: [str(at) for at, (_, line) in enumerate(lines) if line.fate is fate] for fate in _FATES}
    members: dict[str, list[str]] = {}
    for at, picture in enumerate(pictures):
        for name, box in zip(_names(picture, f"p{at}"), picture.boxes.values(), strict=True):
            for look in _looks(box, forms):
                members.setdefault(look, []).append(name)
    explained = list_fates(pictures)
    for fate in explained:
        members.setdefault(fate, []).append(f"legend{fate}")
    rows += _explain(explained)
    used = {look: members[look] for look in _LOOKS if look in members}
    rows += [f"classDef is-{look} {_LOOKS[look]}" for look in used]
    rows += [f"classDef is-note {_NOTE}"] * any(":::is-note" in row for row in rows)
    rows += [f"style p{at} {_AREA}" for at in range(len(pictures))]
    rows += [f"class {','.join(names)} is-{look}" for look, names in used.items()]
    rows += [f"linkStyle {','.join(lost)} {_LOST}"] if lost else []
    rows += [f"linkStyle {','.join(some)} {_FATES[fate]}" for fate, some in fates.items() if some]
    return "flowchart TB\n" + "".join(f"  {row}\n" for row in rows)


def _explain(fates: list[Fate]) -> Iterator[str]:
    """Yield the legend of what has become of boxes and lines."""
    if fates:
        yield 'subgraph legend ["Legend"]'
        yield "direction LR"
        yield from (f"legend{fate}[{_quote([describe_fate(fate)])}]" for fate in fates)
        yield "end"
        yield f"style legend {_AREA}"


def _names(picture: Picture, prefix: str) -> list[str]:
    return [f"{prefix}n{at}" for at in range(len(picture.boxes))]


def _is_lost(picture: Picture, line: Line) -> bool:
    source, target = picture.boxes[line.source], picture.boxes[line.target]
    return line.fate is None and not line.is_guess and (target.role is Role.MISSING or not source.is_reached)


def _frame(picture: Picture, prefix: str, forms: Mapping[str, Form]) -> Iterator[str]:
    names = dict(zip(picture.boxes, _names(picture, prefix), strict=True))
    # Mermaid has room for one row above a drawing: everything else stands in a note
    title = tuple(_escape(picture.title, _TITLE_COLUMNS))
    told = [picture.title] * (len(title) > 1) + [*picture.remarks]
    told += [*_some(tuple(map(head_of, picture.changes)), _CHANGES), *_findings(picture.found)]
    yield f'subgraph {prefix} ["{title[0] if len(title) == 1 else " "}"]'
    yield "direction TB"
    yield from ([f"{prefix}note[{_quote(told)}]:::is-note"] if told else [])
    yield from _list_rows(arrange(picture), prefix, names, forms)
    for line in picture.lines:
        told = [*_some(describe_labels(line), _LABELS), *_findings(line.found)]
        told += ["(probably meant)"] if line.is_guess else []
        label = f"|{_quote(told)}|" if told else ""
        yield f"{names[line.source]} {_GUESS if line.is_guess else _ARROWS[line.stroke]}{label} {names[line.target]}"
    yield "end"


def _list_rows(whole: Area, prefix: str, names: Mapping[str, str], forms: Mapping[str, Form]) -> Iterator[str]:
    """Yield the rows of the boxes in an area; an area in it is a subgraph with a title."""
    todo: list[Area | str] = [whole]
    count = 0
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            yield each
            continue
        if each is not whole:
            title = next(_escape(", ".join(each.title.split("\n")), _TITLE_COLUMNS))
            yield f'subgraph {prefix}a{count} ["{title}"]'
            todo += [f"style {prefix}a{count} {_AREA},stroke-dasharray:6 3", "end"]
            count += 1
        for box in each.boxes:
            if box.role is not Role.NODE:
                opening, closing = _ROLES[box.role]
            else:
                opening, closing = _JOIN if box.is_join else _FORMS[forms.get(box.kind or "", Form.PLAIN)]
            yield f"{names[box.id]}{opening}{_quote(_rows(box))}{closing}"
        todo.extend(reversed(each.areas))


def _rows(box: Box) -> Iterator[str]:
    yield f"no such name: {box.name.strip() or '(empty)'}" if box.role is Role.MISSING else box.name
    told = [
        box.kind,
        format_count(len(box.members), "node") if box.members else "",
        "waits for all" if box.is_join else "",
        "" if box.is_reached else "never reached",
        *box.notes,
    ]
    yield from ([", ".join(each for each in told if each)] if any(told) else [])
    yield from _some(box.members, _MEMBERS)
    yield from filter(None, (describe_fate(box.fate),))
    yield from _some(tuple(map(head_of, box.changes)), _CHANGES)
    yield from _findings(box.found)


def _some(told: tuple[str, ...], most: int) -> Iterator[str]:
    yield from told[:most]
    if len(told) > most:
        yield f"… and {len(told) - most} more"


def _findings(found: tuple[Diagnostic, ...]) -> Iterator[str]:
    marks = marks_of(found)
    return _some(tuple(f"{SIGNS[mark.severity]} {mark.code} {mark.name}" for mark in marks), _FOUND)


def _looks(box: Box, forms: Mapping[str, Form]) -> Iterator[str]:
    """Yield the looks of a box; a later one changes only what it says."""
    form = forms.get(box.kind or "", Form.PLAIN)
    if box.fate is not None:
        yield box.fate.value
        return
    yield _name(form) if box.role is Role.NODE else box.role.value
    worst = max((each.severity.weight for each in box.found), default=0)
    if worst in _STATES:
        yield _STATES[worst]
    if not box.is_reached:
        yield "unreached"


def _quote(rows: Iterable[str]) -> str:
    return f'"{"<br/>".join(part for row in rows for part in _escape(row, _COLUMNS))}"'


def _escape(text: str, columns: int) -> Iterator[str]:
    """Yield the rows of a text of which Mermaid and the page around it see letters only.

    All that could mean more is escaped; what Mermaid looks for even then is broken by a blank of no width.
    """
    more = f"… ({len(text):,} characters)" if len(text) > _LONGEST else ""
    shown = _READ.sub(rf"\g<0>{_NOTHING}", visible(text[:_LONGEST])) + more
    for row in wrap(shown, columns):
        yield "".join(each if each.isalnum() or each in _PLAIN else f"#{ord(each)};" for each in row) or "(empty)"


_READ = re.compile(r"(fa\w?:)(?=fa-)|(\\)(?=n)")
"""Texts that Mermaid takes for an icon and for the end of a row, even if escaped."""
_NOTHING = "\u200b"
_PLAIN = frozenset(" .,:=-_/()'…✓✗⚠·")


def _count_characters(pictures: tuple[Picture, ...]) -> int:
    """Return how long a text is as browsers count it."""
    return len(_text(pictures).encode("utf-16-le")) // 2


def _count_lines(pictures: tuple[Picture, ...]) -> int:
    return sum(len(picture.lines) for picture in pictures)


EMITTER = Emitter(
    "mermaid",
    ".mmd",
    is_text=True,
    emit=_emit,
    limits=(
        Limit(_MOST_LINES, "lines", _count_lines),
        Limit(_MOST_CHARACTERS, "characters", _count_characters),
    ),
)
