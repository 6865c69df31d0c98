"""JSON as RFC 8259 has it: read at the speed of C, explained slowly when something is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import jiter

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Edit
from stagec.core.json import Json
from stagec.core.place import Place, Span
from stagec.sources.suppression import MEMBER, Suppression, take_members
from stagec.sources.tree import Fault, Format, Parsed

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


_UNIFORM = bytes.maketrans(b"123456789E", b"000000000e")
_CANDIDATES = (b"0e000", b"0" * 200)
"""Texts in a number too large for a float once all its digits are zeros and no plus is left."""
_HUGE = re.compile(rb"(?:^|[\[:,])[ \t\r\n]*-?[0-9.]*(?:[0-9]{200}|[0-9][eE]\+?[0-9]{3})")


def parse(file: str, data: bytes, budgets: Budgets) -> Parsed:
    """Return the value of a JSON text and everything that is wrong with it.

    Repeated keys, lone surrogates and numbers out of range leave a value: the last member wins, U+FFFD stands for a
    surrogate, the nearest representable number for one that is too large. Anything else wrong leaves none.
    """
    if not data.strip(b" \t\r\n"):
        return Parsed(faults=(Fault("empty-file", Place(file), "blank" if data else "empty"),))
    if within(data, budgets.depth) and not _maybe_infinite(data):
        try:
            return Parsed(jiter.from_json(data, allow_inf_nan=False, cache_mode="all", catch_duplicate_keys=True))
        except ValueError:
            pass  # the scanner finds out what is wrong, and where
    from stagec.sources.formats.json.scan import scan  # only a faulty text needs it

    return scan(file, data.decode(errors="replace"), budgets.depth)


def _maybe_infinite(data: bytes) -> bool:
    """Tell whether a number may be too large for a float, which the fast parser reads as infinity."""
    uniform = data.translate(_UNIFORM, b"+")
    return any(each in uniform for each in _CANDIDATES) and _HUGE.search(data) is not None


def _locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    from stagec.sources.formats.json.outline import locate

    return locate(data, places)


def _apply(text: str, edits: Iterable[Edit]) -> str:
    from stagec.sources.formats.json.outline import apply

    return apply(text, edits)


def _take_suppressions(file: str, data: bytes, given: Json) -> tuple[Suppression, ...]:
    return take_members(file, given) if MEMBER.encode() in data else ()


FORMAT = Format("json", (".json",), parse, _locate, _apply, _take_suppressions)
