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
from properties.soundness.worlds import ANYTHING

from stagec.core.diagnostic import Severity
from stagec.pipeline import Compilation, Project, compile_project
from stagec.plan import dump
from stagec.plan.document import Plan
from stagec.project.settings import Settings
from stagec.runtime import Program, load

Files = dict[str, bytes]
FOLDERS = ("prompts", "schemas", "stages")
MAKERS: dict[str, Callable[[Random], Files]] = {"registry": registry, "pipeline": pipeline}
ENTRIES = {"registry": "steps_registry.json", "pipeline": "pipeline.json"}
RUNS = 24
"""Runs of each plan."""


class Found(NamedTuple):
    """What is wrong: how the project is made again, and what happened."""

    system: str
    seed: int
    what: str


class Tally:
    """What a campaign has seen."""

    def __init__(self) -> None:
        self.projects: Counter[str] = Counter()
        self.compiled: Counter[str] = Counter()
        self.calm: Counter[str] = Counter()
        """Projects without warnings."""
        self.kinds: Counter[str] = Counter()
        self.runs = 0
        self.transitions = 0
        self.found: list[Found] = []


def campaign(transitions: int, seed: int, systems: tuple[str, ...] = tuple(MAKERS)) -> Tally:
    """Make, compile and run projects until there were so many transitions."""
    tally = Tally()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for name in FOLDERS:
            (root / name).mkdir()
        while tally.transitions < transitions:
            for system in systems:
                attack(root, system, seed, tally)
            seed += 1
    return tally


def attack(root: Path, system: str, seed: int, tally: Tally) -> None:
    """Make one project, and run it if it compiles without errors."""
    random = Random(f"{system} {seed}")
    files = MAKERS[system](random)
    compilation = compiled(root, system, files)
    tally.projects[system] += 1
    severities = {each.severity for each in compilation.diagnostics}
    if Severity.ERROR in severities or not compilation.meanings:
        return
    tally.compiled[system] += 1
    tally.calm[system] += Severity.WARNING not in severities
    for problem in attacked(compilation, random, tally, calm=Severity.WARNING not in severities):
        tally.found.append(Found(system, seed, problem))


def attacked(compilation: Compilation, random: Random, tally: Tally, *, calm: bool) -> Iterator[str]:
    """Run every plan of a project without errors, and yield what was wrong."""
    try:
        for plan in plans(compilation):
            if plan.entry is None and plan.judge is not None:
                yield "nobody says where runs begin"
            if stuck(plan):
                yield f"nothing leads from {stuck(plan)} to completion"
            yield from tried(plan, random, tally, calm=calm)
    except Exception as error:
        yield f"no plan: {type(error).__name__}: {error}"


def compiled(root: Path, system: str, files: Files) -> Compilation:
    """Compile the files of a project that is not on disk."""
    return compile_project(Project(root, (root / ENTRIES[system],), Settings(), files))


def plans(compilation: Compilation) -> Iterator[Plan]:
    """Yield the plans of a project, also of one with errors."""
    return (meaning.plan() for meaning in compilation.meanings)


def tried(plan: Plan, random: Random, tally: Tally, *, calm: bool) -> Iterator[str]:
    """Run a plan several times, and yield what was wrong."""
    program, known = load(dump(plan)), dict[str | None, Any]({None: [*ANYTHING]})
    for number in range(RUNS):
        rude = number % 8 == 7
        one = Tried(program, random, tally.kinds, known, rude=rude)
        try:
            state = one.run()
        except UnsoundError as error:
            yield str(error)
        except Exception as error:
            yield f"{type(error).__name__}: {error}"
        else:
            yield from _judged(one, state.reason, calm=calm and not rude)
        tally.runs += 1
        tally.transitions += one.transitions


def _judged(one: Tried, reason: str, *, calm: bool) -> Iterator[str]:
    if calm and one.is_fair and (SILENT in reason or "no usable answer" in reason):
        yield reason


def program_of_files(root: Path, system: str, files: Files) -> Program:
    """Return the program of the first plan of a project."""
    return load(dump(next(plans(compiled(root, system, files)))))
