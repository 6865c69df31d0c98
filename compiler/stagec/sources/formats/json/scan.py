"""Read a text token by token, going on after each fault; slow, never recursive, exact about places."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping
from json import loads

from stagec.core.json import Json
from stagec.core.place import Key, Part, Place, Pointer
from stagec.core.value import NOTHING, replace
from stagec.sources.tree import Fault, Parsed

_MOST = 1_000
"""Faults of one file that are kept; nobody reads more, and a hostile file could have a million."""


_QUOTES = frozenset({"single-quotes", "smart-quotes"})
_COMMAS = frozenset({"extra-comma", "missing-comma", "trailing-comma"})
"""Structural faults behind which everything is where it should be."""


class Faults:
    """The faults found so far in one text.

    `broken` tells whether the text is no JSON, `hopeless` whether so much is wrong that reading on helps nobody. Set
    `doubtful` once the nesting of what follows is guesswork.
    """

    def __init__(self, file: str, text: str) -> None:
        self.found: list[Fault] = []
        self.broken = False
        self.doubtful = False
        self._file = file
        self._text = text
        self._last: int | None = None
        self._crooked: int | None = None
        self._tried = 0
        self._quoted: dict[str, int] = {}

    @property
    def hopeless(self) -> bool:
        """Whether more syntax faults were seen than anybody reads."""
        return self._tried >= _MOST

    @property
    def full(self) -> bool:
        """Whether further faults are dropped."""
        return len(self.found) >= _MOST

    def has_told(self, end: int) -> bool:
        """Tell whether the token that ends here has the last fault: a comma is missing before it, for example."""
        return self._last == end

    def token(self, reason: str, start: int, end: int, facts: Mapping[str, object] = NOTHING) -> None:
        """Report a fault inside one token, which says nothing about its neighbours.

        A text whose strings stand in other quotes has one mistake: the first of them, which knows how many follow.
        """
        first = self._quoted.get(reason) if reason in _QUOTES else None
        if first is None:
            self._quoted[reason] = len(self.found)
            self._syntax(reason, (start, end), facts, None)
            return
        fault = self.found[first]
        self.found[first] = replace(fault, facts={**fault.facts, "more": int(str(fault.facts.get("more", 0))) + 1})
        self._last = end

    def leave_open(self, start: int) -> None:
        """Report a string without an end, unless a fault on its line tells it; brackets may lie inside the string."""
        if not self._same_line(self._last, start):
            self._syntax("unclosed-string", (start, start + 1), NOTHING, None)
        self.broken = self.doubtful = True

    def word(self, reason: str, start: int, end: int, facts: Mapping[str, object] = NOTHING) -> None:
        """Report a token of no known kind, unless it only continues the last fault or follows a misplaced token."""
        is_fresh = self._last is None or self._text[self._last : start].strip(" \t") or self._last == start
        if is_fresh and not self._same_line(self._crooked, start):
            self._syntax(reason, (start, end), facts, None)
        self._tried += 1
        self._last = end

    def structure(
        self,
        reason: str,
        where: tuple[int, int],
        facts: Mapping[str, object] = NOTHING,
        *,
        opened: int | None = None,
        noticed: int = 0,
    ) -> None:
        """Report a token at the wrong place, unless a fault on the same line is the likely cause.

        `opened` is the place of the bracket of the fault, `noticed` the token that revealed it, if that came later.
        """
        if not self.doubtful and not self._same_line(self._last, max(noticed, where[0])):
            self._syntax(reason, where, facts, opened)
        self.broken = True
        self._crooked = self._crooked if reason in _COMMAS else where[1]
        self._tried += 1
        self._last = max(where[1], self._last or 0)

    def at(self, topic: str, place: tuple[Pointer, Part], where: tuple[int, int], **more: object) -> None:
        """Report a fault of something well-formed at its pointer; `more` are the facts, `reason` and `first` apart."""
        first = more.pop("first", None)
        reason = str(more.pop("reason", ""))
        related = ((Place(self._file, *place, first), "first"),) if isinstance(first, tuple) else ()
        self._keep(Fault(topic, Place(self._file, *place, where), reason, more or NOTHING, related))

    def deep(self, where: tuple[int, int], limit: int) -> None:
        """Report the first bracket that is nested too deep."""
        self.broken = True
        self._keep(Fault("deep-nesting", Place(self._file, range=where), facts={"limit": limit}))

    def _same_line(self, last: int | None, start: int) -> bool:
        if last is None:
            return False
        between = self._text[last:start]
        return "\n" not in between and "\r" not in between

    def _syntax(self, reason: str, where: tuple[int, int], facts: Mapping[str, object], opened: int | None) -> None:
        related = () if opened is None else ((Place(self._file, range=(opened, opened + 1)), "opened"),)
        self._keep(Fault("invalid-json", Place(self._file, range=where), reason, facts, related))
        self.broken = True
        self._tried += 1
        self._last = where[1]

    def _keep(self, fault: Fault) -> None:
        if not self.full:
            self.found.append(fault)


Token = tuple[str, int, int, object]
"""Kind, start, end, value.

