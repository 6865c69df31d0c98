"""One run as its events tell it: its status, its position in the graph, and its use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from stagec.core.json import Json, Object
from stagec.core.value import NOTHING, replace, value
from stagec.ir.graph import build
from stagec.ir.plan import Plan
from stagec.ir.plan.node import Outcome, Schedule, Stop
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.drivers.history import list_branch
from stagec.runtime.drivers.local.request_descriptions import describe_event
from stagec.runtime.drivers.replay import BranchWalk
from stagec.runtime.drivers.usage_ledger import UsageLedger, total_to_json
from stagec.runtime.machine import Answered, Effect, Event, Move, Program, Started, State, StepResult
from stagec.runtime.machine.exchange import Rewound, execution_of, read_key, whole_key
from stagec.runtime.machine.failures import describe_failure, failure_to_json
from stagec.runtime.machine.state import find_asking
from stagec.runtime.world.models.port import TokenUse
from stagec.runtime.world.questions import AskedOfPeople, OpenQuestion, is_for_people, list_open_questions
from stagec.views.picture.document import Box, Line, Picture, Role, Stroke, box_of, forms_of
from stagec.views.picture.draw import draw
from stagec.views.picture.plan_flow import make_flow

_DONE = Stop(Outcome.DONE)


class RunDrawing:
    """The drawing of a plan. Boxes and lines are known by their numbers in the drawing, whatever their names."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    @cached_property
    def picture(self) -> Picture:
        """The boxes and lines."""
        return draw(build(make_flow(self._plan)), (), {})

    @cached_property
    def svg(self) -> str:
        """The drawing itself; every box has its number as `data-box`, every line as `data-line`."""
        from stagec.views.picture.layout import lay_out
        from stagec.views.svg.drawing import svg

        drawn = svg(self.picture, lay_out(self.picture), forms_of([self.picture]))
        return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes, by number."""
        return tuple(self.picture.boxes.values())

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each box."""
        return {name: number for number, name in enumerate(self.picture.boxes)}

    @cached_property
    def _leaving(self) -> dict[str, list[tuple[int, Line]]]:
        """The lines that leave each box, with their numbers."""
        found: dict[str, list[tuple[int, Line]]] = {}
        for number, line in enumerate(self.picture.lines):
            found.setdefault(line.source, []).append((number, line))
        return found

    @cached_property
    def _scheduled(self) -> frozenset[str]:
        """The nodes that begin when others have ended, wherever their own edges lead."""
        return frozenset(
            name for entry in self._plan.entries.values() if isinstance(entry, Schedule) for name in entry.needs
        )

    def _is_done(self, move: Move) -> bool:
        """Tell whether a move ends a branch as done."""
        return any(each.on == move.outcome and each.target == _DONE for each in self._plan.nodes[move.node].edges)

    def find_begun(self, nodes: tuple[str, ...]) -> Iterator[int]:
        """Yield the numbers of the lines by which a run begins with some nodes."""
        boxes = set(map(box_of, nodes))
        for number, line in enumerate(self.picture.lines):
            if line.stroke is Stroke.ENTRY and line.target in boxes:
                yield number

    def find_taken(self, move: Move) -> Iterator[int]:
        """Yield the numbers of the lines that a move takes.

        A branch that ends while others go on takes the line to what waits for all of them.
        """
        leaving = self._leaving.get(box_of(move.node), ())
        if move.node in self._scheduled:
            yield from (number for number, _ in leaving if self._is_done(move))
            return
        told = [each for each in leaving if _is_label(each[1], move.outcome)] or leaving
        targets = set(map(box_of, move.to))
        for number, line in told:
            if self.picture.boxes[line.target].role is Role.CHOICE:
                further = [each for each, after in self._leaving.get(line.target, ()) if after.target in targets]
                yield from (number, *further) if further else ()
            elif _leads_as(line, move, targets):
                yield number


def _leads_as(line: Line, move: Move, targets: Collection[str]) -> bool:
    """Tell whether a line leads to where a move does."""
    if move.to:
        return line.target in targets
    if move.end == Outcome.BLOCKED:  # the box of runs that wait for somebody, or of all that have not succeeded
        return line.target in {Outcome.INTERRUPTED, Outcome.FAILED}
    return line.target == move.end if move.end else line.stroke is Stroke.JOIN


def _is_label(line: Line, outcome: str) -> bool:
    """Tell whether a line says that it is taken with an outcome."""
    return any(each == outcome or each.startswith(f"{outcome}:") for each in line.labels)


_NO_USE = TokenUse()
_BUDGETS = ("max-tokens", "max-cost", "max-time")
"""The budgets that journals remember."""
_STAGES: Mapping[str, str] = {
    StageStatus.FAILED: "failed",
    StageStatus.BLOCKED: "failed",
    StageStatus.INTERRUPTED: "interrupted",
    StageStatus.RESUMABLE: "interrupted",
}


