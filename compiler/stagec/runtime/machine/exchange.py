"""Requests of the machine, the events that answer them, and the keys of both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.ir.plan.act import ProcessInput, ProcessLimits


@value(tag="dispatch")
class Dispatch:
    """Begin the run of an agent: `{}` lets the machine run its plan, under the id `run`.

    Who has run the agent elsewhere says what came of it: its closing answer, `{"answer": …}`; or why it has failed,
    `{"failed": …}`, a text or true, and then `answer` is the last one of all.
    """

    key: str
    agent: str
    run: str
    inputs: Mapping[str, Json] = NOTHING


@value(tag="relabel")
class Relabel:
    """Write the phase of an issue down as labels: `{}`, or `{"error": …}`. What is removed need not be there."""

    key: str
    phase: str
    add: tuple[str, ...]
    remove: tuple[str, ...]


@value(tag="comment")
class Comment:
    """Write a comment about an issue: `{}`, or `{"error": …}`."""

    key: str
    text: str


@value(tag="close")
class Close:
    """Close an issue: `{}`, or `{"error": …}`."""

    key: str


OrchestratorRequest = Dispatch | Relabel | Comment | Close
"""The requests of phases themselves, and not of the runs of their agents."""


@value(tag="ask")
class Ask:
    """Ask a model for one structured answer: `{"answer": …}`, with `text` and the names of tools `called`, if any.

    `schema` is the content that the answer must satisfy; `complaint` is what was wrong with the answer before.
    """

    key: str
    prompt: str
    system: str | None = None
    schema: str | None = None
    tools: tuple[str, ...] | None = None
    model: str | None = None
    permission: str | None = None
    complaint: str | None = None


@value
class Request:
    """One call of a tool that a model asked for; `arguments` that cannot be read are a text, `unreadable` says why."""

    id: str
    tool: str
    arguments: Json
    unreadable: str | None = None


@value
class Message:
    """One message of a transcript: its author, its text, and its calls; `call` is the call that a tool answers."""

    role: str
    text: str
    calls: tuple[Request, ...] = ()
    call: str | None = None


@value(tag="turn")
class Turn:
    """Let a model take a turn: `{"text": …, "calls": [{"id", "tool", "arguments"}, …]}`, both optional."""

    key: str
    transcript: tuple[Message, ...]
    tools: tuple[str, ...]
    completion: str
    schema: str


@value(tag="call")
class Call:
    """Carry a tool call out: `{"value": …}`, or `{"error": …}`, which is told to the model; `id` is the model's own."""

    key: str
    tool: str
    arguments: Json
    id: str = ""


@value(tag="grant")
class Grant:
    """Ask people whether a call may be made that the stage does not allow: `{"granted": true or false}`.

    `digest` is that of the arguments; `summary` is their beginning, and binds nothing. `arguments` are all of them.
    """

    key: str
    execution: str
    attempt: int
    proposal: str
    tool: str
    digest: str
    summary: str = ""
    arguments: Json = None


@value(tag="run")
class Run:
    """Run a program without a shell: `{"exit": …, "stdout": …, "stderr": …}`; `exit` null when there is no status."""

    key: str
    words: tuple[str, ...]
    milliseconds: int


@value(tag="shell")
class Shell:
    """Run a command with `sh -c`; answered as `Run` is."""

    key: str
    command: str


@value(tag="judge")
class Judge:
    """Ask the world whether the work is done: `{"done": true or false}`."""

    key: str
    kind: str
    settings: Mapping[str, Json]
    answer: Json


@value(tag="wait")
class Wait:
    """Let some time pass: `{}`. The key tells whose deadline it is, if it is one (`deadline_key`)."""

    key: str
    milliseconds: int


@value(tag="confirm")
class Confirm:
    """Ask people a question: `{"yes": true or false}`."""

    key: str
    question: str


@value(tag="hook")
class Hook:
    """Call a Python callable, `package.module:function`, with an object: `{"value": …}`, what it has returned.

    An answer without `value` is one that has failed. One that has changed its `ctx` leaves it as the member `ctx`, too.
    """

    key: str
    call: str
    phase: str
    given: Mapping[str, Json] = NOTHING


