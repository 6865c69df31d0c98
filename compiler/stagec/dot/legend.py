"""What the shapes and strokes of drawings mean: those that are in them, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.value import replace
from stagec.dot.markup import rows, shown, small
from stagec.dot.style import MEANINGS, ink, look_of_box, look_of_line
from stagec.picture.document import Box, Line, Picture, Role, Stroke
from stagec.picture.forms import Form

_ROLES: Mapping[Role, str] = {
    Role.START: "start of a run",
    Role.DONE: "end: done",
    Role.FAILED: "end: failed",
    Role.MISSING: "led to, and not there",
    Role.GROUP: "several as one",
}
_COLUMNS = 3
_STEP = Box("", "", Role.NODE)


def legend(pictures: tuple[Picture, ...], forms: Mapping[str, Form]) -> Iterator[str]:
    """Yield the lines of a frame with one sample of each."""
    yield "subgraph cluster_legend {"
    yield '  label=<<b>legend</b>>; labeljust=l; color="#9ca3af"; fontcolor="#1f2937"; margin=10;'
    samples = list(_samples(pictures, forms))
    for at, (box, told) in enumerate(samples):
        look = look_of_box(box, forms) | {"margin": "0.1,0.04"}
        yield f'  l{at} [label={rows([small(told)])}, {_written(look)}, fontcolor="{ink(look)}"];'
    yield from (f"  l{at} -> l{at + _COLUMNS} [style=invis];" for at in range(len(samples) - _COLUMNS))
    strokes = {line.stroke for picture in pictures for line in picture.lines}
    used = [stroke for stroke in Stroke if stroke in strokes]
    for at, stroke in enumerate(used):
        yield from _stroke(at, stroke)
    yield from (f"  s{at}b -> s{at + _COLUMNS}a [style=invis];" for at in range(len(used) - _COLUMNS))
    yield "}"


def _samples(pictures: tuple[Picture, ...], forms: Mapping[str, Form]) -> Iterator[tuple[Box, str]]:
    boxes = [box for picture in pictures for box in picture.boxes.values()]
    for role, told in _ROLES.items():
        if any(box.role is role for box in boxes):
            yield replace(_STEP, role=role), told
    for kind in forms:
        yield replace(_STEP, kind=kind), shown(kind)
    if any(box.role is Role.NODE and box.kind is None for box in boxes):
        yield _STEP, "step"
    if any(box.is_join for box in boxes):
        yield replace(_STEP, is_join=True), "waits for all"
    if any(not box.is_reached for box in boxes):
        yield replace(_STEP, is_reached=False), "never reached"


def _stroke(at: int, stroke: Stroke) -> Iterator[str]:
    ends = {"a": _STEP, "b": _STEP}
    look = look_of_line(Line("a", "b", stroke), Picture("", "", ends, ()))
    yield f'  s{at}a [shape=point, width=0.06, color="#6b7280", label="", group=s{at}];'
    yield f'  s{at}b [shape=plaintext, label={rows([small(MEANINGS[stroke])])}, style="", group=s{at}];'
    yield f"  s{at}a -> s{at}b [{_written(look)}];"


def _written(look: Mapping[str, str]) -> str:
    return ", ".join(f'{name}="{text}"' for name, text in look.items())
