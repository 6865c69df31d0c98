"""The one door to the YAML parsers: a text goes in, its events come out, and never an exception or endless depth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

from stagec.sources.yaml_text.problems import YamlTrouble, trouble_of

_ANCHOR = r"(?:\A|(?<=[:?-] )|(?<=:\n)|(?<=---\n))"
_KEY = r'(?:(?:"[^"\\\n]*"|[A-Za-z0-9_.-]+)[ ]*:[ ]*)?'
_CONFUSING = re.compile(r"[|>'\"#]")
"""After one of these, what looks like structure may be the text of a scalar or a comment."""

_STAIR = re.compile(r"^(?P<indent> *)(?:- +)*[^\s:#'\"|>\[\]{},-][^:#'\"|>\[\]{},\n]*:[ \t]*$")


def too_deep(text: str, limit: int) -> int | None:
    """Return where the text surely exceeds `limit` levels, or nothing: cases in doubt are left to the parser's count.

    Three forms are looked for: brackets one after another, dashes or question marks one after another, and lines of
    bare keys each further in than the one before.
    """
    inside = re.compile(rf"{_ANCHOR}(?P<run>(?:[\[{{]\s*{_KEY}){{{limit + 1}}}|(?:[?-] +){{{limit + 1}}})")
    found = inside.search(text)
    if found and not _CONFUSING.search(text, 0, found.start()):
        return found.start("run")
    start = levels = 0
    before = -1
    for line in text.split("\n"):
        match = _STAIR.match(line)
        indent = len(match["indent"]) if match else -1
        if match is None and _CONFUSING.search(line):
            return None
        levels = levels + 1 if indent > before else int(match is not None)
        before = indent
        if levels > limit:
            return start + indent
        start += len(line) + 1
    return None


_DIRECTIVE = re.compile(r"^%YAML[ \t]+1\.\d(?=[ \t\r\n]|\Z)", re.MULTILINE)
_BREAKS = "\x85\u2028\u2029"
_RAISED = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What the parser raises on strange input besides its own errors."""


_TOO_DEEP = "exceeded maximum nesting depth"
_DEEPEST = 1_000
"""Open brackets at which libyaml, since its version of PyYAML 6.0.4, stops with that sentence."""


class _DeepError(ValueError):
    """Too many open brackets, the last of them at an offset."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


@cache
def has_fast_events() -> bool:
    """Tell whether PyYAML was built with libyaml; some systems pack it without."""
    return find_spec("yaml._yaml") is not None


def fast_events(text: str, depth: int) -> Iterator[Any]:
    """Yield the events of libyaml, and a `Trouble` as the last of them where it stops.

    It reads what is well formed as `events` does, about twenty times as fast. What it says of mistakes is coarser, and
    it knows no halves of characters.
    """
    from yaml import YAMLError
    from yaml.cyaml import CParser

    readable, hidden = _hide_old_breaks(text)
    try:
        parser = CParser(readable)
        while (event := parser.get_event()) is not None:
            if hidden and getattr(event, "value", None):
                event.value = event.value.translate(hidden)
            yield event
    except (YAMLError, *_RAISED) as error:
        trouble = trouble_of(error, text)
        is_deep = getattr(error, "problem", None) == _TOO_DEEP and depth < _DEEPEST
        yield (
            YamlTrouble("deep-nesting", "", trouble.start, trouble.start + 1, {"limit": depth}) if is_deep else trouble
        )


def events(text: str, depth: int) -> Iterator[Any]:
    """Yield the events of the parser that explains mistakes, and a `Trouble` as the last of them where it stops."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    # every document is read by the same rules, whatever version it claims
    same = _DIRECTIVE.sub(lambda directive: directive[0][:-1] + "2", text, count=1)
    readable, hidden = _hide_old_breaks(same)
    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.Scanner = _scanner(depth)
        for event in yaml.parse(readable):
            if hidden and getattr(event, "value", None):
                event.value = event.value.translate(hidden)
            yield event
    except _DeepError as error:
        yield YamlTrouble("deep-nesting", "", error.at, error.at + 1, {"limit": depth})
    except (YAMLError, *_RAISED) as error:
        yield trouble_of(error, text)


@cache
def _scanner(depth: int) -> Any:
    """Return the parser's scanner, except that it looks no further ahead once too many brackets are open."""
    from ruamel.yaml.scanner import Scanner

    class Shallow(Scanner):
        def fetch_flow_collection_start(self, *args: Any, **kwargs: Any) -> None:
            if self.flow_level >= depth:
                raise _DeepError(self.reader.index)
            super().fetch_flow_collection_start(*args, **kwargs)

        def need_more_tokens(self) -> bool:
            if self.tokens and not self.possible_simple_keys:
                return False  # the usual case, asked for several times per token
            return bool(super().need_more_tokens())

    return Shallow


def _hide_old_breaks(text: str) -> tuple[str, dict[int, str]]:
    """Put stand-ins for characters that the parser takes for line breaks, as only YAML 1.1 does."""
    if not any(each in text for each in _BREAKS):
        return text, {}
    free = [chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in text][: len(_BREAKS)]
    there = {ord(each): stand_in for each, stand_in in zip(_BREAKS, free, strict=False)}
    return text.translate(there), {ord(stand_in): each for each, stand_in in zip(_BREAKS, free, strict=False)}
