"""`stagec conformance`: judge a program that runs plans."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from threading import Event as ThreadEvent
from threading import Timer
from typing import Any

import click

from stagec.cli.parameters import OneOf
from stagec.cli.streams import put, put_lines, show_progress
from stagec.core.canonical import canonical, compact
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json, Object, equal, list_of, object_of, text_in
from stagec.core.json_reader import UnreadableError
from stagec.core.value import value
from stagec.core.version import __version__, find_packed
from stagec.core.words import format_count, listing, quote
from stagec.ir.plan.act import Command, Converse, ProcessInput, ProcessLimits
from stagec.ir.plan.loader import PlanError, write_frame
from stagec.runtime.machine import Answered, Cancelled, Effect, Event, Program, Resumed, Started, State, advance, load
from stagec.runtime.machine import exchange as effects
from stagec.runtime.machine.exchange import Message
from stagec.runtime.machine.execution import Branch
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.json_values import normalise
from stagec.runtime.world.supervised_program import Job, LineProgram, UnreadableLine

JsonObject = dict[str, Json]


_REASONS = {
    FailureKind.BOUND: "limit",
    FailureKind.ABORTED: "abort",
    FailureKind.CANCELLED: "cancelled",
    FailureKind.NO_EDGE: "no-edge",
    FailureKind.INVALID_ANSWER: "answer",
    FailureKind.PROVIDER: "answer",
    FailureKind.NO_INTENT: "intent",
    FailureKind.VALIDATION: "validation",
    FailureKind.PREFLIGHT: "preflight",
    FailureKind.CHAIN_EXHAUSTED: "repeats",
    FailureKind.SMALL_FORK: "fork",
    FailureKind.UNJOINABLE: "join",
    FailureKind.UNSTARTABLE: "cannot-start",
    FailureKind.UNFIT_START: "inputs",
    FailureKind.STAGE_BLOCKED: "consent",
    FailureKind.RUN_DEADLINE: "deadline",
}
"""The word of traces for each kind of failure; every other kind is that of a node that a `stop` follows."""


_KEPT: Mapping[type, tuple[str, ...]] = {
    effects.Ask: ("system", "prompt", "schema", "tools", "model", "permission"),
    effects.Turn: ("tools", "completion", "schema"),
    effects.Call: ("tool", "arguments"),
    effects.Grant: ("tool", "digest"),
    effects.Run: ("words", "milliseconds"),
    effects.Shell: ("command",),
    effects.Judge: ("kind", "settings"),
    effects.Wait: ("milliseconds",),
    effects.Confirm: (),
    effects.Execute: ("words", "inputs", "outputs", "limits"),
    effects.Publish: ("outputs", "checkpoint"),
    effects.Preserve: ("reason",),
    effects.Interrupt: ("request",),
}
"""The members of each kind of request in traces."""


def read_event(event: Mapping[str, Any]) -> Event:
    """Return an event of a trace; raise `KeyError`, `TypeError` or `ValueError` for what is none."""
    match event["is"]:
        case "start":
            return Started(event["run"], event.get("entry"), event.get("inputs", {}))
        case "resume":
            return Resumed(tuple(event["kept"]), tuple(event["consented"]), event.get("checkpoint"))
        case "cancel":
            return Cancelled()
        case "answer":
            return Answered(event["to"], event["answer"])
        case other:
            raise ValueError(f"traces have no event {other!r}")


def state_to_json(program: Program, state: State) -> JsonObject:
    """Return a state as traces have it."""
    reason = _name_reason(program, state)
    refused = reason in {"entry", "inputs"}
    statuses: JsonObject = {name: str(state.statuses[name]) for name in sorted(state.statuses)}
    return {
        "executions": state.executions,
        "active": [
            {
                "execution": each.key.removeprefix(f"{state.run}/"),
                "branch": _name_branches(state, each.branch),
                "attempt": each.attempt,
                "requests": [key for key in state.pending if key.rpartition("/")[0] == each.key],
            }
            for each in state.active.values()
        ],
        "waiting": [{"node": each.node, "branch": _name_branches(state, each.branch)} for each in state.waiting],
        "ended": None if state.ended is None else "refused" if refused else state.ended.value,
        "reason": None if state.ended is None else reason,
        **({"statuses": statuses} if statuses else {}),
    }


def _name_reason(program: Program, state: State) -> str:
    """Return the word of traces for why a run has ended."""
    failure = state.failure
    if failure is None:
        return "stop" if state.reason == "completed" else "limit"
    act = None if failure.node is None else program.plan.nodes[failure.node].act
    if failure.kind is FailureKind.UNSTARTABLE and isinstance(act, Command):
        return "command"
    if failure.kind is FailureKind.PROVIDER and isinstance(act, Converse):
        return "stop"
    if failure.kind is FailureKind.UNFIT_START and failure.detail.startswith(("no entry was", "there is no entry")):
        return "entry"
    return _REASONS.get(failure.kind, "stop")


def _name_branches(state: State, branch: Branch) -> list[Json]:
    """Return the names of the branches that a branch is in, the outermost first."""
    found: list[Json] = []
    while branch.scope is not None:
        found.append(f"{branch.scope.removeprefix(f'{state.run}/')}.{branch.index}")
        branch = state.scopes[branch.scope].around
    return found[::-1]


def requests_to_json(made: Iterable[Effect]) -> list[JsonObject]:
    """Return requests as traces have them; raise `KeyError` for a kind that traces do not have."""
    return [_request_to_json(each) for each in made]


def _request_to_json(effect: Effect) -> JsonObject:
    kept = ((name, _to_json(getattr(effect, name))) for name in _KEPT[type(effect)])
    found: JsonObject = {"key": effect.key, "is": type(effect).__name__.lower()}
    found |= {name: each for name, each in kept if each is not None}
    if isinstance(effect, effects.Turn):
        said = [index for index, message in enumerate(effect.transcript) if message.role == "assistant"]
        since = effect.transcript[said[-1] + 1 if said else 0 :]
        found["told"] = [_message_to_json(effect, each) for each in since]
    return found


def _to_json(given: Any) -> Json:
    """Return a member of a request; inputs of a process are a level below their names."""
    if isinstance(given, ProcessLimits):
        return _list_members(given)
    if isinstance(given, Mapping):
        return {name: _list_members(each) if isinstance(each, ProcessInput) else each for name, each in given.items()}
    found: Json = list(given) if isinstance(given, tuple) else given
    return found


def _list_members(given: ProcessInput | ProcessLimits) -> Json:
    members = {name: getattr(given, name) for name in type(given).__match_args__}
    return {name: each for name, each in members.items() if each is not None}


_BEGINNINGS = {"Accepted.": "accepted", "Not accepted: ": "wrong", "Not carried out: ": "alone"}
_CODES = {"GrantDenied": "denied", "GrantAlreadyConsumed": "used", "OutputMalformed": "unread"}
_ERROR = {"class", "code", "message"}


def _message_to_json(effect: effects.Turn, message: Message) -> Json:
    """Return the kind of what a model is told; the machine's own words are known by how they begin."""
    if message.role == "system":
        return {"is": "system", "text": message.text}
    if message.call is None:
        if message.text.endswith(f"Call {effect.completion} when you are done."):
            return {"is": "reminder"}
        return {"is": "again", "text": "" if message.text == "Try again." else message.text}
    kind = next((kind for words, kind in _BEGINNINGS.items() if message.text.startswith(words)), None)
    kind = kind or _name_error(message.text)
    text: JsonObject = {"text": message.text} if kind == "value" else {}
    return {"is": kind, "call": message.call, **text}


