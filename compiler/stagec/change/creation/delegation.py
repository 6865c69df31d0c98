"""Find where the text of an agent gives work to another agent, in the words that people use for that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from stagec.change.creation.collected import AgentText, make_id
from stagec.change.creation.taking import Mentioned

_MOST = 20
"""So many calls are told of one file."""
_LONGEST = 80
_NEAR = 100
"""Characters before and behind a name that are read."""
_ENOUGH = 3
"""A name of fewer letters behind a slash may be anything."""

_QUOTES = r"[`*\"'\u201c\u2018@\[]*"
_ARTICLE = r"(?:(?:the|your|our|an?)\s+)?"
_GIVING = (
    r"\b(?:delegat\w+|rout(?:es?|ing)|escalat\w+|giv(?:es?|ing)|hand(?:s|ed|ing|off|offs)?|pass(?:es|ing)?|forward(?:s|ing)?"
    r"|transfer(?:s|ring)?|return(?:s|ing)?|send(?:s|ing)?|submit(?:s|ting)?|assign(?:s|ing)?|dispatch(?:es|ing)?"
    r"|defer(?:s|ring)?|switch(?:es|ing)?|turn(?:s|ing)?|redirect(?:s|ing)?)(?:\s+[\w`'\u2019-]+){0,5}?\s+to\s+"
)
_CALLING = (
    r"\b(?:invok(?:es?|ing)|(?:call|ask|consult|spawn|launch|start|instruct|trigger)(?:s|ing)?|dispatch(?:es|ing)?"
    r"|engag(?:es?|ing)|notif(?:y|ies|ying)|involv(?:es?|ing)|run_?subagent|kick(?:s|ing)?\s+off|bring(?:s|ing)?\s+in"
    r"|(?:coordinat|collaborat)(?:es?|ing)|work(?:s|ing)?\s+with|get(?:s|ting)?(?:\s+\w+){1,3}?\s+from)"
    r"(?:\s+(?:on|with))?\s+"
)
_POINTING = (
    r"(?:->|→|⇒|➜)\s*|\b(?:next(?:\s+(?:agent|step|stage))?|(?:sub-?)?agent|subagent_type)[`*\"']*\s*[:=]\s*"
    r"|\b\w*(?:agent|task)\(\s*(?:\w+\s*[:=]\s*)?"
)
_CALLS = re.compile(
    rf"(?:(?:{_GIVING}|{_CALLING}){_ARTICLE}{_QUOTES}|\b(?:let|have|tell)\s+the\s+{_QUOTES}|(?:{_POINTING}){_QUOTES}"
    r"|(?<![\w@/.`])@(?:agent-)?)$",
    re.IGNORECASE,
)
"""What stands before the name of an agent that gets work."""
_USES = re.compile(
    rf"\b(?:us(?:e|es|ing)|run(?:s|ning)?|via|through)\s+{_ARTICLE}(?P<quotes>{_QUOTES})$", re.IGNORECASE
)
"""What stands also before names of other things: the name has to be quoted, or to be one that nothing else has."""
_TITLED = re.compile(
    rf"\b(?:(?:via|to|us(?:e|ing)|invoke|call|run|ask|then|let|have)\s+{_ARTICLE}|(?:the|your|our|an?)\s+){_QUOTES}$",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"[`*\"'\u201d\u2019\]]*\s+(?:(?:sub-?)?agent\b|takes?\s+over\b|(?:is|goes|comes)\s+next\b)", re.IGNORECASE
)
"""The words around the name of an agent: it is called an agent, or it continues the work."""
_LINKS = re.compile(r"(?:\bagents/(?:[\w-]+/)*|\]\()$")
_FILE = re.compile(r"(?:\.agent|\.chatmode)?\.md\b")
_COMMAND = re.compile(r"(?<![\w/.:-])/$")
_QUOTED = re.compile(r"[`*]$")
_LONGER = re.compile(r"[-/.:]\w|@")
"""What makes a name a part of another."""
_REFUSAL = re.compile(
    r"(?:\b(?:never|not|nor|without|instead\s+of|rather\s+than)|n['\u2019]t)\b"
    r"(?:(?!\b(?:before|until|unless|but)\b)[^.,!?;:\n]){0,40}$",
    re.IGNORECASE,
)
_ACTOR = re.compile(r".+(?: .+|er|or|ist|ect|yst|agent|expert)")
"""Names that mean somebody who works; others, such as `docs`, are also words for things."""


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
        body = given.body
        for found in self._pattern.finditer(body) if self._ids else ():
            meant = self.find(found[0])
            if meant is None or meant in seen or len(seen) == _MOST:
                continue
            span = _find_call(body, *found.span())
            if span is not None:
                seen.add(meant)
                words = " ".join(body[slice(*span)].split())[:_LONGEST]
                yield Mentioned(meant, words, given.count_lines(given.start + span[0]))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        written = (re.escape(each).replace(r"\ ", r"[\s_-]") for each in sorted(self._ids, key=len, reverse=True))
        return re.compile(rf"(?<!\w)(?:{'|'.join(written)})(?!\w)", re.IGNORECASE)


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.strip().lower()))


def _find_call(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the words that give work to the agent whose name stands there, None if nothing does."""
    first = max(start - _NEAR, 0)
    before, name, behind = text[first:start], text[start:end], text[end : end + _NEAR]
    lead, tail = _match_words(before, name, behind)
    if lead is None or _REFUSAL.search(before[: lead.start()]):
        return None
    return first + lead.start(), end + (tail.end() if tail is not None else 0)


def _match_words(before: str, name: str, behind: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return what of the text before and behind a name makes it a call."""
    file = _FILE.match(behind)
    if file is not None:
        return _LINKS.search(before), file
    if _LONGER.match(behind):
        return None, None
    title = _TITLE.match(behind)
    titled = _TITLED.search(before) if title is not None else None
    call = titled or _CALLS.search(before)
    if call is None and len(name) >= _ENOUGH:
        call = _COMMAND.search(before)
    if call is None:
        is_actor = _ACTOR.fullmatch(_plain(name)) is not None
        use = _USES.search(before)
        call = use if use is not None and (is_actor or use["quotes"]) else None
        if call is None and " " in _plain(name) and behind[:1] in {"`", "*"}:
            call = _QUOTED.search(before)
    return call, title
