"""What a request asks, how it can be answered, and the ways on from its node: outcomes, conditions and targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import join

from stagec.cli.wording import describe_target, describe_way
from stagec.core.canonical import compact
from stagec.core.value import value
from stagec.drivers.local.request_descriptions import label_request
from stagec.plan import Plan
from stagec.plan.act import Converse, Prompt
from stagec.plan.gate import IntentGate, Term
from stagec.plan.node import Edge, Named, Node, Pick
from stagec.runtime import Program, State
from stagec.runtime.exchange import (
    Ask,
    Call,
    Confirm,
    Effect,
    Execute,
    Grant,
    Hook,
    Interrupt,
    Judge,
    Preserve,
    Publish,
    Run,
    Shell,
    StageRequest,
    Turn,
    Wait,
)
from stagec.runtime.execution import Execution
from stagec.runtime.gate import ABORT
from stagec.runtime.orchestrator_requests import Close, Comment, Dispatch, OrchestratorRequest, Relabel
from stagec.world.samples import RequiredValue, make_sample

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
    """Yield who asks for what, line by line."""
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
        """Return what a model is asked for."""
        if isinstance(effect, Ask):
            return "asks the model for an answer" + ("" if effect.complaint is None else f" again: {effect.complaint}")
        taken = sum(each.role == "assistant" for each in effect.transcript)
        most = self.node.act.turns if isinstance(self.node.act, Converse) else 0
        return f"lets the model take turn {taken + 1}; an attempt has {most}"

    def describe(self) -> str:
        """Return what is asked for."""
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
