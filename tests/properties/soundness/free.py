"""Projects that were made freely or by edits: compiled and run if nothing is wrong, forced past an error if one is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from properties.soundness.chance import Chance
from properties.soundness.edits import edited
from properties.soundness.ends import stuck
from properties.soundness.free_pipelines import free_pipeline
from properties.soundness.free_registries import Made, free_registry
from properties.soundness.free_runs import Answers, Explained, FairRun
from properties.soundness.kinds import ending
from properties.soundness.oracle import Oracle
from properties.soundness.runs import LOST, UnsoundError

from stagec.check.pipeline import Meaning
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.core.diagnostic import Severity
from stagec.ir.plan import dump
from stagec.ir.plan.document import Plan
from stagec.ir.plan.loader import verify
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import load
from stagec.runtime.machine.program import program_of

FREE: dict[str, Callable[[Chance], Made]] = {
    "free registry": free_registry,
    "free pipeline": free_pipeline,
    "edited": edited,
}
UNSEEN = frozenset(
    f"STG{each}" for each in (187, 206, 216, 218, 262, 272, 280, 281, 301, 341, 355, 361, 362, 370, 371, 372)
)
"""Rules whose errors runs need not show: forms of ids and numbers, cases that no result takes, names that nothing uses,
tools, and variables that a plan asks of whoever starts it."""
_FIRST = "STG2"
"""Errors in the text or the shape of a document leave parts out, which is seen in runs by chance only."""
_RUNS = 12
_LONG = 200
"""Transitions of a run after which a plan is not run again."""
_FORCED = 60
"""Runs of a plan with an error in which its failure is sought."""


class Seen:
    """What came of some projects: counts by construction, errors that came true or did not, and what is wrong."""

    def __init__(self) -> None:
        self.projects: Counter[str] = Counter()
        """Projects that were made, that compiled, and that compiled without warnings, by system."""
        self.runs = 0
        self.transitions = 0
        self.kinds: Counter[str] = Counter()
        self.made: Counter[str] = Counter()
        self.compiled: Counter[str] = Counter()
        self.shown: Counter[str] = Counter()
        self.unshown: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.wrong: list[str] = []

    def add(self, other: Seen) -> None:
        """Count what others have seen."""
        for name, own in vars(self).items():
            given = getattr(other, name)
            if isinstance(own, Counter):
                own.update(given)
            else:
                setattr(self, name, own + given)


def campaign_freely(system: str, seeds: Iterable[int], workers: int = 1) -> Seen:
    """Make and judge a project for each seed; the result does not depend on the number of processes."""
    seen, jobs = Seen(), [(system, seed) for seed in seeds]
    if workers == 1:
        for each in map(_try, jobs):
            seen.add(each)
        return seen
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for each in pool.map(_try, jobs, chunksize=8):
            seen.add(each)
    return seen


def _try(job: tuple[str, int]) -> Seen:
    system, seed = job
    seen = try_freely(system, Chance(system, seed))
    seen.wrong = [f"{system} {seed}: {each}" for each in seen.wrong]
    return seen


def rows(seen: Seen) -> Iterator[tuple[str, object]]:
    """Yield the rows of a table of what was seen."""
    yield from sorted(seen.projects.items())
    yield "runs", seen.runs
    yield "transitions", seen.transitions
    yield from ((f"end: {name}", number) for name, number in sorted(seen.ends.items()))
    yield from ((f"errors that came true: {code}", number) for code, number in sorted(seen.shown.items()))
    yield from ((f"errors that did not: {code}", number) for code, number in sorted(seen.unshown.items()))
    for name, number in sorted(seen.made.items()):
        yield f"made with {name}", f"{number}, compiled {seen.compiled[name]}, runs {seen.kinds[name]}"


def try_freely(system: str, random: Chance) -> Seen:
    """Make one project and judge it: what validates runs, and what does not fails."""
    made, seen = FREE[system](random), Seen()
    seen.projects[f"{system}: projects made"] += 1
    with TemporaryDirectory() as folder:
        _write(Path(folder), made)
        try:
            freezer = Freezer(load_configuration((Path(folder),), Path(folder)), (Path(folder),))
            seen.wrong += _judged(freezer, made, random, seen)
            _count(system, freezer, seen)
        except Exception as error:
            seen.wrong.append(f"not compiled: {type(error).__name__}: {error}")
    return seen


def _write(folder: Path, made: Made) -> None:
    for name, text in made.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _count(system: str, freezer: Freezer, seen: Seen) -> None:
    if not freezer.errors and freezer.compilation.meanings:
        seen.projects[f"{system}: compiled without errors"] += 1
        if all(each.severity is not Severity.WARNING for each in freezer.compilation.diagnostics):
            seen.projects[f"{system}: and without warnings"] += 1


def _judged(freezer: Freezer, made: Made, random: Chance, seen: Seen) -> Iterator[str]:
    compilation = freezer.compilation
    seen.made.update(made.marks)
    codes = {each.code for each in freezer.errors}
    if len(codes) == 1 and compilation.meanings and codes.isdisjoint(UNSEEN) and min(codes) >= _FIRST:
        came_true = any(_fails(meaning, made, random) for meaning in compilation.meanings)
        (seen.shown if came_true else seen.unshown).update(codes)
    if codes or not compilation.meanings:
        return
    seen.compiled.update(made.marks)
    told = Explained(compilation.diagnostics, made)
    for meaning in compilation.meanings:
        frozen = freezer.freeze(meaning)
        if isinstance(frozen, Refused):
            yield f"no plan: {frozen.reason}"
            continue
        verify(frozen.data)
        if stuck(frozen.plan):
            yield f"nothing leads from {stuck(frozen.plan)} to completion"
        yield from _run(frozen.data, made, told, random, seen)


def _answers(made: Made) -> Answers:
    oracle = Oracle(made.schemas)
    return {name: oracle.satisfying(placed) for name, placed in made.placed.items()}


def _run(data: bytes, made: Made, told: Explained, random: Chance, seen: Seen) -> Iterator[str]:
    """Run a plan often, and yield each cause of a failure once."""
    program, own, found = load(data), _answers(made), dict[str, str]()
    for _ in range(_RUNS):
        one = FairRun(program, random, seen.kinds, own, told)
        try:
            one.run()
            one.replay(program)
        except UnsoundError as error:
            if LOST in str(error) and told.is_uncertain:
                continue
            found.setdefault(str(error).partition(" after ")[0], str(error))
        seen.runs += 1
        seen.kinds.update(made.marks.keys())
        seen.transitions += one.transitions
        seen.ends[ending(one.state)] += 1
        for each in one.causes:
            found.setdefault(each.partition(": ")[0], each)
        if one.transitions > _LONG:
            break
    yield from found.values()


def _fails(meaning: Meaning, made: Made, random: Chance) -> bool:
    """Tell whether an error comes true: no plan, one that is refused, or runs that fail or never come somewhere."""
    try:
        plan = meaning.plan()
        verify(dump(plan))
    except Exception:  # whatever a plan with errors may raise
        return True
    return some_fail(plan, made, random)


def some_fail(plan: Plan, made: Made, random: Chance) -> bool:
    program, own, met, done = program_of(plan), _answers(made), set[str](), 0
    for _ in range(_FORCED):
        one = FairRun(program, random, Counter(), own, Explained((), made))
        try:
            one.run()
        except Exception:  # whatever a plan with errors may raise
            return True
        if one.causes or LOST in one.state.reason or not one.is_fair:
            return True
        met |= {*one.state.past}
        done += one.state.ended is Outcome.DONE
    return not done or bool(plan.nodes.keys() - met)