def _name_error(text: str) -> str:
    """Return `error` or the kind of a denial for an object that is one, `value` for everything else."""
    told: Mapping[str, Json] = {}
    with suppress(ValueError):
        told = object_of(json.loads(text))
    return _CODES.get(str(told["code"]), "error") if set(told) == _ERROR else "value"


PROTOCOL = "stagec.conformance/1"
"""The version of the protocol, which both sides name."""
REGISTRY, PIPELINE, STAGES = "registry", "pipeline", "stages"
PROFILES = (REGISTRY, PIPELINE, STAGES)
"""The profiles of runners: whose plans they run."""


class ServedMachine:
    """Answers the messages of one judge: it has at most one plan, and one run of it."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._state = State()

    def reply(self, message: Object) -> Object:
        """Return the answer to a message; raise `ValueError`, `KeyError` or `TypeError` for what is none."""
        match message["is"]:
            case "hello":
                name: Json = f"stagec {__version__}"
                return {"is": "ready", "protocol": PROTOCOL, "runner": name, "profiles": list(PROFILES)}
            case "plan":
                return self._load(str(message["file"]))
            case "event":
                return self._advance(object_of(message["event"]))
            case other:
                raise ValueError(f"the protocol has no message {other!r}")

    def _load(self, file: str) -> Object:
        try:
            self._program = load(file.encode(errors="surrogatepass"))
        except PlanError as error:
            self._program = None
            return {"is": "refused", "why": str(error)}
        return {"is": "loaded", "digest": self._program.digest}

    def _advance(self, given: Object) -> Object:
        if self._program is None:
            raise ValueError("there is no plan")
        event = read_event(given)
        if isinstance(event, Started):
            self._state = State()
        step = advance(self._program, self._state, event)
        self._state = step.state
        state = state_to_json(self._program, step.state)
        ended, reason = state.pop("ended"), state.pop("reason")
        outcome: Json = None if ended is None else {"ended": ended, "reason": reason}
        return {"is": "step", "requests": [*requests_to_json(step.effects)], "state": state, "outcome": outcome}


def serve(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the answer to each line, as a line, until a message ends the conversation."""
    machine = ServedMachine()
    for line in lines:
        message = object_of(json.loads(line))
        if text_in(message, "is") == "end":
            return
        yield json.dumps(machine.reply(message)) + "\n"


