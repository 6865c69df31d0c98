"""Read a text token by token, going on after each fault; slow, never recursive, exact about places."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from stagec.core.json import Json
from stagec.core.place import Key, Part, Pointer
from stagec.sources.formats.json.faults import Faults
from stagec.sources.formats.json.tokens import Token, Tokens, reason_for, without_surrogates
from stagec.sources.tree import Parsed

MOST_DIGITS = 4_300
"""Digits of an integer that Python converts without being told otherwise."""
_CLOSER = {"{": "}", "[": "]"}
_KIND = {"}": "object", "]": "array"}


def scan(file: str, text: str, depth: int) -> Parsed:
    """Return the value of a text when it is JSON at all, and every fault that can be told from the ones before it."""
    return Scanner(file, text, depth).run()


class _Frame:
    """An object or array that is being read: its closing bracket, where it began, and what is in it so far."""

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
        """Say what is wrong when punctuation stands where a value was expected."""
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
        """Say what is wrong when no element or no name follows a comma or an opening bracket."""
        kind, start, end, _ = token
        if kind == ",":
            self._faults.structure("extra-comma", (start, end))
            frame.comma = (start, end)
            return self._next(frame)
        if kind == frame.closer:
            if frame.comma is not None:
                self._faults.structure("trailing-comma", frame.comma, {"closer": kind}, noticed=start)
            return self._close()
        return self._misplace(token, frame)

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
        """Say what is wrong when punctuation stands where a name was expected."""
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
        """Say what is wrong when something else stands where a comma or a closing bracket was expected."""
        kind, start, end, _ = token
        if kind == "$":
            return self._end()
        if kind in {"}", "]"}:
            facts = {"found": kind, "expected": frame.closer}
            self._faults.structure("mismatched-bracket", (start, end), facts, opened=frame.start)
            self._faults.doubtful = True
            return self._close()
        if kind == ":":
            reason = "colon-in-array" if frame.closer == "]" else "unexpected-colon"
            self._faults.structure(reason, (start, end))
            self._faults.doubtful = True  # a bracket is missing before the name
            return self._value
        self._faults.structure("missing-comma", (start, end), {"found": self._tokens.text[start:end]})
        return self._next(frame)(token)

    def _beyond(self, token: Token) -> _State | None:
        """Expect nothing more."""
        kind, start, end, _ = token
        if kind in {"}", "]"}:
            self._faults.structure("extra-bracket", (start, end), {"found": kind})
        elif kind != "$":
            self._faults.structure("text-after", (start, end), {"found": self._tokens.text[start:end]})
        return None

    def _end(self) -> _State | None:
        """Say which brackets are open at the end of the text."""
        if self._frames:
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
        if first[0] != start and not self._faults.doubtful and not self._faults.full:
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
