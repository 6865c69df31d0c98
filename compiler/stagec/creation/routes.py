"""Decide which stages of a draft run: the entry, and what certain hand-offs reach from it."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.value import value
from stagec.creation.adopted import Handoff


@value
class RouteDraft:
    """The stages that a draft runs, in the order in which they are reached, and what comes after each.

    `choices` are the stages whose result says what comes next, with the values it may say; `end` is the one that ends
    the run, None where none is needed. `is_cyclic` tells that a stage may run again.
    """

    reached: tuple[str, ...]
    routes: Mapping[str, tuple[tuple[str, Handoff], ...]]
    choices: Mapping[str, tuple[str, ...]]
    end: str
    is_cyclic: bool


def draft_routes(entry: str, handoffs: Mapping[str, tuple[tuple[str, Handoff], ...]]) -> RouteDraft:
    """Return the routes of a draft; `handoffs` has the certain ones of every stage, each with the id that it means."""
    order, backward = _walk(entry, handoffs)
    ids = {target for found in handoffs.values() for target, _ in found} | set(handoffs)
    end = next(each for each in ("done", *(f"done-{at}" for at in range(2, len(ids) + 3))) if each not in ids)
    routes: dict[str, tuple[tuple[str, Handoff], ...]] = {}
    choices: dict[str, tuple[str, ...]] = {}
    for name in order:
        found = handoffs.get(name, ())
        forward = tuple(each for each in found if (name, each[0]) not in backward)
        back = tuple(each for each in found if (name, each[0]) in backward)
        routes[name] = (*forward, *back)
        if back or len(found) > 1:
            choices[name] = (*(each for each, _ in forward), end, *(each for each, _ in back))
    return RouteDraft(tuple(order), routes, choices, end, bool(backward))


def _walk(
    entry: str, handoffs: Mapping[str, tuple[tuple[str, Handoff], ...]]
) -> tuple[list[str], set[tuple[str, str]]]:
    """Return what is reached, in order, and the hand-offs that lead back to a stage on the way to them."""
    order, on_way = [entry], {entry}
    backward: set[tuple[str, str]] = set()
    todo = [(entry, iter(handoffs.get(entry, ())))]
    seen = {entry}
    while todo:
        name, following = todo[-1]
        target = next((each for each, _ in following), None)
        if target is None:
            on_way.discard(todo.pop()[0])
        elif target in on_way:
            backward.add((name, target))
        elif target not in seen:
            seen.add(target)
            on_way.add(target)
            order.append(target)
            todo.append((target, iter(handoffs.get(target, ()))))
    return order, backward
