"""Many random projects, compiled and run: none that compiles without errors may fail to route."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from properties.soundness.ends import stuck
from properties.soundness.pipelines import pipeline
from properties.soundness.registries import registry
from properties.soundness.runs import SILENT, Tried, UnsoundError
from properties.soundness.wanted import WANTED
from properties.soundness.worlds import ANYTHING, Known

from stagec.core.diagnostic import Severity
from stagec.pipeline import Compilation, Project, compile_project
from stagec.plan import dump
from stagec.plan.document import Plan
from stagec.project.settings import Settings
from stagec.runtime import Program, load

Files = dict[str, bytes]
MAKERS: dict[str, Callable[[Random], Files]] = {"registry": registry, "pipeline": pipeline}
_ENTRIES = {"registry": "steps_registry.json", "pipeline": "pipeline.json"}
_FOLDERS = ("prompts", "schemas", "stages")
"""Folders that have to be on disk; what lies in them need not be."""
_RUNS, _RUDE = 24, 8
"""Runs of each plan, and which of them is one in a world that does not answer as it should."""
_ROUNDS = 12
"""How often a plan is run as often again while it shows something that is still rare."""


class Found(NamedTuple):
    """What is wrong: how the project is made again, and what happened."""

    system: str
    seed: int
    what: str


class Tally:
    """What a campaign has seen; `calm` counts projects that compile without warnings, too.

    What has happened less than `each_kind` times is rare.
    """

    def __init__(self, each_kind: int = 0) -> None:
        self.each_kind = each_kind
        self.projects: Counter[str] = Counter()
        self.compiled: Counter[str] = Counter()
        self.calm: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter(dict.fromkeys(WANTED, 0))
        self.runs = 0
        self.transitions = 0
        self.found: list[Found] = []

    @property
    def rarest(self) -> list[tuple[int, str]]:
        """The kinds that have to happen, the rarest first."""
        return sorted((self.kinds[each], each) for each in WANTED)


def campaign(transitions: int, seed: int = 0, each_kind: int = 0, systems: tuple[str, ...] = tuple(MAKERS)) -> Tally:
    """Make, compile and run projects until there were so many transitions, and so many of each kind."""
    tally = Tally(each_kind)
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for name in _FOLDERS:
            (root / name).mkdir()
        while tally.transitions < transitions or tally.rarest[0][0] < each_kind:
            for system in systems:
                attack(root, system, seed, tally)
            seed += 1
    return tally


def attack(root: Path, system: str, seed: int, tally: Tally, *, without: str = "") -> None:
    """Make one project, and run it if it compiles without errors; those of one rule can be left out."""
    random = Random(f"{system} {seed}")
    compilation = compiled(root, system, MAKERS[system](random))
    severities = {each.severity for each in compilation.diagnostics if each.code != without}
    calm = Severity.WARNING not in severities
    tally.projects[system] += 1
    if Severity.ERROR not in severities and compilation.meanings:
        tally.compiled[system] += 1
        tally.calm[system] += calm
        tally.found += (Found(system, seed, what) for what in _attacked(compilation, random, tally, calm=calm))


def compiled(root: Path, system: str, files: Files) -> Compilation:
    """Compile the files of a project that is not on disk."""
    return compile_project(Project(root, (root / _ENTRIES[system],), Settings(), files))


def plans(compilation: Compilation) -> Iterator[Plan]:
    """Yield the plans of a project, also of one with errors."""
    return (meaning.plan() for meaning in compilation.meanings)


def _attacked(compilation: Compilation, random: Random, tally: Tally, *, calm: bool) -> Iterator[str]:
    """Run every plan of a project without errors, and yield what was wrong."""
    try:
        for plan in plans(compilation):
            if plan.entry is None and plan.judge is not None:
                yield "nobody says where runs begin"
            if stuck(plan):
                yield f"nothing leads from {stuck(plan)} to completion"
            yield from _tried(plan, random, tally, calm=calm)
    except Exception as error:
        yield f"no plan: {type(error).__name__}: {error}"


def _tried(plan: Plan, random: Random, tally: Tally, *, calm: bool) -> Iterator[str]:
    """Run a plan several times, and yield what was wrong."""
    program, known = load(dump(plan)), Known({None: [*ANYTHING]})
    for _ in range(_ROUNDS):
        before = {kind: count for count, kind in tally.rarest if count < tally.each_kind}
        yield from _round(program, random, tally, known, calm=calm)
        if all(tally.kinds[kind] == count for kind, count in before.items()):
            return


def _round(program: Program, random: Random, tally: Tally, known: Known, *, calm: bool) -> Iterator[str]:
    for number in range(1, _RUNS + 1):
        rude = number % _RUDE == 0
        one = Tried(program, random, tally.kinds, known, rude=rude)
        wrong = _wrong(one)
        if wrong is not None:
            yield wrong
        elif calm and not rude and one.is_fair and (SILENT in one.state.reason or "no usable" in one.state.reason):
            yield one.state.reason
        tally.runs += 1
        tally.transitions += one.transitions


def _wrong(one: Tried) -> str | None:
    try:
        one.run()
    except UnsoundError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def told(tally: Tally) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table of what a campaign has seen."""
    for system in sorted(tally.projects):
        share = f"{tally.compiled[system] / tally.projects[system]:.0%}"
        yield f"{system}: projects made", tally.projects[system]
        yield f"{system}: compiled without errors", f"{tally.compiled[system]} ({share})"
        yield f"{system}: and without warnings", tally.calm[system]
    yield "runs", tally.runs
    yield "transitions", tally.transitions
    yield from ((kind, count) for kind, count in sorted(tally.kinds.items()))