SECTIONS: Mapping[str, str] = {
    "1": "The file",
    "2.1": "How values are written",
    "2.2": "Members",
    "2.3": "References",
    "2.4": "Soundness",
    "3.1": "What is a run given?",
    "3.2": "Which node runs first, and which next?",
    "3.3": "How does a run end?",
    "3.4": "What text does a template make?",
    "3.5": "When may a node act?",
    "3.6": "What does an act do, and what is its result?",
    "3.7": "Which outcome does a result have?",
    "3.8": "Which edge does an outcome take?",
    "3.9": "What follows?",
    "3.10": "What does a node know of others?",
    "3.11": "How is the end of the work validated?",
    "3.12": "Which tools may be called?",
    "3.13": "What does the runner provide?",
    "3.16": "What is asked of the world, and what does it answer?",
    "3.17": "What is the status of a stage, and how does a run go on?",
    "6": "Extractors",
}
"""The sections of `docs/plan-format.md` that vectors are about, in order, with their headings."""


_PROFILES = {"prompt": REGISTRY, "command": REGISTRY, "converse": PIPELINE, "process": STAGES}


@value
class Vector:
    """One example: a plan and what must follow from each event; or a file, and whether a reader accepts it.

    `steps` are the steps of the trace; None for a file that is only read.
    """

    name: str
    profile: str
    sections: tuple[str, ...]
    file: str
    accepted: bool = True
    steps: tuple[Object, ...] | None = None


def read_vectors() -> Iterator[Vector]:
    """Yield all vectors: first the files, then the runs by plan and name."""
    packed = Path(find_packed("vectors"))
    folder = packed if packed.is_dir() else Path(find_packed(os.path.join("tests", "plan_vectors")))
    plans = {path.parent.name: path.read_text("utf-8") for path in sorted(folder.glob("*/plan.json"))}
    for case in json.loads((folder / "refused.json").read_text("utf-8")):
        file = plans[case["plan"]]
        yield Vector(case["says"], _profile_of(file), (case["section"],), _change(file, case), case["accepted"])
    for path in sorted(folder.glob("*/*.trace.json")):
        plan, name = path.parent.name, path.name.removesuffix(".trace.json")
        scenario = json.loads(path.with_name(f"{name}.scenario.json").read_text("utf-8"))
        steps = tuple(json.loads(path.read_text("utf-8")))
        sections = tuple(scenario["sections"])
        yield Vector(f"{plan}/{name}", _profile_of(plans[plan]), sections, plans[plan], steps=steps)


def _profile_of(file: str) -> str:
    node = next(iter(json.loads(file)["plan"]["nodes"].values()))
    return _PROFILES[node["act"]["is"]]