Kinds: `{`, `}`, `[`, `]`, `:`, `,`, `s` string, `n` number, `v` true, false or null, `w` word of no kind, `$` end.
"""


_ORDINARY = re.compile(
    r"""[ \t\n\r]*(?:
        ([{}\[\]:,])
      | "([^"\\\x00-\x1f]*)"
      | (-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+\-$])
      | (true|false|null)(?![\w.+\-$])
    )""",
    re.VERBOSE,
).match
_SPACE = re.compile(r"[ \t\n\r]*")
_CONSTANTS = {"true": True, "false": False, "null": None}


class Tokens:
    """The tokens of one text, from its beginning.

    `end` is where the last token ended. `lone` holds, by the start of its string, the place of a lone surrogate.
    """

    def __init__(self, text: str, faults: Faults) -> None:
        self.text = text
        self.end = 0
        self._faults = faults
        self._strings = Strings(text, faults)
        self._strange = Strange(text, faults)
        self.lone = self._strings.lone

    def take(self) -> Token:
        """Return the next token; behind the last one, `$` for ever."""
        match = _ORDINARY(self.text, self.end)
        if match is None:
            return self._odd()
        self.end = end = match.end()
        kind = match.lastindex or 0
        start = match.start(kind)
        given = match[kind]
        if kind == _PUNCTUATION:
            return given, start, end, None
        if kind == _STRING:
            return "s", start - 1, end, given
        return ("n", start, end, given) if kind == _NUMBER else ("v", start, end, _CONSTANTS[given])

    def _odd(self) -> Token:
        """Return the next token when it is a string with escapes, the end, or no JSON."""
        start = self.end
        while True:
            match = _SPACE.match(self.text, start)
            start = match.end() if match else start
            if start >= len(self.text) or self._faults.hopeless:
                return "$", self.end, self.end, None
            if self.text[start] == '"':
                end, given = self._strings.read(start)
                self.end = end
                return "s", start, end, given
            kind, end = self._strange.read(start)
            if kind:
                self.end = end
                return kind, start, end, self.text[start:end]
            if _ORDINARY(self.text, end):
                self.end = end
                return self.take()
            start = end


_PUNCTUATION, _STRING, _NUMBER = 1, 2, 3


_COMMENT = re.compile(r"//[^\r\n]*|/\*(?:[^*]+|\*(?!/))*+(?:\*/)?|#[^\r\n]*")
_BLANKS = re.compile("[\x0b\x0c\x85\xa0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]+")
_TYPOGRAPHIC = "\u2018-\u201f\u2033\xab\xbb"
_CONFLICT_MARKER = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?: [^\r\n]*)?(?=\r?$)", re.MULTILINE)
_OTHER_QUOTES = re.compile(
    r"""(?P<single>'(?:[^'\\\r\n]+|\\.|'(?=\w))*+' | `(?:[^`\\\r\n]+|\\.)*+` | ['`][^\s,:{}\[\]"]*)
      | (?P<smart>[QUOTES][^QUOTES"\r\n]*[QUOTES"]?)""".replace("QUOTES", _TYPOGRAPHIC),
    re.VERBOSE,
)
_STAND_INS = {";": ",", "=": ":"}
_RUN = re.compile(r"=+>?|(.)\1*", re.DOTALL)
_WORD = re.compile(r"""(?:[^\s,:{}\[\]"'`;=\#/(){}<>*\x00-\x1f]|/(?![/*]))+(?:"(?=[ \t]*(?:[,:}\]\r\n]|\Z)))?""")
_NUMBERS = (
    (re.compile(r"\+.*"), "plus-sign"),
    (re.compile(r"-?0[xXoObB][0-9a-fA-F]+"), "other-base"),
    (re.compile(r"-?0[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"), "leading-zero"),
    (re.compile(r"-?\.[0-9]+(?:[eE][+-]?[0-9]+)?"), "bare-point"),
    (re.compile(r"-?[0-9]+\.(?:[eE][+-]?[0-9]+)?"), "bare-point"),
    (re.compile(r"-?[0-9]+(?:_[0-9]+)+"), "digit-separator"),
    (re.compile(r"-?[0-9]+(?:\.[0-9]+)?[eE][+-]?"), "bare-exponent"),
    (re.compile(r"-?(?:nan|inf|infinity)", re.IGNORECASE), "no-number"),
    (re.compile(r"[-.]?[0-9].*|-"), "bad-number"),
)
_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null", "nil": "null", "undefined": "null"}


class Strange:
    """The parts of one text that are no JSON tokens."""

    def __init__(self, text: str, faults: Faults) -> None:
        self._text = text
        self._faults = faults

    def read(self, start: int) -> tuple[str, int]:
        """Return the kind of token that was probably meant (None to skip it), and its end.

        All but words (`w`) are reported; what is wrong with a word depends on where it stands.
        """
        skipped = self._skip(start)
        if skipped:
            return "", skipped
        quotes = _OTHER_QUOTES.match(self._text, start)
        if quotes:
            reason = "single-quotes" if quotes["single"] else "smart-quotes"
            self._faults.token(reason, start, quotes.end(), {"found": quotes[0]})
            return "s", quotes.end()
        word = _WORD.match(self._text, start)
        return ("w", word.end()) if word else self._character(start)

    def _skip(self, start: int) -> int | None:
        for pattern, reason in (
            (_COMMENT, "comment"),
            (_BLANKS, "foreign-space"),
            (_CONFLICT_MARKER, "conflict-marker"),
        ):
            match = pattern.match(self._text, start)
            if match:
                self._faults.token(reason, *match.span(), {"found": match[0]})
                return match.end()
        return None

    def _character(self, start: int) -> tuple[str, int]:
        found = self._text[start]
        run = _RUN.match(self._text, start)
        end = run.end() if run else start + 1
        self._faults.word("unexpected-character", start, end, {"found": self._text[start:end]})
        return _STAND_INS.get(found, ""), end


def reason_for(word: str) -> tuple[str, dict[str, object]]:
    """Return why a word is no JSON value, and the facts a sentence about it needs."""
    for pattern, reason in _NUMBERS:
        if pattern.fullmatch(word):
            return reason, {"found": word}
    if word.lower() in _LITERALS:
        return "foreign-literal", {"found": word, "expected": _LITERALS[word.lower()]}
    return "unquoted-text", {"found": word}


_GOOD = re.compile(r'(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_REST_OF_LINE = re.compile(r'(?:[^"\\\r\n]+|\\[^\r\n])*+"')
_REST = re.compile(r'(?:[^"\\]+|\\.)*+"', re.DOTALL)
_LINE = re.compile(r"[^\r\n]*")
_BREAK = re.compile(r"\r\n|\r|\n")
_STRUCTURE_FOLLOWS = re.compile(r'\s*(?:["{}\[\]]|\Z)')
_BAD_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{0,3}|[^"\r\n]|)')
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.")
_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Return a text with U+FFFD in place of surrogates, which no encoding can write."""
    return _SURROGATE.sub("\ufffd", text)


