"""Turns the nodes of a text into containers and members in their order, each with its comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from json import loads

from stagec.check.formatting.writing import Container, Snippet, WrittenRow, join_rows
from stagec.core.json import Object, list_of, object_of
from stagec.core.value import replace
from stagec.sources.shape.schema import load_published
from stagec.sources.yaml_text.nodes import Kind, YamlNode

_REST_OF_LINE = re.compile(r"([ \t]*)(#[^\n]*)?(?=\n|\Z)")
_LINE = re.compile(r"\n([ \t]*)(?:(#[^\n]*)|(?=\n|\Z))")
_GAP = "  "
"""The separator before a comment behind other text."""


Comment = tuple[int, str]
"""The column of a comment and its text; a blank line has none."""


class UnusualLayoutError(ValueError):
    """A form that is left as its author wrote it, and the line on which it stands."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class Cursor:
    """A place in a text. `passed` are the comments and blank lines that belong to nothing yet."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.passed: list[Comment] = []
        first = _REST_OF_LINE.match(text, at)
        if first:
            self._pass(first)
            self.collect()

    def refuse(self) -> UnusualLayoutError:
        """Return the error that what stands here is in an unusual form."""
        rest = self.text[self.at :]
        return UnusualLayoutError(self.text.count("\n", 0, self.at + len(rest) - len(rest.lstrip())) + 1)

    def move(self, to: int, allowed: str = "") -> str:
        """Go on to an offset; return what stands in between besides blanks, which is in the allowed characters."""
        found = self.text[self.at : to].strip(" \t\n")
        if found not in allowed:
            raise self.refuse()
        self.at = to
        return found

    def take(self, mark: re.Pattern[str]) -> str:
        """Go on behind a mark, which has to be here, and return it."""
        match = mark.match(self.text, self.at)
        if match is None:
            raise self.refuse()
        self.at = match.end()
        return match[0]

    def is_at_end_of_line(self) -> bool:
        """Tell whether nothing but blanks and a comment is left of the line, both of which were passed."""
        return self.at >= len(self.text) or self.text[self.at] == "\n"

    def take_trail(self) -> str:
        """Return the comment on the rest of the line with the blanks before it; nothing if there is something else."""
        rest = _REST_OF_LINE.match(self.text, self.at)
        if rest is None:
            return ""
        self.at = rest.end()
        is_spaced = bool(rest[1]) and "\t" not in rest[1]
        return (rest[1] if is_spaced else _GAP) + rest[2].rstrip() if rest[2] else ""

    def collect(self) -> None:
        """Pass the lines below, at the end of a line, that hold a comment or nothing."""
        while line := _LINE.match(self.text, self.at):
            self._pass(line)

    def claim(self, column: int = 0) -> tuple[str, ...]:
        """Return the comments passed up to the last one before any that stands left of a column; blank lines as ""."""
        count = end = 0
        for number, (indent, text) in enumerate(self.passed, 1):
            if text and indent < column:
                break
            count = number
            end = number if text else end
        taken = self.passed[: end if column else count]
        del self.passed[: len(taken)]
        lines = [text for _, text in taken]
        return tuple(each for number, each in enumerate(lines) if each or (number and lines[number - 1]) or not number)

    def _pass(self, line: re.Match[str]) -> None:
        self.passed.append((len(line[1]), (line[2] or "").rstrip()))
        self.at = line.end()


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


_FIRST = ("$schema", "$comment")
"""The first keys of every object: the schema of a document, and the comment of an object, as JSON has it."""
_PARTS = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("then", "else")
_REFERENCE = "#/"


class MemberOrder:
    """The order of the members of one object, and of what is inside: known ones first, the others as written."""

    def __init__(self, document: Object, schemas: Iterable[Object]) -> None:
        self._document = document
        self._schemas = tuple(_list_parts(document, schemas))
        self._below: dict[str | None, MemberOrder] = {}
        names = [name for each in self._schemas for name in object_of(each.get("properties"))]
        self._ranks = {name: rank for rank, name in enumerate(dict.fromkeys((*_FIRST, *names)))} if names else {}

    @property
    def schemas(self) -> tuple[Object, ...]:
        """The parts of the schema that say something about the object."""
        return self._schemas

    def rank(self, name: str | None) -> int:
        """Return the position of a member; all that are unknown have the last one."""
        return self._ranks.get(name or "", len(self._ranks))

    def below(self, name: str | None) -> MemberOrder:
        """Return the order inside a member of an object, or with None inside the elements of a list."""
        if not self._schemas:
            return self
        if name not in self._below:
            found = (_find_member(each, name) for each in self._schemas)
            self._below[name] = MemberOrder(self._document, [each for each in found if each])
        return self._below[name]


@cache
def read_order(name: str, definition: str | None = None) -> MemberOrder:
    """Return the order that the published schema of a document shows, or a definition in it."""
    document = load_published(name).schema
    found = document if definition is None else object_of(object_of(document["$defs"])[definition])
    return MemberOrder(document, [found])


def _find_member(schema: Object, name: str | None) -> Object:
    if name is None:
        return object_of(schema.get("items"))
    members = object_of(schema.get("properties"))
    return object_of(members[name] if name in members else schema.get("additionalProperties"))


def _list_parts(document: Object, schemas: Iterable[Object]) -> Iterator[Object]:
    """Yield schemas, what they refer to, and what they consist of, each once."""
    waiting = list(schemas)
    seen: set[int] = set()
    while waiting:
        schema = waiting.pop(0)
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith(_REFERENCE):
            waiting.append(_follow(document, reference))
        waiting += [object_of(part) for name in _PARTS for part in list_of(schema.get(name))]
        waiting += [object_of(schema[name]) for name in _BRANCHES if name in schema]


def _follow(document: Object, reference: str) -> Object:
    for name in reference.removeprefix(_REFERENCE).split("/"):
        document = object_of(document.get(name))
    return document


AS_WRITTEN = MemberOrder({}, ())
"""The order of a document of which stagec knows no members."""


_COLON = re.compile(r"[ \t]*:")
_DASH = re.compile(r"[ \t\n]*-")
_COMMA = re.compile(r"[ \t]*,")
_PROPERTIES = re.compile(r"[&!][^\s,\[\]{}]*(?:[ \t]+[&!][^\s,\[\]{}]*)?(?=\s)")
_HEADER = re.compile(r"(?:[&!]\S*[ \t]+)*[|>](?:[+-]?([1-9])|([1-9])?)[+-]?[ \t]*(?:#.*)?")
_BLANKS = re.compile(r"[ \t]*")
_DIRECTIVE = re.compile(r"#[ \t]*stagec", re.IGNORECASE)
"""The beginning of a comment that silences findings: its effect depends on its line."""


class LayoutReader:
    """Reads one text; `has_padding` says that objects on one line have blanks inside their brackets, as JSON has."""

    def __init__(self, text: str, at: int, *, has_padding: bool, keeps_order: bool) -> None:
        self.cursor = Cursor(text, at)
        self.is_open_ended = False
        self.above: tuple[str, ...] = ()
        self.below: tuple[str, ...] = ()
        self._text = text
        self._has_padding = has_padding
        self._keeps_order = keeps_order

    def read(self, root: YamlNode, order: MemberOrder) -> Container:
        """Return the root; `above` and `below` are the comments around it that are not its own."""
        self.above = self.cursor.claim() if root.style else ()
        self.cursor.move(root.start)
        if root.anchor or root.tag:
            raise self.cursor.refuse()
        found = self._read_container(root, order)
        behind = self.cursor.at
        if found.brackets and self.cursor.take_trail():
            self.cursor.at = behind
            raise self.cursor.refuse()
        self.cursor.collect()
        below = self.cursor.claim()
        below = below if not below or below[-1] else below[:-1]
        self.cursor.move(len(self._text))
        self.below = below if root.style else ()
        return found if root.style else replace(found, tail=(*found.tail, *below))

    def _read_container(self, node: YamlNode, order: MemberOrder, outer: int = 0) -> Container:
        """Read a container at the cursor: brackets, or a block with the comments right of the column `outer`."""
        properties = head = ""
        if node.anchor or node.tag:
            properties = self.cursor.take(_PROPERTIES)
            head = self.cursor.take_trail()
            if node.style and (head or self.cursor.is_at_end_of_line()):
                raise self.cursor.refuse()
            self.cursor.collect()
        if node.style:
            self.cursor.take(_BLANKS)
            return replace(self._read_brackets(node, order), properties=properties)
        return replace(self._read_block(node, order, outer), properties=properties + head)

    def _read_block(self, node: YamlNode, order: MemberOrder, outer: int) -> Container:
        is_mapping = node.kind is Kind.MAPPING
        pairs = node.pairs if is_mapping else ((None, item) for item in node.items)
        rows: list[WrittenRow] = []
        directed: list[bool] = []
        column = 0
        for key, item in pairs:
            lead = self.cursor.claim()
            self._begin(key)
            if not rows:
                start = self.cursor.at if key is not None else self.cursor.at - 1
                column = start - (self._text.rfind("\n", 0, start) + 1)
            begin = self.cursor.at
            row = self._read_key(key)
            rows.append(self._read_value(replace(row, lead=lead), item, column, order.below(row.name)))
            directed.append(self._has_directive(begin, self.cursor.at) or any(map(_DIRECTIVE.match, lead)))
        tail = self.cursor.claim(max(column, outer + 1))
        header, rows[0] = _split_header(rows[0])
        found = self._sort(rows, order)
        ends = ((found[0], rows[0], directed[0]), (found[-1], rows[-1], directed[-1]))
        is_kept = any(new is not old and (there or directed[rows.index(new)]) for new, old, there in ends)
        return Container(tuple(rows) if is_kept else found, header=header, tail=tail)

    def _has_directive(self, start: int, end: int) -> bool:
        return _DIRECTIVE.search(self._text, start, end) is not None

    def _begin(self, key: YamlNode | None) -> None:
        if key is None:
            self.cursor.take(_DASH)
        else:
            self.cursor.move(key.start)

    def _read_key(self, key: YamlNode | None) -> WrittenRow:
        """Return a member that has only a key; the key of an element is its dash, which was passed."""
        if key is None:
            return WrittenRow(Snippet())
        written = self._text[key.start : key.end]
        if key.kind is not Kind.SCALAR or "\n" in written or not (key.text or key.style):
            raise self.cursor.refuse()  # what follows would become a part of an anchor or a tag
        self.cursor.at = key.end
        self.cursor.take(_COLON)
        return WrittenRow(Snippet(), key=written, name=key.text)

    def _read_value(self, row: WrittenRow, node: YamlNode, column: int, order: MemberOrder) -> WrittenRow:
        cursor = self.cursor
        comment = cursor.take_trail()
        is_below = cursor.is_at_end_of_line()
        if is_below:
            cursor.collect()
        if node.start == node.end:
            return replace(row, trail=comment)
        if node.items and not node.style and node.kind is not Kind.ALIAS:
            cursor.move(node.start)
            if comment and (node.anchor or node.tag):
                raise cursor.refuse()
            is_apart = is_below and self._has_directive(node.start, self._find_line_end(node.end))
            return replace(row, value=self._read_container(node, order, column), head=comment, below=is_apart)
        between = cursor.claim() if is_below else ()
        cursor.move(node.start)
        given = self._read_container(node, order) if node.style in {"[", "{"} else self._read_scalar(node, column)
        trail = cursor.take_trail()
        if not cursor.is_at_end_of_line():
            raise self.cursor.refuse()
        cursor.collect()
        between = tuple(each for each in between if each)
        return replace(row, value=given, head=comment, between=between, below=is_below, trail=trail)

    def _sort(self, rows: list[WrittenRow], order: MemberOrder) -> tuple[WrittenRow, ...]:
        if self._keeps_order or not rows or rows[0].key is None:
            return tuple(rows)
        return tuple(sorted(rows, key=lambda row: order.rank(row.name)))

    def _read_scalar(self, node: YamlNode, column: int) -> Snippet:
        if node.style in {"|", ">"}:
            return self._read_block_scalar(node, column)
        self.cursor.at = node.end
        written = self._text[node.start : node.end]
        if "\n" not in written:
            return Snippet(written)
        first, *rest = written.split("\n")
        lines = [each.strip(" \t") if not node.style else each.lstrip(" \t") for each in rest]
        return Snippet(first if node.style else first.rstrip(" \t"), tuple(lines))

    def _read_block_scalar(self, node: YamlNode, column: int) -> Snippet:
        end = self._text.find("\n", node.start)
        header = self._text[node.start : end if end >= 0 else len(self._text)].rstrip()
        match = _HEADER.fullmatch(header)
        if match is None:
            raise self.cursor.refuse()
        indicator = int(match[1] or match[2] or 0)
        lines = list(self._list_lines(end, column, indicator))
        keeps_end = "+" in header.partition("#")[0]
        while lines and not lines[-1][1] and not keeps_end:
            lines.pop()
        self.cursor.at = lines[-1][0] if lines else end if end >= 0 else len(self._text)
        self.is_open_ended = self.is_open_ended or self.cursor.at >= len(self._text)
        return Snippet(header, tuple(each for _, each in lines), indicator or 2, keeps_end)

    def _list_lines(self, end: int, column: int, indicator: int) -> Iterator[tuple[int, str]]:
        """Yield the end of each line of a block scalar, and its text behind the indentation."""
        indent = column + indicator if indicator else 0
        text = self._text
        longest = 0
        while 0 <= end < len(text) - 1:
            start, end = end + 1, text.find("\n", end + 1)
            end = end if end >= 0 else len(text)
            line = text[start:end]
            inner = len(line) - len(line.lstrip(" "))
            if inner < len(line) and not indent:
                indent = inner if inner > column else 0
                if longest > inner:  # parsers disagree about such a text
                    raise self.cursor.refuse()
            longest = max(longest, inner)
            if inner < len(line) and (not indent or inner < indent):
                return
            yield end, line[indent:] if indent else ""

    def _read_brackets(self, node: YamlNode, order: MemberOrder) -> Container:
        cursor = self.cursor
        if self._text[cursor.at : cursor.at + 1] != node.style:
            raise self.cursor.refuse()
        cursor.at += 1
        is_padded = node.style == "{" and (self._has_padding or self._text[cursor.at] == " ")
        head = cursor.take_trail()
        is_open = cursor.is_at_end_of_line()
        if is_open:
            cursor.collect()
        spans_lines = "\n" in self._text[node.start : node.end]
        if spans_lines and not is_open and self._has_directive(node.start, self._find_line_end(node.end)):
            raise cursor.refuse()
        rows, comma = self._read_items(node, order)
        tail = tuple(each for each in cursor.claim() if each)
        cursor.at = node.end
        brackets = "{}" if node.style == "{" else "[]"
        found = Container(
            self._sort(rows, order), brackets, tail=tail, head=head, ends_with_comma=comma, spans_lines=spans_lines
        )
        is_spread = (is_open and rows) or head or tail
        return found if is_spread else replace(found, inline=join_rows(found, is_padded=is_padded))

    def _find_line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return end if end >= 0 else len(self._text)

    def _read_items(self, node: YamlNode, order: MemberOrder) -> tuple[list[WrittenRow], bool]:
        """Return the members of a container in brackets, and whether a comma follows the last."""
        cursor = self.cursor
        rows: list[WrittenRow] = []
        has_comma = False
        for key, item in node.pairs if node.style == "{" else ((None, item) for item in node.items):
            begin = key or item
            lead = cursor.claim()
            cursor.move(begin.start, ",")
            row = self._read_item(replace(self._read_item_key(key, item), lead=lead), item, order)
            has_comma = _COMMA.match(self._text, cursor.at) is not None
            if has_comma:
                cursor.take(_COMMA)
            rows.append(replace(row, trail=cursor.take_trail()))
            if cursor.is_at_end_of_line():
                cursor.collect()
        return rows, cursor.move(node.end - 1, ",") == "," or has_comma

    def _read_item_key(self, key: YamlNode | None, item: YamlNode) -> WrittenRow:
        if key is None or item.start < item.end or _COLON.match(self._text, key.end):
            return self._read_key(key)
        if not (key.text or key.style):
            raise self.cursor.refuse()
        self.cursor.at = key.end  # a key without a value, as in a set
        return WrittenRow(Snippet(), key=self._text[key.start : key.end], name=key.text)

    def _read_item(self, row: WrittenRow, node: YamlNode, order: MemberOrder) -> WrittenRow:
        if node.start == node.end:
            if self._text[self.cursor.at - 1] == ":":
                raise self.cursor.refuse()
            return row
        if node.kind is Kind.SCALAR and not node.text and not node.style:
            raise self.cursor.refuse()  # what follows would become a part of the anchor or the tag
        self.cursor.move(node.start)
        if node.style in {"[", "{"}:
            return replace(row, value=self._read_container(node, order.below(row.name)))
        if node.kind not in {Kind.SCALAR, Kind.ALIAS} or self._text[node.end - 1] == ":":
            raise self.cursor.refuse()
        return replace(row, value=self._read_scalar(node, 0))


def _split_header(first: WrittenRow) -> tuple[tuple[str, ...], WrittenRow]:
    """Return the comments that stand apart above the first member of a block, and the member with the others."""
    lead = first.lead
    if any(map(_DIRECTIVE.match, lead)):
        return (), replace(first, lead=lead[1:] if not lead[0] else lead)
    apart = len(lead) - lead[::-1].index("") if "" in lead else 0
    header = lead[:apart] if any(lead[:apart]) else ()
    return header[1:] if header and not header[0] else header, replace(first, lead=lead[apart:])
