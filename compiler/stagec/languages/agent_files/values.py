"""Values of agent files that their tool does not take, by the rows in the data about tools.

A row is `[path, type, cost, scope, source]`. In a path `*` stands for every member of a map or a list, and `{a=b}`
for the value itself if it is a map whose member `a` is the text `b`, and `{a}` if it has no member `a`. A type is one
or more alternatives with ` | ` between them: a name of `_KINDS`, `'word'`, `/pattern/`, or `@list` for the names of a
list, which count in any case with `@list/i`. `map{a b}` is a map without other members, `map!a,b` one that needs
some, `map?a^b,c?d^e` one that has neither `b` nor `c` if it has `a`, and otherwise no `e` if it has `d`. `[]` before
all alternatives takes a list with one element for the element. The cost is
what is lost: `file`, `entry`, `program` (it does not start) or `nothing` (the value is ignored). The scope tells
which files of settings have the key: `any`, or those of the `user`, also `local` ones, or `managed` ones alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from stagec.core.json import Json, Object, kind_of, list_of, object_of
from stagec.core.place import Mention, Place, spell_path
from stagec.core.value import value
from stagec.core.words import listing, quote, with_article
from stagec.languages.agent_files.known import CLAUDE_CODE, Known

_ABSENT = "absent"


@value
class Misfit:
    """A value that its tool refuses: its place, the expected type, the value found, and the loss.

    `key` is the path of the value as messages spell it, `names` are what was expected if it is one of some words.
    """

    at: Place
    key: str
    expected: str
    found: Json
    cost: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Describe the mistake in the value."""
        subject = quote(self.key) if self.key else "the file"
        if self.expected.startswith(_ABSENT):  # what stands there may be a secret
            return f"{subject} must be {self.expected}"
        shown = quote(self.found) if isinstance(self.found, str) else with_article(kind_of(self.found))
        return f"{subject} must be {self.expected}, found {shown}"


def find_misfits(given: Object, at: Place, known: Known, kind: str, owner: str = CLAUDE_CODE) -> Iterator[Misfit]:
    """Yield the values of a file, or of a part of it, that do not fit their rows."""
    for path, type_, cost, *_ in known.data[owner]["values"][kind]:
        for found, place in follow(given, at, path.split(".") if path else []):
            fit = _Type(type_, known, owner)
            for where, expected, wrong in fit.find(found, place):
                key = spell_path(where.pointer[len(at.pointer) :])
                yield Misfit(where, key, expected, wrong, cost, fit.words)


def find_expected(given: Json, kind: str) -> str:
    """Return the expected type of a value, or an empty text if it has that type."""
    told, fits = _KINDS[kind]
    elements = list_of(given) if kind in _ELEMENTS else ()
    return "" if fits(given) and all(_KINDS[_ELEMENTS[kind]][1](each) for each in elements) else told


def follow(given: Json, at: Place, path: list[str]) -> Iterable[tuple[Json, Place]]:
    """Return the values at a path, with their places."""
    found: list[tuple[Json, Place]] = [(given, at)]
    for name in path:
        inside: list[tuple[Json, Place]] = []
        member, mark, text = name.strip("{}").partition("=") if name[:1] == "{" else ("", "", "")
        for each, place in found:
            if member:
                is_meant = object_of(each).get(member) == text if mark else member not in object_of(each)
                inside += [(each, place)] if is_meant and isinstance(each, dict) else []
                continue
            members = each if isinstance(each, dict) else dict(enumerate(list_of(each)) if name == "*" else ())
            keys = members if name == "*" else [name] if name in members else []
            inside += [(members[key], place / key) for key in keys]
        found = inside
    return found


def _is_number(given: Json) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)


def _is_whole(given: Json) -> bool:
    return isinstance(given, int | float) and _is_number(given) and given == math.floor(given)


def _matches(pattern: str, given: Json) -> bool:
    return isinstance(given, str) and re.fullmatch(pattern, given, re.IGNORECASE | re.DOTALL) is not None


