"""Drawings in the language of Graphviz, and the program that lays them out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from subprocess import TimeoutExpired
from textwrap import wrap

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Failure
from stagec.core.value import replace
from stagec.core.words import visible
from stagec.views.picture.document import (
    INK,
    SIGNS,
    TINTS,
    Area,
    Box,
    Fate,
    Form,
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

Look = Mapping[str, str]
"""Attributes of a node or edge by name."""


PAGE = "#ffffff"
RED = "#b91c1c"
_AMBER = "#b45309"


_STYLE_ROLES: Mapping[Role, Look] = {
    Role.NODE: {"shape": "box", "fillcolor": TINTS[Form.PLAIN].fill, "color": TINTS[Form.PLAIN].edge},
    Role.START: {"shape": "cds", "fillcolor": "#14532d", "color": "#14532d", "fontcolor": "#ffffff"},
    Role.DONE: {"shape": "oval", "peripheries": "2", "fillcolor": "#bbf7d0", "color": "#166534"},
    Role.FAILED: {"shape": "octagon", "fillcolor": "#fde68a", "color": "#92400e"},
    Role.INTERRUPTED: {"shape": "octagon", "fillcolor": "#fef3c7", "color": "#92400e"},
    Role.MISSING: {"shape": "note", "fillcolor": "#fee2e2", "color": RED, "fontcolor": RED, "style": "filled,dashed"},
    Role.GROUP: {"shape": "tab", "fillcolor": "#e5e7eb", "color": "#4b5563"},
    Role.EVERY: {"shape": "folder", "fillcolor": "#f3f4f6", "color": "#4b5563"},
    Role.CHOICE: {"shape": "rarrow", "fillcolor": "#ffffff", "color": "#4b5563"},
}


_FORMS: Mapping[Form, Look] = {
    Form.PLAIN: {},
    Form.ROUNDED: {"shape": "box", "style": "filled,rounded"},
    Form.HEXAGON: {"shape": "hexagon"},
    Form.DOUBLE_OCTAGON: {"shape": "doubleoctagon"},
    Form.SLANTED: {"shape": "parallelogram"},
    Form.BARS: {"shape": "component"},
    Form.HOUSE: {"shape": "house"},
}
_JOIN: Look = {"shape": "invtrapezium"}


_STROKES: Mapping[Stroke, Look] = {
    Stroke.ENTRY: {"color": "#14532d", "penwidth": "3", "arrowhead": "normal"},
    Stroke.GO: {"color": "#374151", "arrowhead": "normal"},
    Stroke.FORK: {"color": "#1d4ed8", "penwidth": "2", "arrowhead": "normal", "arrowtail": "odiamond", "dir": "both"},
    Stroke.CHAIN: {"color": "#6d28d9", "penwidth": "2", "arrowhead": "normalnormal"},
    Stroke.JOIN: {"color": "#1d4ed8", "style": "dashed", "arrowhead": "odiamond"},
    Stroke.END: {"color": "#6b7280", "arrowhead": "empty"},
}


_FATES: Mapping[Fate, Look] = {
    Fate.SAME: {"color": "#6b7280", "fillcolor": "#f9fafb"},
    Fate.ADDED: {"color": "#00704a", "fillcolor": "#d6f5e3", "penwidth": "3.5"},
    Fate.REMOVED: {"color": "#b33a00", "fillcolor": "#fdece2", "penwidth": "1.5"},
    Fate.CHANGED: {"color": "#1d4ed8", "fillcolor": "#dfe9ff", "penwidth": "2.5"},
}
_BORDERS = {Fate.REMOVED: "dashed", Fate.CHANGED: "dotted"}


MEANINGS: Mapping[Stroke, str] = {
    Stroke.ENTRY: "a run starts",
    Stroke.GO: "continues",
    Stroke.FORK: "together with others",
    Stroke.CHAIN: "one after the other",
    Stroke.JOIN: "when all have ended",
    Stroke.END: "ends",
}


def look_of_box(box: Box, forms: Mapping[str, Form]) -> dict[str, str]:
    """Return how a box looks, given the forms of all kinds."""
    look = dict(_STYLE_ROLES[box.role])
    if box.role is Role.NODE and box.kind is not None:
        form = forms.get(box.kind, Form.PLAIN)
        look |= {"fillcolor": TINTS[form].fill, "color": TINTS[form].edge, **_FORMS[form]}
    if box.is_join:
        look |= _JOIN
    if box.fate is not None:
        borders = [look.get("style", "filled").removesuffix(",dashed"), *filter(None, (_BORDERS.get(box.fate),))]
        return look | {**_FATES[box.fate], "fontcolor": INK, "style": ",".join(borders)}
    worst = max((each.severity.weight for each in box.found), default=0)
    if worst < Severity.WARNING.weight:
        trouble = {}
    else:
        trouble = {"color": RED if worst == Severity.ERROR.weight else _AMBER, "penwidth": "3"}
    look |= trouble
    if box.is_reached:
        return look
    style = "filled,rounded,dashed" if "rounded" in look.get("style", "") else "filled,dashed"
    return look | {"style": style, "color": RED, "fillcolor": "#fee2e2", "penwidth": "2"}


def look_of_line(line: Line, picture: Picture) -> dict[str, str]:
    """Return how a line looks in its drawing."""
    look = dict(_STROKES[line.stroke])
    if line.fate is not None:
        style = _BORDERS.get(line.fate, "dotted" if line.is_guess else look.get("style", ""))
        own = {name: told for name, told in _FATES[line.fate].items() if name != "fillcolor"}
        return look | own | ({"style": style} if style else {})
    if line.is_guess:
        return look | {"style": "dotted", "color": "#6b7280"}
    source, target = picture.boxes[line.source], picture.boxes[line.target]
    if not source.is_reached or target.role is Role.MISSING:
        return look | {"style": "dashed", "color": RED}
    worst = max((each.severity.weight for each in line.found), default=0)
    return look | ({"color": RED if worst == Severity.ERROR.weight else _AMBER} if worst > 1 else {})


def ink(look: Look) -> str:
    """Return the colour of text in a box."""
    return look.get("fontcolor", INK)


_LONGEST = 96
_WIDEST = 36
_MOST, _MOST_LOCATED = 4, 8
_BREAK = re.compile(r"[._/-](?=[^\W_])")
_MARK = "\u200b"
"""The place at which a name may be broken; no visible text has this character."""


COLOURS = {Severity.ERROR: "#b91c1c", Severity.WARNING: "#92400e", Severity.NOTE: "#374151"}


def show(text: str) -> str:
    """Return a text as markup that shows it: escaped, the middle of a long one left out."""
    return escape(shorten(text).strip()) or "(empty)"


def shorten(text: str, longest: int = _LONGEST) -> str:
    """Return a text as one visible line of bounded length, the middle of a long one left out."""
    if len(text) > longest:
        text = f"{text[: longest * 2 // 3]}…{text[-longest // 3 :]}"
    seen = visible(text)
    return seen if len(seen) <= 2 * longest else f"{seen[: longest * 2 // 3]}…{seen[-longest // 3 :]}"


def escape(text: str) -> str:
    """Return a text with everything escaped that markup gives a meaning."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def break_text(text: str, width: int = _WIDEST) -> list[str]:
    """Return the lines of a text, escaped; long words are broken, dotted names after a dot where that is enough."""
    pieces = _BREAK.sub(r"\g<0> " + _MARK, shorten(text))
    lines = wrap(pieces, width, break_on_hyphens=False) or ["(empty)"]
    return [escape(line.replace(f" {_MARK}", "").replace(_MARK, "")) for line in lines]


