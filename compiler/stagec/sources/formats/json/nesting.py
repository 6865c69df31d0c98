"""How deep a text nests, found out without building anything."""

from __future__ import annotations

import re

_REST = bytes(set(range(256)) - set(b'{}[]"'))
_CURLY = bytes.maketrans(b"[]", b"{}")
_ESCAPE = re.compile(rb'\\["\\]')
_STRING = re.compile(rb'"[^"]*"')


def within(data: bytes, limit: int) -> bool:
    """Tell whether objects and arrays nest no deeper than the limit; exact for well-formed JSON.

    A malformed text may be told either way, so whatever reads it must survive any depth.
    """
    if b"\\" in data:
        data = _ESCAPE.sub(b"", data)
    brackets = data.translate(None, _REST).replace(b'""', b"")
    if b'"' in brackets:
        brackets = _STRING.sub(b"", brackets)
    brackets = brackets.translate(_CURLY)
    for _ in range(limit):
        if not brackets:
            return True
        brackets = brackets.replace(b"{}", b"")
    return not brackets