def _change(file: str, case: Mapping[str, Any]) -> str:
    """Return the file of a plan with a change of its bytes, or with changes of its payload and the digest of that."""
    if "bytes" in case:
        old, new = case["bytes"]
        return file.replace(old, new, 1)
    payload = json.loads(file)["plan"]
    for change in case["changes"]:
        *path, last = change["at"].split("/")[1:]
        holder: Any = payload
        for part in path:
            holder = holder[int(part) if isinstance(holder, list) else part]
        if "value" in change:
            holder[last] = change["value"]
        else:
            del holder[last]
    return write_frame(canonical(payload)).decode()


Ask = Callable[[Object], Object]


_NO_PROFILE = f"its 'profiles' names none of {listing(PROFILES, 'or')}"
_PATIENCE = 30.0
"""Seconds that a program has for an answer."""
_SHOWN = 160
"""Characters of a value that a difference shows."""


class RunnerProcess:
    """A program under judgement: one message at a time, one answer to each. It is started again after it has ended."""

    def __init__(self, words: tuple[str, ...], patience: float = _PATIENCE) -> None:
        self._words, self._patience = words, patience
        self._program: LineProgram | None = None
        hello = self._start()
        why = None if any(each in PROFILES for each in list_of(hello.get("profiles"))) else _NO_PROFILE
        if hello.get("is") != "ready" or hello.get("protocol") != PROTOCOL:
            why = f'its first line is not {{"is": "ready", "protocol": "{PROTOCOL}", …}}'
        if why is not None:
            self.close()
            raise Failure(f"{quote(words[0])} cannot be judged: {why}")
        self.runner = text_in(hello, "runner") or words[0]
        self.profiles = tuple(each for each in PROFILES if each in list_of(hello.get("profiles")))

    def ask(self, message: Object) -> Object:
        """Return the answer to a message; raise `SilentError` when there is none."""
        if self._program is None:
            self._start()
        return self._exchange(message)

    def close(self) -> None:
        """Let the program end."""
        if self._program is not None:
            self._program.write_or_drop({"is": "end"})
            self._program.end()
            self._program.close_streams()
            self._program = None

    def _start(self) -> Object:
        try:
            self._program = LineProgram(Job(self._words, dict(os.environ), os.getcwd()))
        except (OSError, ValueError) as error:
            raise Failure(
                f"{quote(self._words[0])} cannot be started: {getattr(error, 'strerror', None) or error}"
            ) from error
        try:
            return self._exchange({"is": "hello", "protocol": PROTOCOL})
        except SilentError as error:
            raise Failure(f"{quote(self._words[0])} cannot be judged: {error}") from error

    def _exchange(self, message: Object) -> Object:
        program = self._program
        if program is None:
            raise SilentError("it has ended")
        late = ThreadEvent()

        def give_up() -> None:
            late.set()
            program.kill()

        alarm = Timer(self._patience, give_up)
        alarm.start()
        program.write_or_drop(message)
        told = program.take_line()
        alarm.cancel()
        if not isinstance(told, str | UnreadableLine):
            return told
        if late.is_set():
            alarm.join()
            program.close_streams()
            self._program = None
            raise SilentError(f"it gave no answer in {self._patience:g} s")
        self.close()
        raise SilentError(told if isinstance(told, str) else told.why)


class SilentError(Exception):
    """A program has given no answer to a message; `str()` says why."""


@value
class VectorResult:
    """The result of one vector: None for a difference if there is none."""

    vector: Vector
    difference: str | None = None


def judge(ask: Ask, vectors: Iterable[Vector]) -> Iterator[VectorResult]:
    """Yield the result of each vector; `ask` returns the answer of a runner to a message."""
    for vector in vectors:
        try:
            yield VectorResult(vector, _judge(ask, vector))
        except (SilentError, UnreadableError) as error:
            yield VectorResult(vector, str(error))


def _judge(ask: Ask, vector: Vector) -> str | None:
    """Return the first difference between a vector and what a program says; None if there is none."""
    told = ask({"is": "plan", "file": vector.file})
    if not vector.accepted:
        return None if told.get("is") == "refused" else "the file is not refused"
    if told.get("is") != "loaded":
        return f"the plan is refused: {text_in(told, 'why') or compact(told)}"
    for number, step in enumerate(vector.steps or (), 1):
        found = ask({"is": "event", "event": step["event"]})
        difference = find_difference(expect(step), {name: found.get(name) for name in ("requests", "state", "outcome")})
        if difference is not None:
            return f"event {number}: {difference}"
    return None


