"""The world of a run: the scenario, what `--world` and `--world-command` name, and this machine."""

from __future__ import annotations

import os
import select
import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from shlex import join
from threading import Lock
from time import monotonic

from stagec.cli.result_cache import find_own_folder
from stagec.cli.running.inputs import read_scenario, refuse_hooks
from stagec.cli.running.options import DATABASE, words_for
from stagec.cli.running.report import RunReporter
from stagec.cli.running.runs import name_of, turns_of
from stagec.cli.running.stages import choose_reporter, choose_stages, find_folder, open_stages, refuse_silent_stages
from stagec.cli.running.world_options import WorldOptions
from stagec.cli.running.world_sources import WorldSources
from stagec.cli.streams import find_canvas, put_error, say
from stagec.core.json import Json
from stagec.core.terminal import Canvas, columns
from stagec.core.value import replace, value
from stagec.core.words import escape_ci_commands, visible
from stagec.ir.plan.document import Plan
from stagec.runtime.drivers.local.mailbox import AwaitedAnswer, Mailbox, MessageWatcher, find_state_folder
from stagec.runtime.drivers.local.request_descriptions import label_request
from stagec.runtime.drivers.messages import MessageKind, RunMessage, write_message
from stagec.runtime.drivers.usage_ledger import describe_usage
from stagec.runtime.machine import Program
from stagec.runtime.machine.exchange import Effect, Judge
from stagec.runtime.world.budget import Budget, BudgetedWorld, Excess, Extend
from stagec.runtime.world.checkpoints import InterruptedStages
from stagec.runtime.world.commands import CommandLock
from stagec.runtime.world.composed import AgentsWorld, ComposedWorld, ScriptedAgent, WorldPart
from stagec.runtime.world.local_world import ClosedWorld, LocalWorld, Permissions
from stagec.runtime.world.questions import (
    AskedOfPeople,
    OpenQuestion,
    describe_question,
    is_for_people,
    make_answer,
    read_decision,
)
from stagec.runtime.world.scenario import Scenario
from stagec.runtime.world.scripted_world import ScriptedWorld
from stagec.runtime.world.tools.files import RUNS, Protection
from stagec.runtime.world.tools.programs import ToolSetting
from stagec.runtime.world.tools.step_calls import is_step_call
from stagec.sources.project.configuration import Configuration

TYPE_CHECKING = False  # the real one costs the import of `typing`

if TYPE_CHECKING:
    from stagec.runtime.world.stage_files import RunFolder
    from stagec.runtime.world.stage_world import StageWorld


class Answers(StrEnum):
    """The source of people's answers: the terminal, other commands, or one answer for everything."""

    ASK = "ask"
    WAIT = "wait"
    ALLOW = "allow"
    DENY = "deny"


_POLICIES = (Answers.ALLOW, Answers.DENY)
ReadLine = Callable[[float | None], str | None]
"""Returns the next line of the terminal; None when the seconds are over, or nobody is there any more."""
ReadOrWake = Callable[[float | None, int], str | None]
"""Returns the next line of the terminal; None also as soon as a descriptor can be read."""


TERMINAL = Lock()
"""Held by whoever asks somebody at the terminal: one question at a time."""


@value
class PeopleSetup:
    """The source of people's answers, and their time limit in seconds; None means that a question waits for ever.

    `run` are the words that name the run to whoever answers from elsewhere.
    """

    answers: Answers
    seconds: float | None = None
    run: tuple[str, ...] = ()

    @property
    def is_policy(self) -> bool:
        """Whether one answer holds for everything."""
        return self.answers in _POLICIES


def choose_people(answers: str | None, seconds: float | None, run: tuple[str, ...] = ()) -> PeopleSetup:
    """Return the source of people's answers: the named one, else the terminal, else a policy that denies."""
    is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    usual = Answers.ASK if is_terminal else Answers.DENY
    return PeopleSetup(usual if answers is None else Answers(answers), seconds, run)


