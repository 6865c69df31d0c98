"""From the conditions of cases, checks and gates to terms that a runner can judge."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.frontends.stages.document import Condition
from stagec.model import flow
from stagec.plan.gate import Among, Exists, Term
from stagec.plan.template import Path

_CONTEXT = "ctx"


def of_result(when: Iterable[Condition] | Iterable[flow.Term]) -> tuple[Term, ...]:
    """Return conditions on the result of a stage."""
    return tuple(_term(each, each.path) for each in when)


def of_context(when: Iterable[Condition], names: Iterable[str] | None) -> tuple[Term, ...]:
    """Return conditions on the context; `names` are those that it declares."""
    return tuple(_term(each, (_CONTEXT, *inside(each.path, names))) for each in when)


def inside(path: tuple[str, ...], names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the path inside the context that a gate asks for; it may begin with the word that templates begin with."""
    spelt_out = path[:1] == (_CONTEXT,) and len(path) > 1 and _CONTEXT not in (names or ())
    return path[1:] if spelt_out else path


def _term(given: Condition | flow.Term, path: Path) -> Term:
    return Exists(path, given.present) if given.present is not None else Among(path, given.values)
