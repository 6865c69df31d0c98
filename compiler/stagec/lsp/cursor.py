"""The position of the cursor in a document, also an incomplete one: the members around it, and the word there.

This module does not read a document as the compiler does: it looks only at the text before the position, so that
incomplete texts say as much as possible.
"""

from __future__ import annotations

import re

from stagec.core.place import Key, Pointer
from stagec.core.value import replace, value
from stagec.sources.formats.markdown import split

_JSON_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_FLOW_TOKEN = re.compile(
    r""""(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[{}\[\],]|:(?=\s|$)|\#[^\n]*|(?:[^\s{}\[\],:"']|:(?!\s|$))(?:[^\n{}\[\],:]|:(?!\s|$))*"""
)
_ENTRY = re.compile(
    r"""(?P<key>"[^"\n]*"|'[^'\n]*'|[^\s#:"'\[\]{},-][^\n:#]*?|-[^\s:#][^\n:#]*?)[ \t]*:(?=[ \t\r]|$)"""
)
_DASH = re.compile(r"-(?:[ \t]+|$)")
_BLOCK = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"""(?:^|(?<=\s))#[^"']*$""")
_PATH = re.compile(r"[\w.\[\]-]*")
_BRACES = re.compile(r"\{\{[ \t]*(?P<path>[\w.\[\]-]*)$|\{(?P<variable>uv-[\w-]*)$|\$\{(?P<simple>[\w.]*)$")


@value
class TextCursor:
    """A position in a document.

    `pointer` is the member whose value it is in or, in a key, the object that the key belongs to. `start` and `end` are
    the offsets of the word there, without quotes, and `word` is what of it stands before the position. Behind a dash of
    YAML a word may be both a key and a value.
    """

    pointer: Pointer
    start: int
    end: int
    word: str
    is_key: bool = False
    is_value: bool = False
    is_quoted: bool = False
    siblings: frozenset[str] = frozenset()
    syntax: str = "yaml"
    is_placeholder: bool = False
    key: str = ""
    """The whole key at the position."""


def find_cursor(text: str, offset: int, syntax: str) -> TextCursor | None:
    """Return the cursor at an offset; None in prose without a placeholder, and behind a text in quotes.

    `syntax` is the name of a format.
    """
    found = _find(text, offset, syntax)
    if found is None or found.start > offset or (found.is_quoted and found.end < offset):
        return None
    return replace(found, end=max(found.end, offset))  # blanks before the position belong to the word


def _find(text: str, offset: int, syntax: str) -> TextCursor | None:
    if syntax == "json":
        return _find_flow(text, 0, offset, _JSON_TOKEN, "json")
    if syntax == "markdown":
        fenced = split(text)
        if fenced is None or not fenced.start <= offset <= fenced.end:
            return _find_placeholder(text, offset)
        found = _YamlLines(text[fenced.start : fenced.end], offset - fenced.start).find()
        return None if found is None else replace(found, start=found.start + fenced.start, end=found.end + fenced.start)
    return _YamlLines(text, offset).find() if syntax == "yaml" else _find_placeholder(text, offset)


def _find_placeholder(text: str, offset: int) -> TextCursor | None:
    line = text.rfind("\n", 0, offset) + 1
    match = _BRACES.search(text, line, offset)
    if match is None:
        return None
    word = next(each for each in match.groups() if each is not None)
    rest = _PATH.match(text, offset)
    end = rest.end() if rest else offset
    return TextCursor((), offset - len(word), end, word, is_value=True, syntax="prose", is_placeholder=True)


class _Frame:
    """An object or a list that is open: the member that is being written, and the names so far."""

    def __init__(self, *, is_object: bool, indent: int = 0) -> None:
        self.is_object = is_object
        self.indent = indent
        self.member: Key | None = None if is_object else 0
        self.has_colon = False
        self.names: list[str] = []

    def read_word(self, word: str) -> None:
        """Take the next word for the key, if a key is due."""
        if self.is_object and not self.has_colon:
            self.member = word
            self.names.append(word)

    def separate(self) -> None:
        """Begin the next member."""
        self.has_colon = False
        self.member = None if self.is_object else int(self.member or 0) + 1


def _find_flow(text: str, start: int, offset: int, tokens: re.Pattern[str], syntax: str) -> TextCursor | None:
    frames: list[_Frame] = []
    for match in tokens.finditer(text, start):
        sign = match[0]
        if match.start() >= offset or (match.end() >= offset and sign not in "{}[],:" and match.start() < offset):
            inside = match.start() < offset and not sign.startswith("#")
            return _describe_flow(frames, match if inside else None, offset, syntax)
        _take_token(frames, sign)
        if not frames and sign in {"}", "]"}:
            return None
    return _describe_flow(frames, None, offset, syntax)