class People:
    """Answers what is asked of people: whether a call may be made, whether a node may act, whether the work is done.

    Whoever answers first counts, at the terminal or elsewhere: every decision becomes a message.
    """

    def __init__(self, plan: Plan, setup: PeopleSetup, mail: MessageWatcher, read: ReadOrWake | None = None) -> None:
        self._plan, self._setup, self._mail = plan, setup, mail
        self._read = read_line if read is None else read

    def takes(self, effect: Effect) -> bool:
        """Tell whether people are asked; whether the work is done is nothing that a policy knows."""
        is_known = not isinstance(effect, Judge) or self._setup.answers not in _POLICIES
        return is_for_people(effect) and is_known

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that nobody is asked two questions at the same time at a terminal."""
        return self._setup.answers is Answers.WAIT

    def cancel(self, key: str) -> None:
        """Let a question wait no more."""
        self._mail.cancel(key)

    def close(self) -> None:
        """Hold nothing open."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a question, and by whom it is."""
        if not is_for_people(effect):
            raise TypeError(effect)
        question = describe_question(self._plan, effect)
        if self._setup.answers in _POLICIES:
            return make_answer(effect, yes=self._decide(question))
        with self._mail.expect(effect) as awaited:
            message = (
                self._wait(question, awaited) if self._setup.answers is Answers.WAIT else self._ask(question, awaited)
            )
        if message is None:
            return {}
        yes = read_decision(effect, message.answer) is True
        return {**make_answer(effect, yes=yes), "by": message.by, "message": message.id}

    def _decide(self, question: OpenQuestion) -> bool:
        """Return the answer of the policy, and say so: nothing is granted or denied silently."""
        yes = self._setup.answers is Answers.ALLOW
        say(f"stagec: note: {question.sentence}: {'yes' if yes else 'no'}, without asking")
        return yes

    def _wait(self, question: OpenQuestion, awaited: AwaitedAnswer) -> RunMessage | None:
        """Return the answer that comes from elsewhere; None when nobody needs it any more.

        Only the process that executes a run knows of calls in the course of a step: elsewhere nobody can answer.
        """
        if is_step_call(question.key):
            say(f"stagec: note: {question.sentence}: no, because only a terminal can answer for calls of steps")
            return self._claim(awaited.effect, yes=False, by="nobody")
        name, *options = self._setup.run
        command = join(("stagec", "runs", "answer", name, question.key, "yes", *options))
        say(f"stagec: waits for an answer: {question.sentence}? {command}, or no")
        put_error("".join(f"  {visible(line)}\n" for line in question.rows))
        if not awaited.arrived.wait(self._setup.seconds):
            return self._deny(awaited.effect)
        return self._take(awaited)

    def _ask(self, question: OpenQuestion, awaited: AwaitedAnswer) -> RunMessage | None:
        """Return the answer from the terminal or from another command; no answer in time is a no."""
        with TERMINAL:
            put_error(f"\n{visible(question.sentence)}?\n")
            for line in question.rows:
                put_error(f"  {visible(line)}\n")
            return self._talk(question, awaited)

    def _talk(self, question: OpenQuestion, awaited: AwaitedAnswer) -> RunMessage | None:
        end = None if self._setup.seconds is None else monotonic() + self._setup.seconds
        while True:
            put_error(_PROMPT)
            line = self._read(None if end is None else max(0.0, end - monotonic()), awaited.open_pipe())
            word = "" if line is None else line.strip().lower()
            if awaited.arrived.is_set():
                return self._take(awaited)
            if line is None:
                return self._deny(awaited.effect)
            if word in _WORDS:
                return self._claim(awaited.effect, yes=_WORDS[word], by=_TERMINAL)
            if word == "d":
                lines = (question.arguments or question.key).splitlines()
                put_error("".join(f"  {visible(line)}\n" for line in lines))

    def _deny(self, effect: AskedOfPeople) -> RunMessage:
        say("no: no answer")
        return self._claim(effect, yes=False, by="nobody")

    def _claim(self, effect: AskedOfPeople, *, yes: bool, by: str) -> RunMessage:
        """Return the decision, or the one that somebody else has sent before."""
        if is_step_call(effect.key):
            return write_message(MessageKind.ANSWER, by, effect.key, make_answer(effect, yes=yes))
        message = self._mail.claim(effect, yes=yes, by=by)
        if message.by != by:
            self._tell(effect, message)
        return message

    def _take(self, awaited: AwaitedAnswer) -> RunMessage | None:
        if awaited.message is not None:
            self._tell(awaited.effect, awaited.message)
        return awaited.message

    def _tell(self, effect: AskedOfPeople, message: RunMessage) -> None:
        """Print the answer that came from another command."""
        say(f"{'yes' if read_decision(effect, message.answer) else 'no'}: answered elsewhere, by {message.by}")


