"""The verdicts that suppressions in files silence, and mistakes in these suppressions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate

from stagec.check.findings import Verdict
from stagec.core.place import Part, Place, Pointer, Span
from stagec.core.rule import AnyFamily, AnyRule, list_declared
from stagec.core.value import replace, value
from stagec.sources.ignore import Patterns
from stagec.sources.project.settings import FileIgnores, Selection
from stagec.sources.suppression import UNUSED, JudgedSuppression, Suppression
from stagec.sources.tree import Tree

NO_IGNORES = FileIgnores()


@value
class Silence:
    """Verdicts, some of them silent now, and the suppressions that are wrong."""

    verdicts: tuple[Verdict, ...]
    wrong: tuple[JudgedSuppression, ...] = ()


def silence(
    verdicts: Sequence[Verdict],
    trees: Mapping[str, Tree],
    selection: Selection,
    list_families: Callable[[], Iterable[AnyFamily]],
    ignores: FileIgnores = NO_IGNORES,
) -> Silence:
    """Make the verdicts silent that some suppression covers; the nearest is used, a pattern for files the last.

    Suppressions that are not used are wrong, too, when their rules can speak.
    """
    speaking = [tree for tree in trees.values() if tree.suppressions]
    if not speaking and not ignores.entries:
        return Silence(tuple(verdicts))
    known = KnownRules(list_families())
    by_file: dict[str, list[Verdict]] = {}
    for each in verdicts:
        by_file.setdefault(each.finding.at.file, []).append(each)
    covers: list[_Cover | _FileCover] = []
    wrong: list[JudgedSuppression] = []
    for make, suppressions in _list_covers(speaking, ignores):
        judged = [(each, *known.judge(each)) for each in suppressions]
        covers.append(make((code, each) for each, fault, code in judged if not fault))
        wrong += (JudgedSuppression(each, fault, known.names) for each, fault, _ in judged if fault)
    silent: set[int] = set()
    for cover in covers:
        silent.update(cover.take(by_file, silent))
        unused = (each for code, each in cover.list_unused() if known.can_speak(code, selection))
        wrong += (JudgedSuppression(each, UNUSED) for each in unused)
    told = tuple(replace(each, silent=True) if id(each) in silent else each for each in verdicts)
    return Silence(told, tuple(wrong))


Covering = Iterable[tuple[str, Suppression]]
"""Suppressions, each with the code of its rule."""


def _list_covers(
    trees: Iterable[Tree], ignores: FileIgnores
) -> Iterator[tuple[Callable[[Covering], _Cover | _FileCover], Iterable[Suppression]]]:
    """Yield the covers, each with its suppressions: file by file, then those by patterns."""
    for tree in trees:
        yield partial(_Cover, tree), tree.suppressions
    found: list[tuple[Suppression, str]] = []
    for each in ignores.entries:
        at = place_text(ignores.file, ignores.text, each.line)
        found.append((Suppression(at, each.selector, each.reason), each.pattern))
    yield partial(_FileCover, {id(each): pattern for each, pattern in found}), [each for each, _ in found]


def place_text(file: str, text: str, line: int, sought: str = "") -> Place:
    """Return the place of a text on a line of a configuration, else the whole line."""
    start, whole = _list_lines(text)[line - 1]
    found = whole.find(sought) if sought else -1
    at = (start, start + len(whole.rstrip())) if found < 0 else (start + found, start + found + len(sought))
    return Place(file, range=at)


@lru_cache(maxsize=1)
def _list_lines(text: str) -> tuple[tuple[int, str], ...]:
    """Return the lines of a text, of which many places are asked for, and where each begins."""
    lines = text.split("\n")
    return tuple(zip(accumulate((len(each) + 1 for each in lines), initial=0), lines, strict=False))


class KnownRules:
    """The rules of some families by code and name, imported only when one of a family is asked for."""

    def __init__(self, families: Iterable[AnyFamily]) -> None:
        self._owners: dict[str, AnyFamily] = {}
        for family in families:
            for declared in list_declared(sys.modules[family.package]):
                self._owners |= dict.fromkeys(declared, family)
        self._names = tuple(sorted(self._owners))

    @property
    def names(self) -> tuple[str, ...]:
        """Every code and name."""
        return self._names

    def judge(self, suppression: Suppression) -> tuple[str, str]:
        """Return the mistake in a suppression, and the code of its rule."""
        if suppression.flaw:
            return "malformed-suppression", ""
        if suppression.selector not in self._owners:
            return "unknown-suppressed-rule", ""
        _, rule = self._find(suppression.selector)
        if rule.mandatory:
            return "suppressed-mandatory-rule", ""
        return "" if suppression.has_reason else "unexplained-suppression", rule.code

    def can_speak(self, selector: str, selection: Selection) -> bool:
        """Tell whether a rule can have something to say in a run; one that is not known has nothing to hide."""
        return selector not in self._owners or selection.lets_speak(*self._find(selector))

    def _find(self, selector: str) -> tuple[AnyFamily, AnyRule]:
        family = self._owners[selector]
        return family, next(each for each in family.rules() if selector in (each.code, each.name))


_Spot = tuple[str, int | Pointer | None]
"""The extent of a suppression: the code of a rule, and a line, a member or the text below a frontmatter."""


class _Cover:
    """The suppressions of one file by what they cover.

    A comment covers what begins on its line, so the lines of findings and of the members around them are looked up.
    """

    def __init__(self, tree: Tree, suppressions: Covering) -> None:
        self._tree = tree
        self._by_spot: dict[_Spot, Suppression] = {}
        self._unused: dict[int, tuple[str, Suppression]] = {}
        for code, each in suppressions:
            spot = each.line if each.inside is None else each.inside
            self._by_spot.setdefault((code, None if each.below else spot), each)
            self._unused[id(each)] = code, each
        self._codes = {code for code, _ in self._by_spot}

    def take(self, by_file: Mapping[str, Sequence[Verdict]], _silent: Collection[int]) -> Iterator[int]:
        """Yield the identity of each verdict that is covered by the nearest suppression, which is used now."""
        asked = [each for each in by_file.get(self._tree.file, ()) if each.rule.code in self._codes]
        places = {place for each in asked for place in _list_around(each.finding.at)}
        spans = self._tree.format.locate(self._tree.data, places) if places else {}
        for each in asked:
            near = next(self._list_near(each, spans), None)
            if near is not None:
                self._unused.pop(id(near), None)
                yield id(each)

    def list_unused(self) -> Iterable[tuple[str, Suppression]]:
        """Return the suppressions that cover nothing, each with the code of its rule."""
        return self._unused.values()

    def _list_near(self, verdict: Verdict, spans: Mapping[Place, Span]) -> Iterator[Suppression]:
        """Yield the suppressions that cover a verdict, the nearest first."""
        code, at = verdict.rule.code, verdict.finding.at
        for place in _list_around(at):
            for spot in (place.pointer, spans[place].start.line):
                if (code, spot) in self._by_spot:
                    yield self._by_spot[code, spot]
        whole = self._by_spot.get((code, ()))
        below = self._by_spot.get((code, None))
        if whole is not None:
            yield whole
        if below is not None and at.range and spans[at].start.line >= below.line:
            yield below


class _FileCover:
    """The suppressions of a configuration, each for the files that its pattern matches."""

    def __init__(self, patterns: Mapping[int, str], suppressions: Covering) -> None:
        read = {pattern: Patterns.of([pattern]) for pattern in patterns.values()}
        self._each = [(code, each, read[patterns[id(each)]]) for code, each in suppressions]
        self._used: set[int] = set()

    def take(self, by_file: Mapping[str, Sequence[Verdict]], silent: Collection[int]) -> Iterator[int]:
        """Yield the identity of each verdict that is covered and was not silent before."""
        for file, verdicts in by_file.items():
            matching = [(code, each) for code, each, patterns in self._each if patterns.hold(file)]
            covers = dict(reversed(matching))
            for verdict in verdicts:
                if verdict.rule.code in covers and id(verdict) not in silent:
                    self._used.add(id(covers[verdict.rule.code]))
                    yield id(verdict)

    def list_unused(self) -> Iterable[tuple[str, Suppression]]:
        """Yield the suppressions that cover nothing, each with the code of its rule."""
        return ((code, each) for code, each, _ in self._each if id(each) not in self._used)


def _list_around(at: Place) -> Iterator[Place]:
    """Yield a place and the members around it, the nearest first; the whole file is none of them."""
    yield at
    for length in range(len(at.pointer), 0, -1):
        part = Part.KEY if isinstance(at.pointer[length - 1], str) else Part.VALUE
        yield Place(at.file, at.pointer[:length], part)
