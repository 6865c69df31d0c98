"""`stagec simulate`: walk through a plan without doing anything."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from shlex import join
from typing import Any

import click

from stagec.cli.running import options
from stagec.cli.running.inputs import collect_inputs, read_program, read_scenario, refuse_unfit
from stagec.cli.running.report import RunFormatter, choose_status
from stagec.cli.running.stages import choose_reporter
from stagec.cli.streams import find_canvas, put
from stagec.cli.wording import describe_target, describe_way
from stagec.core.canonical import compact
from stagec.core.failure import Exit
from stagec.core.json import MISSING, Json, object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.terminal import columns, wrap
from stagec.core.value import value
from stagec.core.words import escape_ci_commands, format_count, listing, quote, visible
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.agents import SUCCESS, TRANSFORMER
from stagec.ir.plan.gate import AgentGate, IntentGate, Term
from stagec.ir.plan.node import Edge, Named, Node, Pick
from stagec.runtime.drivers.local.drive import play
from stagec.runtime.drivers.local.request_descriptions import label_request
from stagec.runtime.machine import Answered, Event, Move, Program, Started, State, advance
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Close,
    Comment,
    Confirm,
    Dispatch,
    Effect,
    Execute,
    Grant,
    Hook,
    Interrupt,
    Judge,
    OrchestratorRequest,
    Preserve,
    Publish,
    Relabel,
    Run,
    Shell,
    StageRequest,
    Turn,
    Wait,
    choose_next,
    deadline_key,
    execution_of,
    is_deadline,
    label_execution,
    run_deadline_key,
    run_of,
    visit_of,
)
from stagec.runtime.machine.execution import Execution
from stagec.runtime.machine.gate import ABORT
from stagec.runtime.world.composed import script_world
from stagec.runtime.world.local_world import ClosedWorld
from stagec.runtime.world.samples import RequiredValue, collect_required_values, make_output, make_sample, write_output
from stagec.runtime.world.scripted_world import simulate_stage

_LINES = 8
"""Lines of a prompt that are shown."""
_HOW: Mapping[type, str] = {
    Ask: "a number, an outcome, or JSON; help says more",
    Turn: "JSON submits the result; say TEXT; call TOOL {…}; cap uses all turns",
    Call: "its result, as text or JSON; error TEXT",
    Grant: "yes or no",
    Judge: "yes or no",
    Confirm: "yes or no",
    Run: "pass, fail, an exit status, or JSON with exit, stdout and stderr",
    Shell: "pass, fail, an exit status, or JSON with exit, stdout and stderr",
    Hook: "what it returns, as JSON",
    Wait: "an empty line lets the time pass",
    Execute: "pass, fail, timeout, an exit status, or JSON with exit, interrupted, missing and changed",
    Publish: "pass, fail, or JSON with checkpoint or error",
    Preserve: "yes or no: whether it can start again; or JSON with checkpoint and valid",
    Interrupt: "an empty line",
    Dispatch: "a number, an outcome, or its closing answer as JSON",
    Relabel: "an empty line, or error TEXT",
    Comment: "an empty line, or error TEXT",
    Close: "an empty line, or error TEXT",
}


def describe_request(question: OpenRequest, state: State) -> Iterator[str]:
    """Describe an open request, line by line."""
    effect = question.effect
    yield f"{label_request(effect.key)} {question.describe()}"
    yield from (f"  | {line}" for line in _quote_prompt(effect))
    others = len(state.pending) - 1
    if others:
        yield f"  {others} more {'is' if others == 1 else 'are'} asked for at the same time"


def list_ways(question: OpenRequest, arrow: str) -> Iterator[str]:
    """Yield the ways on from the node, and how the request can be answered."""
    is_choice = isinstance(question.effect, Ask | Turn | Dispatch)
    for number, way in enumerate(question.ways, 1):
        yield f"{number if is_choice else '':>3}  {describe_way(way.outcome, way.terms, arrow, way.leads)}"
    how = _HOW.get(type(question.effect))
    if how is not None:
        yield f"  answer: {how}"


def _describe_work(effect: StageRequest | OrchestratorRequest) -> str:
    return _describe_stage_request(effect) if isinstance(effect, StageRequest) else _describe_phase_request(effect)


def _describe_phase_request(effect: OrchestratorRequest) -> str:
    match effect:
        case Dispatch(agent=agent):
            return f"runs the agent {agent}"
        case Relabel(phase=phase, add=add):
            return f"writes down that the issue is in the phase {phase}{f': label {add[0]}' if add else ''}"
        case Comment(text=text):
            return f"comments: {text}"
        case Close():
            return "closes the issue"


def _describe_action(effect: Call | Run | Shell | Hook | Wait) -> str:
    match effect:
        case Call(tool=tool, arguments=arguments):
            return f"calls the tool {tool} with {compact(arguments)}"
        case Run(words=words):
            return f"runs {join(words)}"
        case Shell(command=command):
            return f"checks the work: {command}"
        case Hook(call=call, phase=phase):
            return f"calls {call} for {phase}"
        case Wait(milliseconds=milliseconds):
            return f"waits {milliseconds} ms"


def _describe_stage_request(effect: StageRequest) -> str:
    match effect:
        case Execute(words=words):
            return f"runs {join(words) if words else 'the program that --executor names'} in a fresh directory"
        case Publish(checkpoint=checkpoint):
            return f"publishes its outputs{' and writes its checkpoint' if checkpoint else ''}"
        case Preserve(reason=reason):
            return f"writes an emergency checkpoint, because of {reason}"
        case Interrupt():
            return "is ended"


def _quote_prompt(effect: Effect) -> list[str]:
    """Return the prompt of the model, as far as it fits."""
    match effect:
        case Ask(prompt=prompt):
            text = prompt
        case Turn(transcript=transcript):
            text = transcript[-1].text
        case _:
            return []
    lines = text.strip().splitlines()
    left_out = len(lines) - _LINES
    return lines if left_out <= 1 else [*lines[:_LINES], f"({left_out} more lines)"]


FAIL = "fail"
_END = "end"
_OF_BRANCH = "end of its branch"
_ABORTED = "end (failed)"


@value
class WayOn:
    """One way on from a node: the outcome that allows it, the conditions on the result, and where it leads.

    `named` is the name that the answer must give, where the answer chooses among several nodes.
    """

    outcome: str
    leads: str
    terms: tuple[Term, ...] = ()
    named: str | None = None


@value
class OpenRequest:
    """A request, the node in whose name it is made, and the ways on from there."""

    program: Program
    effect: Effect
    node: Node
    ways: tuple[WayOn, ...]

    def describe_model_request(self, effect: Ask | Turn) -> str:
        """Return the request to a model in words."""
        if isinstance(effect, Ask):
            return "asks the model for an answer" + ("" if effect.complaint is None else f" again: {effect.complaint}")
        taken = sum(each.role == "assistant" for each in effect.transcript)
        most = self.node.act.turns if isinstance(self.node.act, Converse) else 0
        return f"lets the model take turn {taken + 1}; an attempt has {most}"

    def describe(self) -> str:
        """Return the request in words."""
        effect = self.effect
        match effect:
            case Ask() | Turn():
                return self.describe_model_request(effect)
            case Grant(tool=tool):
                return f"asks people whether it may call the tool {tool}"
            case Judge(kind=kind):
                return f"asks whether the work is done ({kind})"
            case Confirm(question=text):
                return f"asks people: {text}"
            case Call() | Run() | Shell() | Hook() | Wait():
                return _describe_action(effect)
            case _:
                return _describe_work(effect)


def find_ways(program: Program, execution: Execution) -> tuple[WayOn, ...]:
    """Return the ways on from an execution, in the order in which they count; `abort` only where an answer may say it.

    What begins a branch of a fork takes edges on `fail` only; with any other outcome its branch ends.
    """
    node = program.plan.nodes[execution.node]
    found: list[WayOn] = []
    for edge in node.edges:
        if execution.begins_branch and edge.on != FAIL:
            found += [] if any(way.outcome == edge.on for way in found) else [WayOn(edge.on, f"{_OF_BRANCH} (done)")]
        else:
            found += _follow_edge(program.plan, edge, _END if execution.branch.scope is None else _OF_BRANCH)
    if all(way.outcome != ABORT for way in found) and _may_abort(program, node):
        found.append(WayOn(ABORT, _ABORTED))
    return tuple(found)


def _may_abort(program: Program, node: Node) -> bool:
    act, gate = node.act, node.gate
    if not isinstance(act, Prompt) or not isinstance(gate, IntentGate):
        return False
    return make_sample(program, act.schema, [RequiredValue(gate.field, ABORT)]) is not None


def _follow_edge(plan: Plan, edge: Edge, end: str) -> Iterator[WayOn]:
    target = edge.target
    if isinstance(target, Named | Pick):
        nodes = plan.choices[target.choices] if isinstance(target, Pick) else target.nodes
        for name, node in nodes.items():
            yield WayOn(edge.on, node, edge.when, name)
    else:
        yield WayOn(edge.on, describe_target(target, end), edge.when)


_YES = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


class UnansweredError(Exception):
    """A typed text that is no answer; `str()` tells what would be one."""


@value
class _TypedAnswer:
    """The typed answer to an open request."""

    question: OpenRequest
    typed: str

    def parse(self) -> Json:
        """Return the answer that somebody means; raise `UnansweredError` when there is none."""
        effect = self.question.effect
        match effect:
            case Ask():
                return {"answer": self._parse_result(effect.schema)}
            case Turn():
                return self._parse_turn(effect)
            case Grant() | Judge() | Confirm():
                if self.typed.lower() not in _YES:
                    raise UnansweredError(f"{quote(self.typed)} is not an answer: type yes or no")
                return {_SAYS[type(effect)]: _YES[self.typed.lower()]}
            case Run() | Shell():
                return self._parse_exit()
            case Call() | Hook() | Wait():
                return self._parse_value(effect)
            case _:
                return self._parse_work(effect)

    def _parse_work(self, effect: StageRequest | OrchestratorRequest) -> Json:
        if isinstance(effect, StageRequest):
            return self._parse_stage_answer(effect)
        return self._parse_phase_answer(effect)

    def _parse_phase_answer(self, effect: OrchestratorRequest) -> Json:
        """Return how an agent has ended, or what has come of writing something down."""
        if not isinstance(effect, Dispatch):
            word, _, rest = self.typed.partition(" ")
            if word not in {"", "error"}:
                raise UnansweredError(f"{quote(self.typed)} is not an answer: type an empty line, or error TEXT")
            return {"error": rest} if word else {}
        given, gate, way = _parse_json(self.typed), self.question.node.gate, self.find_way()
        if isinstance(given, dict):
            return {"answer": given}
        if way is None or not isinstance(gate, AgentGate):
            outcomes = listing(tuple(dict.fromkeys(each.outcome for each in self.question.ways)), "or")
            raise UnansweredError(
                f"{quote(self.typed)} is not an answer: type the number of an edge, {outcomes}, or a JSON object"
            )
        answer: Mapping[str, Json] = {} if way.outcome == gate.otherwise else {"verdict": way.outcome}
        has_failed = gate.role == TRANSFORMER and way.outcome != SUCCESS
        return {"failed": True, "answer": answer} if has_failed else {"answer": answer}

    def _parse_value(self, effect: Call | Hook | Wait) -> Json:
        word, _, rest = self.typed.partition(" ")
        if word == "error" and isinstance(effect, Call):
            return {"error": rest}
        given = _parse_json(self.typed)
        return {} if isinstance(effect, Wait) else {"value": self.typed if given is MISSING else given}

    def _parse_stage_answer(self, effect: StageRequest) -> Json:
        """Return the answer about a stage: what is not said of it is as in one that succeeds."""
        if self.typed in _ENDS:
            return simulate_stage(effect, _ENDS[self.typed])
        given = _parse_json(self.typed)
        if isinstance(given, int) and not isinstance(given, bool):
            return simulate_stage(effect, {"exit": given})
        if not isinstance(given, dict):
            raise UnansweredError(
                f"{quote(self.typed)} is not an answer: type pass, fail, timeout, an exit status, or a JSON object"
            )
        return {**object_of(simulate_stage(effect, {})), **given}

    def _parse_result(self, schema: str | None) -> Json:
        """Return the JSON that was typed, or a made-up answer that takes a way."""
        given = _parse_json(self.typed)
        if isinstance(given, dict):
            return given
        way = self.find_way()
        if way is None:
            outcomes = listing(tuple(dict.fromkeys(each.outcome for each in self.question.ways)), "or")
            near = hint(self.typed, NameIndex(each.outcome for each in self.question.ways))
            raise UnansweredError(
                f"{quote(self.typed)} is not an answer: type the number of an edge, {outcomes}, or a JSON object{near}"
            )
        required = collect_required_values(self.question.node.gate, way.outcome, way.named, way.terms)
        found = make_sample(self.question.program, schema, required)
        if found is None:
            raise UnansweredError("no simple answer for this edge satisfies the schema: type one as JSON")
        return found

    def _parse_turn(self, effect: Turn) -> Json:
        word, _, rest = self.typed.partition(" ")
        if word == "say":
            return {"text": rest, "calls": []}
        if word == "call" and rest:
            tool, _, text = rest.partition(" ")
            given = _parse_json(text) if text else {}
            return {"calls": [{"id": "1", "tool": tool, "arguments": text if given is MISSING else given}]}
        handed_in = self._parse_result(effect.schema)
        return {"calls": [{"id": "1", "tool": effect.completion, "arguments": handed_in}]}

    def _parse_exit(self) -> Json:
        given = _parse_json(self.typed)
        if isinstance(given, dict):
            return {"exit": 0, "stdout": "", "stderr": "", **given}
        if isinstance(given, int) and not isinstance(given, bool):
            return write_output(given)
        succeeded = {"pass": True, "fail": False}.get(self.typed)
        if succeeded is None:
            raise UnansweredError(
                f"{quote(self.typed)} is not an answer: type pass, fail, an exit status, or a JSON object"
            )
        effect = self.question.effect
        if not isinstance(effect, Run | Shell):
            return write_output(0 if succeeded else 1)
        return make_output(self.question.program, self.question.node, effect, succeeds=succeeded)

    def find_way(self) -> WayOn | None:
        """Return the way of a number, or the first of an outcome; behind the outcome may stand the node it leads to."""
        number = (
            int(self.typed) if self.typed.isascii() and self.typed.isdigit() and len(self.typed) < len("1000000") else 0
        )
        if 0 < number <= len(self.question.ways):
            return self.question.ways[number - 1]
        outcome, _, node = self.typed.partition(" ")
        possible = (
            each for each in self.question.ways if each.outcome == outcome and node in {"", each.leads, each.named}
        )
        return next(possible, None)


_ENDS: Mapping[str, Mapping[str, Json]] = {
    "": {},
    "pass": {},
    "yes": {},
    "fail": {"exit": 1, "unpublished": "it cannot be published", "valid": False},
    "no": {"exit": 1, "unpublished": "it cannot be published", "valid": False},
    "timeout": {"interrupted": "timeout"},
}
"""The answers that a word gives for a stage, to every request."""


def parse_answer(question: OpenRequest, typed: str) -> Json:
    """Return the answer that somebody means; raise `UnansweredError` when there is none."""
    return _TypedAnswer(question, typed).parse()


def lets_turns_pass(question: OpenRequest, typed: str) -> bool:
    """Tell whether somebody means that the model uses up its turns: so a stage fails."""
    way = _TypedAnswer(question, typed).find_way()
    return isinstance(question.effect, Turn) and (typed == "cap" or (way is not None and way.outcome == FAIL))


_SAYS: Mapping[type, str] = {Grant: "granted", Judge: "done", Confirm: "yes"}


def _parse_json(text: str) -> Json:
    """Return a text as JSON, `MISSING` when it is none."""
    try:
        given: Json = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        given = MISSING
    return given


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_PROMPT = "> "
_BAR = "  | "
"""The text before the lines of a prompt."""
_HELP = """\
NUMBER          take the edge with this number, with a generated answer
OUTCOME         take the first edge with this outcome
JSON            answer with exactly this
say TEXT        let the model of a conversation say this
call TOOL JSON  let it call a tool with this argument
cap             use all of its turns
deadline stage  let the time of the stage pass that is asked
deadline run    let the time of the run pass
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
            case "deadline stage" | "deadline run":
                self._let_pass(of_run=typed == "deadline run")
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

    def _let_pass(self, *, of_run: bool) -> None:
        """Let a deadline pass in place of an answer."""
        asked = choose_next(self._state.pending.values()).key
        key = run_deadline_key(run_of(asked)) if of_run else deadline_key(execution_of(asked))
        if key not in self._state.pending:
            put(f"the {'run' if of_run else 'stage'} has no deadline\n")
            return
        events = (Answered(key, {}),)
        self._events.append(events)
        self._go(events)

    def _idle(self, effect: Effect) -> Iterator[Event]:
        """Yield the turns in which a model says nothing, until its stage asks for something else, or for none."""
        state, execution = self._state, execution_of(effect.key)
        asked_for: Effect | None = effect
        while isinstance(asked_for, Turn | Wait):
            yield (event := Answered(asked_for.key, {"text": ""}))
            state = advance(self._program, state, event).state
            own = (each for key, each in state.pending.items() if execution_of(key) == execution)
            asked_for = next((each for each in own if not is_deadline(each.key)), None)

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


@click.command(short_help="Step through a plan by hand; nothing runs and nothing is stored.")
@options.plan
@options.scenario
@options.inputs
@options.entry
@click.pass_context
def simulate(context: click.Context, /, **given: Any) -> None:
    """Step through PLAN: answer each request yourself, and see the next node of each answer.

    Answer with the number of an edge, with an outcome, or with JSON; 'undo' removes the last answer, 'help' explains
    more. With a scenario, stagec uses its answers and prints the moves. It runs no command, calls no callable, and
    skips waits.

    Exit status: 0 the run has ended as done, or you have quit; 1 it has ended as failed; 2 usage or environment, or the
    scenario has no answer; 4 internal error.
    """
    context.exit(walk(SimulateRequest(**given)))
