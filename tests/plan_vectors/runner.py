"""Run a plan, one event at a time: written from the page of the format alone, and slow but short."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from plan_vectors import answers
from plan_vectors.acting import execute, expire, named
from plan_vectors.execution import Arrival, Ended, Execution, due
from plan_vectors.files import RefusedError
from plan_vectors.knowledge import Knowledge, refusal
from plan_vectors.prompting import prompts
from plan_vectors.references import spelt_out
from plan_vectors.scopes import Branch, Scope
from plan_vectors.staging import broken_off
from plan_vectors.tasks import Request, Task
from plan_vectors.texts import follow

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
        self._refused = False
        self._deadline: Request | None = None

    def tell(self, event: Mapping[str, Any]) -> None:
        """Take the next event: the start of the run, the answer to a request, or that somebody ends it."""
        if event["is"] == "start":
            self._start(
                event["run"], event.get("entry", self._plan.get("entry")), answers.taken(event.get("inputs", {}))
            )
        elif event["is"] == "cancel":
            self._cancel_run()
        elif event["is"] == "resume":
            self._resume(event["kept"], event["consented"])
        else:
            self._answer(event["to"], event["answer"])

    def requests(self) -> Iterator[Request]:
        """Yield what the world is asked and has not answered."""
        if self._deadline is not None:
            yield self._deadline
        for execution in self._active:
            yield from execution.requests()

    def state(self) -> State:
        """Return where the run stands, as JSON."""
        return {
            "executions": self._knows.executions if self._ended != "refused" else 0,
            "active": [_active(execution) for execution in self._active],
            "waiting": [{"node": each.node, "branch": each.branch.names()} for each in self._waiting],
            "ended": self._ended,
            "reason": self._reason,
            **self._statuses(),
        }

    def _statuses(self) -> State:
        """Return the status of each stage, in runs that have any."""
        has_any = self._ended != "refused" and self._knows.statuses
        return {"statuses": dict(sorted(self._knows.statuses.items()))} if has_any else {}

    def _start(self, run: str, entry: str | None, inputs: Mapping[str, Any]) -> None:
        refused = refusal(self._plan, entry, inputs)
        if refused is not None:
            self._end("refused", refused)
            return
        self._run, self._knows = run, Knowledge(self._plan, inputs)
        self._entry = self._plan["entries"][entry]
        self._deadline = due(f"{run}/#0", self._plan["limits"].get("deadline"))
        if isinstance(self._entry, str):
            self._waiting.append(Arrival(self._root, self._entry))
        else:
            if self._has_stages():
                self._knows.statuses = dict.fromkeys(self._entry["needs"], "PENDING")
            self._schedule(Scope(self._entry, self._root, ""))
        self._advance()

    def _has_stages(self) -> bool:
        """Say whether the run is one of processes."""
        entry = self._entry
        return not isinstance(entry, str) and all(self._is_process(name) for name in entry["needs"])

    def _is_process(self, name: str) -> bool:
        return bool(self._plan["nodes"][name]["act"]["is"] == "process")

    def _cancel_run(self, reason: str = "cancelled") -> None:
        """End the run for a reason, or if a process is under way let it end as soon as none is."""
        if not any(self._is_process(each.arrival.node) for each in self._active):
            self._end("failed", reason)
            return
        if self._ended is not None or self._knows.cancelled:
            return
        self._knows.cancelled, self._waiting = reason, deque()
        for execution in [*self._active]:
            (request,) = execution.task.requests()
            if request["is"] == "execute":
                self._knows.statuses[execution.arrival.node] = "INTERRUPTING"
                execution.interrupted = True
                execution.asides.append(execution.ask("interrupt", request=request["key"]))
            elif request["is"] == "wait":
                self._active.remove(execution)
                self._follow(execution, broken_off(execution))
        self._advance()

    def _resume(self, kept: list[str], consented: list[str]) -> None:
        """Begin the schedule of the entry anew, with what is kept as done."""
        if self._ended in {"done", "refused"} or not self._has_stages():
            return
        knows, scope = self._knows, Scope(self._entry, self._root, "")
        self._ended, self._reason, self._active, self._waiting = None, None, [], deque()
        knows.executions, knows.cancelled, self._refused = 0, "", False
        self._deadline = self._deadline or due(f"{self._run}/#0", self._plan["limits"].get("deadline"))
        knows.statuses = dict.fromkeys(scope.nodes, "PENDING")
        self._keep(scope, kept)
        for branch, name in zip(scope.branches, scope.nodes, strict=True):
            may = self._plan["nodes"][name]["act"].get("retryable", True) or name in consented
            if branch.ended is None and not may and (name in kept or knows.visits.get(name)):
                branch.ended, knows.statuses[name] = "failed", "BLOCKED"
                self._refused = True
        for name in [*scope.nodes]:
            if knows.statuses[name] == "BLOCKED":
                self._block(scope, name)
        self._schedule(scope)
        if scope.is_over:
            self._end(scope.outcome, "consent" if self._refused else "stop")
        self._advance()

    def _keep(self, scope: Scope, kept: list[str]) -> None:
        """Take as done what is kept with all that it needs."""
        while counted := [each for each in scope.ready() if scope.nodes[each] in kept]:
            for place in counted:
                scope.branches[place].done, scope.branches[place].ended = True, "done"
                self._knows.statuses[scope.nodes[place]] = "COMPLETED"

    def _schedule(self, scope: Scope) -> None:
        """Let the branches of a schedule wait for room that need nothing more."""
        for place in [*scope.ready()]:
            scope.branches[place].begun = True
            handed = tuple(branch.last for branch in scope.needed(place))
            self._waiting.append(Arrival(scope.branches[place], scope.nodes[place], handed))

    def _block(self, scope: Scope, name: str) -> None:
        """Block what needs a stage that has not completed, be it through others."""
        for other, needed in scope.needs.items():
            if name in needed and self._knows.statuses.get(other) == "PENDING":
                self._knows.statuses[other] = "BLOCKED"
                self._block(scope, other)

    def _close_scheduled(self, scope: Scope, branch: Branch, outcome: str, over: Over) -> None:
        """End a branch of a schedule, and the schedule when none is left."""
        branch.ended = "failed" if over.result.get("verdict") == "skip" else outcome
        if self._knows.cancelled:
            if branch.ended != "done":
                self._block(scope, over.node)
            if not self._active:
                self._end("failed", self._knows.cancelled)
            return
        if branch.ended == "done":
            self._schedule(scope)
        else:
            self._block(scope, scope.nodes[scope.branches.index(branch)])
        if scope.is_over:
            self._close(scope.branch, scope.outcome, over)

    def _answer(self, key: str, answer: Any) -> None:
        if self._deadline is not None and self._deadline["key"] == key:
            self._deadline = None
            self._cancel_run("deadline")
            return
        for execution in self._active:
            if any(request["key"] == key for request in execution.asides):
                execution.asides = []
                return
            if execution.deadline is not None and execution.deadline["key"] == key:
                execution.task = Task(expire(execution))
                self._advance()
                return
            for request in execution.task.requests():
                if request["key"] == key:
                    execution.task.answer(request, answers.read(request["is"], answer))
                    self._advance()
                    return
        raise KeyError(key)

    def _end(self, outcome: str, reason: str) -> None:
        self._ended, self._reason, self._deadline = outcome, reason, None
        self._active, self._waiting = [], deque()

    def _advance(self) -> None:
        """Go on until everything waits for the world."""
        while self._ended is None:
            ended = next((each for each in self._active if each.task.ended), None)
            if ended is not None:
                self._active.remove(ended)
                self._follow(ended, ended.task.returned)
            elif self._waiting and self._acting() < self._plan["limits"].get("parallel", 1):
                self._begin(self._waiting.popleft())
            else:
                return

    def _acting(self) -> int:
        """Count the executions that take a place."""
        return sum(not each.rests for each in self._active)

    def _begin(self, arrival: Arrival) -> None:
        most, knows = self._plan["limits"].get("executions"), self._knows
        if most is not None and knows.executions >= most:
            self._end(self._plan["limits"].get("reached", "failed"), "limit")
            return
        node = self._plan["nodes"][arrival.node]
        found = (
            prompts(knows, node, arrival.prompt, knows.repeats.get(arrival.node, 0))
            if node["act"]["is"] == "prompt"
            else {}
        )
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
        self._has_place = not execution.rests
        if ended.failed is None or ended.result:
            self._knows.records[arrival.node] = ended.record
        if ended.failed is not None:
            self._end("failed", ended.failed)
        elif ended.again is not None:
            before = arrival.node if ended.stays else self._knows.came.get(arrival.node, arrival.node)
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
        elif kind == "schedule":
            self._schedule(Scope(target, branch, execution.name))
        elif kind == "each":
            self._each(target, execution, over)
        else:
            self._fork(Scope(target, branch, execution.name), over)

    def _next(self, arrival: Arrival) -> None:
        """Go on in a branch, which keeps its place among the nodes that act, unless it has waited for a time."""
        if self._has_place:
            self._waiting.appendleft(arrival)
        else:
            self._waiting.append(arrival)

    def _chain(self, scope: Scope, over: Over) -> None:
        """Begin the next branch of a chain, or leave it."""
        place = scope.next()
        if place is None:
            self._leave(scope, over)
        else:
            self._next(Arrival(scope.branches[place], scope.nodes[place], (over.result,), origin=over.node))

    def _each(self, target: Mapping[str, Any], execution: Execution, over: Over) -> None:
        branch, (root, *inside) = execution.arrival.branch, target["list"]
        found = follow(self._knows.inputs, inside) if root == "ctx" else follow(over.result, target["list"])
        if not isinstance(found, list) or len(found) > target["most"]:
            self._end("failed", "no-edge")
        elif found:
            self._admit(Scope(target, branch, execution.name, found))
        elif "join" in target:
            self._next(Arrival(branch, target["join"], (), origin=over.node))
        else:
            self._close(branch, "done", over)

    def _admit(self, scope: Scope) -> None:
        self._waiting.extend(Arrival(branch, scope.nodes[0], begins=True) for branch in scope.admit())

    def _close_element(self, scope: Scope, branch: Branch, outcome: str, over: Over) -> None:
        """Go on after a node for an element: with the next one, with other elements, or after all of them."""
        if outcome == "done" and branch.place + 1 < len(scope.nodes):
            branch.done, branch.place = False, branch.place + 1
            self._next(Arrival(branch, scope.nodes[branch.place], (over.result,), origin=over.node, begins=True))
        elif scope.next() is None:
            self._leave(scope, over)
        else:
            self._admit(scope)

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
            self._end(outcome, "consent" if self._refused else "stop")
        elif scope.kind == "schedule":
            self._close_scheduled(scope, branch, outcome, over)
        elif not scope.collects and (outcome != "done" or (scope.is_fork and over.result.get("verdict") == "skip")):
            self._cancel(scope)
            self._close(scope.branch, "failed" if outcome == "done" else outcome, over)
        elif not scope.is_fork:
            self._chain(scope, over)
        elif scope.kind == "each":
            self._close_element(scope, branch, "failed" if over.result.get("verdict") == "skip" else outcome, over)
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
        elif scope.collects or all(last.get("verdict", "ok") == "ok" for last in lasts):
            self._next(Arrival(scope.branch, scope.join, lasts, origin=over.node))
        else:
            self._end("failed", "join")


def _active(execution: Execution) -> State:
    return {
        "execution": execution.name,
        "branch": execution.arrival.branch.names(),
        "attempt": execution.attempt,
        "requests": [request["key"] for request in execution.requests()],
    }
