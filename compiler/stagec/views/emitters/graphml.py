"""GraphML, for programs that analyse graphs; every flow is a graph of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.diagnostic import Diagnostic
from stagec.views.emitters import Edges, Emitter, Picture, describe_box, describe_change

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""
_KEYS: Mapping[str, Mapping[str, str]] = {
    "graph": {"title": "string", "remarks": "string", "findings": "string", "fate": "string", "changes": "string"},
    "node": {
        "id": "string",
        "name": "string",
        "role": "string",
        "kind": "string",
        "reached": "boolean",
        "join": "boolean",
        "members": "string",
        "notes": "string",
        "findings": "string",
        "fate": "string",
        "changes": "string",
    },
    "edge": {
        "stroke": "string",
        "labels": "string",
        "guess": "boolean",
        "findings": "string",
        "fate": "string",
        "before": "string",
    },
}
"""The keys of graphs, nodes and edges, each with the type of its value; lists have one element on each line."""
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_UNKNOWN = "\ufffd"
"""Stands for what no XML document can hold."""


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    declared = (
        f'  <key id="{domain}.{name}" for="{domain}" attr.name="{name}" attr.type="{kind}"/>\n'
        for domain, keys in _KEYS.items()
        for name, kind in keys.items()
    )
    graphs = (line for at, each in enumerate(pictures) for line in _graph(f"g{at}", each))
    return "".join((_HEAD, *declared, *graphs, "</graphml>\n")).encode()


def _graph(own: str, picture: Picture) -> Iterator[str]:
    ids = {box: f"{own}.n{at}" for at, box in enumerate(picture.boxes)}
    yield f'  <graph id="{own}" edgedefault="directed">\n'
    told: dict[str, object] = {"title": picture.title, "remarks": picture.remarks, "findings": _format(picture.found)}
    yield from _data("    ", "graph", told | describe_change(picture))
    for box in picture.boxes.values():
        yield f'    <node id="{ids[box.id]}">\n'
        told = describe_box(box) | {"findings": _format(box.found)}
        yield from _data("      ", "node", told | describe_change(box))
        yield "    </node>\n"
    for at, line in enumerate(picture.lines):
        yield f'    <edge id="{own}.e{at}" source="{ids[line.source]}" target="{ids[line.target]}">\n'
        told = {"stroke": line.stroke, "labels": line.labels, "guess": line.is_guess, "findings": _format(line.found)}
        yield from _data("      ", "edge", told | describe_change(line))
        yield "    </edge>\n"
    yield "  </graph>\n"


def _format(found: Iterable[Diagnostic]) -> tuple[str, ...]:
    return tuple(f"{each.severity} {each.code}: {each.message}" for each in found)


def _data(indent: str, domain: str, told: Mapping[str, object]) -> Iterator[str]:
    """Yield the known facts; None and empty lists are left out."""
    for name, given in told.items():
        if given is None or given == ():
            continue
        text = "\n".join(given) if isinstance(given, tuple) else str(given)
        # a text as XML holds it; what cannot be printed is a number, and `##` commands no build service
        shown = "".join(map(_character, text)).replace("##", "#&#35;") if not isinstance(given, bool) else text.lower()
        yield f'{indent}<data key="{domain}.{name}">{shown}</data>\n'


def _character(each: str) -> str:
    if each in _MARKUP:
        return _MARKUP[each]
    if each.isprintable():
        return each
    return f"&#{ord(each)};" if _is_allowed(each) else _UNKNOWN


def _is_allowed(each: str) -> bool:
    """Tell whether an XML document can hold a character."""
    return each in "\t\n\r" or " " <= each <= "\ud7ff" or "\ue000" <= each <= "\ufffd" or each >= "\U00010000"


EMITTER = Emitter("graphml", ".graphml", is_text=True, emit=_emit, edges=Edges.ALL)
