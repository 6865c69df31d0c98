"""Cut a text into tokens, well-formed or not, each with its place."""

from __future__ import annotations

import re

from stagec.sources.formats.json.faults import Faults
from stagec.sources.formats.json.strange import Strange
from stagec.sources.formats.json.strings import Strings

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
