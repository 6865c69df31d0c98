"""The verdicts that a baseline accepts, and its entries that match nothing any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from stagec.check.findings import Verdict
from stagec.core.place import Place, pointer_text
from stagec.core.value import replace, value
from stagec.sources.project.baseline import Baseline, BaselineEntry, digest, identify
from stagec.sources.project.settings import Selection


@value
class Acceptance:
    """The effect of a baseline: the other verdicts, the number of accepted ones, and entries with fewer matches.

    `possible` are the entries of all verdicts that a baseline can hold. The counts of `stale` entries are what is too
    much. Of `unjudged` ones nobody knows whether they are: their files, or what these rest on, could not be judged.
    `unasked` ones are of rules that are not selected.
    """

    verdicts: tuple[Verdict, ...]
    possible: tuple[BaselineEntry, ...]
    known: int
    stale: tuple[BaselineEntry, ...]
    unjudged: tuple[BaselineEntry, ...] = ()
    unasked: tuple[BaselineEntry, ...] = ()


def accept(verdicts: Iterable[Verdict], baseline: Baseline, selection: Selection) -> Acceptance:
    """Remove the verdicts that a baseline accepts: each finding by itself, even if it repeats another.

    Suppressed ones and those of mandatory rules are in no baseline.
    """
    left: list[Verdict] = []
    possible: list[BaselineEntry] = []
    allowed = {each.fingerprint: each for each in baseline.entries}
    used: Counter[str] = Counter()
    for each in verdicts:
        if each.silent or each.rule.mandatory or selection.severity(each.rule) is None:
            left.append(each)
            continue
        entry = make_entry(each.rule.code, each.finding.at, each.finding.message)
        possible.append(entry)
        is_known = entry.fingerprint in allowed and used[entry.fingerprint] < allowed[entry.fingerprint].count
        used[entry.fingerprint] += is_known
        if not is_known:
            left.append(each)
    stale = (replace(each, count=each.count - used[each.fingerprint]) for each in allowed.values())
    return Acceptance(tuple(left), tuple(possible), used.total(), tuple(each for each in stale if each.count))


def make_entry(code: str, at: Place, message: str) -> BaselineEntry:
    """Return the entry that accepts a finding."""
    member = pointer_text(tuple(part for part in at.pointer if isinstance(part, str)))
    return BaselineEntry(at.file, code, member, message, digest(identify(code, at.file, at.pointer, message)))
