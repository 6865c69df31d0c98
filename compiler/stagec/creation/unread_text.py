"""What stands in the body of an agent file in place of something else, for its own tool or for a stage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.core.words import quote
from stagec.creation.collected import AgentText
from stagec.creation.new_project import Loss

_UNREAD = (
    (re.compile(r"!`[^`\n]+`"), "is text for the model: no command runs before the prompt is read"),
    (re.compile(r"#tool:[\w./-]+"), "is text for the model: it names no tool of the stage"),
    (
        re.compile(r"(?<![\w`@./])@(?!agent-)[\w-]*[/.]{1,9}\w[\w/.-]{0,200}"),
        "is text for the model: no file is put in its place",
    ),
)
_LONGEST = 60


def list_unread(given: AgentText) -> Iterator[Loss]:
    """Yield what its tool would put something else in place of, or what a stage would: the first of each kind."""
    body = given.body
    braces = body.find("{{")
    if braces >= 0:
        line = given.count_lines(given.start + braces)
        yield Loss(given.file, line, "body", "each '{{' became an escape, so that the model reads it as it was")
    for pattern, why in _UNREAD:
        found = pattern.search(body)
        if found is not None:
            line = given.count_lines(given.start + found.start())
            yield Loss(given.file, line, "body", f"{quote(found[0][:_LONGEST])} {why}")