class Strings:
    """The strings of one text. `lone` holds the place of the first lone surrogate of a string, by its start."""

    def __init__(self, text: str, faults: Faults) -> None:
        self.lone: dict[int, tuple[int, int]] = {}
        self._text = text
        self._faults = faults
        self._may_go_on = True

    def read(self, start: int) -> tuple[int, str]:
        """Return the end and the value of the string whose opening quote is at `start`, lone surrogates included."""
        match = _GOOD.match(self._text, start + 1)
        stop = match.end() if match else start + 1
        if self._text[stop : stop + 1] != '"':
            return self._report_end(start, stop)
        end = stop + 1
        given: str = loads(self._text[start:end])
        if _SURROGATE.search(given):
            for escape in _ESCAPE.finditer(self._text, start, end):
                if escape[1]:
                    self.lone[start] = escape.span()
                    break
        return end, given

    def _report_end(self, start: int, stop: int) -> tuple[int, str]:
        """Report what ended the good part of a string at `stop`, and find where the string was meant to end."""
        found = self._text[stop : stop + 1]
        if found in {"", "\r", "\n"}:
            end = self._several_lines(stop) or self._find_end(start, stop)
        elif found == "\\":
            escape = _BAD_ESCAPE.match(self._text, stop)
            self._faults.token("bad-escape", stop, escape.end() if escape else stop + 1, self._show(escape))
            end = self._end(stop)
        else:
            self._faults.token("control-character", stop, stop + 1, {"character": found})
            end = self._end(stop)
        return end, self._text[start + 1 : end].removesuffix('"')

    def _several_lines(self, stop: int) -> int | None:
        """Return the end of a string that seems to continue on the next line."""
        line = _BREAK.match(self._text, stop)
        if line is None or not self._may_go_on or _STRUCTURE_FOLLOWS.match(self._text, stop):
            return None
        rest = _REST.match(self._text, stop)
        if rest is None:
            self._may_go_on = False  # no later string has an end either, and looking again would cost the square
            return None
        self._faults.token("newline-in-string", *line.span())
        return rest.end()

    def _find_end(self, start: int, stop: int) -> int:
        self._faults.leave_open(start)
        return self._before_closers(start, stop)

    def _end(self, stop: int) -> int:
        rest = _REST_OF_LINE.match(self._text, stop)
        if rest:
            return rest.end()
        line = _LINE.match(self._text, stop)
        return self._before_closers(stop, line.end() if line else stop)

    def _before_closers(self, start: int, stop: int) -> int:
        """Leave the commas and brackets at the end of a line out of a string that was never closed there."""
        return start + 1 + len(self._text[start + 1 : stop].rstrip("]}, \t"))

    @staticmethod
    def _show(escape: re.Match[str] | None) -> dict[str, object]:
        return {"found": escape[0]} if escape else {}