def rows(lines: Iterable[str], align: str = "center") -> str:
    """Return lines of markup as one label."""
    end = f'<br align="{align}"/>'
    return f"<{end.join(lines)}{end}>"


def small(text: str, colour: str | None = None) -> str:
    """Return markup in small type."""
    chosen = f' color="{colour}"' if colour else ""
    return f'<font point-size="10"{chosen}>{text}</font>'


def findings(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield a line of markup for each of the heaviest findings, and one for the rest."""
    marks = marks_of(found)
    for mark in marks[:_MOST]:
        times = f" ({mark.times} times)" if mark.times > 1 else ""
        yield small(f"{SIGNS[mark.severity]} {mark.code} {show(mark.name)}{times}", COLOURS[mark.severity])
    if len(marks) > _MOST:
        yield small(f"… and {len(marks) - _MOST} more")


def locate(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield a line of markup with the place of each of the heaviest findings, and one for the rest."""
    ranked = sorted(found, key=lambda each: -each.severity.weight)
    for each in ranked[:_MOST_LOCATED]:
        at = f"{each.at.file}:{each.span.start.line}:{each.span.start.column}"
        yield small(f"{SIGNS[each.severity]} {each.code} {show(each.name)}, {show(at)}", COLOURS[each.severity])
    if len(ranked) > _MOST_LOCATED:
        yield small(f"… and {len(ranked) - _MOST_LOCATED} more")


_TEXT_ROLES: Mapping[Role, str] = {
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
    for role, told in _TEXT_ROLES.items():
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
    for depth, row in _list_rows(arrange(picture), prefix, names, forms):
        yield f"  {'  ' * depth}{row}"
    for line in picture.lines:
        told = {"label": _format_labels(line)} if describe_labels(line) or line.found else {}
        yield f"  {names[line.source]} -> {names[line.target]} {attributes({**told, **look_of_line(line, picture)})};"
    yield "}"


def _list_rows(
    whole: Area, prefix: str, names: Mapping[str, str], forms: Mapping[str, Form]
) -> Iterator[tuple[int, str]]:
    """Yield the lines of the boxes in an area, each with how deep it is; an area in it is a cluster with a border."""
    todo: list[tuple[int, Area | str]] = [(0, whole)]
    count = 0
    while todo:
        depth, each = todo.pop()
        if isinstance(each, str):
            yield depth, each
            continue
        if each is not whole:
            yield depth - 1, f"subgraph cluster_{prefix}_a{count} {{"
            title = rows((small(show(row)) for row in each.title.split("\n")), "left")
            yield depth, f"label={title};"
            yield depth, 'labelloc=t; labeljust=l; peripheries=1; style="rounded,dashed"; color="#6b7280"; margin=12;'
            todo.append((depth - 1, "}"))
            count += 1
        for box in each.boxes:
            look = look_of_box(box, forms)
            label = rows(part for part in _rows(box) if part)
            yield depth, f"{names[box.id]} {attributes({'label': label, **look, 'fontcolor': ink(look)})};"
        todo.extend((depth + 1, inner) for inner in reversed(each.areas))


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


_PATIENCE = 60.0
"""Seconds after which a layout is given up; what is not collapsed takes a few."""


MOST = 500
"""Boxes and lines that are laid out within a few seconds: a way of 130 steps with a label at every line."""


ABSENT = (
    "needs the program 'dot', which is not there: install Graphviz ('apt-get install graphviz'), "
    "or use --format svg or html"
)


def lay_out(text: str, form: str, patience: float = _PATIENCE) -> bytes:
    """Return a drawing as `svg` or `png`; raise `Failure` when the program is missing, fails or takes too long."""
    from graphviz import CalledProcessError, ExecutableNotFound
    from graphviz.backend.execute import run_check

    try:
        ended = run_check(["dot", f"-T{form}"], input=text.encode(), capture_output=True, quiet=True, timeout=patience)
    except ExecutableNotFound as error:
        raise Failure(f"--format {form} {ABSENT}") from error
    except TimeoutExpired as error:
        raise Failure(f"'dot' did not finish within {patience:.0f} seconds; --focus or --collapse draw less") from error
    except CalledProcessError as error:
        said = error.stderr.decode(errors="replace") if isinstance(error.stderr, bytes) else ""
        raise Failure(
            f"'dot' cannot draw this: {visible(said.strip()) or f'it ended with {error.returncode}'}"
        ) from error
    drawn: bytes = ended.stdout
    return drawn