_TERMINAL = "terminal"
_WORDS = {"y": True, "yes": True, "n": False, "no": False}
_PROMPT = "[y]es, [n]o, [d]etails: "


def read_line(seconds: float | None, other: int | None = None) -> str | None:
    """Return the next line of standard input."""
    inputs = [sys.stdin] if other is None else [sys.stdin, other]
    ready, _, _ = select.select(inputs, [], [], seconds)
    line = sys.stdin.readline() if sys.stdin in ready else ""
    return line or None


_NO = {"n", "no"}
_MOST = 10**15
"""So much more at most: nobody means a larger number."""


def choose_extend(setup: PeopleSetup) -> Extend | None:
    """Return the way to ask for a larger budget: at the terminal, or None if a policy answers."""
    return BudgetQuestion(setup.seconds).ask if setup.answers is Answers.ASK else None


class BudgetQuestion:
    """Says what is used, and of what, and asks how much more a run may use; no answer in time is a no."""

    def __init__(self, seconds: float | None, read: ReadLine = read_line) -> None:
        self._seconds, self._read = seconds, read

    def ask(self, excess: Excess) -> Decimal | None:
        """Return how much more; None when the run is to stop."""
        with TERMINAL:
            put_error(f"\n{visible(excess.told)}\n")
            # what nodes have used, those that have used most first
            nodes = excess.nodes.items()
            for name, used in sorted(nodes, key=lambda each: -each[1].input - each[1].output)[:_SHOWN]:
                line = f"{name}: {', '.join(describe_usage(used))}"
                put_error(f"  {visible(line)}\n")
            put_error("  no: the run stops, and can be resumed\n")
            end = None if self._seconds is None else monotonic() + self._seconds
            while (word := self._read_word(excess, end)) not in _NO:
                amount = read_amount(word, excess)
                if amount is not None:
                    return amount
            return None

    def _read_word(self, excess: Excess, end: float | None) -> str:
        put_error(f"How many more {excess.unit}, or [n]o: ")
        line = self._read(None if end is None else max(0.0, end - monotonic()))
        if line is None:
            say("no: no answer")
            return "no"
        return line.strip().lower()


def read_amount(word: str, excess: Excess) -> Decimal | None:
    """Return an amount above zero, of tokens a whole one; nothing of what is none."""
    try:
        amount = Decimal(word.removeprefix("$").replace(",", ""))
    except InvalidOperation:
        return None
    is_amount = amount.is_finite() and 0 < amount <= _MOST
    return amount if is_amount and (excess.unit != "tokens" or amount == int(amount)) else None


_SHOWN = 10


_USUAL = 80
"""Columns where nobody looks at a terminal, but wants to read what models write."""
_KEPT = 1_000
"""Lines that wait while somebody is asked something at the terminal; older ones are dropped."""
_MARKED = 4
"""Characters that stand in a column at most: letters may have marks above and below them."""
_WIPE = "\r\x1b[K"
"""Wipes out the sentence that says who takes so long."""


def choose_model_output(*, wish: bool | None, events: str | None) -> ModelOutput | None:
    """Return the view of models' text: if somebody watches, unless programs do; None without any."""
    is_watched = sys.stderr.isatty() and os.environ.get("TERM") not in {None, "", "dumb"}
    is_wanted = is_watched if wish is None else wish
    return (
        ModelOutput(find_canvas(sys.stderr, os.environ), is_watched=is_watched)
        if is_wanted and events is None
        else None
    )