MOST_DIGITS = 4_300
"""Digits of an integer that Python converts without being told otherwise."""
_CLOSER = {"{": "}", "[": "]"}
_KIND = {"}": "object", "]": "array"}


def scan(file: str, text: str, depth: int) -> Parsed:
    """Return the value of a text when it is JSON at all, and every fault that can be told from the ones before it."""
    return Scanner(file, text, depth).run()


class _Frame:
    """An open object or array: its closing bracket, its beginning, and its content so far."""

    __slots__ = ("closer", "comma", "name", "names", "start", "where")

    def __init__(self, closer: str, start: int) -> None:
        self.closer = closer
        self.start = start
        self.comma: tuple[int, int] | None = None
        self.name: Key = 0
        self.names: dict[str, tuple[int, int]] = {}
        self.where = (start, start)


class Scanner:
    """A machine with one state for each thing that can be expected next; a state takes a token and names the next."""

    def __init__(self, file: str, text: str, depth: int) -> None:
        self._faults = Faults(file, text)
        self._tokens = Tokens(text, self._faults)
        self._depth = depth
        self._frames: list[_Frame] = []
        self._values: list[dict[str, Json] | list[Json]] = []
        self._root: Json = None
        self._lost = 0

    def run(self) -> Parsed:
        """Read the whole text."""
        state: _State | None = self._value
        take = self._tokens.take
        while state is not None and not self._faults.hopeless:
            state = state(take())
        return Parsed(None if self._faults.broken else self._root, tuple(self._faults.found))

    def _value(self, token: Token) -> _State | None:
        """Expect a value."""
        kind, start, end, given = token
        if kind == "s":
            self._put(self._clean(str(given), start, Part.VALUE))
        elif kind == "n":
            self._put(self._number(str(given), start, end))
        elif kind == "v":
            self._put(bool(given) if given is not None else None)
        elif kind in _CLOSER:
            return self._open(token)
        elif kind == "w":
            reason, facts = reason_for(str(given))
            self._faults.word(reason, start, end, facts)
            self._put(None)
        else:
            return self._no_value(token)
        return self._after

    def _no_value(self, token: Token) -> _State | None:
        """Report punctuation in place of a value."""
        kind, start, end, _ = token
        if kind == ":":
            self._faults.structure("unexpected-colon", (start, end))
            return self._value
        frame = self._frames[-1] if self._frames else None
        if kind == "$" or frame is None:
            return self._end() if kind == "$" else self._beyond(token)
        if frame.closer == "}":
            self._faults.structure("missing-value", (start, end), {"key": frame.name, "found": kind})
            return self._after(token)
        return self._no_item(token, frame)

    def _no_item(self, token: Token, frame: _Frame) -> _State | None:
        """Report a missing element or name after a comma or an opening bracket."""
        kind, start, end, _ = token
        if kind == ",":
            self._faults.structure("extra-comma", (start, end))
            frame.comma = (start, end)
            return self._next(frame)
        if kind == frame.closer:
            if frame.comma is not None and self._goes_on(end):
                self._faults.structure("stray-bracket", (start, end), {"found": kind})
                return self._next(frame)
            if frame.comma is not None:
                self._faults.structure("trailing-comma", frame.comma, {"closer": kind}, noticed=start)
            return self._close()
        return self._misplace(token, frame)

    def _goes_on(self, end: int) -> bool:
        """Tell whether members follow a bracket, although no comma does: it closes nothing."""
        match = _ORDINARY(self._tokens.text, end)
        return match is not None and match[_PUNCTUATION] is None

    def _key(self, token: Token) -> _State | None:
        """Expect the name of a member."""
        kind, start, end, given = token
        frame = self._frames[-1]
        if kind == "s":
            self._name(frame, str(given), start, end)
        elif kind == "w":
            self._faults.word("unquoted-key", start, end, {"found": given})
            frame.name, frame.where = str(given), (start, end)
        elif kind in {"n", "v"}:
            shown = self._tokens.text[start:end]
            self._faults.structure("key-not-string", (start, end), {"found": shown})
            frame.name, frame.where = shown, (start, end)
        else:
            return self._no_key(token, frame)
        return self._colon

    def _no_key(self, token: Token, frame: _Frame) -> _State | None:
        """Report punctuation in place of a name."""
        kind, start, end, _ = token
        frame.name = ""
        if kind in _CLOSER:
            self._faults.structure("key-not-string", (start, end), {"found": kind})
            self._faults.doubtful = True  # a bracket too many, or one that should be closed before
            return self._open(token)
        if kind == ":":
            self._faults.structure("missing-key", (start, end))
            return self._value
        return self._no_item(token, frame)

    def _colon(self, token: Token) -> _State | None:
        """Expect the colon between a name and its value."""
        kind, start, end, _ = token
        if kind == ":":
            return self._value
        frame = self._frames[-1]
        if kind in {",", "}", "]"}:
            self._faults.structure("lone-key", frame.where, {"key": frame.name})
            self._faults.doubtful = True  # the object may be meant as an array
        if kind in {",", "}", "]", "$"}:
            return self._after(token)
        self._faults.structure("missing-colon", (start, end), {"key": frame.name})
        return self._value(token)

    def _after(self, token: Token) -> _State | None:
        """Expect a comma or the closing bracket."""
        if not self._frames:
            return self._beyond(token)
        kind, start, end, _ = token
        frame = self._frames[-1]
        if kind == ",":
            frame.comma = (start, end)
            return self._next(frame)
        return self._close() if kind == frame.closer else self._misplace(token, frame)

    def _misplace(self, token: Token, frame: _Frame) -> _State | None:
        """Report another token in place of a comma or a closing bracket."""
        kind, start, end, _ = token
        if kind == "$":
            return self._end()
        if kind in {"}", "]"}:
            facts = {"found": kind, "expected": frame.closer}
            if not self._lost:
                self._faults.structure("mismatched-bracket", (start, end), facts, opened=frame.start)
            self._faults.doubtful = True
            return self._close()
        if kind == ":":
            reason = "colon-in-array" if frame.closer == "]" else "unexpected-colon"
            self._faults.structure(reason, (start, end))
            self._faults.doubtful = True  # a bracket is missing before the name
            return self._value
        self._faults.structure("missing-comma", (start, end), {"found": self._tokens.text[start:end]})
        self._lost += self._is_outside(start, frame)
        return self._next(frame)(token)

    def _is_outside(self, start: int, frame: _Frame) -> bool:
        """Tell whether a name is indented less than those before it: the bracket that ends its object is missing."""
        first = min(frame.names.values(), default=(0, 0))[0]
        lines = [self._tokens.text[self._tokens.text.rfind("\n", 0, at) + 1 : at] for at in (start, first)]
        return frame.closer == "}" and not any(each.strip() for each in lines) and len(lines[0]) < len(lines[1])

    def _beyond(self, token: Token) -> _State | None:
        """Expect nothing more."""
        kind, start, end, _ = token
        if kind in {"}", "]"}:
            self._faults.structure("extra-bracket", (start, end), {"found": kind})
        elif kind != "$":
            self._faults.structure("text-after", (start, end), {"found": self._tokens.text[start:end]})
        return None

    def _end(self) -> _State | None:
        """Report the brackets that are open at the end of the text."""
        if len(self._frames) > self._lost:
            frame = self._frames[-1]
            at = self._tokens.end
            facts = {"expected": "".join(each.closer for each in reversed(self._frames))}
            self._faults.structure(f"unclosed-{_KIND[frame.closer]}", (at, at), facts, opened=frame.start)
        return None

    def _next(self, frame: _Frame) -> _State:
        return self._key if frame.closer == "}" else self._value

    def _open(self, token: Token) -> _State | None:
        kind, start, end, _ = token
        if len(self._frames) >= self._depth:
            self._faults.deep((start, end), self._depth)
            return None
        fresh: dict[str, Json] | list[Json] = {} if kind == "{" else []
        self._put(fresh)
        self._frames.append(_Frame(_CLOSER[kind], start))
        self._values.append(fresh)
        return self._key if kind == "{" else self._value

    def _close(self) -> _State:
        self._frames.pop()
        self._values.pop()
        return self._after

    def _put(self, given: Json) -> None:
        """Put a value where it belongs."""
        if not self._values:
            self._root = given
            return
        holder = self._values[-1]
        if isinstance(holder, list):
            holder.append(given)
        else:
            holder[str(self._frames[-1].name)] = given

    def _name(self, frame: _Frame, name: str, start: int, end: int) -> None:
        """Take down the name of a member, and whether the object has it already."""
        frame.where = (start, end)
        first = frame.names.setdefault(name, frame.where)
        frame.name = self._clean(name, start, Part.KEY)
        is_told = self._faults.doubtful or self._faults.full or self._faults.has_told(end)
        if first[0] != start and not is_told:
            self._faults.at("repeated-key", (self._pointer(), Part.KEY), frame.where, key=frame.name, first=first)

    def _clean(self, given: str, start: int, part: Part) -> str:
        """Replace lone surrogates and report the first."""
        lone = self._tokens.lone.get(start)
        if lone is None:
            return given
        cleaned = without_surrogates(given)
        if part is Part.KEY:
            self._frames[-1].name = cleaned
        self._faults.at("lone-surrogate", (self._pointer(), part), lone, escape=self._tokens.text[slice(*lone)])
        return cleaned

    def _number(self, text: str, start: int, end: int) -> Json:
        """Return a number, or the nearest that can be held when it is out of range."""
        whole = text.lstrip("-").isdigit()
        digits = len(text.lstrip("-"))
        if whole and digits <= MOST_DIGITS:
            return int(text)
        given = sys.maxsize if whole else float(text)
        if not whole and not math.isinf(given):
            return given
        reason = "digits" if whole else "overflow"
        facts = {"digits": digits, "limit": MOST_DIGITS} if whole else {"number": text}
        self._faults.at("number-out-of-range", (self._pointer(), Part.VALUE), (start, end), reason=reason, **facts)
        largest = sys.maxsize if whole else sys.float_info.max
        return -largest if text.startswith("-") else largest

    def _pointer(self) -> Pointer:
        """Return the pointer of the member that is being read."""
        pairs = zip(self._frames, self._values, strict=True)
        keys = [len(held) - 1 if isinstance(held, list) else frame.name for frame, held in pairs]
        if self._values and isinstance(self._values[-1], list):
            keys[-1] = len(self._values[-1])
        return tuple(keys)


_State = Callable[[Token], "_State | None"]
