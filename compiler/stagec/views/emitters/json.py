"""One JSON document, as `schemas/graph.schema.json` describes it; one box or line of a drawing per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stagec.core.diagnostic import Diagnostic
from stagec.core.place import pointer_text
from stagec.views.emitters import Box, Edges, Emitter, Line, Picture, describe_box, describe_change

FORMAT = "stagec.graph/1"


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    from json import dumps

    flows = ",".join(f"\n{_flow(each)}" for each in pictures)
    text = f'{{"format": {dumps(FORMAT)}, "flows": [{flows}\n]}}\n'
    return text.replace("##", "#\\u0023").encode()  # build services obey `##[…]`; it can only stand in strings


def _flow(picture: Picture) -> str:
    from json import dumps

    head: dict[str, Any] = {"id": picture.id, "title": picture.title, "remarks": list(picture.remarks)}
    head |= {"found": _all(picture.found), **describe_change(picture)}
    members = "".join(f'"{name}": {dumps(text)}, ' for name, text in head.items())
    boxes = _list(map(_box, picture.boxes.values()))
    return f'{{{members}\n"boxes": {boxes},\n"lines": {_list(map(_line, picture.lines))}}}'


def _box(box: Box) -> dict[str, Any]:
    area = {"area": box.area} if box.area else {}
    more = {"details": dict(box.details), "found": _all(box.found)}
    return {**describe_box(box), **area, **describe_change(box), **more}


def _list(values: Iterable[dict[str, Any]]) -> str:
    from json import dumps

    return "[" + ",".join(f"\n{dumps(each)}" for each in values) + "]"


def _line(line: Line) -> dict[str, Any]:
    return {
        "source": line.source,
        "target": line.target,
        "stroke": line.stroke,
        "labels": list(line.labels),
        "guess": line.is_guess,
        **describe_change(line),
        "found": _all(line.found),
    }


def _all(found: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    return [
        {
            "code": each.code,
            "name": each.name,
            "severity": each.severity,
            "message": each.message,
            "file": each.at.file,
            "pointer": pointer_text(each.at.pointer),
            "line": each.span.start.line,
            "column": each.span.start.column,
            "url": each.url,
        }
        for each in found
    ]


EMITTER = Emitter("json", ".json", is_text=True, emit=_emit, edges=Edges.ALL)
