"""The spans of a run: the run itself, the executions of its nodes, and the requests that they have made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.value import NOTHING, replace, value
from stagec.drivers.history import UNTIMED, EventTimes
from stagec.drivers.usage_ledger import UsageLedger
from stagec.plan.act import Converse, Prompt
from stagec.runtime import Answered, Effect, Event, Program, Started, State, StepResult
from stagec.runtime.exchange import Rewound, execution_key, execution_of, label_execution
from stagec.runtime.program import find_program
from stagec.runtime.state import find_asking
from stagec.telemetry.attributes import Attributes, RequestSpan, describe_effect, describe_result

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
            self._asked[each.key] = _Asked(each, self.last, execution_of(each.key) if asking is None else asking.key)
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