_UPWARD = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)")
"""A path that leaves the folder that it begins in."""
_KINDS: Mapping[str, tuple[str, Callable[[Json], bool]]] = {
    "text": ("a text", lambda given: isinstance(given, str)),
    "filled": ("a text that is not empty", lambda given: isinstance(given, str) and bool(given.strip())),
    "word": ("a text without blanks", lambda given: isinstance(given, str) and re.search(r"\s|^$", given) is None),
    "seconds": ("a number of seconds above 0", lambda given: _is_number(given) and float(str(given)) > 0),
    "shell": ("'bash' or 'powershell'", lambda given: given in ("bash", "powershell")),
    "some": ("a text that is not empty", lambda given: isinstance(given, str) and given != ""),
    "single": ("a text", lambda given: not isinstance(given, list | dict)),
    "address": (
        "an address with its scheme, such as 'https:'",
        lambda given: isinstance(given, str) and re.match(r"\s*[a-zA-Z][a-zA-Z0-9+.-]*:", given) is not None,
    ),
    "boolean": ("true or false", lambda given: isinstance(given, bool)),
    "switch": ("true or false", lambda given: isinstance(given, bool) or given in ("true", "false")),
    "colour": ("'#rrggbb'", lambda given: isinstance(given, str) and bool(re.fullmatch("#[0-9a-fA-F]{6}", given))),
    "number": ("a number", _is_number),
    "record": ("a map", lambda given: isinstance(given, dict) or given == []),
    "size": ("a whole number from 0", lambda given: isinstance(given, int) and _is_number(given) and given >= 0),
    "span": ("a number that is not negative", lambda given: _is_number(given) and float(str(given)) >= 0),
    "share": ("a number from 0 to 1", lambda given: _is_number(given) and 0 <= float(str(given)) <= 1),
    "part": ("a number above 0 and up to 1", lambda given: _is_number(given) and 0 < float(str(given)) <= 1),
    "whole": ("a whole number", _is_whole),
    "count": (
        "a whole number above 0",
        lambda given: _is_whole(given) and float(str(given)) > 0,
    ),
    "unset": ("", lambda given: isinstance(given, str | int | float | None) and not given),
    "digits": ("", lambda given: isinstance(given, str) and given.isdecimal()),
    "leading": ("a whole number", lambda given: re.match(r"\s*[+-]?[0-9]", str(given)) is not None),
    "list": ("a list", lambda given: isinstance(given, list)),
    "texts": ("a list of texts", lambda given: isinstance(given, list)),
    "paths": ("a list of texts that begin with './'", lambda given: isinstance(given, list)),
    "map": ("a map", lambda given: isinstance(given, dict)),
    "map of texts": (
        "a map of texts",
        lambda given: isinstance(given, dict) and all(isinstance(each, str) for each in given.values()),
    ),
    "./": ("a text that begins with './'", lambda given: isinstance(given, str) and given.startswith("./")),
    ".md": (
        "the path of a file that ends with '.md'",
        lambda given: isinstance(given, str) and given.startswith("./") and given.endswith(".md"),
    ),
    ".json": (
        "a path that begins with './' and ends with '.json'",
        lambda given: isinstance(given, str) and given.startswith("./") and given.endswith(".json"),
    ),
    ".mcpb": ("", lambda given: isinstance(given, str) and given.endswith((".mcpb", ".dxt"))),
    "component": (
        "a path that begins with './', or a map",
        lambda given: isinstance(given, dict) or (isinstance(given, str) and given.startswith(("./", "http"))),
    ),
    "components": ("a list of such paths and maps", lambda given: isinstance(given, list)),
    "folders": ("a list of such texts", lambda given: isinstance(given, list)),
    "./.": ("a text that begins with './'", lambda given: given == "." or str(given).startswith("./")),
    "agents": ("a list of such paths", lambda given: isinstance(given, list)),
    "spoken": (
        "true or false",
        lambda given: str(given).strip().lower() in {"true", "yes", "on", "1", "false", "no", "off", "0"},
    ),
    "provided": (
        "PROVIDER/MODEL",
        lambda given: not isinstance(given, str) or "/" in given or not given or given[0] in "{$",
    ),
    "blank": ("", lambda given: given is None),
    "none": (_ABSENT, lambda _: False),
    "inside": ("a path without '..'", lambda given: not isinstance(given, str) or not _UPWARD.search(given)),
    "folder": (
        "the path of a folder without '..'",
        lambda given: isinstance(given, str) and given != "" and not _UPWARD.search(given),
    ),
    "package": ("a name of a package without '..'", lambda given: isinstance(given, str) and ".." not in given),
    "web": ("an address with 'http:' or 'https:'", lambda given: _matches(r"\s*https?:.*", given)),
    "https": ("an address with 'https:'", lambda given: _matches(r"\s*https:.*", given)),
    "commit": ("the 40 digits of a commit", lambda given: _matches("(?-i:[0-9a-f]{40})", given)),
    "sha256": ("64 hexadecimal digits", lambda given: _matches("[0-9a-f]{64}", given)),
}
_FOLDED, _UNWRAPPED = "/i", "[]"
_ELEMENTS = {"texts": "text", "paths": "./", "agents": ".md", "components": "component", "folders": "./."}
"""The required elements of lists."""
_CLOSED = re.compile(
    r"map\{(?P<only>[^}]*)\}(?:!(?P<needed>\S+))?|map!(?P<wanted>\S+)|map(?P<forms>(?:\?[^?^]+\^[^?^]+)+)"
)