@value(tag="execute")
class Execute:
    """Run the process of a stage in a fresh attempt directory, under its watchdog, and look at what it leaves.

    `{"exit": …, "interrupted": …, "status": …, "missing": […], "changed": […], "outputs": {…}, "error": …,
    "seconds": …}`. `exit` is null without a status; `interrupted` is `timeout` or `abort` when the process was sent a
    signal; `status` is that of its last end marker; `missing` are the names of absent outputs, `changed` those of
    changed inputs; `outputs` has by name `{"path", "sha256", "sizeBytes"}`. After a failure, `said` is the last line of
    the error output, for people.
    """

    key: str
    node: str
    words: tuple[str, ...]
    inputs: Mapping[str, ProcessInput]
    outputs: Mapping[str, str]
    limits: ProcessLimits


@value(tag="publish")
class Publish:
    """Move the outputs of an attempt to the directory of the stage, and write its checkpoint if one is wanted.

    `{"checkpoint": id or null}`, or `{"error": …}`. `outputs` are those that `Execute` was answered with.
    """

    key: str
    node: str
    outputs: Mapping[str, Json]
    checkpoint: bool


@value(tag="preserve")
class Preserve:
    """Write an emergency checkpoint of what an attempt has left: `{"checkpoint": id or null, "valid": true or false}`.

    `reason` is `timeout`, `abort` or `error`. `valid` tells whether every stage that it needs, directly or not, has
    a valid checkpoint, so that it can start again.
    """

    key: str
    node: str
    reason: str


@value(tag="interrupt")
class Interrupt:
    """End the process that a request has started, as its watchdog would: `{}`. That request is answered as well."""

    key: str
    request: str


StageRequest = Execute | Publish | Preserve | Interrupt
Effect = Ask | Turn | Call | Grant | Run | Shell | Judge | Wait | Confirm | Hook | StageRequest | OrchestratorRequest


@value
class RequestKey:
    """The parts of the key of a request; `str` makes the key of them, `read_key` reads it."""

    run: str
    node: str
    visit: int
    attempt: int = 1
    index: int = 0

    def __str__(self) -> str:
        """Return `run/node#visit/attempt.index`."""
        return request_key(execution_key(self.run, self.node, self.visit), self.attempt, self.index)


def read_key(key: str) -> RequestKey:
    """Return the parts of the key of a request."""
    execution, _, place = key.rpartition("/")
    run, _, named = execution.partition("/")
    node, _, visit = named.rpartition("#")
    attempt, _, index = place.partition(".")
    return RequestKey(run, node, int(visit), int(attempt), int(index))


def execution_key(run: str, node: str, visit: int) -> str:
    """Return the key of an execution of a node: `run/node#visit`."""
    return f"{run}/{node}#{visit}"


def request_key(execution: str, attempt: int, index: int) -> str:
    """Return the key of a request: that of the execution, `/attempt.index`."""
    return f"{execution}/{attempt}.{index}"


def deadline_key(execution: str) -> str:
    """Return the key of the request that lets the time of an execution pass: no attempt has made it."""
    return request_key(execution, 0, 0)


def run_deadline_key(run: str) -> str:
    """Return the key of the request that lets the time of a run pass: no execution has made it."""
    return deadline_key(execution_key(run, "", 0))


def is_deadline(key: str) -> bool:
    """Tell whether a request lets the time of an execution, or of a run, pass."""
    return key.endswith("/0.0")


def part_key(key: str, number: int) -> str:
    """Return the key of a part of an answer: nobody waits for it, so it changes no state."""
    return f"{key}~{number}"


def whole_key(key: str) -> str | None:
    """Return the key of the request whose answer has a part of this key; None for the key of a request."""
    execution, slash, place = key.rpartition("/")
    whole, mark, number = place.partition("~")
    return f"{execution}{slash}{whole}" if mark and number.isdecimal() else None


def number_of(key: str) -> int:
    """Return the number of a part of an answer, given its key."""
    return int(key.rpartition("~")[2])


def name_scope(run: str) -> str:
    """Return the name of the scope that the entry of a run opens, which no execution has."""
    return f"{run}/"


