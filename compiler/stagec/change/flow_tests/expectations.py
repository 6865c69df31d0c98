"""Compare the result of a run with the expected one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from stagec.change.flow_tests.execution import Observation
from stagec.core.canonical import canonical, compact
from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.place import Pointer
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote


@value
class Mismatch:
    """An expectation that does not hold: the actual result in a sentence, and a value that would hold."""

    pointer: Pointer
    told: str
    held: Json = None


_Check = Callable[[str, Json, Observation], Iterator[Mismatch]]
_CHECKS: dict[str, _Check] = {}
"""The check of each member of the expectations."""


def _checks(*names: str) -> Callable[[_Check], _Check]:
    """Let a function judge the members of these names."""

    def add(check: _Check) -> _Check:
        _CHECKS.update(dict.fromkeys(names, check))
        return check

    return add


def find_mismatches(expected: Object, found: Observation) -> Iterator[Mismatch]:
    """Yield the mismatches, in the order of the expectations."""
    for name, wanted in expected.items():
        yield from _CHECKS[name](name, wanted, found)


@_checks("outcome", "reason")
def _check_text(name: str, wanted: Json, found: Observation) -> Iterator[Mismatch]:
    held = getattr(found, name)
    if held != wanted:
        why = f": {found.reason}" if name == "outcome" and found.reason else ""
        yield Mismatch((name,), f"expected {quote(wanted)}, found {quote(held)}{why}", held)


@_checks("path")
def _check_path(name: str, wanted: Json, found: Observation) -> Iterator[Mismatch]:
    if isinstance(wanted, list) and tuple(wanted) != found.path:
        yield Mismatch((name,), f"the run takes {' → '.join(found.path) or 'no node'}", list(found.path))


@_checks("turns", "executions", "waits")
def _check_amount(name: str, wanted: Json, found: Observation) -> Iterator[Mismatch]:
    yield from _compare_amount((name,), wanted, getattr(found, name))


@_checks("visits", "calls", "attempts")
def _check_amounts(name: str, wanted: Json, found: Observation) -> Iterator[Mismatch]:
    counted: Mapping[str, int] = Counter(found.path) if name == "visits" else getattr(found, name)
    for each, amount in object_of(wanted).items():
        yield from _compare_amount((name, each), amount, counted.get(each, 0))


def _compare_amount(at: Pointer, wanted: Json, held: int) -> Iterator[Mismatch]:
    noun = _NOUNS.get(str(at[0]), str(at[0]).removesuffix("s"))
    of = f" of {quote(at[1])}" if len(at) > 1 else ""
    bounds = object_of(wanted)
    least, most = (bounds.get("least"), bounds.get("most")) if bounds else (wanted, wanted)
    if isinstance(least, int) and held < least:
        told = f"expected {'at least ' if bounds else ''}{format_count(least, noun)}{of}, found {held}"
        yield Mismatch(at, told, held)
    elif isinstance(most, int) and held > most:
        told = f"expected {'at most ' if bounds else ''}{format_count(most, noun)}{of}, found {held}"
        yield Mismatch(at, told, held)


@_checks("prompts")
def _check_prompts(name: str, wanted: Json, found: Observation) -> Iterator[Mismatch]:
    for node, given in object_of(wanted).items():
        request = found.requests.get(node)
        texts = given if isinstance(given, list) else [given]
        missing = [each for each in texts if request is None or str(each) not in request.prompt]
        if missing:
            told = "makes no request" if request is None else f"asks without {listing(missing)}"
            yield Mismatch((name, node), f"{quote(node)} {told}", [each for each in texts if each not in missing])


@_checks("tools", "inputs")
def _check_names(name: str, wanted: Json, found: Observation) -> Iterator[Mismatch]:
    for node, given in object_of(wanted).items():
        request = found.requests.get(node)
        held: tuple[str, ...] = (getattr(request, name) or ()) if request is not None else ()
        if sorted(held) != sorted(map(str, list_of(given))):
            yield Mismatch((name, node), f"{quote(node)} has the {name} {listing(held) if held else 'none'}", [*held])


@_checks("accepts", "refuses", "fit", "unfit")
def _check_contracts(name: str, wanted: Json, found: Observation) -> Iterator[Mismatch]:
    for at, wrong in found.broken.items():
        if at[0] == name:
            given = list_of(object_of(wanted)[at[1]] if len(at) > 1 else wanted)
            changes = ", ".join(compact(given[each]) for each in wrong)
            rest = [each for index, each in enumerate(given) if index not in wrong]
            told = f"{_JUDGEMENTS[name]} {changes}" if wrong else f"{quote(at[1])} has no answer that could be changed"
            yield Mismatch(at, told, rest if wrong else [])


_JUDGEMENTS = {
    "accepts": "the schema refuses the answer changed by",
    "refuses": "the schema accepts the answer changed by",
    "fit": "the run cannot begin with the inputs changed by",
    "unfit": "the run can begin with the inputs changed by",
}


@_checks("result")
def _check_result(name: str, wanted: Json, found: Observation) -> Iterator[Mismatch]:
    yield from _compare((name,), wanted, found.last)


@_checks("results")
def _check_results(name: str, wanted: Json, found: Observation) -> Iterator[Mismatch]:
    for node, each in object_of(wanted).items():
        yield from _compare((name, node), each, found.results.get(node))


def _compare(at: Pointer, wanted: Json, held: Json) -> Iterator[Mismatch]:
    """Yield the places where a value differs; an object may have more members than expected."""
    todo = [(at, wanted, held)]
    while todo:
        place, one, other = todo.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            todo += [((*place, key), one[key], other.get(key)) for key in reversed(one)]
        elif canonical(one) != canonical(other):
            yield Mismatch(place, f"expected {_show(one)}, found {_show(other)}", other)


def _show(given: Json) -> str:
    if given is None:
        return "nothing"
    return quote(given) if isinstance(given, str) else compact(given)


_NOUNS = {"waits": "millisecond"}
