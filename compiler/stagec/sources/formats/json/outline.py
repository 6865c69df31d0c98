"""The outline of a JSON text: where its values begin and end, and how they are edited."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json
from stagec.core.place import Key, Part, Place, Pointer, Span, pointer_text
from stagec.core.value import value
from stagec.sources.tree import Lines

Wanted: TypeAlias = "dict[Key, Wanted]"
"""A tree of the pointers that somebody asks for."""


_SPACE = re.compile(r"[\s\ufeff]*")
_MEMBER = re.compile(r'[\s,]*"((?:[^"\\]+|\\.)*+)"\s*:\s*', re.DOTALL)
_ITEM = re.compile(r"[\s,]*(?=[^\s,\]}])")
_CLOSER = re.compile(r"[\s,]*[\]}]")
_SCALAR = re.compile(r'"(?:[^"\\]+|\\.)*+"?|[^\s,{}\[\]"]+', re.DOTALL)
_FLAT = re.compile(
    r"""(?:[^"{}\[\]]+ | "(?:[^"\\]+|\\.)*+(?:"|\Z) | [{\[](?:[^"{}\[\]]+|"(?:[^"\\]+|\\.)*+")*+[}\]])*+""",
    re.DOTALL | re.VERBOSE,
)


_LARGE = 200_000
"""Characters of a text from which on values are read to find where they end."""


class JsonNode:
    """A value in the text: where it and its name begin and end, and its members when it was descended into.

    `children` are all members in order; `members` finds them by name or index, the last of those with one name.
    """

    __slots__ = ("children", "end", "key", "members", "start")

    def __init__(self, start: int, key: tuple[int, int] | None = None) -> None:
        self.start = start
        self.end = start
        self.key = key
        self.children = _NO_CHILDREN
        self.members = _NO_MEMBERS

    @property
    def begin(self) -> int:
        """The beginning of the member: at its name, if it has one."""
        return self.start if self.key is None else self.key[0]

    def nearest(self, pointer: Pointer) -> tuple[JsonNode, int]:
        """Return the member a pointer leads to, or its last ancestor that is there, and how many keys led to it."""
        node = self
        for depth, key in enumerate(pointer):
            if key not in node.members:
                return node, depth
            node = node.members[key]
        return node, len(pointer)

    def range_of(self, place: Place) -> tuple[int, int]:
        """Return the range of a place in the text."""
        node, depth = self.nearest(place.pointer)
        if depth == len(place.pointer):
            return node.key if node.key and place.part is Part.KEY else (node.start, node.end)
        return node.key or (node.start, min(node.start + 1, node.end))


def pointer_tree(pointers: Iterable[Pointer]) -> Wanted:
    """Return the tree of some pointers."""
    root: Wanted = {}
    for pointer in pointers:
        branch = root
        for key in pointer:
            branch = branch.setdefault(key, {})
    return root


def outline(text: str, pointers: Iterable[Pointer]) -> JsonNode:
    """Return the root value with every container opened that a pointer leads through, in one pass over the text.

    A malformed text gives whatever can be made of it.
    """
    return _Walk(text).outline(pointer_tree(pointers))


_NO_CHILDREN: list[JsonNode] = []
_NO_MEMBERS: dict[Key, JsonNode] = {}
"""The members of nodes that were not opened; never written to."""


class _ReadContainers:
    """The texts of well-formed containers that were read last, by the name or the index of each."""

    def __init__(self) -> None:
        self._texts: dict[Key, str] = {}
        self._size = 0

    def find(self, key: Key) -> str | None:
        """Return the container that was read last under a name."""
        return self._texts.get(key)

    def put(self, key: Key, text: str) -> None:
        """Keep a container under its name instead of the one before; drop all when they need too much memory."""
        if self._size + len(text) > _MOST_READ:
            self._texts, self._size = {}, 0
        self._size += len(text)
        self._texts[key] = text


_MOST_READ = 4_000_000
"""Characters of containers that are kept."""
_READ = _ReadContainers()


class _Walk:
    """One pass over a text. `_open` are the containers around the position, innermost last.

    A container of a large text is read to find where it ends. An equal one that was read before under its name ends
    after as many characters: an editor asks again after each keystroke, which has changed one of them.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[tuple[JsonNode, Wanted]] = []
        self._read: Callable[[str, int], tuple[object, int]] | None = None
        if len(text) > _LARGE:
            from json import JSONDecoder  # worth its import for large texts only

            self._read = JSONDecoder(strict=False).raw_decode

    def outline(self, tree: Wanted) -> JsonNode:
        match = _SPACE.match(self._text)
        root = JsonNode(match.end() if match else 0)
        position = self._enter(root, tree)
        while self._open:
            position = self._step(position, *self._open[-1])
        return root

    def _step(self, position: int, node: JsonNode, tree: Wanted) -> int:
        """Read the next member of the innermost container, or its end."""
        if self._text[node.start] == "{":
            match = _MEMBER.match(self._text, position)
            key: Key = _name(match[1]) if match else ""
        else:
            match = _ITEM.match(self._text, position)
            key = len(node.children)
        if match is None:
            self._open.pop()
            closer = _CLOSER.match(self._text, position)
            node.end = closer.end() if closer else _after(self._text, node.start)
            return max(node.end, position)
        child = JsonNode(match.end(), (match.start(1) - 1, match.end(1) + 1) if match.re is _MEMBER else None)
        node.children.append(child)
        node.members[key] = child
        return self._enter(child, tree.get(key), key)

    def _enter(self, node: JsonNode, tree: Wanted | None, key: Key = "") -> int:
        """Open a container that leads to something wanted, and go past any other value."""
        if tree and self._text[node.start : node.start + 1] in {"{", "["}:
            node.children, node.members = [], {}
            self._open.append((node, tree))
            return node.start + 1
        node.end = self._skip(node.start, key)
        return node.end

    def _skip(self, start: int, key: Key) -> int:
        """Return the end of a value: a container is read, which is faster, until one is malformed."""
        if self._read is not None and self._text[start : start + 1] in {"{", "["}:
            known = _READ.find(key)
            if known is not None and self._text.startswith(known, start):
                return start + len(known)
            try:
                end = self._read(self._text, start)[1]
            except (ValueError, RecursionError):
                self._read = None
            else:
                _READ.put(key, self._text[start:end])
                return end
        return _after(self._text, start)


def _after(text: str, start: int) -> int:
    """Return the end of the value that begins at `start`."""
    if text[start : start + 1] not in {"{", "["}:
        match = _SCALAR.match(text, start)
        return match.end() if match else start
    depth = 0
    position = start
    while position < len(text):
        found = text[position]
        depth += 1 if found in "{[" else -1 if found in "}]" else 0
        position += 1
        if depth == 0:
            return position
        match = _FLAT.match(text, position)
        position = match.end() if match else position
    return len(text)


def _name(raw: str) -> str:
    if "\\" not in raw:
        return raw
    from json import loads

    from stagec.sources.formats.json.scan import without_surrogates

    try:
        return without_surrogates(loads(f'"{raw}"', strict=False))
    except ValueError:
        return raw


def locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    """Return the span of each place of one file.

    For a place that is not there it is the name of the nearest ancestor that is, or its opening bracket when it has
    no name. Of several members with one name the last counts, as it does for the value.
    """
    text = data.decode(errors="replace")
    every = tuple(places)
    lines = Lines(text)
    spans = {place: lines.span(*place.range) for place in every if place.range is not None}
    symbolic = [place for place in every if place.range is None]
    if symbolic:
        root = outline(text, [place.pointer for place in symbolic])
        spans.update((place, lines.span(*root.range_of(place))) for place in symbolic)
    return spans


_INDENT = re.compile(r"[ \t]*")


@value
class Spacing:
    """The spacing of the members of one container: the white space between two of them and after a colon.

    `unit` is what one level of indentation adds; `newline` is empty where everything stands on one line.
    """

    between: str
    colon: str
    newline: str
    indent: str
    unit: str


def style_of(text: str, node: JsonNode) -> Spacing:
    """Return the style in which the members of a container are written."""
    # the white space before the last member, which a new one is to have as well
    if not node.children:
        between = ""
    else:
        last = node.children[-1].begin
        space = text[node.start + 1 : last]
        between = space[len(space.rstrip()) :]
    compact = _compact(text)
    newline = "\r\n" if "\r\n" in between else between[:1] if between[:1] in {"\n", "\r"} else ""
    indent = between.rpartition(newline)[2] if newline else ""
    start = max(text.rfind("\n", 0, node.start), text.rfind("\r", 0, node.start)) + 1
    match = _INDENT.match(text, start)
    outer = match[0] if match else ""
    unit = indent[len(outer) :] if indent.startswith(outer) and indent != outer else "  "
    colon = _colon(text, node) or ("" if compact else " ")
    if not between and len(node.children) < _SEVERAL and not compact:
        between = " "
    return Spacing(between, "" if compact else colon, newline, indent, unit)


def render(given: Json, style: Spacing) -> str:
    """Return a value as text, over several lines where its neighbours are."""
    from json import dumps

    if not style.newline or not isinstance(given, (dict, list, tuple)):
        separators = ("," + (" " if style.colon else ""), ":" + (" " if style.colon else ""))
        return dumps(given, ensure_ascii=False, separators=separators)
    pretty = dumps(given, ensure_ascii=False, indent=style.unit or None)
    return pretty.replace("\n", style.newline + style.indent)


_SEVERAL = 2


def _compact(text: str) -> bool:
    """Tell whether a text shows commas or colons and no white space after any."""
    spaced = any(each in text for each in ("\n", "\r", ", ", '": '))
    return not spaced and ("," in text or '":' in text)


def _colon(text: str, node: JsonNode) -> str:
    for child in node.children[-1:]:
        if child.key:
            return text[child.key[1] : child.start].partition(":")[2]
    return ""


Splice = tuple[int, int, str]
"""A stretch of the text and what is to stand there."""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made; indexes and names are those before any of them.

    Raises ValueError, naming the places, for edits that contradict each other and for places that are not there.
    """
    every = tuple(edits)
    _refuse_overlaps(every)
    root = outline(text, [edit.at.pointer for edit in every])
    splices: list[Splice] = []
    groups: dict[Pointer, list[Edit]] = {}
    for edit in every:
        if edit.change in {Change.REPLACE, Change.RENAME}:
            splices.append(_replace_value(text, root, edit))
        else:
            groups.setdefault(edit.at.pointer[:-1], []).append(edit)
    for pointer, group in groups.items():
        splices.extend(_Container(text, _existing(root, pointer), group).splices())
    parts: list[str] = []
    position = 0
    for start, end, fresh in sorted(splices, key=lambda each: each[:2]):
        parts += (text[position:start], fresh)
        position = end
    return "".join((*parts, text[position:]))


def _replace_value(text: str, root: JsonNode, edit: Edit) -> Splice:
    """Return how a value is replaced or a member renamed."""
    pointer = edit.at.pointer
    node = _existing(root, pointer)
    if edit.change is Change.RENAME:
        if node.key is None:
            raise ValueError(f"{_describe(edit)} has no name")
        return (*node.key, render(edit.value, _INLINE))
    around = _existing(root, pointer[:-1]) if pointer else node
    return node.start, node.end, render(edit.value, style_of(text, around))


_INLINE = Spacing("", " ", "", "", "")


class _Container:
    """One object or array from which members are taken or to which some are added."""

    def __init__(self, text: str, node: JsonNode, edits: Sequence[Edit]) -> None:
        self._node = node
        self._style = style_of(text, node)
        self._is_object = text[node.start : node.start + 1] == "{"
        if not self._is_object and text[node.start : node.start + 1] != "[":
            raise ValueError(f"{_describe(edits[0])} is in no object or array")
        self._removed = {id(self._member(edit)) for edit in edits if edit.change is Change.REMOVE}
        self._added = [edit for edit in edits if edit.change is Change.INSERT]
        self._kept = [child for child in node.children if id(child) not in self._removed]

    def splices(self) -> list[Splice]:
        """Return the changes of the text between the brackets."""
        last = self._kept[-1] if self._kept else None
        at_end = [self._text_of(edit) for edit in self._added if self._successor(edit) is None]
        glue = "," + self._style.between
        if last is None:
            if not self._removed and not at_end:
                return []
            return [(self._node.start + 1, self._node.end - 1, self._refill(glue.join(at_end)))]
        appended = "".join(glue + each for each in at_end)
        return [*self._removals(), *self._insertions(glue), (last.end, last.end, appended)]

    def _refill(self, fresh: str) -> str:
        """Return the whole of a container's text that has nothing left of what it had."""
        newline = self._style.newline
        if not newline or not fresh:
            return fresh
        return self._style.between + fresh + newline + self._style.indent.removesuffix(self._style.unit)

    def _removals(self) -> Iterable[Splice]:
        """Take away what lies between a kept member, or the opening bracket, and the next kept member."""
        children = self._node.children
        start: int | None = None
        before: JsonNode | None = None
        for child in children:
            if id(child) in self._removed:
                start = child.begin if start is None else start
            else:
                if start is not None:
                    yield start, child.begin, ""
                start, before = None, child
        if start is not None and before is not None:
            yield before.end, children[-1].end, ""

    def _insertions(self, glue: str) -> Iterable[Splice]:
        for edit in self._added:
            successor = self._successor(edit)
            if successor is not None:
                yield successor.begin, successor.begin, self._text_of(edit) + glue

    def _successor(self, edit: Edit) -> JsonNode | None:
        """Return the kept element before which another is to be inserted; nothing means at the end."""
        index = edit.at.pointer[-1]
        if self._is_object or not isinstance(index, int):
            return None
        return next((child for child in self._node.children[index:] if id(child) not in self._removed), None)

    def _text_of(self, edit: Edit) -> str:
        fresh = render(edit.value, self._style)
        key: Key = edit.at.pointer[-1]
        if not self._is_object:
            return fresh
        if key in self._node.members and id(self._node.members[key]) not in self._removed:
            raise ValueError(f"{_describe(edit)} is there already")
        return f"{render(str(key), _INLINE)}:{self._style.colon}{fresh}"

    def _member(self, edit: Edit) -> JsonNode:
        key = edit.at.pointer[-1]
        if key not in self._node.members:
            raise ValueError(f"{_describe(edit)} is not there")
        return self._node.members[key]


def _existing(root: JsonNode, pointer: Pointer) -> JsonNode:
    node, depth = root.nearest(pointer)
    if depth < len(pointer):
        raise ValueError(f"{pointer_text(pointer)!r} is not there")
    return node


def _refuse_overlaps(edits: Sequence[Edit]) -> None:
    taken: dict[tuple[Pointer, str], Edit] = {}
    for edit in edits:
        # which parts of its member an edit needs for itself
        if not edit.at.pointer and edit.change is not Change.REPLACE:
            raise ValueError("the root can only be replaced")
        at_index = isinstance(edit.at.pointer[-1:][0], int) if edit.at.pointer else False
        claims = {Change.REPLACE: ("value",), Change.RENAME: ("name",), Change.REMOVE: ("name", "value")}
        for claim in claims.get(edit.change, () if at_index else ("new",)):
            other = taken.setdefault((edit.at.pointer, claim), edit)
            if other is not edit:
                raise ValueError(f"two edits of {_describe(edit)}")
    for edit in edits:
        for length in range(len(edit.at.pointer)):
            above = taken.get((edit.at.pointer[:length], "value"))
            if above is not None:
                raise ValueError(f"the edit of {_describe(edit)} lies inside the edit of {_describe(above)}")


def _describe(edit: Edit) -> str:
    return repr(pointer_text(edit.at.pointer))
