"""From findings to diagnostics: fold what only repeats a root cause, select, weigh, locate and sort."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from stagec.core.diagnostic import Diagnostic, Remark, Severity
from stagec.core.place import START, Part, Place, Pointer, Span
from stagec.core.rule import AnyRule, Finding
from stagec.core.value import value
from stagec.core.version import DOCUMENTATION
from stagec.project.selection import Selection
from stagec.sources.tree import Tree


@value
class Verdict:
    """One finding and the rule that made it."""

    rule: AnyRule
    finding: Finding


def diagnose(verdicts: Iterable[Verdict], trees: Mapping[str, Tree], selection: Selection) -> tuple[Diagnostic, ...]:
    """Return what a user sees of the verdicts of all rules, sorted by place."""
    kept, folded = _fold(verdicts)
    shown = [each for each in kept if selection.severity(each.rule) is not None]
    spans = _locate([each.finding for each in shown], trees)
    found = [_make_diagnostic(each, selection, spans, folded[id(each)]) for each in shown]
    return tuple(sorted(found, key=_order))


_MOST = 1_000
"""Findings of one rule in one file that are shown one by one; nobody reads more."""


def _fold(verdicts: Iterable[Verdict]) -> tuple[list[Verdict], Counter[int]]:
    """Leave out what lies at or inside the place of an earlier family's error, and what is too much; count it there."""
    roots: dict[_Spot, Verdict] = {}
    folded: Counter[int] = Counter()
    kept: list[Verdict] = []
    for family, judged in groupby(
        _fold_excess(_drop_repetitions(verdicts), folded), key=lambda each: each.rule.code[:4]
    ):
        found = [(each, _find_root(each.finding.at, roots) if roots else None) for each in judged]
        folded.update(id(root) for _, root in found if root is not None)
        standing = [each for each, root in found if root is None]
        kept.extend(standing)
        for each in standing:
            at = each.finding.at
            if each.rule.severity is Severity.ERROR and at.part is Part.VALUE:
                roots.setdefault((at.file, at.pointer, None if family.startswith("STG1") else at.range), each)
    return kept, folded


_Spot = tuple[str, Pointer, tuple[int, int] | None]
"""What an error stands for: all that lies in a member of a file, or one stretch of text in it.

Of a file that cannot be read everything follows from the mistake in it, whatever stretch of text that is.
"""


def _drop_repetitions(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """Drop repetitions: two registries that share a file find the same in it."""
    said: set[tuple[str, Place, str]] = set()
    for each in verdicts:
        identity = (each.rule.code, each.finding.at, each.finding.message)
        if identity not in said:
            said.add(identity)
            yield each


def _fold_excess(verdicts: Iterable[Verdict], folded: Counter[int]) -> Iterator[Verdict]:
    """Fold what a rule says of a file beyond so many times into the last of these."""
    said: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], Verdict] = {}
    for each in verdicts:
        subject = each.rule.code, each.finding.at.file
        said[subject] += 1
        if said[subject] > _MOST:
            folded[id(last[subject])] += 1
        else:
            last[subject] = each
            yield each


def _find_root(at: Place, roots: Mapping[_Spot, Verdict]) -> Verdict | None:
    if at.range is not None and (at.file, at.pointer, at.range) in roots:
        return roots[at.file, at.pointer, at.range]
    for length in range(len(at.pointer), -1, -1):
        root = roots.get((at.file, at.pointer[:length], None))
        if root is not None:
            return root
    return None


def _locate(findings: Iterable[Finding], trees: Mapping[str, Tree]) -> Mapping[Place, Span]:
    wanted: dict[str, set[Place]] = {}
    for finding in findings:
        for place in (finding.at, *(related.at for related in finding.related)):
            wanted.setdefault(place.file, set()).add(place)
    spans: dict[Place, Span] = {}
    for file, places in wanted.items():
        tree = trees.get(file)
        if tree is not None and tree.data:
            spans.update(tree.format.locate(tree.data, places))
    return spans


def _make_diagnostic(each: Verdict, selection: Selection, spans: Mapping[Place, Span], folded: int) -> Diagnostic:
    rule, finding = each.rule, each.finding
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=selection.severity(rule) or rule.severity,
        origin=rule.origin,
        at=finding.at,
        span=spans.get(finding.at, START),
        message=finding.message,
        related=tuple(Remark(also.at, spans.get(also.at, START), also.message) for also in finding.related),
        folded=folded,
        fix=finding.fix,
        url=f"{DOCUMENTATION}/rules/{rule.code}/",
    )


def _order(each: Diagnostic) -> tuple[object, ...]:
    start = each.span.start
    return each.at.file, start.line, start.column, each.code, each.message, str(each.at.pointer)
