"""Excluded files of a project: patterns in the syntax of `.gitignore`, and those that apply in a folder."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from stagec.core.budgets import SearchScope
from stagec.core.observations import find_type, read_head, resolve
from stagec.core.value import replace, value

Part = Callable[[str], object] | None
"""A question about one part of a path; None stands for `**`, which is any number of parts."""


@value
class Pattern:
    """One line: what it matches, and whether that is left out or, with `!`, taken back.

    A pattern without a slash has one part and matches at any depth; one that ends in a slash matches folders only.
    """

    parts: tuple[Part, ...]
    anchored: bool
    folders_only: bool
    taken_back: bool

    def matches(self, path: Sequence[str], *, folder: bool) -> bool:
        """Tell whether the pattern means this very path, not something above it."""
        if self.folders_only and not folder:
            return False
        # match whole paths; after a `**` the earliest fit is as good as any, so only the last `**` is ever retried
        if not self.anchored:
            return bool(_ask(self.parts[0], path[-1]))
        parts = self.parts
        at = here = 0
        retry: tuple[int, int] | None = None
        while here < len(path):
            if at < len(parts) and parts[at] is None:
                at, retry = at + 1, (at + 1, here)
            elif at < len(parts) and _ask(parts[at], path[here]):
                at, here = at + 1, here + 1
            elif retry is None:
                return False
            else:
                at, here = retry[0], retry[1] + 1
                retry = (at, here)
        return all(part is None for part in parts[at:])


@value
class Patterns:
    """The lines of one file or setting, the last first, because the last that matches decides."""

    lines: tuple[Pattern, ...]

    @classmethod
    def of(cls, lines: Iterable[str]) -> Patterns:
        """Read patterns; a line that means nothing is no pattern."""
        read = [pattern for line in lines if (pattern := _pattern(line)) is not None]
        return cls(tuple(reversed(read)))

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Tell whether a path is matched (True), taken back (False), or not spoken of (None)."""
        split = path.split("/")
        for pattern in self.lines:
            if pattern.matches(split, folder=folder):
                return not pattern.taken_back
        return None

    def hold(self, file: str) -> bool:
        """Tell whether a file is matched, or the nearest folder above it of which anything is said."""
        found = self.verdict(file, folder=False)
        for path in reversed(list(_ways(file))[:-1]):
            found = self.verdict(path, folder=True) if found is None else found
        return bool(found)


def _pattern(line: str) -> Pattern | None:
    line = line.rstrip("\r\n")
    kept = line.rstrip(" ")
    text = f"{kept} " if kept.endswith("\\") and kept != line else kept
    taken_back = text.startswith("!")
    text = text[taken_back:]
    if text.startswith("#") and not taken_back:
        return None
    folders_only = text.endswith("/")
    text = text[: len(text) - folders_only]
    anchored = "/" in text
    names = text.removeprefix("/").split("/")
    if names == [""]:
        return None
    parts = tuple(None if anchored and _ANY_DEPTH.fullmatch(name) else _part(name) for name in names)
    if len(parts) > 1 and parts[-1] is None:
        parts = (*parts[:-1], _anything, None)  # `a/**` means what is inside `a`, not `a` itself
    return Pattern(parts, anchored, folders_only, taken_back)


def _ask(part: Part, name: str) -> object:
    return part is None or part(name)


def _anything(_name: str) -> bool:
    return True


_ANY_DEPTH = re.compile(r"\*\*+")
_PLAIN = re.compile(r"[^*?\[\\]*")


def _part(text: str) -> Callable[[str], object]:
    """Return the question a part asks; the two usual kinds need no regular expression, whose making is slow."""
    if _PLAIN.fullmatch(text):
        return text.__eq__
    if text.startswith("*") and _PLAIN.fullmatch(text, 1):
        ending = text[1:]
        return lambda name: name.endswith(ending)
    # translate one part: what stands between two stars has a fixed length, so its earliest fit can be kept
    chunks = [""]
    for token in _TOKEN.finditer(text):
        if token["broken"]:
            return re.compile(_NEVER, re.DOTALL).fullmatch
        if token["star"]:
            chunks.append("")
        else:
            chunks[-1] += _one(token)
    first, *middle = chunks
    if not middle:
        return re.compile(first, re.DOTALL).fullmatch
    return re.compile(
        first + "".join(f"(?>.*?{chunk})" for chunk in middle[:-1]) + f".*{middle[-1]}", re.DOTALL
    ).fullmatch


