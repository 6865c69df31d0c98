"""Names in brackets that a prompt leaves as they are, and which of them were meant to be variables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.core.nearest import NameIndex, is_slip
from stagec.core.value import value
from stagec.frontends.registry.document import Registry, Step
from stagec.frontends.registry.inputs import PROVIDED
from stagec.frontends.registry.prompts import LiteralName, PromptText
from stagec.frontends.registry.supply import list_received

_PREFIX = re.compile(r"uv[-_](?P<name>[A-Za-z0-9_]+)", re.IGNORECASE)
_SIGNED = ("#{", "@{", "%{")
"""Brackets behind a sign that may belong to the text: `#{uv-issue}` is the number of an issue."""
_OTHERS = ("{{", "{{{", "[[", "<%", "{%")
"""Brackets that mean nothing in prose."""
_PLACE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
"""A name of several words, as variables have them."""
_STDIN = "input_text"
_OF_TEMPLATES = frozenset({"else", "end", "endfor", "endif", "this"})
"""Words of template languages, which name nothing."""


@value
class _Known:
    """What the steps that share a prompt know: names of variables, and those of them that they declare."""

    names: NameIndex
    declared: frozenset[str]


def find_meant(registry: Registry) -> Iterator[tuple[LiteralName, str]]:
    """Yield the names that were meant to be variables, and how these are written."""
    for text, known in _find_texts(registry):
        for literal in text.literals:
            name = _guess_meant(literal, text, known)
            if name is not None:
                opener = literal.bracketed.opener
                sign = opener[0] if opener in _SIGNED else ""
                yield literal, f"{sign}{{{name}}}" if name == _STDIN else f"{sign}{{uv-{name}}}"


def find_unfilled(registry: Registry) -> Iterator[list[LiteralName]]:
    """Yield what else looks like a place for a value, prompt by prompt."""
    for text, known in _find_texts(registry):
        found = [
            each
            for each in text.literals
            if not each.bracketed.is_code and _is_place(each) and _guess_meant(each, text, known) is None
        ]
        if found:
            yield found


def _find_texts(registry: Registry) -> Iterator[tuple[PromptText, _Known]]:
    """Yield the prompts in which names stay as they are, with what is known to all the steps that have it."""
    users: dict[str, list[Step]] = {}
    for key, prompt in registry.prompts.of_steps.items():
        text = registry.prompts.text_of(key)
        if prompt.file is not None and text is not None and text.literals:
            users.setdefault(prompt.file, []).append(registry.steps[key])
    parameters = tuple(registry.agent.parameters) if registry.agent is not None and users else ()
    common = dict.fromkeys((*parameters, *sorted(PROVIDED), _STDIN))
    for file, steps in users.items():
        if not any(step.is_section for step in steps):
            declared = {name: None for step in steps for name in step.declared}
            received = {name: None for step in steps for name in list_received(step) if name.isidentifier()}
            know = _Known(NameIndex({**declared, **received, **common}), frozenset(declared))
            yield registry.prompts.texts[file], know


def _guess_meant(literal: LiteralName, text: PromptText, known: _Known) -> str | None:
    """Return the variable that was meant; in code only one that the prompt has to read and reads nowhere."""
    bracketed = literal.bracketed
    is_alone = len(bracketed.names) == 1
    for name in bracketed.names:
        if (match := _PREFIX.fullmatch(name)) is not None and bracketed.opener not in _SIGNED:
            return match["name"]
        if bracketed.is_code and not (is_alone and name in known.declared and name not in text.reads):
            continue
        if name in known.names:
            return name
        near = known.names.nearest(name) if bracketed.opener in _OTHERS and is_alone else None
        if near is not None and is_slip(name, near):
            return near
    return None


def _is_place(literal: LiteralName) -> bool:
    """Tell whether this looks like a place for a value: one name in two braces, or one of several words in one."""
    (name, *others), opener = literal.bracketed.names, literal.bracketed.opener
    if others or opener not in {"{", "{{", "{{{"} or name in _OF_TEMPLATES or literal.text.startswith(("{{#", "{{/")):
        return False
    return _PLACE.fullmatch(name) is not None or (opener != "{" and name.isidentifier() and name.islower())
