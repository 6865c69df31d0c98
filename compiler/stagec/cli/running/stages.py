"""Runs of stage plans: their folder, their processes, and what a resumed run keeps."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Lock, Thread

from stagec.cli.running.report import EventReporter, LineReporter, RunFormatter, RunReporter
from stagec.cli.running.runs import SUFFIX, Runs
from stagec.cli.running.world_options import WorldOptions
from stagec.cli.streams import find_canvas, put, put_error, say
from stagec.core.clock import stamp_clock
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.terminal import Canvas, Paint, Style, columns
from stagec.core.value import NOTHING, value
from stagec.core.words import ellipsis, escape_ci_commands, format_count, listing, quote, visible
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Process
from stagec.ir.plan.node import Outcome, Schedule
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.drivers.local import History
from stagec.runtime.drivers.local.stage_ledger import StageEffect, StageLedger, StageRecord
from stagec.runtime.drivers.replay import advance_history
from stagec.runtime.machine import Event as RuntimeEvent
from stagec.runtime.machine import Program, State, StepResult
from stagec.runtime.machine.exchange import Execute, Preserve, Publish
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.world.scenario import Scenario

TYPE_CHECKING = False  # the real one costs the import of `typing`

if TYPE_CHECKING:
    from stagec.ir.protocol.checkpoint import TrustLevel
    from stagec.runtime.world.checkpoints import Resumption
    from stagec.runtime.world.stage_files import Published, RunFolder
    from stagec.runtime.world.stage_world import StageWorld


_PACE = 0.25
"""Seconds between two drawings."""


Rows = Callable[[Canvas], list[str]]
"""Returns the rows of a moment, none of which is wider than the canvas."""


class Board:
    """Draws rows on the terminal of standard error, several times in a second.

    Where standard error is no terminal, or one that cannot move its cursor, nothing is drawn.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._lock, self._over = Lock(), Event()
        self._thread: Thread | None = None
        self._drawn = 0

    def start(self) -> None:
        """Draw from now on."""
        if self._thread is None and sys.stderr.isatty() and os.environ.get("TERM") not in {None, "", "dumb"}:
            self._thread = Thread(target=self._repeat, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Wipe the rows out, and draw no more."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            put_error(self._wipe())

    @contextmanager
    def above(self) -> Iterator[None]:
        """Let the body write whole lines, which stay above the rows."""
        with self._lock:
            put_error(self._wipe())
            yield
            if self._thread is not None and not self._over.is_set():
                put_error(self._draw())

    def _repeat(self) -> None:
        while not self._over.wait(_PACE):
            with self._lock:
                put_error(self._wipe() + self._draw())

    def _wipe(self) -> str:
        """Return the text that moves the cursor to the first row and clears everything from there."""
        drawn, self._drawn = self._drawn, 0
        return f"\x1b[{drawn}A\r\x1b[J" if drawn else ""

    def _draw(self) -> str:
        rows = self._rows(find_canvas(sys.stderr, os.environ))
        self._drawn = len(rows)
        return "".join(f"{row}\n" for row in rows)


_RESERVED = ("checkpoints", "queue", "staging")
"""Names that the protocol has for other folders beside those of runs."""


RUNS = "runs"
"""The fact of a journal that names the folder in which it began."""


@value
class StageOptions:
    """The options of the execution of stages; None where one is absent."""

    project: Path | None = None
    executor: str | None = None
    max_parallel: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the program that carries out stages without a command; no shell reads them."""
        try:
            words = tuple(shlex.split(self.executor or ""))
        except ValueError as error:
            raise Failure(f"--executor {quote(self.executor)} is not a command line: {error}") from error
        if self.executor is not None and not words:
            raise Failure("--executor names no program")
        return words

    @property
    def folder(self) -> str:
        """The root of the project."""
        return os.path.abspath(self.project or os.curdir)

    def list_facts(self, journal: Path) -> Mapping[str, str]:
        """Return the facts for the journal from which a later resume restores the options."""
        named = {"project": self.folder, "executor": self.executor, RUNS: _locate(journal)}
        return {name: each for name, each in named.items() if each is not None and each.isprintable()}

    def recall(self, facts: Mapping[str, str], journal: Path | None = None) -> StageOptions:
        """Return the options with what the journal remembers where they are absent.

        A journal in another folder than the one in which it began is a copy, or was moved: a run in the folder that it
        remembers could change the results of another run. So this is a `Failure`.
        """
        if self.project is None and journal is not None and facts.get(RUNS, _locate(journal)) != _locate(journal):
            raise Failure(
                f"this journal is a copy, or was moved: it began in {facts[RUNS]}; name the folder of the run with "
                f"--project DIR: it was {facts.get('project', 'not remembered')}"
            )
        remembered = Path(facts["project"]) if "project" in facts else None
        return StageOptions(self.project or remembered, self.executor or facts.get("executor"), self.max_parallel)


def _locate(journal: Path) -> str:
    return os.path.realpath(journal.parent)


def choose_stages(options: WorldOptions) -> StageOptions:
    """Return the options about stages."""
    return StageOptions(options.project, options.executor, options.max_parallel)


def has_stages(plan: Plan) -> bool:
    """Tell whether a plan runs stages as processes."""
    return any(isinstance(node.act, Process) for node in plan.nodes.values())


def name_stage_run(runs: Runs) -> str:
    """Return a free name for a run as the protocol has them: `run-20260102-143022`."""
    name = stamp_clock("run-%Y%m%d-%H%M%S")
    taken = (f"{name}-{number}" for number in range(2, 10_000))
    return next(each for each in (name, *taken) if not os.path.lexists(runs.folder / f"{each}{SUFFIX}"))


def refuse_unfit_stages(plan: Plan, options: StageOptions) -> None:
    """Raise `Failure` for options that a plan has no use for, and where stages cannot run."""
    if not has_stages(plan):
        unused = {"--project": options.project, "--executor": options.executor, "--max-parallel": options.max_parallel}
        named = [name for name, each in unused.items() if each is not None]
        if named:
            raise Failure(
                f"{listing(named)} are for stage plans, and {quote(plan.id)} has no stages that are processes"
            )
    elif not os.path.isdir(options.folder):
        raise Failure(f"{quote(options.folder)} is not a folder: --project names the folder in which the run executes")


def refuse_silent_stages(plan: Plan, scenario: Scenario, words: tuple[str, ...]) -> None:
    """Raise `Failure` for stages that nobody has said how to run."""
    silent = [name for name, node in plan.nodes.items() if isinstance(node.act, Process) and not node.act.words]
    if silent and not words and scenario.processes is None:
        told = f"{listing(silent[:_SHOWN])}{' and others' * (len(silent) > _SHOWN)}"
        raise Failure(f"{told} have no 'run': --executor 'PROGRAM …' names the program that carries out their goals")


_SHOWN = 4


@contextmanager
def open_stages(folder: RunFolder | None, plan: Plan, reporter: RunReporter) -> Iterator[StageWorld | None]:
    """Open the directory of a run, if it has one."""
    if folder is None:
        yield None
        return
    from stagec.runtime.world.stage_world import StageWorld

    with closing(StageWorld(folder, plan, find_needs(plan), reporter.tell)) as world:
        world.show = reporter.show
        yield world


def find_folder(plan: Plan, name: str, options: StageOptions) -> RunFolder | None:
    """Return the directory of a run; nothing for a plan without stages."""
    if not has_stages(plan):
        return None
    if name in _RESERVED:
        raise Failure(f"{quote(name)} cannot name a run of stages: the protocol reserves that name")
    from stagec.runtime.world.stage_files import RunFolder

    return RunFolder(options.folder, plan.id, name)


def find_log(plan: Plan, name: str, facts: Mapping[str, str]) -> str:
    """Return the path of the log of a run by what its journal remembers; an empty text where that is not enough."""
    folder = find_folder(plan, name, StageOptions().recall(facts)) if "project" in facts else None
    return "" if folder is None or not os.path.isfile(folder.log) else folder.log


def find_needs(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Return the needs of each stage of a plan."""
    schedules = (entry for entry in plan.entries.values() if isinstance(entry, Schedule))
    return {name: needed for each in schedules for name, needed in each.needs.items()}


def is_resumable(state: State) -> bool:
    """Tell whether a run of stages can go on: nobody has cancelled it for good, and it was fit to begin."""
    failure = state.failure
    if failure is None:
        return state.ended is not Outcome.DONE
    is_cancelled = failure.kind is FailureKind.CANCELLED and not failure.detail
    return not is_cancelled and failure.kind is not FailureKind.UNFIT_START


def find_refused(plan: Plan, state: State) -> Iterator[str]:
    """Yield the stages that are blocked because they may not run again without consent."""
    for name, needed in find_needs(plan).items():
        act, is_ready = plan.nodes[name].act, all(state.statuses[each] is StageStatus.COMPLETED for each in needed)
        if isinstance(act, Process) and not act.retryable and is_ready:
            yield from [name] if state.statuses[name] is StageStatus.BLOCKED else []


def refuse_other_results(folder: RunFolder | None) -> None:
    """Raise `Failure` where the directory of a run that is to begin has results already."""
    if folder is None:
        return
    from stagec.runtime.world.stage_files import ATTEMPTS, LOG

    try:
        found = sorted({*os.listdir(folder.path)} - {ATTEMPTS, LOG})
    except FileNotFoundError:
        return
    except OSError as error:
        raise Failure(f"cannot read {quote(folder.path)}: {error.strerror or error}") from error
    if found:
        raise Failure(f"{quote(folder.path)} has results of another run: --run gives a new run another name")


@value
class Consent:
    """Permissions of a person for a resumed run: stages to run again, and whether to trust checkpoints."""

    stages: tuple[str, ...]
    trust: TrustLevel


def verify_stages(
    folder: RunFolder, program: Program, history: History, consent: Consent, finished: Published = NOTHING
) -> Resumption:
    """Verify what a run has left, report it, and return what the resumed run keeps.

    `finished` is what has been published of which the journal does not say it.
    """
    from stagec.runtime.world.checkpoints import Verifier, list_published

    needs = find_needs(program.plan)
    strays = [each for each in consent.stages if each not in needs]
    if strays:
        raise Failure(f"no stage is called {quote(strays[0])}{hint(strays[0], NameIndex(needs))}")
    recorded = {**list_published(advance_history(program, history)), **finished}
    found = Verifier(folder, program.plan, consent.trust).verify(needs, recorded)
    for each in found.warnings:
        say(f"stagec: warning: {each}")
    for stage, why in found.refused.items():
        say(f"stagec: warning: {stage} runs again: {why}")
    kept = format_count(len(found.published), "stage")
    begun = "the beginning" if found.checkpoint is None else found.checkpoint
    say(f"resumes from {begun}: {kept} of {len(needs)} kept")
    return found


_WIDEST = 40
"""Columns of the ids of stages."""
_LEAST = 3
"""Lines of a terminal that no rows take."""


class StageReporter:
    """Reports to people; `log` is the path of the file that has the output of the stages, if there is one."""

    def __init__(self, plan: Plan, log: str = "") -> None:
        self._log = log
        self._plan, self._ledger = plan, StageLedger(plan)
        self._paper = find_canvas(sys.stdout, os.environ)
        self._paint = Paint(self._paper.colour)
        self._formatter = RunFormatter(plan, self._paper)
        self._width = min(_WIDEST, max(columns(self._show(each)) for each in self._ledger.stages))
        self._said: dict[str, tuple[float, str]] = {}
        self._events, self._has_failures = 0, False
        self._board = Board(self._draw)

    def recall(self, event: RuntimeEvent, step: StepResult) -> None:
        """Take note of an event of an earlier session."""
        self._events += 1
        self._ledger.take(event, step)

    def observe(self, event: RuntimeEvent, step: StepResult) -> None:
        """Print a line for an attempt that has ended, and for a stage that is complete."""
        self._events += 1
        answered = self._ledger.take(event, step)
        for effect in step.effects:
            if isinstance(effect, Execute):
                self._said.pop(effect.node, None)
        line = self._describe(answered)
        if line:
            self.print(line)
        self._board.start()

    def tell(self, stage: str, sentence: str) -> None:
        """Print what happens to a stage; in any thread."""
        self.print(self._format(stage, self._show(sentence)))

    def show(self, stage: str, percent: float, text: str) -> None:
        """Take note of how far a stage is; in any thread."""
        self._said[stage] = percent, text

    def print(self, line: str) -> None:
        """Print a line above the rows."""
        with self._board.above():
            put(f"{line}\n")

    def conclude(self, state: State) -> None:
        """Print the last line."""
        self.close()
        if self._log and self._has_failures:
            put(f"log of the stages: {self._show(self._log)}\n")
        put(f"{self._formatter.ending(state)}, {format_count(self._events, 'event')}\n")

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._board.stop()

    def _describe(self, answered: StageEffect | None) -> str:
        """Return a line about what was answered; nothing for what goes on."""
        if answered is None:
            return ""
        record = self._ledger.stages[answered.node]
        if isinstance(answered, Publish) and not record.ending:
            told = [self._paint("completed", Style.MESSAGE), _format_seconds(record), record.checkpoint or ""]
        elif isinstance(answered, Preserve):
            told = [f"left {record.checkpoint}" if record.checkpoint else ""]
        elif record.ending:
            self._has_failures = True
            told = [self._paint(self._show(record.ending), Style.ERROR), _format_seconds(record)]
            told += [f"attempt {record.attempts}"] if record.attempts > 1 else []
            told += [self._show(record.said)]
        else:
            told = []
        line = ", ".join(each for each in told if each)
        return self._format(answered.node, line) if line else ""

    def _format(self, stage: str, told: str) -> str:
        name = escape_ci_commands(self._show(stage))
        return f"{name}{' ' * (self._width - columns(name))}  {told}"

    def _show(self, text: str) -> str:
        return visible(text, self._paper.encoding)

    def _draw(self, paper: Canvas) -> list[str]:
        """Return the rows of this moment: each stage that runs, and how many there are of each kind."""
        rows = list(self._list_rows(paper))
        room = max(1, _count_lines() - _LEAST)
        more = [f"and {len(rows) - room} more"] if len(rows) > room else []
        return [_cut(each, paper) for each in (*rows[:room], *more, self._count())]

    def _list_rows(self, paper: Canvas) -> Iterator[str]:
        now = time.monotonic()
        for name, record in list(self._ledger.stages.items()):
            act = self._plan.nodes[name].act
            if record.begun is None or not isinstance(act, Process):
                continue
            elapsed, limit = now - record.begun, act.limits.warn / 1000
            if elapsed > limit:
                limit = act.limits.interrupt / 1000
            percent, text = self._said.get(name, (None, ""))
            part = "" if percent is None else f"{percent:3.0f} %"
            yield visible(f"{name:<{self._width}}  {elapsed:3.0f} s of {limit:3g} s  {part}  {text}", paper.encoding)

    def _count(self) -> str:
        records = self._ledger.stages.values()
        running = sum(each.begun is not None for each in records)
        over = sum(each.attempts > 0 and each.begun is None and not each.ending for each in records)
        return f"{over} of {format_count(len(records), 'stage')} completed, {running} running"


def _format_seconds(record: StageRecord) -> str:
    return "" if record.seconds is None else f"{record.seconds:.1f} s"


def _cut(row: str, paper: Canvas) -> str:
    """Return a row that leaves the last column of a terminal free, so that none goes on in the next line."""
    room = (paper.width or 80) - 1
    if columns(row) <= room:
        return row.rstrip()
    left_out = ellipsis(paper.encoding)
    while columns(row) > room - columns(left_out):
        row = row[:-1]
    return row + left_out


def _count_lines() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).lines
    except (OSError, ValueError):
        return 24


def choose_reporter(plan: Plan, events: str | None, log: str = "") -> RunReporter:
    """Return the reporter for a plan and the format that was asked for; `log` has the output of stages."""
    if events is not None:
        return EventReporter()
    return StageReporter(plan, log) if has_stages(plan) else LineReporter(plan)