@value
class RequestRecord:
    """A request, the numbers of the events that made and answered it, and the answer; `end` None: there is none.

    `parts` has the parts of the answer, each with the number of its event.
    """

    effect: Effect
    begin: int
    end: int | None = None
    answer: Json = None
    parts: tuple[tuple[int, Json], ...] = ()


@value
class JournalRow:
    """An event of a run in words: the request, the answer, and the next node."""

    seq: int
    node: str
    who: str
    what: str
    answer: str
    moves: tuple[Move, ...]

    def to_json(self) -> Object:
        """Return the row as the page shows it."""
        moves: list[Json] = [
            {"node": each.node, "visit": each.visit, "outcome": each.outcome, "to": list(each.to), "end": each.end}
            for each in self.moves
        ]
        return {
            "seq": self.seq,
            "node": self.node,
            "who": self.who,
            "what": self.what,
            "answer": self.answer,
            "moves": moves,
        }


class RunView:
    """One run, folded event by event. What is heavy is worked out when somebody looks at it."""

    def __init__(self, program: Program, drawing: RunDrawing) -> None:
        self.program, self.drawing = program, drawing
        self._walk, self.state = BranchWalk(program), State()
        self.events: list[Event] = []
        self.rows: list[JournalRow] = []
        self.records: dict[str, RequestRecord] = {}
        self.executions: dict[str, dict[str, list[str]]] = {}
        self._usage = UsageLedger()
        self._taken: dict[int, int] = {}
        self._last: frozenset[int] = frozenset()
        self._outcomes: dict[str, Move] = {}
        self.outcomes: dict[tuple[str, int], str] = {}

    def take(self, event: Event) -> None:
        """Take the next event."""
        seq, before = len(self.events), self.state
        step = self._walk.take(event)
        self.events.append(event)
        self.rows.append(_describe(seq, before, event, step))
        if isinstance(event, Rewound):
            self._forget_abandoned()
        self._note(seq, event, step)
        self._usage.take(event, step)
        begun = self._find_begun(event, step.state)
        moves = [move for move in step.moves if not move.run]  # those of agents are in no drawing
        if step.program is not None:
            self._change_plan(step.program)
        if isinstance(event, Rewound):
            self._draw_branch()
        lines = [*begun, *(line for move in moves for line in self.drawing.find_taken(move))]
        for line in lines:
            self._taken[line] = self._taken.get(line, 0) + 1
        self._last = frozenset(lines) or self._last
        self._outcomes.update((move.node, move) for move in moves)
        self.outcomes.update(((move.node, move.visit), move.outcome) for move in moves)
        self.state = step.state

    def _change_plan(self, program: Program) -> None:
        """Go on with the drawing of another plan, on which the run has taken what it has of it."""
        self.program, self.drawing = program, RunDrawing(program.plan)
        known = program.plan.nodes
        moves = [move for row in self.rows for move in row.moves if not move.run and move.node in known]
        self._taken = dict(Counter(line for move in moves for line in self.drawing.find_taken(move)))
        self._last = frozenset()

    def _forget_abandoned(self) -> None:
        """Forget the requests and the ends of executions that are not on the present branch of the history."""
        branch = set(list_branch(self.events))
        self.records = {key: each for key, each in self.records.items() if each.begin in branch}
        for key, record in self.records.items():
            parts = [(at, each) for at, each in record.parts if at in branch]
            self.records[key] = replace(record, parts=tuple(parts))
        moves = [move for seq in sorted(branch) for move in self.rows[seq].moves if not move.run]
        self._outcomes = {move.node: move for move in moves}
        self.outcomes = {(move.node, move.visit): move.outcome for move in moves}
        for node, executions in self.executions.items():
            kept = {name: [key for key in keys if key in self.records] for name, keys in executions.items()}
            self.executions[node] = {name: keys for name, keys in kept.items() if keys}

    def _draw_branch(self) -> None:
        """Count the lines that the present branch of the history has taken."""
        branch, known = list_branch(self.events), self.program.plan.nodes
        lines = Counter(self._find_begun(self.events[0], self.state))
        for seq in branch:
            moves = [move for move in self.rows[seq].moves if not move.run and move.node in known]
            lines.update(line for move in moves for line in self.drawing.find_taken(move))
        self._taken, self._last = dict(lines), frozenset()

    def _note(self, seq: int, event: Event, step: StepResult) -> None:
        """Remember what was answered and what is asked now."""
        asked = self.records.get(event.key) if isinstance(event, Answered) else None
        if isinstance(event, Answered) and asked is not None and asked.end is None:
            self.records[event.key] = replace(asked, end=seq, answer=event.answer)
        whole = whole_key(event.key) if isinstance(event, Answered) else None
        if isinstance(event, Answered) and whole is not None and whole in self.records:
            known = self.records[whole]
            self.records[whole] = replace(known, parts=(*known.parts, (seq, event.answer)))
        for effect in step.effects:
            asking = find_asking(step.state.active, effect.key)
            execution = execution_of(effect.key) if asking is None else asking.key
            node = read_key(effect.key).node if asking is None else asking.node
            keys = self.executions.setdefault(node, {}).setdefault(execution, []) if node else list[str]()
            if effect.key not in self.records:
                keys.append(effect.key)
            before = self.records.get(effect.key)  # one that is made again in a branch that begins within it
            parts = () if before is None or before.end is not None else before.parts
            self.records[effect.key] = RequestRecord(effect, seq, parts=parts)

    def _find_begun(self, event: Event, state: State) -> Iterable[int]:
        entry = self.program.plan.entries.get(state.entry) if isinstance(event, Started) else None
        if entry is None:
            return ()
        nodes = (entry,) if isinstance(entry, str) else tuple(name for name, needs in entry.needs.items() if not needs)
        return self.drawing.find_begun(nodes)

    @property
    def uses(self) -> TokenUse:
        """The use of models so far."""
        return self._usage.total or _NO_USE

    @property
    def questions(self) -> tuple[AskedOfPeople, ...]:
        """The present questions to people."""
        return tuple(each for each in self.state.pending.values() if is_for_people(each))

    def list_questions(self) -> list[OpenQuestion]:
        """Return the present questions to people, in words."""
        return list(list_open_questions(self.program, self.questions, self.state.active))

    def describe_flow(self, *, is_executed: bool = True) -> Object:
        """Return how every box and line of the drawing stands; where nobody executes the run, no node acts or waits."""
        active = self._find_active()
        active = active if is_executed else dict.fromkeys(active, "interrupted")
        nodes: list[Json] = [self._describe_box(*each, active) for each in enumerate(self.drawing.boxes)]
        edges: list[Json] = [self._describe_line(*each) for each in enumerate(self.drawing.picture.lines)]
        ended = None if self.state.ended is None else str(self.state.ended)
        return {"plan": self.program.digest, "nodes": nodes, "edges": edges, "ended": ended}

    def _describe_box(self, number: int, box: Box, active: Mapping[str, str]) -> Object:
        told: Object = {"box": number, "role": box.role.value, "kind": box.kind, "title": box.name}
        node = self.program.plan.nodes.get(box.name) if box.role is Role.NODE else None
        if node is None:
            return {**told, "node": None, "status": "", "visits": 0, "usage": total_to_json(_NO_USE)}
        visits = self._count_visits(box.name)
        return {
            **told,
            "node": box.name,
            "title": node.title or box.name,
            "status": self._judge(box.name, visits, active),
            "visits": visits,
            "usage": total_to_json(self._usage.nodes.get(box.name, _NO_USE)),
        }

    def _describe_line(self, number: int, line: Line) -> Object:
        numbers = self.drawing.numbers
        return {
            "line": number,
            "source": numbers[line.source],
            "target": numbers[line.target],
            "label": ", ".join(line.labels),
            "taken": self._taken.get(number, 0),
            "last": number in self._last,
        }

    def _find_active(self) -> Mapping[str, str]:
        """Return the nodes that act or wait, each with its state."""
        found = {each.node: "queued" for each in self.state.waiting}
        found |= {each.node: "active" for each in self.state.active.values()}
        asking = (find_asking(self.state.active, each.key) for each in self.questions)
        return found | {each.node: "waiting" for each in asking if each is not None}

    def _count_visits(self, name: str) -> int:
        history = self.state.past.get(name)
        active = max(
            (read_key(f"{each.key}/1.0").visit for each in self.state.active.values() if each.node == name), default=0
        )
        return max(active, 0 if history is None else history.visits)

    def _judge(self, name: str, visits: int, active: Mapping[str, str]) -> str:
        """Return how a node stands."""
        failure, last = self.state.failure, self._outcomes.get(name)
        if self.state.ended is None and name in active:
            return active[name]
        if failure is not None and failure.node == name:
            return "failed"
        stage = _STAGES.get(self.state.statuses.get(name, ""))
        if stage is not None:
            return stage
        if last is not None and last.end == "failed":
            return "failed"
        return "visited" if visits else "idle"

    def describe_budget(self, facts: Mapping[str, str] = NOTHING) -> Object:
        """Return the use of the run, and its budget at the beginning."""
        limits = {name.replace("-", "_"): facts[name] for name in _BUDGETS if name in facts}
        return {**total_to_json(self.uses), "limits": limits}

    def describe_failure(self) -> Json:
        """Return why the run has failed; null where it has not."""
        failure = self.state.failure
        told = failure_to_json(failure)
        return (
            {**told, "sentence": describe_failure(failure)} if failure is not None and isinstance(told, dict) else None
        )


def _find_node(state: State, key: str) -> str:
    """Return the node that has made a request, itself or in the run of its agent."""
    asking = find_asking(state.active, key)
    return read_key(key).node if asking is None else asking.node


def _describe(seq: int, before: State, event: Event, step: StepResult) -> JournalRow:
    who, what, answer = describe_event(before.pending, event)
    key = (whole_key(event.key) or event.key) if who and isinstance(event, Answered) else None
    return JournalRow(seq, "" if key is None else _find_node(before, key), who, what, answer, step.moves)
