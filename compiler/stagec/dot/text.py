"""Drawings in the language of Graphviz, each in an area of its own, with a legend of what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.value import replace
from stagec.dot.markup import break_text, escape, findings, locate, rows, shorten, show, small
from stagec.dot.style import MEANINGS, PAGE, ink, look_of_box, look_of_line
from stagec.picture.document import (
    Box,
    Fate,
    Form,
    Line,
    Picture,
    Role,
    Stroke,
    describe_fate,
    describe_labels,
    forms_of,
    head_of,
    list_fates,
)

_ROLES: Mapping[Role, str] = {
    Role.START: "start of a run",
    Role.DONE: "end: done",
    Role.FAILED: "end: failed",
    Role.INTERRUPTED: "end: waits",
    Role.MISSING: "led to, and not there",
    Role.GROUP: "several as one",
    Role.EVERY: "fails alike",
    Role.CHOICE: "named by the answer",
}
_COLUMNS = 3
_STEP = Box("", "", Role.NODE)


def legend(pictures: tuple[Picture, ...], forms: Mapping[str, Form]) -> Iterator[str]:
    """Yield the lines of a frame with one sample of each."""
    yield "subgraph cluster_legend {"
    yield '  label=<<b>legend</b>>; labeljust=l; color="#9ca3af"; fontcolor="#1f2937"; margin=10;'
    fate = Fate.SAME if any(picture.fate for picture in pictures) else None
    samples = list(_samples(pictures, forms, replace(_STEP, fate=fate)))
    for at, (box, told) in enumerate(samples):
        look = look_of_box(box, forms) | {"margin": "0.1,0.04"}
        yield f'  l{at} [label={rows([small(told)])}, {_format(look)}, fontcolor="{ink(look)}"];'
    yield from (f"  l{at} -> l{at + _COLUMNS} [style=invis];" for at in range(len(samples) - _COLUMNS))
    strokes = {line.stroke for picture in pictures for line in picture.lines}
    used = [stroke for stroke in Stroke if stroke in strokes]
    for at, stroke in enumerate(used):
        ends = {"a": _STEP, "b": _STEP}
        look = look_of_line(Line("a", "b", stroke, fate=fate), Picture("", "", ends, ()))
        yield f'  s{at}a [shape=point, width=0.06, color="#6b7280", label="", group=s{at}];'
        yield f'  s{at}b [shape=plaintext, label={rows([small(MEANINGS[stroke])])}, style="", group=s{at}];'
        yield f"  s{at}a -> s{at}b [{_format(look)}];"
    yield from (f"  s{at}b -> s{at + _COLUMNS}a [style=invis];" for at in range(len(used) - _COLUMNS))
    yield "}"


def _samples(pictures: tuple[Picture, ...], forms: Mapping[str, Form], step: Box) -> Iterator[tuple[Box, str]]:
    boxes = [box for picture in pictures for box in picture.boxes.values()]
    for role, told in _ROLES.items():
        if any(box.role is role for box in boxes):
            yield replace(step, role=role), told
    for kind in forms:
        yield replace(step, kind=kind), show(kind)
    if any(box.role is Role.NODE and box.kind is None for box in boxes):
        yield step, "step"
    if any(box.is_join for box in boxes):
        yield replace(step, is_join=True), "waits for all"
    yield from ((replace(step, fate=fate), describe_fate(fate)) for fate in list_fates(pictures))
    if any(not box.is_reached for box in boxes):
        yield replace(step, is_reached=False), "never reached"


def _format(look: Mapping[str, str]) -> str:
    return ", ".join(f'{name}="{text}"' for name, text in look.items())


_FONT = "Helvetica,Arial,DejaVu Sans,sans-serif"
_MEMBERS, _LABELS, _CHANGES = 5, 6, 4
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
    heading = [f'<font point-size="15"><b>{show(picture.title)}</b></font>']
    for remark in picture.remarks:
        heading.extend(break_text(remark, _REMARK))
    for change in picture.changes[:_CHANGES]:
        heading.extend(break_text(head_of(change), _REMARK))
    heading.extend([small(f"… and {len(picture.changes) - _CHANGES} more")] * (len(picture.changes) > _CHANGES))
    heading.extend(locate(picture.found))
    yield f"  label={rows(heading, 'left')};"
    yield '  labelloc=t; labeljust=l; peripheries=0; fontcolor="#1f2937"; margin=20;'
    for box in picture.boxes.values():
        look = look_of_box(box, forms)
        label = rows(part for part in _rows(box) if part)
        yield f"  {names[box.id]} {attributes({'label': label, **look, 'fontcolor': ink(look)})};"
    for line in picture.lines:
        told = {"label": _format_labels(line)} if describe_labels(line) or line.found else {}
        yield f"  {names[line.source]} -> {names[line.target]} {attributes({**told, **look_of_line(line, picture)})};"
    yield "}"


def _rows(box: Box) -> Iterator[str]:
    name = "no such name: " if box.role is Role.MISSING else ""
    struck = ("<s>", "</s>") if box.fate is Fate.REMOVED else ("", "")
    yield from (f"<b>{struck[0]}{row}{struck[1]}</b>" for row in break_text(name + box.name))
    yield from _facts(box)
    yield f"<b>{small(describe_fate(box.fate))}</b>" if describe_fate(box.fate) else ""
    for change in box.changes[:_CHANGES]:
        yield from map(small, break_text(head_of(change)))
    yield small(f"… and {len(box.changes) - _CHANGES} more") if len(box.changes) > _CHANGES else ""
    for member in box.members[:_MEMBERS]:
        yield from map(small, break_text(member))
    if len(box.members) > _MEMBERS:
        yield small(f"… and {len(box.members) - _MEMBERS} more")
    yield from findings(box.found)


def _facts(box: Box) -> Iterator[str]:
    if box.role is Role.GROUP:
        yield small(f"{len(box.members)} nodes")
        return
    told = [box.kind or "", "waits for all" if box.is_join else "", "" if box.is_reached else "never reached"]
    told += box.notes
    yield small(escape(", ".join(shorten(each) for each in told if each))) if any(told) else ""


def _format_labels(line: Line) -> str:
    labels = describe_labels(line)
    parts = [row for label in labels[:_LABELS] for row in break_text(label, _LABEL)]
    if len(labels) > _LABELS:
        parts.append(f"… and {len(labels) - _LABELS} more")
    if line.is_guess:
        parts.append("(probably meant)")
    return rows(f"&#160;{part}&#160;" for part in (*parts, *findings(line.found)))
