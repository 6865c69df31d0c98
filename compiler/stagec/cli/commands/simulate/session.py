"""Walk through a plan: by a scenario, or with somebody who plays the world and may take everything back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from stagec.cli.commands.simulate.answers import UnansweredError, lets_turns_pass, parse_answer
from stagec.cli.commands.simulate.questions import OpenRequest, describe_request, find_ways, list_ways
from stagec.cli.running.inputs import collect_inputs, read_program, read_scenario, refuse_unfit
from stagec.cli.running.report import RunFormatter, choose_status
from stagec.cli.running.stage_reporter import choose_reporter
from stagec.cli.streams import find_canvas, put
from stagec.core.failure import Exit
from stagec.core.terminal import columns, wrap
from stagec.core.value import value
from stagec.core.words import escape_ci_commands, format_count, visible
from stagec.drivers.local.play import play
from stagec.runtime import Answered, Effect, Event, Move, Program, Started, State, advance
from stagec.runtime.exchange import Turn, Wait, choose_next, execution_of, label_execution, visit_of
from stagec.world.agents_world import script_world
from stagec.world.local_world import ClosedWorld

_PROMPT = "> "
_BAR = "  | "
"""What stands before the lines of a prompt."""
_HELP = """\
NUMBER          take the edge with this number, with a generated answer
OUTCOME         take the first edge with this outcome
JSON            answer with exactly this
say TEXT        let the model of a conversation say this
call TOOL JSON  let it call a tool with this argument
cap             use all of its turns
undo            remove the last answer
state           show the state of the run
help            show this help
quit            leave
"""


class Simulation:
    """One walk through a plan: the states so far, the last one being where it stands."""

    def __init__(self, program: Program, started: Event) -> None:
        self._program = program
        self._paper = find_canvas(sys.stdout, os.environ)
        self._formatter = RunFormatter(program.plan, self._paper)
        self._arrow = "→" if visible("→", self._paper.encoding) == "→" else "->"
        self._events: list[tuple[Event, ...]] = [(started,)]
        self._state = State()

    def talk(self) -> State:
        """Ask until somebody leaves or nothing more is typed; return the state then."""
        with suppress(ImportError):  # lines can be edited where there is such a module
            import_module("readline")
        reconfigure = getattr(sys.stdin, "reconfigure", None)
        if reconfigure is not None:  # what is no text is no answer either, and nothing to fail on
            reconfigure(errors="backslashreplace")
        self._go(self._events[0])
        while True:
            typed = self._read_line()
            if typed is None or typed in {"quit", "q", "exit"}:
                return self._state
            self._obey(typed)

    def _read_line(self) -> str | None:
        """Return the next line, nothing at the end of the input."""
        if sys.stdin is None:  # whoever started this has closed it
            return None
        if sys.stdin.isatty():
            try:
                return input(_PROMPT).strip()
            except EOFError:
                put("\n")
                return None
        line = sys.stdin.readline()
        put(f"{_PROMPT}{visible(line.rstrip(), self._paper.encoding)}\n" if line else "")
        return line.strip() if line else None

    def _obey(self, typed: str) -> None:
        match typed:
            case "help" | "?":
                put(_HELP)
            case "state":
                self._put(self._standing())
            case "undo" | "u":
                self._undo()
            case _ if self._state.ended is not None:
                put("the run has ended: undo, state, help or quit\n")
            case _:
                self._answer(typed)

    def _answer(self, typed: str) -> None:
        effect = choose_next(self._state.pending.values())
        question = self._question(effect)
        try:
            idle = lets_turns_pass(question, typed)
            events = tuple(self._idle(effect)) if idle else (Answered(effect.key, parse_answer(question, typed)),)
        except UnansweredError as error:
            self._put([str(error)])
            return
        self._events.append(events)
        self._go(events)

    def _idle(self, effect: Effect) -> Iterator[Event]:
        """Yield the turns in which a model says nothing, until its stage asks for something else, or for none."""
        state, execution = self._state, execution_of(effect.key)
        asked_for: Effect | None = effect
        while isinstance(asked_for, Turn | Wait):
            yield (event := Answered(asked_for.key, {"text": ""}))
            state = advance(self._program, state, event).state
            asked_for = next((each for key, each in state.pending.items() if execution_of(key) == execution), None)

    def _go(self, events: Iterable[Event]) -> None:
        """Follow some events, and say what is asked then, or how the run has ended."""
        for move in self._advance(events):
            put(f"{self._formatter.move(move)}\n")
        self._ask()

    def _advance(self, events: Iterable[Event]) -> list[Move]:
        moves: list[Move] = []
        for event in events:
            step = advance(self._program, self._state, event)
            self._state = step.state
            moves += step.moves
        return moves

    def _ask(self) -> None:
        if self._state.ended is not None:
            put(f"{self._formatter.ending(self._state)}\n")
            return
        question = self._question(choose_next(self._state.pending.values()))
        self._put(["", *describe_request(question, self._state), *list_ways(question, self._arrow)])

    def _question(self, effect: Effect) -> OpenRequest:
        execution = self._state.active[execution_of(effect.key)]
        node = self._program.plan.nodes[execution.node]
        return OpenRequest(self._program, effect, node, find_ways(self._program, execution))

    def _undo(self) -> None:
        if len(self._events) == 1:
            put("there is nothing to undo\n")
            return
        self._events.pop()
        self._state = State()
        self._advance(each for events in self._events for each in events)
        self._ask()

    def _standing(self) -> Iterator[str]:
        limits = self._program.plan.limits
        most = "" if limits.executions is None else f" of {limits.executions} at most"
        yield f"{format_count(self._state.executions, 'execution')}{most}"
        if self._state.active:
            names = (label_execution(each.node, visit_of(each.key)) for each in self._state.active.values())
            yield f"at work: {', '.join(names)}"
        if self._state.waiting:
            yield f"waiting for their turn: {', '.join(each.node for each in self._state.waiting)}"
        visited = [f"{name} {format_count(past.visits, 'time')}" for name, past in self._state.past.items()]
        yield f"visited: {', '.join(visited)}"

    def _put(self, lines: Iterable[str]) -> None:
        shown = (escape_ci_commands(visible(line, self._paper.encoding)) for line in lines)
        put("".join(f"{part}\n" for line in shown for part in self._break(line)))

    def _break(self, line: str) -> list[str]:
        """Return a line in as many as it takes on a terminal."""
        width = self._paper.width
        if width is None or columns(line) <= width:
            return [line]
        begun = _BAR if line.startswith(_BAR) else " " * (len(line) - len(line.lstrip(" ")))
        lead = _BAR if line.startswith(_BAR) else " " * len(_BAR)
        first, *others = wrap(line[len(begun) :], width - len(lead))
        return [f"{begun}{first}", *(f"{lead}{each}" for each in others)]


@value
class SimulateRequest:
    """The arguments and options as given; None where one is absent."""

    plan: Path
    scenario: Path | None = None
    inputs: tuple[str, ...] = ()
    entry: str | None = None


def walk(request: SimulateRequest) -> Exit:
    """Walk through a plan; return the exit status that the end deserves."""
    _, program = read_program(request.plan)
    scenario = read_scenario(request.scenario, program.plan)
    inputs = collect_inputs(program, scenario.inputs, request.inputs)
    started = Started("simulation", request.entry if request.entry is not None else scenario.entry, inputs)
    refuse_unfit(program, started)
    if request.scenario is not None:
        tells = choose_reporter(program.plan, None)
        state = play(program, script_world(scenario, program.agents, ClosedWorld()), started, tells.observe)
        tells.conclude(state)
        return choose_status(state)
    state = Simulation(program, started).talk()
    return Exit.CLEAN if state.ended is None else choose_status(state)
