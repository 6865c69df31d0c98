"""Find where an agent file seems to call another agent of its set: in what it lists, and in the words of its body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from stagec.creation.adopted import Adopted, Mentioned
from stagec.creation.collected import AgentText
from stagec.creation.identity import make_id

_MOST = 20
"""So many calls are told of one file."""
_GIVING = (
    r"\b(?:(?:(?:delegat|rout|escalat|giv)(?:es?|ing)|(?:hand|pass|forward|transfer|return)(?:e?s|r?ing)?)"
    r"(?:\s+(?:it|this|that|them|everything|(?:the|your|all)\s+\w+))?(?:\s+(?:over|off|on|back))?\s+to"
    r"|(?:invoke|call|ask|consult|spawn|launch|start)(?:s|ing)?(?:\s+on)?)\s+(?:the\s+)?[`*\"'@]*"
)
"""Words behind which the name of an agent needs no `agent`: work is given to whoever has the name."""
_BEFORE = r"\b(?:use|invoke|call|delegate\s+to|hand(?:\s+\w+)?\s+off\s+to|ask|run)\s+(?:the\s+)?[`*\"'@]*"
_AFTER = r"[`*\"']*\s+(?:sub-?)?agent\b"
_LONGEST = 80
_ENOUGH = 3
"""A name of fewer letters behind a slash may be anything."""


class AgentNames:
    """The names by which the files of a set may mention its agents, and the ids that they mean."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        self._ids = {_plain(name): identity for name, identity in ids.items() if _plain(name)}

    def find(self, name: str) -> str | None:
        """Return the id that a name means, however it is written."""
        return self._ids.get(_plain(name)) or self._ids.get(_plain(make_id(name)))

    def find_calls(self, given: AgentText) -> Iterator[Mentioned]:
        """Yield the sentences of a body that tell a model to call an agent of the set, each agent once."""
        seen: set[str] = set()
        for found in self._pattern.finditer(given.body) if self._ids else ():
            meant = self.find(next(filter(None, found.groups())))
            if meant is not None and meant not in seen and len(seen) < _MOST:
                seen.add(meant)
                words = " ".join(found[0].split())[:_LONGEST]
                yield Mentioned(meant, words, given.count_lines(given.start + found.start()))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        known = sorted(self._ids, key=len, reverse=True)
        written = [re.escape(each).replace(r"\ ", r"[ _-]") for each in known]
        name = "|".join(written)
        command = "|".join(text for each, text in zip(known, written, strict=True) if len(each) >= _ENOUGH) or "(?!)"
        return re.compile(
            rf"{_BEFORE}({name}){_AFTER}|{_GIVING}({name})(?![\w-])|(?<![\w@/.`])@({name})(?![\w/@-])|@agent-({name})(?![\w-])|subagent_type[\"']?\s*[:=]\s*[\"'`]?({name})(?![\w-])"
            rf"|(?<![\w/.:-])/({command})(?![\w/.-])",
            re.IGNORECASE,
        )


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.strip().lower()))


def list_mentions(given: AgentText, adopted: Adopted, names: AgentNames) -> Iterator[Mentioned]:
    """Yield all calls of other agents that a file seems to make, those that it lists first."""
    listed = [(each, meant) for each in adopted.mentions if (meant := names.find(each.target)) is not None]
    yield from (Mentioned(meant, each.excerpt, each.line) for each, meant in listed)
    told = {meant for _, meant in listed}
    yield from (each for each in names.find_calls(given) if each.target not in told)
