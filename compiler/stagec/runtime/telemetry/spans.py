"""The spans of a run: the run itself, the executions of its nodes, and the requests that they have made."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.value import NOTHING, replace, value
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.document import Plan
from stagec.runtime.drivers.history import UNTIMED, EventTimes
from stagec.runtime.drivers.usage_ledger import UsageLedger
from stagec.runtime.machine import Answered, Event, Program, Started, State, StepResult
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Effect,
    Grant,
    Hook,
    Message,
    Rewound,
    Run,
    Shell,
    Turn,
    execution_key,
    execution_of,
    label_execution,
    run_deadline_key,
)
from stagec.runtime.machine.program import find_program
from stagec.runtime.machine.state import find_asking
from stagec.runtime.world.models.port import MEMBER, read_usage

Attributes = dict[str, object]
UNKNOWN_PROVIDER = "stagec"
"""The provider of an answer that no model gave: a scenario, or a world of the user."""
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "grok": "x_ai",
    "mistral": "mistral_ai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}
"""The names in the conventions of providers with another name here."""


@value
class RequestSpan:
    """The facts of a request in a span: its name, attributes, kind of error, and whether a model was asked."""

    name: str
    attributes: Attributes
    error: str = ""
    is_client: bool = False


def describe_effect(plan: Plan, effect: Effect) -> RequestSpan:
    """Return the facts of a request without its answer."""
    kind = type(effect).__name__.lower()
    told: Attributes = {"stagec.request.kind": kind, "stagec.request.key": effect.key}
    match effect:
        case Ask() | Turn():
            told |= {"gen_ai.operation.name": "chat", "gen_ai.provider.name": UNKNOWN_PROVIDER}
            return RequestSpan("chat", told, is_client=True)
        case Call():
            tool = plan.tools.get(effect.tool)
            told |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": effect.tool}
            told |= {"gen_ai.tool.call.id": effect.id} if effect.id else {}
            told |= {"gen_ai.tool.type": "function"}
            told |= {} if tool is None else {"stagec.tool.origin": tool.origin, "stagec.tool.effects": tool.effects}
            return RequestSpan(f"execute_tool {effect.tool}", told)
        case Grant():
            return RequestSpan(f"grant {effect.tool}", {**told, "gen_ai.tool.name": effect.tool})
        case Hook():
            return RequestSpan(f"hook {effect.call}", told)
        case _:
            return RequestSpan(kind, told)


def describe_result(plan: Plan, effect: Effect, answer: Json, *, messages: bool) -> RequestSpan:
    """Return the facts of a request and its answer; texts are left out unless `messages` asks for them."""
    told, given = describe_effect(plan, effect), object_of(answer)
    error = _read_error(given)
    attributes = {**told.attributes, **(_list_messages(effect, given) if messages else {})}
    if isinstance(effect, Ask | Turn):
        named = text_in(object_of(given.get(MEMBER)), "model") or ""
        provider, _, model = named.rpartition(":")
        attributes |= _describe_usage(answer) if model else {}
        if model:
            attributes |= {"gen_ai.request.model": model, "gen_ai.provider.name": _PROVIDERS.get(provider, provider)}
        attributes |= {"gen_ai.output.type": "json"} if isinstance(effect, Ask) else {}
        return RequestSpan(f"chat {model}".rstrip(), attributes, error, is_client=True)
    if isinstance(effect, Run | Shell) and isinstance(status := given.get("exit"), int):
        attributes |= {"process.exit.code": status}
    return replace(told, attributes=attributes, error=error)


def _read_error(given: Object) -> str:
    """Return the kind of the error that an answer tells of; nothing if it does not."""
    told = given.get("error")
    if told is None:
        return ""
    return text_in(object_of(told), "code") or text_in(object_of(told), "class") or "_OTHER"


def _describe_usage(answer: Json) -> Attributes:
    used = read_usage(answer)
    told: Attributes = {
        "gen_ai.usage.input_tokens": used.input,
        "gen_ai.usage.output_tokens": used.output,
        "stagec.usage.requests": used.requests,
    }
    return told if used.cost is None else {**told, "stagec.usage.cost": used.cost}


def _list_messages(effect: Effect, given: Object) -> Attributes:
    """Return the texts, in the form of the conventions: JSON as a text."""
    match effect:
        case Ask():
            system = [_text(effect.system)] if effect.system else []
            asked = [{"role": "user", "parts": [_text(effect.prompt)]}]
            return {
                **({"gen_ai.system_instructions": _dump(system)} if system else {}),
                "gen_ai.input.messages": _dump(asked),
                "gen_ai.output.messages": _dump(_reply(_dump(given.get("answer")), [])),
            }
        case Turn():
            told = map(object_of, list_of(given.get("calls")))
            calls = [_call(text_in(each, "id"), each.get("tool"), each.get("arguments")) for each in told]
            return {
                "gen_ai.input.messages": _dump([_message(each) for each in effect.transcript]),
                "gen_ai.output.messages": _dump(_reply(text_in(given, "text") or "", calls)),
            }
        case Call():
            result = given.get("value", given.get("error"))
            return {
                "gen_ai.tool.call.arguments": _dump(effect.arguments),
                "gen_ai.tool.call.result": _dump(result),
            }
        case _:
            return {}


def _message(given: Message) -> Json:
    if given.call is not None:
        part: Json = {"type": "tool_call_response", "id": given.call, "response": given.text}
        return {"role": "tool", "parts": [part]}
    parts: list[Json] = [_text(given.text)] if given.text else []
    parts += [_call(each.id, each.tool, each.arguments) for each in given.calls]
    return {"role": given.role, "parts": parts}


def _reply(text: str, calls: list[Json]) -> list[Json]:
    parts: list[Json] = [_text(text)] if text else []
    return [{"role": "assistant", "parts": [*parts, *calls], "finish_reason": "tool_call" if calls else "stop"}]


def _text(text: str) -> Json:
    return {"type": "text", "content": text}


def _call(name: str | None, tool: Json, arguments: Json) -> Json:
    return {"type": "tool_call", "id": name, "name": tool, "arguments": arguments}


def _dump(given: object) -> str:
    return json.dumps(given, ensure_ascii=False)


ROOT = ""
"""The key of the span of the run."""


@value
class TraceSpan:
    """One span: its name and key, the key of the one around it, its times, and what it says.

    The key is that of the request or the execution. `error` is the kind of the error with which it has ended.
    """

    name: str
    key: str
    parent: str | None
    start: int
    end: int
    attributes: Mapping[str, object] = NOTHING
    error: str = ""
    is_client: bool = False


@value
class _Asked:
    """A request that nobody has answered yet, when it was made, and the execution that has made it.

    A request in the run of an agent is one of the execution that runs the agent.
    """

    effect: Effect
    at: int | None
    execution: str


class RunTracer:
    """Makes the spans of a run from its events, in order; each span once, when what it tells of has ended.

    `messages` tells whether spans hold what models and tools were told and have answered. Of an older journal some
    times are not known: nothing is made of what ended at such a time.
    """

    def __init__(self, program: Program, *, messages: bool = False) -> None:
        self._program, self._messages = program, messages
        self._asked: dict[str, _Asked] = {}
        self._begun: dict[str, int | None] = {}
        self._branches = 0
        self._state = State()
        self._usage = UsageLedger()
        self.last: int | None = None
        """The last time that is known."""
        self.run = ""
        self.first: int | None = None
        """When the run began, or the first time that is known."""

    def take(self, event: Event, step: StepResult, times: EventTimes = UNTIMED) -> list[TraceSpan]:
        """Return the spans that end with an event."""
        self.last = times.at if times.at is not None else self.last
        self.first = self.last if self.first is None else self.first
        self.run = event.run if isinstance(event, Started) else self.run
        self._usage.take(event, step)
        spans = [*self._end_requests(event, step, times), *self._end_executions(event, step)]
        self._branches += isinstance(event, Rewound)
        for each in step.effects:
            asking = find_asking(step.state.active, each.key)
            own = ROOT if each.key == run_deadline_key(self.run) else execution_of(each.key)
            self._asked[each.key] = _Asked(each, self.last, own if asking is None else asking.key)
        self._state, self._program = step.state, step.program or self._program
        return [*spans, *self.describe_run()] if step.state.ended is not None else spans

    def describe_run(self) -> Iterator[TraceSpan]:
        """Yield the span of the run, as far as it has come."""
        plan, state = self._program.plan, self._state
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": plan.id,
            "stagec.run.name": self.run,
            "stagec.plan.digest": self._program.digest,
            "stagec.run.executions": state.executions,
            "stagec.run.outcome": str(state.ended or "interrupted"),
            "stagec.run.reason": state.reason,
        }
        failed = state.failure.kind.value if state.failure is not None and state.ended is not None else ""
        told = RequestSpan(f"invoke_workflow {plan.id}", attributes | self._describe_usage(), failed)
        yield from self._make(told, ROOT, None, self.first)

    def _describe_usage(self) -> Attributes:
        used = self._usage.total
        if used is None:
            return {}
        counts = {"input_tokens": used.input, "output_tokens": used.output, "requests": used.requests}
        price = {} if used.cost is None else {"cost": used.cost}
        return {f"stagec.usage.{name}": each for name, each in {**counts, **price}.items()}

    def _end_requests(self, event: Event, step: StepResult, times: EventTimes) -> Iterator[TraceSpan]:
        if isinstance(event, Answered) and event.key in self._asked:
            asked = self._asked.pop(event.key)
            plan = find_program(self._program, event.key).plan
            told = describe_result(plan, asked.effect, event.answer, messages=self._messages)
            begun = times.begun if times.begun is not None else asked.at
            yield from self._make(told, event.key, asked.execution, begun)
        for key in step.void:
            if key in self._asked:
                asked = self._asked.pop(key)
                told = describe_effect(find_program(self._program, key).plan, asked.effect)
                void = replace(told, attributes={**told.attributes, "stagec.request.void": True})
                yield from self._make(void, key, asked.execution, asked.at)

    def _end_executions(self, event: Event, step: StepResult) -> Iterator[TraceSpan]:
        """Yield the executions that are over; some begin and end with the same event, and all end with a branch."""
        active = () if isinstance(event, Rewound) else step.state.active
        ended = {execution_key(self.run, each.node, each.visit): each.outcome for each in step.moves if not each.run}
        for key in dict.fromkeys((*(key for key in self._begun if key not in active), *ended)):
            told = self._describe_execution(key, ended.get(key, "cancelled"))
            yield from self._make(told, key, ROOT, self._begun.pop(key, self.last))
        self._begun |= {key: self.last for key in step.state.active if key not in self._begun}

    def _describe_execution(self, key: str, outcome: str) -> RequestSpan:
        node, _, visit = key.partition("/")[2].rpartition("#")
        label = label_execution(node, int(visit))
        attributes: Attributes = {"stagec.node": node, "stagec.visit": int(visit), "stagec.outcome": outcome}
        if not isinstance(self._program.plan.nodes[node].act, Prompt | Converse):
            return RequestSpan(label, attributes)
        agent: Attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": node}
        return RequestSpan(f"invoke_agent {label}", {**agent, **attributes})

    def _make(self, told: RequestSpan, key: str, parent: str | None, start: int | None) -> Iterator[TraceSpan]:
        """Yield a span that ends now, if anybody knows when that is; clocks may have been set back meanwhile."""
        if self.last is not None:
            begun = self.last if start is None else min(start, self.last)
            attributes = {**told.attributes, "error.type": told.error} if told.error else told.attributes
            key, parent = self._name_span(key), None if parent is None else self._name_span(parent)
            yield TraceSpan(told.name, key, parent, begun, self.last, attributes, told.error, told.is_client)

    def _name_span(self, key: str) -> str:
        """Return the key of a span: a branch of history makes requests again under their own keys."""
        return f"{key}~{self._branches}" if self._branches and key != ROOT else key


def list_spans(
    tracer: RunTracer, steps: Iterable[tuple[Event, StepResult]], times: Iterable[EventTimes]
) -> Iterator[TraceSpan]:
    """Yield the spans of a run, that of the run itself last, also of one that has not ended."""
    ended = False
    known = iter(times)
    for event, step in steps:
        yield from tracer.take(event, step, next(known, UNTIMED))
        ended = step.state.ended is not None
    if not ended:
        yield from tracer.describe_run()


TOKENS, DURATION = "gen_ai.client.token.usage", "gen_ai.client.operation.duration"
_TOKEN_BOUNDS = tuple(float(4**power) for power in range(14))
_SECOND_BOUNDS = tuple(0.01 * 2**power for power in range(14))
"""The bounds that the conventions recommend."""
_ABOUT = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "error.type")
Series = tuple[tuple[str, object], ...]


@value
class Histogram:
    """How values of one series are distributed: a count for each part between the bounds, and what they add up to."""

    name: str
    unit: str
    attributes: Mapping[str, object]
    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    total: float
    least: float
    most: float


class Figures:
    """Counts what spans say of requests to models; a run that is sent again has the same figures."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, Series], list[float]] = {}

    def take(self, span: TraceSpan) -> None:
        """Count a span, if it is a request to a model."""
        if span.attributes.get("gen_ai.operation.name") != "chat" or "gen_ai.request.model" not in span.attributes:
            return
        about = tuple((name, span.attributes[name]) for name in _ABOUT if name in span.attributes)
        self._values.setdefault((DURATION, about), []).append((span.end - span.start) / 1e9)
        for kind in ("input", "output"):
            used = span.attributes.get(f"gen_ai.usage.{kind}_tokens")
            if isinstance(used, int) and used:
                series = (*(each for each in about if each[0] != "error.type"), ("gen_ai.token.type", kind))
                self._values.setdefault((TOKENS, series), []).append(used)

    def list_histograms(self) -> Iterator[Histogram]:
        """Yield the counts so far."""
        for (name, about), values in self._values.items():
            bounds, unit = (_TOKEN_BOUNDS, "{token}") if name == TOKENS else (_SECOND_BOUNDS, "s")
            counts = [0] * (len(bounds) + 1)
            for each in values:
                counts[bisect_left(bounds, each)] += 1
            yield Histogram(name, unit, dict(about), bounds, tuple(counts), sum(values), min(values), max(values))
