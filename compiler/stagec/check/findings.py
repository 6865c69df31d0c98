"""From findings to diagnostics: fold what only repeats a root cause, select, weigh, locate and sort."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any

from stagec.core.diagnostic import Change, Diagnostic, Edit, Fix, Remark, Severity
from stagec.core.json import Json
from stagec.core.nearest import Guess
from stagec.core.place import START, Part, Place, Pointer, Span
from stagec.core.rule import AnyRule, Finding
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.sources.project.settings import Selection
from stagec.sources.shape.faults import SWAPPED
from stagec.sources.tree import Format, Tree


def resolve_guess(guess: Guess, at: Place, trees: Mapping[str, Tree]) -> Fix | None:
    """Return the fix that writes what was meant at a place and at the others, unless something else stands at one."""
    edits: dict[Place, Edit] = {}
    for place in (at, *guess.others):
        tree = trees.get(place.file)
        edit = _find_edit(guess, place, tree) if tree is not None and tree.readable else None
        if edit is None:
            return None
        edits[edit.at] = edit
    is_name = all(each.change is Change.RENAME and each.value == guess.meant for each in edits.values())
    verb = "rename it to" if is_name else "write"
    return Fix(f"{verb} {quote(guess.meant)}", tuple(edits.values()), is_safe=False)


def _find_edit(guess: Guess, at: Place, tree: Tree) -> Edit | None:
    if at.range is not None:
        start, end = at.range
        if start < (tree.body or (0, 0))[0] or tree.format.name not in PROSE:
            return None
        new = _put(guess, tree.data.decode(errors="surrogateescape")[start:end])
        return None if new is None else Edit(Change.WRITE, Place(at.file, range=at.range), new)
    if not at.pointer or not _exists(tree.value, at.pointer):
        return None
    plain = Place(at.file, at.pointer)
    given = look_up(tree.value, at.pointer)
    if at.part is Part.VALUE and isinstance(given, str):
        new = _put(guess, given)
        return None if new is None else Edit(Change.REPLACE, plain, new)
    key = at.pointer[-1]
    new = _put(guess, key) if isinstance(key, str) else None
    is_free = new is not None and new not in look_up(tree.value, at.pointer[:-1])
    return Edit(Change.RENAME, plain, new) if is_free else None


PROSE = frozenset({"markdown", "plain"})
"""The formats in which ranges of the body are plain text."""


def _put(guess: Guess, text: str) -> str | None:
    """Return a text with what was meant instead of the name, which must stand in it as a word, and once."""
    if text == guess.name:
        return guess.meant
    parts = re.split(rf"(?:(?<=uv-)|(?<![\w-])){re.escape(guess.name)}(?![\w-])", text) if guess.name in text else []
    once = 2
    return guess.meant.join(parts) if len(parts) == once else None


def _exists(given: Json, pointer: Pointer) -> bool:
    try:
        look_up(given, pointer)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def look_up(given: Any, pointer: Pointer) -> Any:
    """Return the part of a value at a pointer; raises LookupError or TypeError if there is none."""
    for key in pointer:
        given = given[key]
    return given


@value
class Verdict:
    """One finding and the rule that made it; a `silent` one is suppressed, and explains others all the same."""

    rule: AnyRule
    finding: Finding
    silent: bool = False

    def make_diagnostic(
        self, selection: Selection, spans: Mapping[Place, Span], trees: Mapping[str, Tree], folded: int
    ) -> Diagnostic:
        """Return the finding as users see it."""
        rule, finding = self.rule, self.finding
        weight = selection.severity(rule) or rule.severity
        return Diagnostic(
            code=rule.code,
            name=rule.name,
            severity=finding.severity or weight if weight is rule.severity else weight,
            origin=rule.origin,
            at=finding.at,
            span=spans.get(finding.at, START),
            message=finding.message,
            related=tuple(Remark(also.at, spans.get(also.at, START), also.message) for also in finding.related),
            folded=folded,
            fix=_choose_fix(finding, trees),
            url=selection.locate_page(rule),
        )


def diagnose(verdicts: Iterable[Verdict], trees: Mapping[str, Tree], selection: Selection) -> tuple[Diagnostic, ...]:
    """Return the diagnostics for a user of the verdicts of all rules, sorted by place."""
    kept, folded = _fold(verdicts, _find_twins(trees.values()))
    shown = [each for each in kept if not each.silent and selection.severity(each.rule) is not None]
    findings = [each.finding for each in shown]
    spans = locate((at for each in findings for at in (each.at, *(also.at for also in each.related))), trees)
    found = [each.make_diagnostic(selection, spans, trees, folded[id(each)]) for each in shown]
    return tuple(sorted(found, key=_order))


MOST = 1_000
"""Findings of one rule in one file that are shown one by one; nobody reads more."""


def leave_out_repetitions(verdicts: Iterable[Verdict], prefixes: Iterable[str] = ()) -> tuple[Verdict, ...]:
    """Return every verdict once: two registries that share a file find the same in it.

    `prefixes` stand before the names of nodes of an inner flow in a flow that has them too, and in which the same is
    found. Of these verdicts the one is told that is about the inner flow itself.
    """
    longest = sorted(prefixes, key=len, reverse=True)
    inner = re.compile(f"(?<=['\"])(?:{'|'.join(map(re.escape, longest))})") if longest else None
    told: dict[tuple[str, Place, str], Verdict] = {}
    for each in verdicts:
        message = each.finding.message
        identity = (each.rule.code, each.finding.at, message if inner is None else inner.sub("", message))
        if identity not in told or len(message) < len(told[identity].finding.message):
            told[identity] = each
    return tuple(told.values())


def silence_echoes(verdicts: Iterable[Verdict], resolve: Callable[[str], str]) -> Iterator[Verdict]:
    """Yield every verdict, silent where another one says the same of the same text, which has several paths.

    `resolve(file)` returns where a file really lies. The verdict that calls it so is told, else the first.
    """
    every = tuple(verdicts)
    groups: dict[tuple[object, ...], list[Verdict]] = {}
    for each in every:
        at = each.finding.at
        groups.setdefault((each.rule.code, at.pointer, at.part, at.range, each.finding.message), []).append(each)
    silent: set[int] = set()
    for alike in groups.values():
        files = {each.finding.at.file for each in alike}
        real = {file: resolve(file) for file in files} if len(files) > 1 else {}
        # of the paths of a file its own name is the last, so that it stays
        told = {real[each.finding.at.file]: each for each in reversed(alike) if real}
        told |= {each.finding.at.file: each for each in reversed(alike) if each.finding.at.file in told}
        silent.update(id(each) for each in alike if real and told[real[each.finding.at.file]] is not each)
    return (replace(each, silent=True) if id(each) in silent else each for each in every)


def _find_twins(trees: Iterable[Tree]) -> Mapping[Place, tuple[Place, ...]]:
    """Return the places of all faults of a mistake that two swapped values are, by the place of each."""
    faults = (each for tree in trees for each in tree.faults if SWAPPED in each.facts)
    return {each.at: places for each in faults if isinstance(places := each.facts[SWAPPED], tuple)}


def _fold(verdicts: Iterable[Verdict], twins: Mapping[Place, tuple[Place, ...]]) -> tuple[list[Verdict], Counter[int]]:
    """Leave out what only repeats an error, and what is too much; count it there.

    A verdict follows from another if it lies at or inside the place of an earlier family's error, or of an error that
    spoils its own place, or if it names an error as its cause. Of errors that name each other the first stands. What
    repeats a silent error is silent with it, unless its rule is mandatory.
    """
    roots = _Roots(twins)
    folded: Counter[int] = Counter()
    kept: list[Verdict] = []
    for _, judged in groupby(_fold_excess(verdicts, folded), key=lambda each: each.rule.code[:4]):
        found = [each for each in judged if not roots.fold(each, folded)]
        kept.extend(each for each in found if not (roots.may_follow(each) and roots.fold(each, folded)))
        roots.close_family()
    return kept, folded


_Spot = tuple[str, Pointer, tuple[int, int] | None]
"""The extent of an error: everything in a member of a file, or one stretch of text in it.

