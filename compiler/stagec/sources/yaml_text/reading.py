"""From YAML text to a value and its faults."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.core.place import Part, Place
from stagec.core.value import replace
from stagec.sources.suppression import Suppression, match_comment, may_have_comments, read_comment
from stagec.sources.tree import Fault, Lines, Parsed
from stagec.sources.yaml_text.compose import compose, nodes_of
from stagec.sources.yaml_text.members import line_end, line_start, write_value
from stagec.sources.yaml_text.mistakes import Outline
from stagec.sources.yaml_text.nodes import Kind, NumberError, TagError, YamlNode, apply_tag, meaning

_NO_CONTENT = re.compile(r"(?:[ \t]*+(?:#[^\r\n]*+|---[ \t]*+)?(?:\r\n|\n|\r))*+[ \t]*+(?:#[^\r\n]*+)?")
"""Lines that say nothing: blank ones, comments, the beginning of a document."""


def read_suppressions(file: str, text: str, within: tuple[int, int, int] | None = None) -> tuple[Suppression, ...]:
    """Return the suppressions in the comments of a text.

    A comment beside something speaks for its own line, one on a line of its own for the next line that says something.
    `within` are the offsets where the YAML of a Markdown file begins and ends, and where the text below it begins; a
    comment behind everything in the YAML speaks for that text.
    """
    start, end, body = within or (0, len(text), None)
    inside = text[start:end]
    if not may_have_comments(inside):
        return ()
    lines, last = Lines(text), len(inside.rstrip())
    found: list[Suppression] = []
    content = -1
    for match in _find_comments(inside):
        is_alone = not inside[line_start(inside, match.start()) : match.start()].strip()
        if is_alone and content < match.start():
            skipped = _NO_CONTENT.match(inside, match.start())
            content = skipped.end() if skipped else len(inside)
        is_last = is_alone and content >= last
        if is_last:
            line = 0 if body is None else lines.position(body).line
        else:
            line = lines.position(start + (content if is_alone else match.start())).line
        found.extend(read_comment(match, Place(file, range=(start, end)), line, below=is_last and body is not None))
    return tuple(found)


_HASH = re.compile(r"(?<![^\s])#")


def _find_comments(text: str) -> Iterator[re.Match[str]]:
    """Yield the comments that suppress findings; what stands in a quoted or indented text is none."""
    root = compose(text, Budgets()).root
    texts = sorted(
        (line_end(text, node.start) if node.style in {"|", ">"} else node.start, node.end)
        for node in (nodes_of(root) if root else ())
        if node.style in {"|", ">", '"', "'"}
    )
    end = 0
    for sign in _HASH.finditer(text):
        start = sign.start()
        before = bisect_right(texts, (start, len(text))) - 1
        if start < end or (before >= 0 and start < texts[before][1]):
            continue
        end = line_end(text, start)
        match = match_comment(text, start)
        if match is not None:
            yield match


_LONGEST = 100_000
_UNSURE_AFTER_BRACKET = frozenset(",]}")
_APOSTROPHES = re.compile(r"(?:[^']|(?<=\w)'(?=\w))+")
_WORDS_IN_QUOTES = re.compile(r'[^"]*\s"\S[^"]*"(?!\w)[^"]*(?:\s"\S[^"]*"(?!\w)[^"]*)*')
_TAG = re.compile(r"<([a-z]+)>")
_TEMPLATE = re.compile(r"\{[ ]*\{.*\}[ ]*\}")


Quotable = tuple[int, int, str]
"""The bounds of a value, and the intended text."""


def remedy(text: str, reason: str, at: int, budgets: Budgets) -> Quotable | None:
    """Return the value that quotes would fix, if no other intention is likely and the text is then sound."""
    where = Outline(text)
    if reason not in _SURE or len(text) > _LONGEST or not where.entry(at):
        return None
    start, end = where.value(at)
    value = text[start:end]
    if not start <= at < end or " #" in value or _goes_on(where, end):
        return None
    meant = value if reason != "after-quote" else _unwrap(value)
    if meant is None or not _SURE[reason](value, at - start):
        return None
    return (start, end, meant) if _mends(text, (start, end, meant), budgets) else None


def _sure(_value: str, _at: int) -> bool:
    return True


def _is_prose(value: str, at: int) -> bool:
    """Tell whether several words, which can be no key, stand before a colon, and no tag is left open."""
    whole = all(f"</{tag}>" in value for tag in _TAG.findall(value))
    return len(value[:at].split()) > 1 and value[0] not in "[{\"'" and whole


def _is_template(value: str, _at: int) -> bool:
    return _TEMPLATE.fullmatch(value) is not None


def _begins_value(value: str, at: int) -> bool:
    return (at == 0 and value[0] not in _UNSURE_AFTER_BRACKET) or value.startswith("{%")


_SURE = {
    "colon": _is_prose,
    "alias": _begins_value,
    "reserved": _begins_value,
    "after-bracket": lambda value, at: value[at] not in _UNSURE_AFTER_BRACKET,
    "after-quote": _sure,
    "key-not-text": _is_template,
}


def _unwrap(value: str) -> str | None:
    """Return the text that quotes were put around although it holds others of their kind, when it can be told."""
    mark, inner = value[0], value[1:-1]
    if mark not in "\"'" or "\\" in value or not inner:
        return None
    if value[-1] != mark:
        return value
    if mark == "'":
        return inner if _APOSTROPHES.fullmatch(inner) else None
    return inner if _WORDS_IN_QUOTES.fullmatch(inner) else None


def _goes_on(where: Outline, end: int) -> bool:
    """Tell whether the lines below continue a value."""
    rest = where.text[end:].lstrip(" \t\r\n")
    return bool(rest) and where.indent(len(where.text) - len(rest)) > where.indent(end)


def _mends(text: str, quotable: Quotable, budgets: Budgets) -> bool:
    start, end, meant = quotable
    quoted = write_value(meant)
    trouble = compose(text[:start] + quoted + text[end:], budgets).trouble
    return trouble is None or trouble.start > start + len(quoted)


_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(?:u|U0000)[dD][89a-fA-F][0-9a-fA-F]{2}")
_MOST = 1_000
"""Faults of one file that are kept; nobody reads more, and a hostile file could have a million."""


def read(file: str, text: str, budgets: Budgets) -> Parsed:
    """Return the value of the first document of a text, or None when it cannot be read; ranges count from the text."""
    composed = compose(text, budgets)
    if composed.trouble is not None:
        trouble = composed.trouble
        at = Place(file, range=(trouble.start, trouble.end))
        fault = Fault(trouble.topic, at, trouble.reason, trouble.facts)
        return Parsed(faults=(_with_remedy(fault, trouble.start, text, budgets),))
    root = composed.root
    values = _Values(file, text)
    if composed.second is not None:
        values.faults.append(Fault("several-documents", Place(file, range=composed.second)))
    elif root is None or (root.start == root.end and not root.tag):
        reason = "comments" if text.strip() else "blank" if text else "empty"
        return Parsed(faults=(Fault("empty-file", Place(file), reason),))
    given = None if root is None else values.read(root)
    return Parsed(given, tuple(values.faults))


def _with_remedy(fault: Fault, start: int, text: str, budgets: Budgets) -> Fault:
    """Add what quotes would fix to a fault: their range as a related place, and the text that belongs between them."""
    quotable = remedy(text, fault.reason, start, budgets) if fault.topic == "invalid-yaml" else None
    if quotable is None:
        return fault
    begin, end, meant = quotable
    place = replace(fault.at, range=(begin, end))
    return replace(fault, facts={**fault.facts, "meant": meant}, related=((place, "quotable"),))


class _Values:
    """Values under construction, the faults found on the way, and the names that lead to what is being read."""

    def __init__(self, file: str, text: str) -> None:
        self.faults: list[Fault] = []
        self._file = file
        self._text = text
        self._path: list[str | int] = []
        self._shared: dict[int, Json] = {}

    def read(self, node: YamlNode) -> Json:
        """Return the value of a node; a tuple of the way to it is made only for what is wrong."""
        if node.kind is Kind.SCALAR:
            given = self._scalar(node)
        elif node.kind is Kind.ALIAS:
            return self._alias(node.items[0])
        elif node.kind is Kind.SEQUENCE:
            given = self._sequence(node)
        else:
            given = self._mapping(node)
        if node.anchor:
            self._shared[id(node)] = given
        return given

    def _here(self) -> Place:
        return Place(self._file, tuple(self._path))

    def _alias(self, target: YamlNode) -> Json:
        """Return the value read where the anchor stands, shared."""
        return self._shared[id(target)] if id(target) in self._shared else self.read(target)

    def _scalar(self, node: YamlNode) -> Json:
        try:
            if node.tag:
                return apply_tag(node)
            return meaning(node.text) if not node.style else self._text_of(node)
        except NumberError as beyond:
            here = replace(self._here(), range=(node.start, node.end))
            self._fault("number-out-of-range", here, beyond.reason, beyond.facts)
            return beyond.nearest
        except TagError:
            self._unfit(node)
        return None

    def _text_of(self, node: YamlNode, part: Part = Part.VALUE) -> str:
        """Return a text with U+FFFD in place of surrogates without a partner."""
        if node.style != '"' or not _SURROGATE.search(node.text):
            return node.text
        pointer = (*self._path, node.text) if part is Part.KEY else tuple(self._path)
        escape = _ESCAPED.search(self._text, node.start, node.end)
        start, end = escape.span() if escape else (node.start, node.end)
        at = Place(self._file, pointer, part, (start, end))
        self._fault("lone-surrogate", at, "", {"escape": self._text[start:end]})
        return _SURROGATE.sub("\ufffd", node.text)

    def _sequence(self, node: YamlNode) -> list[Json]:
        self._check_tag(node)
        given: list[Json] = []
        for index, item in enumerate(node.items):
            self._path.append(index)
            given.append(self.read(item))
            self._path.pop()
        return given

    def _mapping(self, node: YamlNode) -> dict[str, Json]:
        self._check_tag(node)
        given: dict[str, Json] = {}
        first: dict[str, YamlNode] = {}
        for key, item in node.pairs:
            name = self._name(key)
            self._path.append(name)
            if key.meant.kind is not Kind.SCALAR:
                self._collection_as_key(node, key)
            elif name in first:
                self._report_repeats(key, first[name])
            first.setdefault(name, key)
            given[name] = self.read(item)
            self._path.pop()
        return given

    def _collection_as_key(self, node: YamlNode, key: YamlNode) -> None:
        at, character = Place(self._file, range=(key.start, key.end)), self._text[key.start]
        if not node.style:
            written = self._text[key.start : key.end]
            self._fault("invalid-yaml", at, "key-start", {"character": character, "key": written})
        elif len(self.faults) < _MOST:
            facts = Outline(self._text).facts(node.start) | {"value": self._text[node.start : node.end]}
            fault = Fault("invalid-yaml", at, "key-not-text", facts)
            self.faults.append(_with_remedy(fault, node.start, self._text, Budgets()) if not self.faults else fault)

    def _name(self, key: YamlNode) -> str:
        """Return the name that a key node gives its member: a scalar as written, anything else as its source."""
        meant = key.meant
        return self._text_of(meant, Part.KEY) if meant.kind is Kind.SCALAR else self._text[key.start : key.end]

    def _report_repeats(self, later: YamlNode, earlier: YamlNode) -> None:
        if len(self.faults) >= _MOST:
            return
        here = replace(self._here(), part=Part.KEY, range=(later.start, later.end))
        there = replace(here, range=(earlier.start, earlier.end))
        self.faults.append(Fault("repeated-key", here, facts={"key": here.pointer[-1]}, related=((there, "first"),)))

    def _check_tag(self, node: YamlNode) -> None:
        fitting = "tag:yaml.org,2002:" + ("seq" if node.kind is Kind.SEQUENCE else "map")
        if node.tag and node.tag not in {"!", fitting}:
            self._unfit(node)

    def _unfit(self, node: YamlNode) -> None:
        found = self._text.find("!", node.start)
        start = node.start if found < 0 else found
        end = start + len(self._text[start : start + 200].split(maxsplit=1)[0])
        facts = {"tag": self._text[start:end]}
        self._fault("invalid-yaml", Place(self._file, range=(start, end)), "tag", facts)

    def _fault(self, topic: str, at: Place, reason: str, facts: Mapping[str, object]) -> None:
        if len(self.faults) < _MOST:
            self.faults.append(Fault(topic, at, reason, facts))