def expect(step: Object) -> Object:
    """Return the expected message of a runner after a step of a trace."""
    state = dict(object_of(step["state"]))
    ended, reason = state.pop("ended"), state.pop("reason")
    outcome: Json = None if ended is None else {"ended": ended, "reason": reason}
    return {"requests": step["asked"], "state": state, "outcome": outcome}


def find_difference(wanted: Json, found: Json, place: str = "") -> str | None:
    """Return the first place at which two values differ, with both values; None if they are equal."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        lacking = next((name for name in (*wanted, *found) if name not in wanted or name not in found), None)
        if lacking is not None:
            return f"{place}/{lacking} is {'missing' if lacking in wanted else 'unexpected'}"
        inner = (find_difference(each, found[name], f"{place}/{name}") for name, each in wanted.items())
        return next((each for each in inner if each is not None), None)
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        inner = (
            find_difference(*pair, f"{place}/{index}") for index, pair in enumerate(zip(wanted, found, strict=True))
        )
        return next((each for each in inner if each is not None), None)
    is_same = equal(normalise(wanted), normalise(found))  # numbers are doubles, however many digits they have
    return None if is_same else f"{place} is {_show(found)}, expected {_show(wanted)}"


def _show(given: Json) -> str:
    text = compact(given)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def report(runner: str, profiles: tuple[str, ...], results: Iterable[VectorResult]) -> Iterator[str]:
    """Yield the results of all vectors, by section of the format."""
    found = [*results]
    failed = [each for each in found if each.difference is not None]
    yield f"{runner}: {listing(profiles)}"
    for section, title in SECTIONS.items():
        about = [each for each in found if section in each.vector.sections]
        if about:
            passed = sum(each.difference is None for each in about)
            mark = " " if passed == len(about) else "!"
            yield f"{mark} § {section:<5} {title:<58} {passed:>3} of {len(about)}"
    for each in failed:
        yield f"{each.vector.name}: {each.difference}"
    yield f"{format_count(len(found), 'vector')}, {len(failed)} failed"


_OWN = (sys.executable, "-m", "stagec", "conformance", "--serve")
"""stagec's own machine, as a program that is judged like any other."""


@click.command(short_help="Judge a program of another language that runs plans.")
@click.argument("program", required=False)
@click.option("--profile", type=OneOf(PROFILES), help="Only the vectors of these plans.")
@click.option("--serve", "is_served", is_flag=True, help="Be such a program: run plans with stagec's own machine.")
@click.pass_context
def conformance(context: click.Context, program: str | None, profile: str | None, *, is_served: bool) -> None:
    r"""Check by stagec's vectors that PROGRAM runs plans as the plan format says.

    stagec starts PROGRAM, writes plans and events to its standard input, and reads requests and states from its
    standard output. The page "Runners in other languages" describes the messages. Without PROGRAM, stagec judges its
    own machine in the same way. The report names the sections of the plan format that fail.

    Exit status: 0 the program conforms, 1 a vector fails, 2 usage or environment, 4 internal error.

    \b
    Examples:
      stagec conformance
      stagec conformance 'node runner.js'
      stagec conformance './runner --quiet' --profile registry
    """
    if is_served:
        if program is not None or profile is not None:
            raise Failure("--serve takes no program and no profile")
        for line in serve(sys.stdin.buffer):
            put(line)
            sys.stdout.flush()
        context.exit(Exit.CLEAN)
    try:
        words = _OWN if program is None else tuple(shlex.split(program))
    except ValueError as error:
        raise Failure(f"{quote(program or '')} is no command line: {error}") from error
    if not words:
        raise Failure("the program is empty")
    with closing(RunnerProcess(words)) as runner:
        profiles = runner.profiles if profile is None else (profile,)
        if not set(profiles) <= set(runner.profiles):
            known = listing(runner.profiles)
            raise Failure(f"{quote(words[0])} does not have the profile {quote(profile or '')}: it has {known}")
        with show_progress("judging …"):
            results = [*judge(runner.ask, (each for each in read_vectors() if each.profile in profiles))]
        put_lines(*report(runner.runner, profiles, results))
    context.exit(Exit.FINDINGS if any(each.difference is not None for each in results) else Exit.CLEAN)