def execution_of(key: str) -> str:
    """Return the key of the execution that a request belongs to: `run/node#visit`."""
    return key.rpartition("/")[0]


def label_execution(node: str, visit: int) -> str:
    """Return the name of an execution for people: its node, and its number if it is not the first."""
    return node if visit == 1 else f"{node}#{visit}"


def visit_of(execution: str) -> int:
    """Return the number of an execution among those of its node, from its key."""
    return int(execution.rpartition("#")[2])


MACHINE = 4
"""The version of the machine: what makes another state, or other requests, of the same events is a new version."""
WITH_PLACES = 2
"""The first version in which complaints about answers name places."""
WITH_OBEYED_ANSWERS = 3
"""The first version in which an answer to a question counts whatever another plan allows meanwhile."""
WITH_KEPT_NAMES = 4
"""The first version in which a callable fails that changes a reserved name, and in which text is streamed."""


@value
class Started:
    """A run begins: its id, the entry that was selected, None for the plan's own, and its inputs.

    `machine` is the version of the machine with which it begins, and which its journal is replayed with.
    """

    run: str
    entry: str | None = None
    inputs: Mapping[str, Json] = NOTHING
    machine: int = MACHINE


@value
class Answered:
    """The world has answered a request; `answer` is as the class of the request says."""

    key: str
    answer: Json


@value
class Cancelled:
    """Somebody wants the run to end."""

    reason: str = "cancelled"


@value
class Resumed:
    """Somebody continues a run of processes, whose earlier requests nobody answers any more.

    `kept` are the nodes whose results the world has verified, `consented` those that may run again though they are not
    retryable. `checkpoint` is the one that the run goes on from, if there is one.
    """

    kept: tuple[str, ...] = ()
    consented: tuple[str, ...] = ()
    checkpoint: str | None = None


@value
class Replanned:
    """A run continues with a new plan, its digest and text; nodes in `again` begin again, `inputs` are new ones.

    `machine` is the version of the machine with which it continues, if the run began with an older one.
    """

    digest: str
    plan: str
    again: tuple[str, ...] = ()
    signature: str | None = None
    inputs: Mapping[str, Json] = NOTHING
    machine: int = MACHINE


@value
class Rewound:
    """A new branch of history begins after the first `to` events; the events since then belong to the old branch.

    Only a driver, which has these events, knows what follows: for the machine alone, this event changes nothing.
    """

    to: int


Event = Started | Answered | Cancelled | Resumed | Replanned | Rewound


def choose_next(requests: Iterable[Effect]) -> Effect:
    """Return the request that is answered next: the first that is no wait, and of waits alone the shortest.

    Deadlines come last: while something else can be answered, no time has to pass.
    """
    waits = []
    for effect in requests:
        if type(effect) is not Wait:
            return effect
        waits.append(effect)
    return min(waits, key=lambda wait: (is_deadline(wait.key), wait.milliseconds))


@value
class AgentRunName:
    """The parts of the id of an agent's run: the run around it, the agent, and the number of this run of the agent."""

    around: str
    agent: str
    number: int

    def __str__(self) -> str:
        """Return `run~agent~number`; whatever in the agent's name is no letter, digit, `_` or `-` is `%hex.`."""
        agent = _UNSAFE.sub(lambda found: f"%{ord(found[0]):x}.", self.agent)
        return f"{self.around}~{agent}~{self.number}"


_UNSAFE, _ESCAPED = re.compile(r"[^A-Za-z0-9_-]"), re.compile(r"%([0-9a-f]{1,6})\.")


def read_agent_run(run: str) -> AgentRunName | None:
    """Return the parts of the id of an agent's run; nothing of the id of another run."""
    before, _, number = run.rpartition("~")
    around, _, agent = before.rpartition("~")
    if not around or not number.isdecimal():
        return None
    return AgentRunName(around, _ESCAPED.sub(lambda found: chr(int(found[1], 16)), agent), int(number))


def run_of(key: str) -> str:
    """Return the id of the run, or of the agent's run, to which a request belongs."""
    return key.partition("/")[0]
