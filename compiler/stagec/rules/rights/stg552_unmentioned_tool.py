"""A tool is allowed of which no prompt says anything.

## Why this matters
A model uses what it has. A tool that changes something, sends something or brings in what strangers wrote, and of which
no prompt speaks, is a risk without a use. Often it was copied from another agent.

## How to fix
Take the tool out of the list, or say in the prompt what it is for. `stagec permissions` shows which tools the tests of
the flow need. Tools that only read the project need no mention. A prompt speaks of a tool by its name or by a word for
what it does, such as "fetch" or "URL" for `WebFetch`; of prompts in other scripts than Latin, nothing is said.
"""

import re
from collections.abc import Iterator

from stagec.catalogue.labels import list_words
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import format_count, listing, quote
from stagec.model.rights import FlowRights, Label, Right
from stagec.rules.rights import group_rights, noun, rule

_RISKY = frozenset({Label.WRITE, Label.SEND, Label.UNTRUSTED})
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SHORTEST = 4
"""Letters of a part of a name that stands for the name."""
_MOST_FOREIGN = 0.1
"""The share of letters outside ASCII from which a text is not read."""
_SHOWN = 8


@rule(since="0.1", origin=("issue:unmentioned-tool",), severity=Severity.NOTE)
def check(access: FlowRights) -> Iterator[Finding]:
    texts: dict[str, str | None] = {}
    for (at, _), (right, nodes) in group_rights(access).items():
        if right.is_program or not _RISKY & right.labelled.labels:
            continue
        prompts = [access.rights[name].prompts for name in nodes]
        told = dict.fromkeys(text for each in prompts for text in each or ())
        texts.update((each, _fold(each)) for each in told if each not in texts)
        if None in prompts or any(text is None or _speaks(text, right) for text in map(texts.get, told)):
            continue
        who = listing(nodes) if len(nodes) <= _SHOWN else format_count(len(nodes), noun(access))
        plural = "s" if len(nodes) > 1 else ""
        where = f"{noun(access)}{plural} {who}" if len(nodes) <= _SHOWN else who
        yield Finding(at, f"no prompt of {where} says what {quote(right.name)} is for")


def _fold(prompt: str) -> str | None:
    """Return what a model is told, in lower case; nothing of a text that cannot be read."""
    text = prompt.lower()
    letters = sum(map(str.isalpha, text))
    foreign = sum(not each.isascii() for each in text if each.isalpha())
    return None if foreign > _MOST_FOREIGN * max(1, letters) else text


def _speaks(text: str, right: Right) -> bool:
    """Tell whether a text names a tool, a part of its name, or what it does."""
    own = right.name.rpartition("__")[2] or right.name
    parts = [each.lower() for each in _PARTS.findall(own)]
    words = [right.name.lower(), own.lower(), *(each for each in parts if len(each) >= _SHORTEST), *list_words(own)]
    return any(word in text for word in words if word)
