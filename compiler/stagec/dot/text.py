"""Drawings as one text in the language of Graphviz, each in an area of its own, with a legend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.dot.legend import legend
from stagec.dot.markup import broken, escaped, findings, located, rows, shortened, shown, small
from stagec.dot.style import PAGE, ink, look_of_box, look_of_line
from stagec.picture.document import Box, Line, Picture, Role
from stagec.picture.forms import Form, forms_of

_FONT = "Helvetica,Arial,DejaVu Sans,sans-serif"
_MEMBERS, _LABELS = 5, 6
_REMARK, _LABEL = 90, 28
"""Characters of a line of text."""

_HEAD = f"""digraph stagec {{
  graph [bgcolor="{PAGE}", fontname="{_FONT}", fontsize=12, rankdir=TB, nodesep=0.35, ranksep=0.55, pad=0.3];
  node [fontname="{_FONT}", fontsize=12, style=filled, margin="0.16,0.08"];
  edge [fontname="{_FONT}", fontsize=10, fontcolor="#1f2937", arrowsize=0.8];
"""


def text_of(pictures: tuple[Picture, ...]) -> str:
    """Return the whole text; names of users stand in labels only."""
    forms = forms_of(pictures)
    parts = [line for at, picture in enumerate(pictures) for line in _area(picture, f"p{at}", forms)]
    return _HEAD + "".join(f"  {line}\n" for line in (*parts, *legend(pictures, forms))) + "}\n"


def attributes(given: Mapping[str, str]) -> str:
    """Return attributes in brackets; a label is markup, everything else is our own text."""
    written = (f"{name}={text}" if name == "label" else f'{name}="{text}"' for name, text in given.items())
    return f"[{', '.join(written)}]"


def _area(picture: Picture, prefix: str, forms: Mapping[str, Form]) -> Iterator[str]:
    """Yield the lines of an area without a border: Graphviz lets labels of lines stand out of it, though not far."""
    names = {box: f"{prefix}_{at}" for at, box in enumerate(picture.boxes)}
    yield f"subgraph cluster_{prefix} {{"
    yield f"  label={rows(_heading(picture), 'left')};"
    yield '  labelloc=t; labeljust=l; peripheries=0; fontcolor="#1f2937"; margin=20;'
    for box in picture.boxes.values():
        look = look_of_box(box, forms)
        yield f"  {names[box.id]} {attributes({'label': _label(box), **look, 'fontcolor': ink(look)})};"
    for line in picture.lines:
        told = {"label": _told(line)} if line.labels or line.found else {}
        yield f"  {names[line.source]} -> {names[line.target]} {attributes({**told, **look_of_line(line, picture)})};"
    yield "}"


def _heading(picture: Picture) -> Iterator[str]:
    yield f'<font point-size="15"><b>{shown(picture.title)}</b></font>'
    for remark in picture.remarks:
        yield from broken(remark, _REMARK)
    yield from located(picture.found)


def _label(box: Box) -> str:
    return rows(part for part in _rows(box) if part)


def _rows(box: Box) -> Iterator[str]:
    name = "no such name: " if box.role is Role.MISSING else ""
    yield from (f"<b>{row}</b>" for row in broken(name + box.name))
    yield from _facts(box)
    for member in box.members[:_MEMBERS]:
        yield from map(small, broken(member))
    if len(box.members) > _MEMBERS:
        yield small(f"… and {len(box.members) - _MEMBERS} more")
    yield from findings(box.found)


def _facts(box: Box) -> Iterator[str]:
    if box.role is Role.GROUP:
        yield small(f"{len(box.members)} nodes")
        return
    told = [box.kind or "", "waits for all" if box.is_join else "", "" if box.is_reached else "never reached"]
    yield small(escaped(", ".join(shortened(each) for each in told if each))) if any(told) else ""


def _told(line: Line) -> str:
    parts = [row for label in line.labels[:_LABELS] for row in broken(label, _LABEL)]
    if len(line.labels) > _LABELS:
        parts.append(f"… and {len(line.labels) - _LABELS} more")
    if line.is_guess:
        parts.append("(probably meant)")
    return rows(f"&#160;{part}&#160;" for part in (*parts, *findings(line.found)))
