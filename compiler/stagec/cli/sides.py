"""The sides of a comparison: the plans of a plan's file, a project or a revision of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from stagec.cli.files import STDIN, describe_absence
from stagec.cli.git import find_revision, open_revision
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.cli.running.inputs import verify_file
from stagec.core.diagnostic import Diagnostic
from stagec.core.failure import Exit, Failure
from stagec.core.memo import KeptAnswers
from stagec.core.value import value
from stagec.core.words import format_count, quote
from stagec.ir.plan import Plan

_BEGIN = b'{"digest":"sha256:'
UNREAD = "STG1"
"""The codes of errors in documents that cannot be read: what flows there are is not known then."""
_SHOWN = 3
"""Errors of a project that are shown when it cannot be compared."""


@value
class ComparedSide:
    """One of two sides: what the user calls it, and its plans, those of one id by where they come from."""

    label: str
    plans: tuple[Plan, ...]


def read_sides(old: str, new: str, around: Path, flow: str | None = None) -> tuple[ComparedSide, ComparedSide]:
    """Return the plans of two sides; a revision without a path is one of the other side, a new one of what is `around`.

    `flow` is the id of the only one that is wanted; a side may have none of that id. Raises `Failure` if no side has a
    flow.
    """
    if old == new == str(STDIN):
        raise Failure(f"both sides are {quote(STDIN)}: standard input has one plan")
    kept = KeptAnswers()
    sides = _read_side(old, find_beside(new), flow, kept), _read_side(new, around, flow, kept)
    if not any(each.plans for each in sides):
        named = "flow" if flow is None else f"flow {quote(flow)}"
        raise Failure(f"neither {quote(old)} nor {quote(new)} has a {named}", Exit.NOTHING)
    return sides


def find_beside(other: str) -> Path:
    """Return the path that a revision without a path is a revision of: the other side if that is one."""
    path = Path(other)
    return path if path.exists() and path != STDIN else Path()


def _read_side(text: str, beside: Path, flow: str | None, kept: KeptAnswers) -> ComparedSide:
    with locate_side(text, beside) as path:
        found = read_plans(path) if is_plan(path) else _freeze(text, path, flow, kept)
    return ComparedSide(text, tuple(each for each in found if flow is None or each.id == flow))


@contextmanager
def locate_side(text: str, beside: Path) -> Iterator[Path]:
    """Yield the path of what a text names; that of a revision exists only meanwhile."""
    path = Path(text)
    revision = None if path == STDIN or path.exists() else find_revision(text, beside)
    if revision is None:
        if path != STDIN and not path.exists():
            raise Failure(describe_absence(path), hints=[f"git knows no revision {quote(text)}"])
        yield path
        return
    with open_revision(revision) as top:
        path = top / revision.path
        if not path.exists():
            hint = f"'{revision.name}:PATH' names another path in it"
            raise Failure(f"revision {quote(revision.name)} has no {quote(revision.path)}", hints=[hint])
        yield path


def is_plan(path: Path) -> bool:
    """Tell whether a path names a file that begins as every plan does, or standard input."""
    if path == STDIN:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_BEGIN)) == _BEGIN
    except OSError:
        return False


def read_plans(path: Path) -> list[Plan]:
    """Return the plan in a file."""
    return [verify_file(path).plan]


def _freeze(text: str, path: Path, flow: str | None, kept: KeptAnswers) -> list[Plan]:
    """Return the plans of a project's flows; one that has errors cannot be compared."""
    freezer = Freezer(load_configuration((path,)), (path,), kept)
    chosen = (each for each in freezer.compilation.meanings if flow in {None, each.flow.id})
    made = [freezer.freeze(each, proves=False) for each in chosen]
    refused = [each for each in made if isinstance(each, Refused)]
    if refused:
        raise _explain(text, freezer, refused[0])
    lost = [each for each in freezer.errors if each.code.startswith(UNREAD)]
    if lost and (flow is None or not made):
        raise Failure(
            f"{quote(text)} has {format_count(len(lost), 'error')} in files that cannot be read", hints=_hints(lost)
        )
    return [each.plan for each in made if not isinstance(each, Refused)]


def _explain(text: str, freezer: Freezer, refused: Refused) -> Failure:
    hints = _hints(freezer.errors_of(refused.flow))
    return Failure(f"flow {quote(refused.flow.id)} of {quote(text)} has no plan: {refused.reason}", hints=hints)


def _hints(errors: Iterable[Diagnostic]) -> list[str]:
    return [
        f"{each.at.file}:{each.span.start.line}:{each.span.start.column}: {each.code} {each.message}"
        for each in islice(errors, _SHOWN)
    ]
