"""The drawing of a plan, and which of its lines a run takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from stagec.graph import build
from stagec.picture.document import Box, Line, Picture, Role, Stroke, box_of, forms_of
from stagec.picture.draw import draw
from stagec.picture.plan_flow import make_flow
from stagec.plan import Plan
from stagec.plan.node import Outcome, Schedule, Stop
from stagec.runtime import Move

_DONE = Stop(Outcome.DONE)


class RunDrawing:
    """How a plan is drawn. Boxes and lines are known by their numbers in the drawing, whatever they are called."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    @cached_property
    def picture(self) -> Picture:
        """The boxes and lines."""
        return draw(build(make_flow(self._plan)), (), {})

    @cached_property
    def svg(self) -> str:
        """The drawing itself; every box has its number as `data-box`, every line as `data-line`."""
        from stagec.picture.layout import lay_out
        from stagec.svg.drawing import svg

        drawn = svg(self.picture, lay_out(self.picture), forms_of([self.picture]))
        return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes, by number."""
        return tuple(self.picture.boxes.values())

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each box."""
        return {name: number for number, name in enumerate(self.picture.boxes)}

    @cached_property
    def _leaving(self) -> dict[str, list[tuple[int, Line]]]:
        """The lines that leave each box, with their numbers."""
        found: dict[str, list[tuple[int, Line]]] = {}
        for number, line in enumerate(self.picture.lines):
            found.setdefault(line.source, []).append((number, line))
        return found

    @cached_property
    def _scheduled(self) -> frozenset[str]:
        """The nodes that begin when others have ended, wherever their own edges lead."""
        return frozenset(
            name for entry in self._plan.entries.values() if isinstance(entry, Schedule) for name in entry.needs
        )

    def _is_done(self, move: Move) -> bool:
        """Tell whether a move ends a branch as done."""
        return any(each.on == move.outcome and each.target == _DONE for each in self._plan.nodes[move.node].edges)

    def find_begun(self, nodes: tuple[str, ...]) -> Iterator[int]:
        """Yield the numbers of the lines by which a run begins with some nodes."""
        boxes = set(map(box_of, nodes))
        for number, line in enumerate(self.picture.lines):
            if line.stroke is Stroke.ENTRY and line.target in boxes:
                yield number

    def find_taken(self, move: Move) -> Iterator[int]:
        """Yield the numbers of the lines that a move takes.

        A branch that ends while others go on takes the line to what waits for all of them.
        """
        leaving = self._leaving.get(box_of(move.node), ())
        if move.node in self._scheduled:
            yield from (number for number, _ in leaving if self._is_done(move))
            return
        told = [each for each in leaving if _is_label(each[1], move.outcome)] or leaving
        targets = set(map(box_of, move.to))
        for number, line in told:
            if self.picture.boxes[line.target].role is Role.CHOICE:
                further = [each for each, after in self._leaving.get(line.target, ()) if after.target in targets]
                yield from (number, *further) if further else ()
            elif _leads_as(line, move, targets):
                yield number


def _leads_as(line: Line, move: Move, targets: Collection[str]) -> bool:
    """Tell whether a line leads to where a move does."""
    if move.to:
        return line.target in targets
    if move.end == Outcome.BLOCKED:  # the box of runs that wait for somebody, or of all that have not succeeded
        return line.target in {Outcome.INTERRUPTED, Outcome.FAILED}
    return line.target == move.end if move.end else line.stroke is Stroke.JOIN


def _is_label(line: Line, outcome: str) -> bool:
    """Tell whether a line says that it is taken with an outcome."""
    return any(each == outcome or each.startswith(f"{outcome}:") for each in line.labels)
