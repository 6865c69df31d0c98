"""Many random projects, compiled and run: none that compiles without errors may fail to route."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import count, cycle, islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from properties.soundness.chance import Chance
from properties.soundness.ends import stuck
from properties.soundness.pipelines import pipeline
from properties.soundness.registries import registry
from properties.soundness.runs import SILENT, Tried, UnsoundError
from properties.soundness.wanted import LEANS, WANTED
from properties.soundness.worlds import ANYTHING, Known

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.ir.plan import dump
from stagec.ir.plan.document import Plan
from stagec.runtime.machine import Program, load
from stagec.sources.project.settings import Settings

Files = dict[str, bytes]
MAKERS: dict[str, Callable[[Chance], Files]] = {"registry": registry, "pipeline": pipeline}
_ENTRIES = {"registry": "steps_registry.json", "pipeline": "pipeline.json"}
_FOLDERS = ("prompts", "schemas", "stages")
"""Folders that have to be on disk; what lies in them need not be."""
_RUNS, _RUDE = 24, 8
"""Runs of each plan, and which of them is one in a world that does not answer as it should."""
_ROUNDS = 10
"""How often a plan is run as often again while it shows something that lags behind."""
_TOO_MANY = 50
"""Projects with something wrong after which a campaign stops, because nobody reads more."""
_CHUNK, _CHUNKS = 8, 12
"""Projects that one process works off at a time, and how many such chunks there are between two looks at the whole."""


class Job(NamedTuple):
    """One project: from this it is made again, the same as before."""

    system: str
    seed: int
    lean: str = ""


class Found(NamedTuple):
    """What is wrong, and with which project."""

    job: Job
    what: str


class Tally:
    """What a campaign, or a part of one, has seen; `calm` counts projects that compile without warnings, too."""

    def __init__(self) -> None:
        self.projects: Counter[str] = Counter()
        self.compiled: Counter[str] = Counter()
        self.calm: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.runs = 0
        self.transitions = 0
        self.found: list[Found] = []

    def add(self, other: Tally) -> None:
        """Count what another part has seen."""
        for name in ("projects", "compiled", "calm", "kinds"):
            getattr(self, name).update(getattr(other, name))
        self.runs += other.runs
        self.transitions += other.transitions
        self.found += other.found

    def lagging(self, least: float) -> tuple[str, ...]:
        """Return the kinds that have happened less often than that, the rarest first."""
        return tuple(sorted((each for each in WANTED if self.kinds[each] < least), key=self.kinds.__getitem__))


class Aim(NamedTuple):
    """How much a campaign is to see, and of which systems; `workers` are the processes that it has.

    It gives up on what is still wanted after `patience` times the transitions.
    """

    transitions: int
    each_kind: int = 0
    systems: tuple[str, ...] = tuple(MAKERS)
    workers: int = 1
    patience: int = 30


def campaign(aim: Aim, seed: int = 0) -> Tally:
    """Make, compile and run projects until there were so many transitions, and so many of each kind.

    What is seen depends on the seed and the aim alone, and not on how many processes there are.
    """
    tally, seeds = Tally(), count(seed)
    with _mapping(aim.workers) as mapped:
        for chunks in _sizes():
            for part in mapped(_chunk, list(_planned(aim, tally, seeds, chunks))):
                tally.add(part)
            if is_over(aim, tally):
                return tally
    raise AssertionError


def is_over(aim: Aim, tally: Tally) -> bool:
    """Tell whether a campaign has seen enough, or will not see more of what it still wants."""
    if len(tally.found) > _TOO_MANY:
        return True
    enough = tally.transitions >= aim.transitions
    patient = tally.transitions < aim.patience * aim.transitions
    return enough and not (patient and tally.lagging(aim.each_kind))


def _sizes() -> Iterator[int]:
    """Yield numbers of chunks: few at first, so that a short campaign is short."""
    yield from (1, 1, 1, 2, 2, 4, 4, 8)
    yield from cycle((_CHUNKS,))


@contextmanager
def _mapping(workers: int) -> Iterator[Callable[..., Iterable[Tally]]]:
    """Provide what maps as `map` does, with so many processes."""
    if workers == 1:
        yield map
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool.map


def _planned(aim: Aim, tally: Tally, seeds: Iterator[int], chunks: int) -> Iterator[_Part]:
    """Yield what is made next: projects of every sort, and as many that lean to what lags behind."""
    share = min(1.0, tally.transitions / aim.transitions)
    rare = [each for each in tally.lagging(aim.each_kind * share) if LEANS[each][0] in aim.systems]
    leans = cycle(dict.fromkeys(LEANS[each] for each in rare))
    plain = _CHUNK if not rare else _CHUNK // 2 if share < 1 else _CHUNK // 4
    systems = cycle(aim.systems)
    for _ in range(chunks):
        jobs = [Job(next(systems), next(seeds)) for _ in range(plain)]
        jobs += [Job(system, next(seeds), lean) for system, lean in islice(leans, _CHUNK - plain)]
        yield _Part(tuple(jobs), frozenset(rare))


class _Part(NamedTuple):
    """Projects for one process, and the kinds for which it is to run them more often."""

    jobs: tuple[Job, ...]
    rare: frozenset[str]


def _chunk(part: _Part) -> Tally:
    tally = Tally()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for name in _FOLDERS:
            (root / name).mkdir()
        for job in part.jobs:
            attack(root, job, tally, part.rare)
    return tally


UNCERTAIN = "STG277"
"""The warning that a schema is too involved to tell whether every answer leads on: then nothing is guaranteed."""


def attack(root: Path, job: Job, tally: Tally, rare: frozenset[str] = frozenset(), without: str = "") -> None:
    """Make one project, and run it if it compiles without errors; those of one rule can be left out."""
    random = Chance(*job)
    files = MAKERS[job.system](random)
    try:
        compilation = compiled(root, job.system, files)
    except Exception as error:
        tally.found.append(Found(job, f"not compiled: {type(error).__name__}: {error}"))
        return
    severities = {each.severity for each in compilation.diagnostics if each.code != without}
    calm = Severity.WARNING not in severities
    tally.projects[job.system] += 1
    is_certain = all(each.code != UNCERTAIN for each in compilation.diagnostics)
    if Severity.ERROR not in severities and is_certain and compilation.meanings:
        tally.compiled[job.system] += 1
        tally.calm[job.system] += calm
        wrong = Counter(_attacked(compilation, random, tally, rare, calm=calm))
        tally.found += (Found(job, f"{what} ({times} times)") for what, times in wrong.items())


def compiled(root: Path, system: str, files: Files) -> Compilation:
    """Compile the files of a project that is not on disk."""
    return compile_project(Project(root, (root / _ENTRIES[system],), Settings(), files))


def plans(compilation: Compilation) -> Iterator[Plan]:
    """Yield the plans of a project, also of one with errors."""
    return (meaning.plan() for meaning in compilation.meanings)


def _attacked(
    compilation: Compilation, random: Chance, tally: Tally, rare: frozenset[str], *, calm: bool
) -> Iterator[str]:
    """Run every plan of a project without errors, and yield what was wrong."""
    try:
        for plan in plans(compilation):
            if plan.entry is None and plan.judge is not None:
                yield "nobody says where runs begin"
            if stuck(plan):
                yield f"nothing leads from {stuck(plan)} to completion"
            yield from _tried(plan, random, tally, rare, calm=calm)
    except Exception as error:
        yield f"no plan: {type(error).__name__}: {error}"


def _tried(plan: Plan, random: Chance, tally: Tally, rare: frozenset[str], *, calm: bool) -> Iterator[str]:
    """Run a plan several times, and yield what was wrong."""
    program, known = load(dump(plan)), Known({None: [*ANYTHING]})
    for _ in range(_ROUNDS):
        before = sum(tally.kinds[each] for each in rare)
        yield from _round(program, random, tally, known, calm=calm)
        if sum(tally.kinds[each] for each in rare) == before:
            return


def _round(program: Program, random: Chance, tally: Tally, known: Known, *, calm: bool) -> Iterator[str]:
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
    yield from ((kind, number) for kind, number in sorted(tally.kinds.items()))
