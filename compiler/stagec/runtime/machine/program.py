"""A plan that is prepared for running: validators, routes and templates made once; the edge of an outcome."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from stagec.core.canonical import as_text
from stagec.core.json import MISSING, Json, follow
from stagec.core.value import NOTHING, replace, value
from stagec.ir.plan.act import Choice, Each, Hole, Template, Text
from stagec.ir.plan.document import Plan
from stagec.ir.plan.loader import Loaded, PlanError, load_agents, read_frame
from stagec.ir.plan.loader import load as load_plan
from stagec.ir.plan.loader import verify as verify_plan
from stagec.ir.plan.node import Edge, Go, Named, Pick, Schedule, Target
from stagec.runtime.machine.answer_schemas import AnswerSchemas, find_unusable
from stagec.runtime.machine.exchange import read_agent_run, run_of
from stagec.runtime.machine.json_values import all_hold

_LENIENT = frozenset({"failure", "this"})
"""Names below which a hole that leads to nothing is the empty text."""
EVERYWHERE = _LENIENT | {"variable", "stdin"}
"""The same, in system prompts."""


class UnfilledError(Exception):
    """A hole that leads to nothing where there must be something."""

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__(".".join(map(str, path)))
        self.path = path


@value
class Renderer:
    """Makes texts of templates with the contents of one plan."""

    contents: Mapping[str, str]

    def render(self, template: Template, scope: Mapping[str, Json], lenient: Container[str | int] = _LENIENT) -> str:
        """Return the text of a template in a scope.

        Raise `UnfilledError` for a hole without value whose path does not begin with a lenient name.
        """
        if len(template) == 1 and type(template[0]) is Text:
            return self.contents[template[0].content]
        return "".join(self._pieces(template, scope, lenient))

    def _pieces(self, template: Template, scope: Mapping[str, Json], lenient: Container[str | int]) -> Iterator[str]:
        for piece in template:
            match piece:
                case Text():
                    yield self.contents[piece.content]
                case Hole():
                    yield _fill(piece, scope, lenient)
                case Each():
                    found = follow(scope, piece.path)
                    for element in found if type(found) is list else ():
                        yield from self._pieces(piece.body, {**scope, "this": element}, lenient)
                case Choice():
                    known = follow(scope, piece.path)
                    is_something = known is not MISSING and (type(known) is dict or bool(known))
                    chosen = piece.then if is_something else piece.otherwise
                    yield from self._pieces(chosen, scope, lenient)


def _fill(hole: Hole, scope: Mapping[str, Json], lenient: Container[str | int]) -> str:
    found = follow(scope, hole.path)
    if found is not MISSING:
        return as_text(found)
    if hole.path and hole.path[0] in lenient:
        return ""
    raise UnfilledError(hole.path)


@value
class PreparedSchedule:
    """A schedule by numbers: its nodes, those that each needs, and those that need each, in the order of the plan."""

    schedule: Schedule
    nodes: tuple[str, ...]
    index: Mapping[str, int]
    needs: tuple[tuple[int, ...], ...]
    users: tuple[tuple[int, ...], ...]

    @property
    def first(self) -> tuple[int, ...]:
        """The nodes that need nothing."""
        return tuple(place for place, needs in enumerate(self.needs) if not needs)

    def release(self, over: Iterable[int], left: Mapping[int, int]) -> tuple[list[int], dict[int, int]]:
        """Return the nodes that need nothing more after some others have ended, and how many each still needs.

        `left` tells how many predecessors a node still waits for, if that is less than all.
        """
        ready: list[int] = []
        changed: dict[int, int] = {}
        for place in over:
            for user in self.users[place]:
                known = changed.get(user)
                if known is None:
                    known = left.get(user, len(self.needs[user]))
                changed[user] = known - 1
                if known == 1:
                    ready.append(user)
        return ready, changed


def list_schedules(plan: Plan) -> Iterator[Schedule]:
    """Yield the schedules of a plan, those of its entries first."""
    yield from (entry for entry in plan.entries.values() if type(entry) is Schedule)
    targets = (edge.target for node in plan.nodes.values() for edge in node.edges)
    yield from (target for target in targets if type(target) is Schedule)


def prepare(schedule: Schedule) -> PreparedSchedule:
    """Prepare a schedule, in linear time."""
    index = {name: place for place, name in enumerate(schedule.needs)}
    needs = tuple(tuple(index[each] for each in needed) for needed in schedule.needs.values())
    users: list[list[int]] = [[] for _ in needs]
    for place, needed in enumerate(needs):
        for each in needed:
            users[each].append(place)
    return PreparedSchedule(schedule, tuple(schedule.needs), index, needs, tuple(map(tuple, users)))


@value
class Program:
    """A plan, the digest that names it, and what is prepared for running it.

    `routes` are the edges of every node by outcome; in place of a `Pick` stands what it names, one value for all.
    `schedules` are its schedules, prepared, `agents` the programs of the agents that its nodes run.
    """

    plan: Plan
    digest: str
    routes: Mapping[str, Mapping[str, tuple[Edge, ...]]]
    renderer: Renderer
    answer_schemas: AnswerSchemas
    schedules: tuple[PreparedSchedule, ...] = ()
    agents: Mapping[str, Program] = NOTHING


_verified: dict[str, None] = {}
"""The digests of the plans that this process has verified: a digest stands for every byte of a file."""
_MOST = 10_000


def load(data: bytes) -> Program:
    """Return the program of a plan's file, or raise `stagec.ir.plan.PlanError`.

    A plan is verified when a process first loads it; later only as far as `stagec.ir.plan.loader` checks.
    """
    digest, _ = read_frame(data)
    loaded = load_plan(data) if digest in _verified else verify(data)
    agents = {name: _prepare(each.plan, each.digest) for name, each in loaded.agents.items()}
    return replace(_prepare(loaded.plan, digest), agents=agents)


def verify(data: bytes) -> Loaded:
    """Return the plan in a file's bytes, or raise `stagec.ir.plan.PlanError` for whatever is wrong with it.

    In addition to `stagec.ir.plan.verify` it refuses a content that judges values and is no JSON Schema.
    """
    loaded = verify_plan(data)
    for each in (loaded, *loaded.agents.values()):
        for content, why in find_unusable(each.plan):
            raise PlanError(f"its content {content} is no schema that can be used: {why}")
    if len(_verified) >= _MOST:
        _verified.clear()
    _verified[loaded.digest] = None
    return loaded


def program_of(plan: Plan, digest: str = "") -> Program:
    """Return the program of a plan that was not read from a file; raise `PlanError` for an agent's plan in it."""
    agents = {name: _prepare(each.plan, each.digest) for name, each in load_agents(plan).items()}
    return replace(_prepare(plan, digest), agents=agents)