def _take_token(frames: list[_Frame], sign: str) -> None:
    if sign in {"{", "["}:
        frames.append(_Frame(is_object=sign == "{"))
    elif sign in {"}", "]"}:
        if frames:
            frames.pop()
    elif sign == "," and frames:
        frames[-1].separate()
    elif sign == ":" and frames:
        frames[-1].has_colon = True
    elif frames and not sign.startswith("#"):
        frames[-1].read_word(_unquote(sign))


def _describe_flow(frames: list[_Frame], match: re.Match[str] | None, offset: int, syntax: str) -> TextCursor:
    top = frames[-1] if frames else None
    is_key = top is not None and top.is_object and not top.has_colon
    around = tuple(each.member for each in frames[:-1] if each.member is not None)
    pointer = around if top is None or is_key or top.member is None else (*around, top.member)
    sign = match[0] if match else ""
    is_quoted = sign[:1] in {'"', "'"}
    start = offset if match is None else match.start() + is_quoted
    is_closed = is_quoted and len(sign) > 1 and sign[-1] == sign[0]
    end = offset if match is None else max(match.end() - is_closed, start)
    end = start + len(sign[is_quoted : len(sign) - is_closed].rstrip()) if match else end
    names = frozenset(top.names) if top is not None else frozenset[str]()
    word = match.string[start:offset] if match is not None else ""
    key = match.string[start:end] if match is not None and is_key else ""
    return TextCursor(
        pointer, start, max(end, start), word, is_key, not is_key, is_quoted, names - {key}, syntax, key=key
    )


def _unquote(sign: str) -> str:
    return sign.strip("\"'") if sign[:1] in {'"', "'"} else sign.strip()