def _unwrap(given: Json) -> Json:
    while isinstance(given, list) and len(given) == 1:
        given = given[0]
    return given


class _Type:
    """The alternatives of one row."""

    def __init__(self, type_: str, known: Known, owner: str) -> None:
        self._unwraps = type_.startswith(_UNWRAPPED)
        self._names = type_.removeprefix(_UNWRAPPED).split(" | ")
        lists = [known.names(each[1:].removesuffix(_FOLDED), owner) for each in self._names if each.startswith("@")]
        quoted = (each.strip("'") for each in self._names if each.startswith("'"))
        self.words = (*quoted, *(word for each in lists for word in each))

    def find(self, given: Json, at: Place) -> Iterator[tuple[Place, str, Json]]:
        """Yield the misfits: their places, the expected types, and the values found."""
        meant = _unwrap(given) if self._unwraps else given
        fitting = next((name for name in self._names if self._fits(name, meant)), None)
        closed = _CLOSED.fullmatch(fitting or "")
        if fitting is None:
            yield at, self._describe(), given
        elif fitting in _ELEMENTS:
            told, fits = _KINDS[_ELEMENTS[fitting]]
            elements = enumerate(given if isinstance(given, list) else ())
            yield from ((at / index, told, each) for index, each in elements if not fits(each))
        elif closed is not None:
            yield from _judge_members(object_of(given), at, closed)

    def _fits(self, name: str, given: Json) -> bool:
        if name[0] in "'@":
            return isinstance(given, str) and (given.lower() if name.endswith(_FOLDED) else given) in self.words
        if name[0] == "/":
            return isinstance(given, str) and re.fullmatch(name[1:-1], given) is not None
        return isinstance(given, dict) if _CLOSED.fullmatch(name) else _KINDS[name][1](given)

    def _describe(self) -> str:
        kinds = ("map" if _CLOSED.fullmatch(each) else each for each in self._names if each[0] not in "'@")
        told = (quote(each.strip("/")) if each[0] == "/" else _KINDS[each][0] for each in kinds)
        parts = [*(quote(word) for word in self.words), *filter(None, told)]
        return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def _judge_members(given: Object, at: Place, closed: re.Match[str]) -> Iterator[tuple[Place, str, Json]]:
    """Yield the members that a closed map must not have, and the map itself for each that it lacks."""
    forms = (form.partition("^") for form in (closed["forms"] or "").split("?"))
    first, _, barred = next((form for form in forms if form[0] in given), ("", "", ""))
    for key in (each for each in barred.split(",") if each in given):
        yield (at / key).key, f"{_ABSENT} beside {quote(first)}", given[key]
    only = closed["only"]
    for key in given if only is not None else ():
        if key not in only.split():
            yield (at / key).key, f"{_ABSENT}: only {listing(only.split())} are known here", given[key]
    needed = closed["needed"] or closed["wanted"]
    for key in needed.split(",") if needed else ():
        if key not in given:
            yield at, f"a map with {quote(key)}", given


def present(members: Object) -> Object:
    """Return the members that have a value: in frontmatter, nothing behind a key is as good as no key."""
    return {key: each for key, each in members.items() if each is not None}


REQUIRED = ("label", "agent", "prompt")


@value
class DroppedHandoff:
    """A dropped entry: the keys without a text, or its type if it is no map."""

    at: Place
    missing: tuple[str, ...] = ()
    kind: str = ""


def find_dropped_handoffs(given: Json, at: Place) -> Iterator[DroppedHandoff]:
    """Yield the entries of a list of handoffs that are dropped."""
    for index, entry in enumerate(given if isinstance(given, list) else ()):
        if not isinstance(entry, dict):
            yield DroppedHandoff(at / index, kind=kind_of(entry))
        else:
            missing = tuple(key for key in REQUIRED if not isinstance(entry.get(key), str))
            if missing:
                yield DroppedHandoff(at / index, missing)


def list_handoff_targets(given: Json, at: Place) -> Iterator[Mention]:
    """Yield the agents that handoffs lead to."""
    for index, entry in enumerate(given if isinstance(given, list) else ()):
        target = entry.get("agent") if isinstance(entry, dict) else None
        if isinstance(target, str):
            yield Mention(target, at / index / "agent")
