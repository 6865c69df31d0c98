"""Run a plan, one event at a time: written from the page of the format alone, and slow but short."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from plan_vectors import answers
from plan_vectors.acting import execute, named
from plan_vectors.execution import Arrival, Ended, Execution
from plan_vectors.files import RefusedError
from plan_vectors.knowledge import Knowledge, refusal
from plan_vectors.prompting import prompts
from plan_vectors.references import spelt_out
from plan_vectors.scopes import Branch, Scope
from plan_vectors.tasks import Request, Task

State = dict[str, Any]
_SIBLINGS = 2
"""The fewest branches of a fork."""


class Over(NamedTuple):
    """What an execution that is over leaves behind: its node and its result."""

    node: str
    result: Mapping[str, Any]


class Run:
    """One run of a plan: it is told events, asks requests, and has a state."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        if any("hooks" in node for node in plan["nodes"].values()) or plan.get("session", {}).get("hooks"):
            raise RefusedError("this runner calls no hooks")
        self._plan, self._root = spelt_out(plan), Branch()
        self._active: list[Execution] = []
        self._waiting: deque[Arrival] = deque()
        self._ended: str | None = None
        self._reason: str | None = None

    def tell(self, event: Mapping[str, Any]) -> None:
        """Take the next event: the start of the run, the answer to a request, or that somebody ends it."""
        if event["is"] == "start":
            self._start(
                event["run"], event.get("entry", self._plan.get("entry")), answers.taken(event.get("inputs", {}))
            )
        elif event["is"] == "cancel":
            self._end("failed", "cancelled")
        else:
            self._answer(event["to"], event["answer"])

    def requests(self) -> Iterator[Request]:
        """Yield what the world is asked and has not answered."""
        for execution in self._active:
            yield from execution.task.requests()

    def state(self) -> State:
        """Return where the run stands, as JSON."""
        return {
            "executions": self._knows.executions if self._ended != "refused" else 0,
            "active": [_active(execution) for execution in self._active],
            "waiting": [{"node": each.node, "branch": each.branch.names()} for each in self._waiting],
            "ended": self._ended,
            "reason": self._reason,
        }

    def _start(self, run: str, entry: str | None, inputs: Mapping[str, Any]) -> None:
        refused = refusal(self._plan, entry, inputs)
        if refused is not None:
            self._end("refused", refused)
            return
        self._run, self._knows = run, Knowledge(self._plan, inputs)
        self._waiting.append(Arrival(self._root, self._plan["entries"][entry]))
        self._advance()

    def _answer(self, key: str, answer: Any) -> None:
        for execution in self._active:
            for request in execution.task.requests():
                if request["key"] == key:
                    execution.task.answer(request, answers.read(request["is"], answer))
                    self._advance()
                    return
        raise KeyError(key)

    def _end(self, outcome: str, reason: str) -> None:
        self._ended, self._reason = outcome, reason
        self._active, self._waiting = [], deque()

    def _advance(self) -> None:
        """Go on until everything waits for the world."""
        while self._ended is None:
            ended = next((each for each in self._active if each.task.ended), None)
            if ended is not None:
                self._active.remove(ended)
                self._follow(ended, ended.task.returned)
            elif self._waiting and len(self._active) < self._plan["limits"].get("parallel", 1):
                self._begin(self._waiting.popleft())
            else:
                return

    def _begin(self, arrival: Arrival) -> None:
        most, knows = self._plan["limits"].get("executions"), self._knows
        if most is not None and knows.executions >= most:
            self._end(self._plan["limits"].get("reached", "failed"), "limit")
            return
        node = self._plan["nodes"][arrival.node]
        found = prompts(knows, node, arrival.prompt) if node["act"]["is"] == "prompt" else {}
        if found is None:
            self._instead(arrival)
            return
        if arrival.origin not in {None, arrival.node}:
            knows.came[arrival.node] = arrival.origin
        knows.executions += 1
        knows.visits[arrival.node] = knows.visits.get(arrival.node, 0) + 1
        execution = Execution(self._run, arrival, node, knows.visits[arrival.node])
        self._active.append(execution)
        execution.task = Task(execute(knows, execution, found))

    def _instead(self, arrival: Arrival) -> None:
        """Go on with the node that runs when one cannot start."""
        if arrival.otherwise is None:
            self._end("failed", "cannot-start")
        else:
            self._begin(arrival._replace(node=arrival.otherwise, otherwise=None, prompt=None))

    def _follow(self, execution: Execution, ended: Ended) -> None:
        arrival = execution.arrival
        if ended.failed is None or ended.result:
            self._knows.records[arrival.node] = ended.record
        if ended.failed is not None:
            self._end("failed", ended.failed)
        elif ended.again is not None:
            before = self._knows.came.get(arrival.node, arrival.node)
            self._next(Arrival(arrival.branch, before, (ended.result,), prompt=ended.again))
        elif ended.edge is None:
            self._close(arrival.branch, "done", Over(arrival.node, ended.result))
        else:
            self._go(execution, ended.edge["target"], Over(arrival.node, ended.result))

    def _go(self, execution: Execution, target: Mapping[str, Any], over: Over) -> None:
        branch, kind = execution.arrival.branch, target["is"]
        if kind == "stop":
            self._close(branch, target["outcome"], over)
        elif kind == "go":
            self._next(Arrival(branch, target["node"], (over.result,), target.get("otherwise"), origin=over.node))
        elif kind == "named":
            node = target["nodes"][named(execution.node, over.result)]
            self._next(Arrival(branch, node, (over.result,), origin=over.node))
        elif kind == "chain":
            self._chain(Scope(target, branch, execution.name), over)
        else:
            self._fork(Scope(target, branch, execution.name), over)

    def _next(self, arrival: Arrival) -> None:
        """Go on in a branch, which keeps its place among the nodes that act."""
        self._waiting.appendleft(arrival)

    def _chain(self, scope: Scope, over: Over) -> None:
        """Begin the next branch of a chain, or leave it."""
        place = scope.next()
        if place is None:
            self._leave(scope, over)
        else:
            self._next(Arrival(scope.branches[place], scope.nodes[place], (over.result,), origin=over.node))

    def _fork(self, scope: Scope, over: Over) -> None:
        begun = zip(scope.branches, scope.nodes, strict=True)
        self._waiting.extend(Arrival(branch, node, begins=True, origin=over.node) for branch, node in begun)
        if len(scope.nodes) < _SIBLINGS:
            self._end("failed", "fork")

    def _close(self, branch: Branch, outcome: str, over: Over) -> None:
        """End a branch, and what ends with it."""
        branch.done, branch.last = True, over.result
        scope = branch.scope
        if scope is None:
            self._end(outcome, "stop")
        elif outcome == "failed" or (scope.is_fork and over.result.get("verdict") == "skip"):
            self._cancel(scope)
            self._close(scope.branch, "failed", over)
        elif not scope.is_fork:
            self._chain(scope, over)
        elif scope.next() is None:
            self._leave(scope, over)

    def _cancel(self, scope: Scope) -> None:
        self._active = [each for each in self._active if not each.arrival.branch.within(scope)]
        self._waiting = deque(each for each in self._waiting if not each.branch.within(scope))

    def _leave(self, scope: Scope, over: Over) -> None:
        """Go on after a scope that has ended as done."""
        lasts = tuple(branch.last for branch in scope.branches)
        if scope.join is None:
            self._close(scope.branch, "done", over)
        elif all(last.get("verdict", "ok") == "ok" for last in lasts):
            self._next(Arrival(scope.branch, scope.join, lasts, origin=over.node))
        else:
            self._end("failed", "join")


def _active(execution: Execution) -> State:
    return {
        "execution": execution.name,
        "branch": execution.arrival.branch.names(),
        "attempt": execution.attempt,
        "requests": [request["key"] for request in execution.task.requests()],
    }