def join_programs(old: Program, new: Program) -> Program:
    """Return the program of a run that has changed its plan: the new one, with what was asked under the old one.

    The contents of the old plan stay, because requests without an answer name them.
    """
    known = old.agents
    agents = {name: _join(known[name], each) if name in known else each for name, each in new.agents.items()}
    return replace(_join(old, new), agents=agents)


def _join(old: Program, new: Program) -> Program:
    return _prepare(replace(new.plan, contents={**old.plan.contents, **new.plan.contents}), new.digest)


def find_program(program: Program, key: str) -> Program:
    """Return the program that makes the request of a key: that of an agent, or of the run itself."""
    named = read_agent_run(run_of(key)) if program.agents else None
    return program if named is None else program.agents.get(named.agent, program)


def _prepare(plan: Plan, digest: str) -> Program:
    choices = {name: Named(nodes) for name, nodes in plan.choices.items()}
    routes = {
        name: group_by_outcome(_resolve(each, choices) for each in node.edges) for name, node in plan.nodes.items()
    }
    schedules = tuple(prepare(each) for each in list_schedules(plan))
    return Program(plan, digest, routes, Renderer(plan.contents), AnswerSchemas(plan.contents), schedules)


def find_schedule(program: Program, schedule: Schedule) -> int:
    """Return the number of a schedule of the plan."""
    return next(number for number, prepared in enumerate(program.schedules) if prepared.schedule is schedule)


def _resolve(edge: Edge, choices: Mapping[str, Named]) -> Edge:
    return replace(edge, target=choices[edge.target.choices]) if type(edge.target) is Pick else edge


def choose(edges: Iterable[Edge], result: Json, named: str | None = None) -> Target | None:
    """Return the target of the edge that a result takes; None if it takes none."""
    edge = choose_edge(edges, result, named)
    return None if edge is None else edge.target


def choose_edge(edges: Iterable[Edge], result: Json, named: str | None = None) -> Edge | None:
    """Return the first of the edges of one outcome that a result can take; None if it takes none.

    `named` is the node that the answer names. A target that leaves the choice to the answer is returned decided.
    """
    for edge in edges:
        if edge.when and not all_hold(edge.when, result):
            continue
        target = edge.target
        if type(target) is not Named:
            return edge
        if named in target.nodes:
            return replace(edge, target=Go(target.nodes[str(named)]))
    return None


def group_by_outcome(edges: Iterable[Edge]) -> Mapping[str, tuple[Edge, ...]]:
    """Return edges by the outcome that allows them, in their order."""
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        found.setdefault(edge.on, []).append(edge)
    return {outcome: tuple(each) for outcome, each in found.items()}
