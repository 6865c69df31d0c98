"""Search for the longest and the shortest run of a plan: all runs where these are few, else some by chance."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from properties.spending.machine import Walk, list_answers

from stagec.runtime.machine import Program


class Search:
    """Follows runs of one plan, depth first, until a number of transitions is used up."""

    def __init__(self, program: Program, *, prolong: bool, effort: int, seed: int = 0) -> None:
        self._program, self._prolong, self.left = program, prolong, effort
        self._chance = Random(seed)  # noqa: S311
        self.is_whole = True

    def list_ends(self) -> Iterator[Walk]:
        """Yield runs that have ended."""
        todo = [Walk.begin(self._program)]
        while todo:
            walk = todo.pop()
            if walk.state.ended is not None:
                yield walk
                continue
            for following in self._follow(walk):
                if self.left <= 0:
                    self.is_whole = False
                    return
                self.left -= 1
                todo.append(following)

    def _follow(self, walk: Walk) -> Iterator[Walk]:
        """Yield what may come next; which request is answered first matters only where several are open."""
        effects = [*walk.state.pending.values()]
        nexts = [
            walk.answer(effect.key, answer)
            for effect in effects
            for answer in list_answers(walk, effect, prolong=self._prolong)
        ]
        self._chance.shuffle(nexts)
        return iter(nexts)

    def wander(self, runs: int) -> Iterator[Walk]:
        """Yield ends of runs in a world that answers by chance, and prolongs or shortens where it can."""
        for _ in range(runs):
            walk = Walk.begin(self._program)
            while walk.state.ended is None:
                effects = [*walk.state.pending.values()]
                effect = self._chance.choice(effects)
                answers = list_answers(walk, effect, prolong=self._prolong)
                walk = walk.answer(effect.key, self._chance.choice(answers))
            yield walk
