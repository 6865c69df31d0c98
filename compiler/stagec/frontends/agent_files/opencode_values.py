"""Values in the frontmatter of OpenCode's agents and commands that are of a wrong type."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping

from stagec.core.json import Json, Object, object_of
from stagec.core.place import Place
from stagec.core.value import value

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_COLOURS = frozenset({"primary", "secondary", "accent", "success", "warning", "error", "info"})
MODES = ("subagent", "primary", "all")
ACTIONS = frozenset({"ask", "allow", "deny"})


@value
class WrongValue:
    """A value that OpenCode refuses: what it expects, and what stands there."""

    at: Place
    key: str
    expected: str
    found: Json


def find_wrong_agent_values(members: Object, at: Place) -> Iterator[WrongValue]:
    """Yield what OpenCode refuses in the frontmatter of an agent or a mode."""
    yield from _find(members, at, _OF_AGENTS)
    for name, each in object_of(members.get("tools")).items():
        if not isinstance(each, bool):
            yield WrongValue(at / "tools" / name, f"tools.{name}", _TRUTH[1], each)
    for name, given in object_of(members.get("permission")).items():
        place, key = at / "permission" / name, f"permission.{name}"
        if not isinstance(given, dict) and not _is_action(given):
            yield WrongValue(place, key, f"{_ACTION}, or a map of them", given)
        wrong = ((pattern, each) for pattern, each in object_of(given).items() if not _is_action(each))
        yield from (WrongValue(place / pattern, f"{key}.{pattern}", _ACTION, each) for pattern, each in wrong)


def find_wrong_command_values(members: Object, at: Place) -> Iterator[WrongValue]:
    """Yield what OpenCode refuses in the frontmatter of a command."""
    yield from _find(members, at, _OF_COMMANDS)


def _find(members: Object, at: Place, table: Mapping[str, _Expected]) -> Iterator[WrongValue]:
    for key, (fits, expected) in table.items():
        if key in members and not fits(members[key]):
            yield WrongValue(at / key, key, expected, members[key])


def _is_number(given: Json) -> bool:
    if isinstance(given, float):
        return math.isfinite(given)
    return isinstance(given, int) and not isinstance(given, bool)


def _is_action(given: Json) -> bool:
    return isinstance(given, str) and given in ACTIONS


_ACTION = "'ask', 'allow' or 'deny'"
_Expected = tuple[Callable[[Json], bool], str]
_TEXT: _Expected = (lambda given: isinstance(given, str), "a text")
_TRUTH: _Expected = (lambda given: isinstance(given, bool), "true or false")
_NUMBER: _Expected = (_is_number, "a number")
_COUNT: _Expected = (
    lambda given: _is_number(given) and isinstance(given, int | float) and given > 0 and given == math.floor(given),
    "a whole number above 0",
)
_MAP: _Expected = (lambda given: isinstance(given, dict), "a map")
_OF_AGENTS: Mapping[str, _Expected] = {
    **dict.fromkeys(("model", "variant", "prompt", "description"), _TEXT),
    **dict.fromkeys(("temperature", "top_p"), _NUMBER),
    **dict.fromkeys(("disable", "hidden"), _TRUTH),
    **dict.fromkeys(("steps", "maxSteps"), _COUNT),
    "options": _MAP,
    "tools": (_MAP[0], "a map of true and false"),
    "mode": (lambda given: isinstance(given, str) and given in MODES, "'subagent', 'primary' or 'all'"),
    "color": (
        lambda given: isinstance(given, str) and (given in _COLOURS or _COLOUR.fullmatch(given) is not None),
        "'#rrggbb' or the name of a colour of the theme",
    ),
    "permission": (lambda given: isinstance(given, dict) or _is_action(given), f"a map, or {_ACTION}"),
}
_OF_COMMANDS: Mapping[str, _Expected] = {
    **dict.fromkeys(("description", "agent", "model"), _TEXT),
    "subtask": _TRUTH,
}
