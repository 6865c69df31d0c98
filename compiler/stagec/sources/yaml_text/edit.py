"""Apply edits to a YAML text and leave everything else, comments included, as its author wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json
from stagec.sources.yaml_text.compose import compose
from stagec.sources.yaml_text.members import Spot, after_colon, dash, line_end, line_start, next_line, spot
from stagec.sources.yaml_text.nodes import Kind, YamlNode
from stagec.sources.yaml_text.scalars import meaning

_PLAIN = re.compile(r"[A-Za-z_](?:[\w ./-]*\w)?", re.ASCII)


def write_value(given: Json) -> str:
    """Return a value as text that may stand anywhere in a document, on one line."""
    if isinstance(given, str) and _PLAIN.fullmatch(given) and meaning(given) == given:
        return given
    shown = json.dumps(given, ensure_ascii=False, allow_nan=False)
    return shown if shown.isprintable() else "".join(map(_escape, shown))


def _escape(character: str) -> str:
    """Return a character of a quoted text as it may stand there; JSON would write some as two that are none alone."""
    return character if character.isprintable() else f"\\U{ord(character):08x}"


Splice = tuple[int, int, str]


def change(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made; an edit that cannot be made safely raises `ValueError`.

    Edits name members of the text as given, whatever the other edits do. Edits of ranges are for a text that cannot be
    read: each puts its value, in quotes where it needs them, in place of a range.
    """
    wanted = tuple(edits)
    if any(edit.at.range for edit in wanted):
        ranges = {edit.at.range: edit for edit in wanted if edit.at.range and edit.change is Change.REPLACE}
        if len(ranges) < len(wanted):
            raise ValueError("a text that cannot be read has no members")
        for (start, end), edit in sorted(ranges.items(), reverse=True):
            text = text[:start] + write_value(edit.value) + text[end:]
        return text
    whole = _root(text)
    root, changed = whole, len(text)
    for edit in sorted(wanted, key=lambda edit: _position(whole, edit, text), reverse=True):
        if not _still_holds(root, edit, text, changed):
            root = _root(text)
        start, end, new = _SPLICES[edit.change](text, root, edit)
        text, changed = text[:start] + new + text[end:], start
    _root(text)
    return text


def _still_holds(root: YamlNode, edit: Edit, text: str, changed: int) -> bool:
    """Tell whether nodes read before text was changed from an offset on still hold for an edit, which lies before.

    Whoever writes over a value or a name looks at that alone; whoever adds or removes looks at the whole collection.
    """
    here = spot(root, edit, text)
    alone = edit.change in {Change.REPLACE, Change.RENAME} and here.member is not None
    return (here.node if alone else here.parent or root).end < changed


def _root(text: str) -> YamlNode:
    composed = compose(text, Budgets())
    if composed.root is None or composed.trouble is not None:
        raise ValueError("the text cannot be read as YAML")
    return composed.root


def _position(root: YamlNode, edit: Edit, text: str) -> int:
    here = spot(root, edit, text)
    return here.parent.end if here.member is None and here.parent else here.start


def _replace(text: str, root: YamlNode, edit: Edit) -> Splice:
    node = spot(root, edit, text).node
    if node.anchor:
        raise ValueError(f"the value at {edit.at.pointer} may be meant elsewhere by '*{node.anchor}'")
    return _in_place(text, spot(root, edit, text), write_value(edit.value))


def _in_place(text: str, here: Spot, new: str) -> Splice:
    """Put new text where a value stands; what began on the next line moves up behind its key."""
    node = here.node
    block = node.kind in {Kind.SEQUENCE, Kind.MAPPING} and not node.style
    if here.key is not None and (block or node.start == node.end):
        return after_colon(text, here.key), node.end, f" {new}"
    return node.start, node.end, new


def _rename(text: str, root: YamlNode, edit: Edit) -> Splice:
    here = spot(root, edit, text)
    if here.key is None or here.key.kind is not Kind.SCALAR or here.key.anchor:
        raise ValueError(f"{edit.at.pointer} has no name that can be changed")
    return here.key.start, here.key.end, write_value(edit.value)


def _remove(text: str, root: YamlNode, edit: Edit) -> Splice:
    here = spot(root, edit, text)
    parent = here.parent
    if parent is None or parent.anchor or parent.tag:
        raise ValueError(f"{edit.at.pointer} cannot be taken away")
    starts, ends = here.siblings(text)
    if len(starts) == 1:
        owner = spot(root, Edit(edit.change, type(edit.at)(edit.at.file, edit.at.pointer[:-1])), text)
        return _in_place(text, owner, "{}" if parent.kind is Kind.MAPPING else "[]")
    index = starts.index(here.start)
    last = index == len(starts) - 1
    if parent.style:
        return (ends[index - 1], ends[index], "") if last else (starts[index], starts[index + 1], "")
    begin = line_start(text, starts[index])
    if not text[begin : starts[index]].strip():
        return begin, next_line(text, ends[index]), ""
    if index + 1 == len(starts):
        raise ValueError("the member shares its line with another")
    return starts[index], starts[index + 1], ""


def _insert(text: str, root: YamlNode, edit: Edit) -> Splice:
    here = spot(root, edit, text)
    parent, key = here.parent, edit.at.pointer[-1]
    mapping = parent is not None and parent.kind is Kind.MAPPING
    if parent is None or (mapping and here.member is not None) or mapping is not isinstance(key, str):
        raise ValueError(f"nothing can be added at {edit.at.pointer}")
    new = f"{write_value(key)}: {write_value(edit.value)}" if mapping else write_value(edit.value)
    if not parent.style:
        return _insert_block(text, parent, here, new)
    if text[parent.end - 1] not in "]}":
        raise ValueError("the collection has no brackets")
    if not parent.items:
        return parent.end - 1, parent.end - 1, new
    if here.member is not None:
        return here.start, here.start, f"{new}, "
    return parent.items[-1].end, parent.items[-1].end, f", {new}"


def _insert_block(text: str, parent: YamlNode, here: Spot, new: str) -> Splice:
    if parent.kind is Kind.SCALAR or not parent.items:
        raise ValueError("there is no collection to add to")
    first = parent.items[0].start if parent.kind is Kind.MAPPING else dash(text, parent.items[0].start)
    indent = " " * (first - line_start(text, first))
    entry = indent + (new if parent.kind is Kind.MAPPING else f"- {new}")
    line_break = "\r\n" if "\r\n" in text else "\n" if "\n" in text or "\r" not in text else "\r"
    if here.member is not None:
        begin = line_start(text, here.start)
        if text[begin : here.start].strip():
            raise ValueError("the element shares its line with another")
        return begin, begin, entry + line_break
    end = line_end(text, parent.end)
    return end, end, line_break + entry


_SPLICES: dict[Change, Callable[[str, YamlNode, Edit], Splice]] = {
    Change.REPLACE: _replace,
    Change.RENAME: _rename,
    Change.REMOVE: _remove,
    Change.INSERT: _insert,
}
