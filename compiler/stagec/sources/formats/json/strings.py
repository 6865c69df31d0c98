"""Read strings that hold escapes, or that are not what RFC 8259 calls a string."""

from __future__ import annotations

import re
from json import loads

from stagec.sources.formats.json.faults import Faults

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
            return self._broken(start, stop)
        end = stop + 1
        given: str = loads(self._text[start:end])
        if _SURROGATE.search(given):
            for escape in _ESCAPE.finditer(self._text, start, end):
                if escape[1]:
                    self.lone[start] = escape.span()
                    break
        return end, given

    def _broken(self, start: int, stop: int) -> tuple[int, str]:
        """Report what ended the good part of a string at `stop`, and find where the string was meant to end."""
        found = self._text[stop : stop + 1]
        if found in {"", "\r", "\n"}:
            end = self._several_lines(stop) or self._unclosed(start, stop)
        elif found == "\\":
            escape = _BAD_ESCAPE.match(self._text, stop)
            self._faults.token("bad-escape", stop, escape.end() if escape else stop + 1, self._shown(escape))
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

    def _unclosed(self, start: int, stop: int) -> int:
        self._faults.token("unclosed-string", start, start + 1)
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
    def _shown(escape: re.Match[str] | None) -> dict[str, object]:
        return {"found": escape[0]} if escape else {}