class _YamlLines:
    """Reads the lines of a YAML text up to a position. `_frames` are the collections around the present line."""

    def __init__(self, text: str, offset: int) -> None:
        self._text = text
        self._offset = offset
        self._frames: list[_Frame] = []
        self._hidden: int | None = None  # lines that are indented more belong to a block of text

    def find(self) -> TextCursor | None:
        """Return the cursor; None in a block of text or a comment."""
        start = 0
        while start <= len(self._text):
            end = self._text.find("\n", start)
            end = len(self._text) if end < 0 else end
            if start <= self._offset <= end:
                return self._read_last(start, end)
            passed = self._read_line(start, end)
            if passed is None:
                return self._flow
            start = passed + 1
        return None

    def _read_line(self, start: int, end: int) -> int | None:
        """Take a line above the position, and return where it ends, or the collection that ends later.

        None means that the position is in such a collection; then `_flow` says where.
        """
        column, content = self._measure(start, end)
        if not content or content.startswith(("#", "---", "...")) or self._is_hidden(column):
            return end
        column = self._read_dashes(start, column, end)
        entry = _ENTRY.match(self._text, start + column, end)
        if entry is None:
            return self._pass_flow(start + column, end, column)
        self._open_object(column, _unquote(entry["key"]))
        rest = self._text[entry.end() : end].strip()
        if _BLOCK.match(rest):
            self._hidden = column
            return end
        value = entry.end() + len(self._text[entry.end() : end]) - len(self._text[entry.end() : end].lstrip())
        return self._pass_flow(value, end, column)

    def _pass_flow(self, start: int, end: int, column: int) -> int | None:
        if self._text[start : start + 1] not in {"{", "["}:
            return end
        depth = 0
        for match in _FLOW_TOKEN.finditer(self._text, start):
            line = self._text.rfind("\n", 0, match.start()) + 1
            is_first = line > start and self._text[line : match.start()].isspace() | (line == match.start())
            if is_first and match.start() - line <= column and _ENTRY.match(self._text, match.start()):
                return line - 1  # its end is missing: what is inside is indented more
            depth += (match[0] in {"{", "["}) - (match[0] in {"}", "]"})
            if match.end() > self._offset:
                break
            if depth == 0:
                closing = self._text.find("\n", match.end())
                return len(self._text) if closing < 0 else closing
        self._flow = self._shift(_find_flow(self._text, start, self._offset, _FLOW_TOKEN, "yaml"))
        return None

    def _shift(self, found: TextCursor | None) -> TextCursor | None:
        return None if found is None else replace(found, pointer=(*self._pointer(), *found.pointer))

    def _read_last(self, start: int, end: int) -> TextCursor | None:
        """Describe the position, which is in this line."""
        column, content = self._measure(start, end)
        here = self._offset - start
        if self._is_hidden(column if content else here):
            return None
        if not content or here < column:
            self._close(here, is_item=False)
            return self._describe(self._offset, self._offset, is_key=True, is_value=True)
        column = self._read_dashes(start, column, end)
        begin = start + column
        entry = _ENTRY.match(self._text, begin, end)
        if self._offset < begin:
            return None
        if _COMMENT.search(self._text[begin : self._offset]) is not None:
            return None
        if entry is None or self._offset <= entry.end("key"):
            return self._describe_word(begin, end, entry)
        if self._offset < entry.end():
            return None
        self._open_object(column, _unquote(entry["key"]))
        rest = _COMMENT.sub("", self._text[entry.end() : end])
        end = entry.end() + len(rest)
        at = min(entry.end() + len(rest) - len(rest.lstrip()), max(self._offset, entry.end()))
        if self._text[at : at + 1] in {"{", "["} and at < self._offset:
            return self._shift(_find_flow(self._text, at, self._offset, _FLOW_TOKEN, "yaml"))
        return self._describe(at, max(end - (len(rest) - len(rest.rstrip())), at), is_value=True)

    def _describe_word(self, begin: int, end: int, entry: re.Match[str] | None) -> TextCursor | None:
        """Describe a key, or a word that may become one."""
        if entry is None and self._text[begin : begin + 1] in {"{", "["} and begin < self._offset:
            return self._shift(_find_flow(self._text, begin, self._offset, _FLOW_TOKEN, "yaml"))
        self._close(begin - self._text.rfind("\n", 0, begin) - 1, is_item=self._is_item)
        stop = entry.end("key") if entry else begin + len(self._text[begin:end].rstrip())
        is_value = entry is None
        return self._describe(begin, stop, is_key=True, is_value=is_value)

    def _describe(self, start: int, end: int, *, is_key: bool = False, is_value: bool = False) -> TextCursor:
        is_quoted = self._text[start : start + 1] in {'"', "'"} and start < end
        start += is_quoted
        end = max(end - (is_quoted and self._text[end - 1 : end] in {'"', "'"} and end - 1 > start), start)
        word = self._text[start : self._offset]
        top = self._frames[-1] if self._frames else None
        names = frozenset(top.names) if top is not None and is_key and top.member is None else frozenset[str]()
        key = self._text[start:end] if is_key else ""
        return TextCursor(self._pointer(), start, end, word, is_key, is_value, is_quoted, names, key=key)

    _flow: TextCursor | None = None
    _is_item = False

    def _measure(self, start: int, end: int) -> tuple[int, str]:
        line = self._text[start:end]
        return len(line) - len(line.lstrip(" \t")), line.strip()

    def _is_hidden(self, column: int) -> bool:
        if self._hidden is not None and column <= self._hidden:
            self._hidden = None
        return self._hidden is not None

    def _read_dashes(self, start: int, column: int, end: int) -> int:
        """Open the lists whose items begin on a line, and return the column behind the last dash."""
        self._is_item = False
        while match := _DASH.match(self._text, start + column, end):
            self._close(column, is_item=True)
            top = self._frames[-1] if self._frames else None
            if top is not None and not top.is_object and top.indent == column:
                top.separate()
            else:
                self._frames.append(_Frame(is_object=False, indent=column))
            column = match.end() - start
            self._is_item = True
        return column

    def _open_object(self, column: int, name: str) -> None:
        if not self._is_item:
            self._close(column, is_item=False)
        top = self._frames[-1] if self._frames else None
        if top is None or not top.is_object or top.indent != column:
            top = _Frame(is_object=True, indent=column)
            self._frames.append(top)
        top.has_colon = False
        top.read_word(name)

    def _close(self, column: int, *, is_item: bool) -> None:
        """Leave the collections that end before something that begins in a column."""
        while self._frames:
            top = self._frames[-1]
            if top.indent > column or (top.indent == column and not top.is_object and not is_item):
                self._frames.pop()
            else:
                break
        if self._frames and self._frames[-1].is_object and self._frames[-1].indent == column and not is_item:
            self._frames[-1].member = None

    def _pointer(self) -> Pointer:
        return tuple(each.member for each in self._frames if each.member is not None)