_TOKEN = re.compile(
    r"(?P<star>\*+)|(?P<one>\?)|\\(?P<escaped>.)"
    r"|\[(?P<other>[!^])?(?P<members>\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]|(?P<plain>[^\[\\])|(?P<broken>.)",
    re.DOTALL,
)
_NEVER = r"(?!)"


def _one(token: re.Match[str]) -> str:
    if token["one"]:
        return "."
    if token["members"] is None:
        return re.escape(token["escaped"] or token["plain"])
    members = "".join(_member(each) for each in _MEMBER.finditer(token["members"]))
    if token["other"]:
        return f"[^{members}]" if members else "."
    return f"[{members}]" if members else _NEVER


_MEMBER = re.compile(r"\[:(?P<kind>[a-z]+):\]|(?P<low>\\.|.)-(?P<high>\\.|.)|(?P<only>\\.|.)", re.DOTALL)
_KINDS = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "digit": "0-9",
    "lower": "a-z",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


def _member(each: re.Match[str]) -> str:
    if each["kind"]:
        return _KINDS.get(each["kind"], "")
    if each["only"]:
        return re.escape(each["only"][-1])
    low, high = each["low"][-1], each["high"][-1]
    return f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""


GITIGNORE = ".gitignore"
_LONGEST = 100_000
_MOST = 1_000
"""Bytes and lines of a `.gitignore` that are read; no list that people keep is longer."""


@value
class Layer:
    """The patterns of one `.gitignore`; `base` is how many characters of a path lead to its folder."""

    base: int
    patterns: Patterns


@value
class IgnoreRules:
    """Every pattern that counts in one folder; of several `.gitignore` files the nearest that speaks decides."""

    include: Patterns | None
    exclude: Patterns | None
    gitignore: bool
    layers: tuple[Layer, ...] = ()

    @classmethod
    def above(cls, root: Path, scope: SearchScope, file: str) -> IgnoreRules:
        """Return the rules for a folder that a user named, before its own `.gitignore`.

        Who names a folder wants to see it: a `.gitignore` or a setting that leaves out the folder itself, or one
        above it, does not count inside it.
        """
        include = Patterns.of(scope.include) if scope.include else None
        exclude = Patterns.of(scope.exclude) if scope.exclude else None
        rules = cls(include, exclude, scope.gitignore)
        for path in _ways(file):
            rules = rules.inside(root, path.rpartition("/")[0])
            if _verdict(rules.exclude, path, folder=True):
                rules = replace(rules, exclude=None)
            if rules.ignores(path, folder=True):
                rules = replace(rules, layers=())
        return rules

    def inside(self, root: Path, folder: str) -> IgnoreRules:
        """Return the rules for a folder with its own `.gitignore`, if it has one."""
        lines = _lines(os.path.join(root, folder, GITIGNORE)) if self.gitignore else []
        if not lines:
            return self
        layer = Layer(len(folder) + 1 if folder else 0, Patterns.of(lines))
        return replace(self, layers=(*self.layers, layer))

    def prunes(self, file: str, *, folder: bool) -> bool:
        """Tell whether a file or folder is left out."""
        return bool(_verdict(self.exclude, file, folder=folder)) or self.ignores(file, folder=folder)

    def ignores(self, file: str, *, folder: bool) -> bool:
        """Tell whether a `.gitignore` leaves out a file or folder."""
        for layer in reversed(self.layers):
            verdict = layer.patterns.verdict(file[layer.base :], folder=folder)
            if verdict is not None:
                return verdict
        return False

    def includes(self, file: str) -> bool:
        """Tell whether `include` names a file or a folder above it; where it is not set, every file is included."""
        return self.include is None or self.include.hold(file)


def _verdict(patterns: Patterns | None, file: str, *, folder: bool) -> bool | None:
    return None if patterns is None else patterns.verdict(file, folder=folder)


def _ways(file: str) -> Iterator[str]:
    """Yield `a`, `a/b`, `a/b/c`."""
    parts = file.split("/") if file else []
    for length in range(1, len(parts) + 1):
        yield "/".join(parts[:length])


def _lines(path: str) -> list[str]:
    """Return the lines of a `.gitignore`; as for git, a link or anything that is no file is none."""
    try:
        is_file = find_type(path, follow=False) == stat.S_IFREG
        data = read_head(resolve(path), _LONGEST) if is_file else b""  # a folder on the way may be a link
    except OSError:
        return []
    return os.fsdecode(data.removeprefix(b"\xef\xbb\xbf")).split("\n")[:_MOST]
