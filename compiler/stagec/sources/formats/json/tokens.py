"""Cut a JSON text into tokens, well-formed or not: strings, numbers, and what is no JSON at all."""

from __future__ import annotations

import re
from json import loads

from stagec.sources.formats.json.faults import Faults

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
_OTHER_QUOTES = re.compile(
    r"""(?P<single>'(?:[^'\\\r\n]+|\\.)*+' | `(?:[^`\\\r\n]+|\\.)*+` | ['`][^\s,:{}\[\]"]*)
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
    """Whatever in one text is no JSON token."""

    def __init__(self, text: str, faults: Faults) -> None:
        self._text = text
        self._faults = faults

    def read(self, start: int) -> tuple[str, int]:
        """Return the kind of token that was probably meant, nothing for what is best skipped, and where it ends.

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
        for pattern, reason in ((_COMMENT, "comment"), (_BLANKS, "foreign-space")):
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
        """Return the end of a string that goes on in the next line, if that is what it looks like."""
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
