"""Whether conditions hold of a result or of a context: § 3.8 of the format."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.json import Json
from stagec.plan.canonical import as_text
from stagec.plan.gate import Among, Exists, Term
from stagec.runtime.values import MISSING, equal, follow


def all_hold(terms: Iterable[Term], given: Json) -> bool:
    """Tell whether every one of some terms holds of a value."""
    return all(holds(term, given) for term in terms)


def holds(term: Term, given: Json) -> bool:
    """Tell whether a term holds of a value."""
    found = follow(given, term.path)
    if isinstance(term, Exists):
        return (found is not MISSING) is term.present
    if found is MISSING:
        return False
    if isinstance(term, Among):
        return any(equal(found, each) for each in term.values)
    return as_text(found) in term.texts
