"""The comments that an orchestrator file has for the outcomes of its agents, as templates of a plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stagec.core.json import Object, object_of
from stagec.plan.document import Contents
from stagec.plan.template import Choice, Hole, Piece, Template, Text

_VARIABLE = re.compile(r"\{(\w+)\}")
_TO = "To"
"""What may stand between the agent and the outcome in the name of a comment."""


def freeze_comments(root: Object, agent: str, contents: Contents) -> Mapping[str, Template]:
    """Return the comments of an agent by outcome; their names begin with the agent, and go on with the outcome."""
    given = object_of(object_of(root.get("handoff")).get("commentTemplates"))
    found: dict[str, Template] = {}
    for name, text in given.items():
        if not isinstance(text, str):
            continue
        for outcome in _list_outcomes(name, agent):
            found.setdefault(outcome, tuple(_make_pieces(text, contents)))
    return found


def _list_outcomes(name: str, agent: str) -> Iterator[str]:
    """Yield the outcomes that the name of a comment may stand for; their first letter is raised in it."""
    rest = name.removeprefix(agent) if name.startswith(agent) else ""
    for each in (rest, rest.removeprefix(_TO)):
        if each and each[0] == each[0].upper():
            yield each[0].lower() + each[1:]
            yield each


def _make_pieces(text: str, contents: Contents) -> Iterator[Piece]:
    """Yield the pieces of a comment; a variable that the agent does not hand over stays as it is written."""
    last = 0
    for found in _VARIABLE.finditer(text):
        if found.start() > last:
            yield Text(contents.add(text[last : found.start()]))
        path = ("handoff", found[1])
        yield Choice(path, (Hole(path),), (Text(contents.add(found[0])),))
        last = found.end()
    if last < len(text):
        yield Text(contents.add(text[last:]))
