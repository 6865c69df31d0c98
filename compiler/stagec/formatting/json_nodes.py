"""The nodes of a JSON text that is well formed."""

from __future__ import annotations

import re
from json import loads

from stagec.sources.yaml_text.nodes import Kind, YamlNode

_TOKEN = re.compile(r'"(?:[^"\\]+|\\.)*+"|[{}\[\]]|[^\s{}\[\]",:]+')


def find_nodes(text: str) -> YamlNode:
    """Return the root of a well-formed text; JSON is read as the YAML that it also is."""
    opened: list[tuple[int, list[YamlNode]]] = []
    items: list[YamlNode] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        found = match[0]
        if found in "{[":
            opened.append((start, items))
            items = []
        elif found in "}]":
            kind = Kind.MAPPING if found == "}" else Kind.SEQUENCE
            begin, outer = opened.pop()
            outer.append(YamlNode(kind, begin, end, style=text[begin], items=tuple(items)))
            items = outer
        else:
            items.append(YamlNode(Kind.SCALAR, start, end, _name(found)))
    return items[0]


def _name(written: str) -> str:
    if "\\" in written:
        return str(loads(written))
    return written[1:-1] if written[0] == '"' else written