class ModelOutput:
    """Shows the text of several models at the same time; its methods are called in their threads, and never wait."""

    def __init__(self, paper: Canvas, *, is_watched: bool) -> None:
        self._paper, self._wipe = paper, _WIPE if is_watched else ""
        self._texts: dict[str, str] = {}
        self._lines: deque[str] = deque(maxlen=_KEPT)
        self._lock = Lock()

    def hear(self, key: str, text: str) -> None:
        """Take a piece of the text that answers a request, and show the lines that it completes."""
        with self._lock:
            *whole, rest = (self._texts.get(key, "") + text).split("\n")
            name, room = self._name(key)
            for line in whole:
                self._break(name, line, room)
            self._texts[key] = self._break_full(name, rest, room)
            self._show()

    def end(self, key: str) -> None:
        """Show what is left of a text that is complete, or was broken off."""
        with self._lock:
            name, room = self._name(key)
            self._break(name, self._texts.pop(key, ""), room)
            self._show()

    def _name(self, key: str) -> tuple[str, int]:
        """Return the prefix of each line of a request, and the number of columns that are left."""
        width = self._paper.width or _USUAL
        name = visible(label_request(key), self._paper.encoding)
        while columns(name) > width // 3:
            name = name[:-1]
        bar = "│" if visible("│", self._paper.encoding) == "│" else "|"
        prefix = escape_ci_commands(f"{name} {bar} ")
        return prefix, width - columns(prefix) - 1

    def _break(self, name: str, text: str, room: int) -> None:
        rest = self._break_full(name, text, room)
        if rest.strip():
            self._lines.append(f"{name}{visible(rest.rstrip(), self._paper.encoding)}")

    def _break_full(self, name: str, text: str, room: int) -> str:
        """Write every line of a text that is full; return the rest."""
        while (most := self._count_fitting(text, room)) < len(text):
            blank = text.rfind(" ", most // 2, most + 1)
            line, text = (text[:blank], text[blank + 1 :]) if blank > 0 else (text[:most], text[most:])
            self._lines.append(f"{name}{visible(line, self._paper.encoding)}")
        return text

    def _show(self) -> None:
        """Write the lines that wait, unless somebody is being asked something."""
        if self._lines and TERMINAL.acquire(blocking=False):
            try:
                put_error("".join(f"{self._wipe}{line}\n" for line in self._lines))
                self._lines.clear()
            finally:
                TERMINAL.release()

    def _count_fitting(self, text: str, room: int) -> int:
        """Return how many characters of a text fit, one at least; marks without a column of their own count as well."""
        known = text[: room * _MARKED]
        ends = range(1, len(known) + 1)
        return (
            max(1, bisect_right(ends, room, key=lambda end: columns(visible(known[:end], self._paper.encoding))))
            if text
            else 0
        )


@value
class WorldSetup:
    """The parts of a world: the file of the run, its program, the options, the scenario, and other sources.

    `folder` is the directory of a run of stages. The reporter hears of these while they run. Whoever is asked answers
    also by `mail`. Where there are no people, nothing but a policy answers for them. `child` is the key of the one
    request that is made there, while the run has another world.
    """

    path: Path
    program: Program
    options: WorldOptions
    scenario: Scenario
    others: WorldSources
    folder: RunFolder | None
    reporter: RunReporter
    mail: MessageWatcher
    protection: Protection
    has_people: bool = True
    child: str = ""

    @property
    def permissions(self) -> Permissions:
        """The rights of the plan on this machine."""
        given = self.options
        words = choose_stages(given).words
        return Permissions(given.allow_hooks, given.pass_env, given.command_timeout, words)

    def list_others(self, turns: CommandLock, program: Program) -> Iterator[WorldPart]:
        """Yield the sources of answers besides the scenario."""
        may = self.permissions
        setting = ToolSetting(os.getcwd(), name_of(self.path), may.variables, may.seconds, turns.hold)
        setting = replace(setting, protection=self.protection)
        output = choose_model_output(wish=self.options.stream, events=self.options.events)
        yield from self.others.open_parts(program, setting, self.scenario, output)
        people = choose_people(self.options.answers, self.options.answer_timeout, words_for(self.path))
        if self.has_people or people.is_policy:
            yield People(program.plan, people, self.mail)


def prepare_world(
    path: Path, program: Program, options: WorldOptions, others: WorldSources, protection: Protection
) -> WorldSetup:
    """Return the parts of the world of a run; raise `Failure` for an unfit scenario or plan."""
    stages = choose_stages(options)
    scenario = read_scenario(options.scenario, program.plan)
    refuse_unfit_world(program, options, scenario)
    folder = find_folder(program.plan, name_of(path), stages)
    reporter = choose_reporter(program.plan, options.events, "" if folder is None else folder.log)
    return WorldSetup(path, program, options, scenario, others, folder, reporter, watch_mail(path), protection)


_FILES_OF_DATABASES = ("", "-wal", "-shm", "-journal")


def protect(
    runs: Path,
    options: WorldOptions,
    configuration: Configuration,
    named: Iterable[Path | None] = (),
    database: str | None = None,
) -> Protection:
    """Return the paths that bundled tools may not use in a run: stagec must be able to trust the files there.

    They may read what the run was begun or continued with (`named`), its configuration and the keys that it trusts, and
    may not change it.
    """
    state, cache = find_state_folder(), find_own_folder()
    hidden = {os.path.abspath(runs): RUNS, str(state): "the secrets of stagec"}
    if cache is not None:
        hidden[cache] = "the cache of stagec"
    scheme, _, file = os.environ.get(DATABASE, "").partition(":///")
    for each in filter(None, (database, file if scheme.startswith("sqlite") else None)):
        hidden |= {os.path.abspath(f"{each}{ending}"): "a database of runs" for ending in _FILES_OF_DATABASES}
    kept = [configuration.root / each for each in configuration.settings.trusted_keys]
    kept += [configuration.root / str(each) for name, each in configuration.settings.cost.items() if name == "prices"]
    kept += [] if configuration.file is None else [configuration.root / configuration.file]
    every = (*kept, *named, options.scenario, options.prices)
    return Protection(hidden, {os.path.abspath(each): "what the run is made of" for each in every if each is not None})


def refuse_unfit_world(program: Program, options: WorldOptions, scenario: Scenario) -> None:
    """Raise `Failure` for a plan that needs more than the options and the scenario give."""
    refuse_hooks(program, scenario, allowed=options.allow_hooks)
    refuse_silent_stages(program.plan, scenario, choose_stages(options).words)


def watch_mail(path: Path) -> MessageWatcher:
    """Return the watcher of the messages to a run, which reports faulty ones."""
    return MessageWatcher(
        Mailbox(path),
        lambda sentence: say(f"stagec: note: {sentence}"),
        lambda sentence: say(f"stagec: error: {sentence}"),
    )


@value
class OpenedWorld:
    """A world, the part of it that runs stages, if there are any, and the lock of the processes of a run."""

    world: BudgetedWorld
    stages: StageWorld | None
    turns: CommandLock


@contextmanager
def open_world(setup: WorldSetup) -> Iterator[OpenedWorld]:
    """Make a world; nothing that it has started is left when this ends."""
    root = None if setup.folder is None else setup.folder.root
    with (
        closing(CommandLock(turns_of(setup.path, setup.child))) as turns,
        open_stages(setup.folder, setup.program.plan, setup.reporter) as stages,
    ):
        local = LocalWorld(setup.permissions, turns, stages, root)
        with ExitStack() as opened:
            scripted = ScriptedWorld(setup.scenario, local)
            world = _open_composed(opened, setup, turns, setup.program, scripted)
            agents = {
                name: _open_composed(opened, setup, turns, program, ScriptedAgent(setup.scenario, name, local))
                for name, program in setup.program.agents.items()
            }
            whole = ComposedWorld((AgentsWorld(world, agents),)) if agents else world
            options = setup.options
            budget = Budget(options.max_tokens, options.max_cost, options.max_time)
            extend = choose_extend(choose_people(options.answers, options.answer_timeout))
            yield OpenedWorld(BudgetedWorld(whole, budget, extend), stages, turns)


def _open_composed(
    opened: ExitStack, setup: WorldSetup, turns: CommandLock, program: Program, scripted: WorldPart
) -> ComposedWorld:
    """Return the world of a run of one program, or of the runs of one agent; the stack closes it."""
    return opened.enter_context(closing(ComposedWorld((scripted, *setup.list_others(turns, program), scripted))))


def make_closed_world() -> BudgetedWorld:
    """Return a world in which nothing happens."""
    return BudgetedWorld(ComposedWorld((InterruptedStages(), ScriptedWorld(Scenario(), ClosedWorld()))), Budget())
