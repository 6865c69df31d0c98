"""Runs of schedules: all nodes succeed, or those that no other of them needs end otherwise together."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from stagec.core.value import replace
from stagec.flow_tests.paths.search import Played, Player
from stagec.plan.node import Schedule
from stagec.runtime import Program, Started
from stagec.runtime.exchange import Execute, choose_next, read_key

_OTHERWISE = ("failure", "interrupted")


def play_schedules(program: Program, player: Player, starts: Iterable[Started]) -> list[Played]:
    """Return runs that cover the schedules with which a program begins; none where it begins with a node.

    A node that has not succeeded keeps those from running that need it. Along a chain of nodes, therefore, each ending
    needs a run of its own; nodes that do not need each other can end otherwise in the same run.
    """
    runs: list[Played] = []
    for at, started in enumerate(starts):
        entry = program.plan.entries[str(started.entry if started.entry is not None else program.plan.entry)]
        if isinstance(entry, Schedule):
            begun = replace(player.start(started), start=at)
            runs.append(_play(player, begun, "success", ()))
            left = dict(entry.needs)
            while left:  # the nodes that need nothing, then those that need only these, and so on
                level = frozenset(name for name, needs in left.items() if left.keys().isdisjoint(needs))
                runs += [_play(player, begun, ending, level) for ending in _OTHERWISE]
                left = {name: needs for name, needs in left.items() if name not in level}
    return runs


def _play(player: Player, played: Played, ending: str, level: Collection[str]) -> Played:
    """Return a run in which some nodes end in a way, and all others succeed."""
    while played.state.ended is None:
        effect = choose_next(played.state.pending.values())
        named = ending if isinstance(effect, Execute) and read_key(effect.key).node in level else "success"
        choices = tuple(player.find_choices(played))
        choice = next((each for each in choices if each.name == named), choices[0])
        played = player.play(played, choice) or played
    return played