Of a file that cannot be read everything follows from the mistake in it, whatever stretch of text that is.
"""


class _Roots:
    """The errors that stand so far, by what they explain.

    `_causes` are all of them, `_around` those of earlier families. `_broken` has every member with an error of the
    first family inside: part of it cannot be read, so errors that rest on it follow from that one. `_spoilt` are the
    places of errors that are about all that lies there.
    """

    def __init__(self, twins: Mapping[Place, tuple[Place, ...]]) -> None:
        self._twins = twins
        self._causes: dict[_Spot, Verdict] = {}
        self._around: dict[_Spot, Verdict] = {}
        self._broken: dict[_Spot, Verdict] = {}
        self._spoilt: dict[_Spot, Verdict] = {}
        self._lost: set[int] = set()

    def fold(self, each: Verdict, folded: Counter[int]) -> bool:
        """Count a finding under the error that it repeats; one that repeats none may be a cause itself."""
        root = self._find(each)
        if root is None:
            self._add(each)
            return False
        self._lost.add(id(each))
        folded[id(root)] += 1 + folded.pop(id(each), 0)
        return True

    def may_follow(self, each: Verdict) -> bool:
        """Tell whether a finding may follow from an error of its own family, whichever of them was found first."""
        return bool(each.finding.causes) or (bool(self._spoilt) and self._find_spoiling(each) is not None)

    def _find_spoiling(self, each: Verdict) -> Verdict | None:
        found = _find_around(each.finding.at, self._spoilt)
        # what is wrong with two names is wrong with each
        is_of_names = found is not None and found.finding.at.part is each.finding.at.part is Part.KEY
        return None if is_of_names else found

    def close_family(self) -> None:
        """Let what lies inside the errors so far follow from them."""
        self._around = dict(self._causes)

    def _add(self, each: Verdict) -> None:
        at, is_shape = each.finding.at, each.rule.code.startswith("STG1")
        if (each.finding.severity or each.rule.severity) is not Severity.ERROR:
            return
        for whole in each.finding.spoils:
            self._broken.setdefault((whole.file, whole.pointer, None), each)
            if Place(at.file, at.pointer) in each.finding.spoils:
                self._spoilt.setdefault((whole.file, whole.pointer, None), each)
        if at.part is not Part.VALUE:
            return
        self._causes.setdefault((at.file, at.pointer, None if is_shape else at.range), each)
        for length in range(len(at.pointer) + 1) if is_shape else ():
            self._broken.setdefault((at.file, at.pointer[:length], None), each)

    def _find(self, each: Verdict) -> Verdict | None:
        """Return the error that a finding repeats."""
        finding = each.finding
        found = [_find_around(finding.at, self._around)] if self._around else []
        found += [self._find_spoiling(each)] if self._spoilt else []
        for cause in (*finding.causes, *self._twins.get(finding.at, ())) if self._causes else ():
            found += [_find_around(cause, self._causes), self._broken.get((cause.file, cause.pointer, None))]
        standing = (root for root in found if root is not None and root is not each)
        if each.rule.mandatory:
            standing = (root for root in standing if not root.silent)
        return next((root for root in standing if id(root) not in self._lost), None)


def _find_around(at: Place, roots: Mapping[_Spot, Verdict]) -> Verdict | None:
    if at.range is not None and (at.file, at.pointer, at.range) in roots:
        return roots[at.file, at.pointer, at.range]
    for length in range(len(at.pointer), -1, -1):
        root = roots.get((at.file, at.pointer[:length], None))
        if root is not None:
            return root
    return None


def _fold_excess(verdicts: Iterable[Verdict], folded: Counter[int]) -> Iterator[Verdict]:
    """Fold what a rule says of a file beyond so many times into the last of these."""
    said: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], Verdict] = {}
    for each in verdicts:
        subject = each.rule.code, each.finding.at.file
        said[subject] += not each.silent
        if said[subject] > MOST and not each.silent:
            folded[id(last[subject])] += 1
        else:
            if not each.silent:
                last[subject] = each
            yield each


def locate(places: Iterable[Place], trees: Mapping[str, Tree]) -> Mapping[Place, Span]:
    """Return the spans of places in the texts of their files; places in no text are left out."""
    wanted: dict[str, set[Place]] = {}
    for place in places:
        wanted.setdefault(place.file, set()).add(place)
    spans: dict[Place, Span] = {}
    for file, inside in wanted.items():
        tree = trees.get(file)
        if tree is not None and tree.data:
            find = _locate_again if len(tree.data) <= _SMALL else _locate_once
            spans.update(find(tree.format, tree.data, frozenset(inside)))
    return spans


_SMALL = 8_000
"""Bytes of a file whose spans are kept: an editor checks a project again in which one of many files has changed."""


def _locate_once(form: Format, data: bytes, places: frozenset[Place]) -> Mapping[Place, Span]:
    return form.locate(data, places)


_locate_again = lru_cache(maxsize=2_000)(_locate_once)


def _choose_fix(finding: Finding, trees: Mapping[str, Tree]) -> Fix | None:
    if finding.fix is None or isinstance(finding.fix, Fix):
        return finding.fix

    return resolve_guess(finding.fix, finding.at, trees)


def _order(each: Diagnostic) -> tuple[object, ...]:
    start = each.span.start
    return each.at.file, start.line, start.column, each.code, each.message, str(each.at.pointer)
