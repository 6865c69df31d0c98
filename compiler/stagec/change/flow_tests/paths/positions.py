"""The first positions of runs, with inputs that satisfy their schemas, and the positions of later states."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import islice, product

from stagec.core.canonical import compact
from stagec.core.json import MISSING, Json, Object, equal, follow, list_of, object_of
from stagec.core.place import Key
from stagec.core.value import value
from stagec.ir.plan.act import Carried, Prompt, Supply
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import Among, Exists, Reads, Term, VerdictGate
from stagec.runtime.machine import Program, Started, State
from stagec.runtime.machine.advance import find_trouble
from stagec.runtime.machine.exchange import Turn, read_key
from stagec.runtime.machine.execution import (
    Branch,
    Conversation,
    Execution,
    PendingJudgement,
    PendingMove,
    PendingPreflight,
    PendingTransition,
    PendingValidation,
    StageAttempt,
)
from stagec.runtime.machine.gate import verdict_of
from stagec.runtime.machine.state import Scope
from stagec.runtime.world.samples import RequiredValue, list_values, make_samples, make_value, read_text

_RUN = "test"


def list_starts(program: Program, entry: str | None = None) -> tuple[tuple[Started, ...], tuple[Started, ...]]:
    """Return a beginning for each entry, or for one, with the inputs that it needs; then those with other inputs."""
    first: list[Started] = []
    others: list[Started] = []
    inputs = _Inputs(program)
    for name in [*program.plan.entries] if entry is None else [entry]:
        selected = None if name == program.plan.entry else name
        every = {repr(given): given for given in inputs.list_all()}
        begun = [Started(_RUN, selected, given) for given in every.values()]
        fit = [each for each in begun if find_trouble(program, each) is None]
        first += fit[:1]
        others += fit[1:]
    return tuple(first), tuple(others)


@value
class OpenInput:
    """An input of which conditions may tell more values apart than are tried.

    Where nothing else is open, `tried` are the values at each path inside it; `schema` is that of the input.
    """

    name: str
    schema: str | None = None
    tried: tuple[tuple[tuple[Key, ...], tuple[Json, ...]], ...] = ()


def list_open_inputs(program: Program) -> Iterator[OpenInput]:
    """Yield the inputs with which runs may begin that conditions tell apart and that were not tried."""
    yield from _Inputs(program).list_open()


_COMBINATIONS = 200
"""Combinations of inputs that are tried."""


class _Inputs:
    """Inputs of the runs of a program, made up by their schemas."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def list_all(self) -> Iterator[Object]:
        """Yield inputs: those that are needed, all, and those with values that conditions tell apart."""
        known = self._program.plan.inputs
        made = {name: each for name in known if (each := self._make(name)) is not MISSING}
        needed = {name: each for name, each in made.items() if known[name].required and known[name].default is None}
        yield needed
        if made != needed:
            yield made
        values = {name: self._list_values(name, terms, made) for name, terms in self.group_terms().items()}
        for chosen in islice(product(*values.values()), _COMBINATIONS):
            yield needed | {name: each for name, each in zip(values, chosen, strict=True) if each is not MISSING}

    def list_open(self) -> Iterator[OpenInput]:
        """Yield the inputs of which conditions may tell more values apart than are tried."""
        known, count = self._program.plan.inputs, 1
        for name, terms in self.group_terms().items():
            values = self._list_values(name, terms, {})
            count *= len(values)
            told = [each for term in terms for each in _list_told(term)]
            others = [each for each in values if each is not MISSING and each not in told]
            paths = dict.fromkeys(term.path[2:] for term in terms)
            is_open = self._list_finite(name) is None and not others and known[name].schema is not None
            unlisted = [each for each in paths if each and self._list_finite(name, each) is None]
            if unlisted or (is_open and not any(paths)):
                wanted = unlisted or [()]
                tried = tuple((path, tuple(self._list_tried(terms, path, values))) for path in wanted)
                yield OpenInput(name, known[name].schema, tried)
        if count > _COMBINATIONS:
            yield from map(OpenInput, self.group_terms())
        named = {str(term.path[1]) for term in list_context_terms(self._program)}
        yield from map(OpenInput, sorted(named - known.keys()))

    def _list_tried(self, terms: Iterable[Term], path: tuple[Key, ...], values: list[Json]) -> Iterator[Json]:
        """Yield the values that conditions ask for at a path inside an input, and that one of some values has there."""
        standing = [follow(each, path) for each in values if each is not MISSING]
        asked = (each for term in terms if term.path[2:] == path for each in _list_told(term))
        yield from (each for each in asked if any(equal(each, one) for one in standing if one is not MISSING))

    def group_terms(self) -> Mapping[str, list[Term]]:
        """Return the conditions that look at an input, by its name."""
        found: dict[str, list[Term]] = {}
        for term in list_context_terms(self._program):
            name = str(term.path[1])
            if name in self._program.plan.inputs:
                found.setdefault(name, []).append(term)
        return found

    def _list_values(self, name: str, terms: Iterable[Term], made: Object) -> list[Json]:
        """Return values of an input that conditions tell apart: all that its schema lists, else some."""
        told, terms = self._program.plan.inputs[name], [*terms]
        listed = self._list_finite(name)
        if listed is None:
            listed = [each for term in terms if not term.path[2:] for each in _list_told(term)]
            listed += [made[name]] if name in made else [self._make(name)]
            listed += self._list_inside(name, terms)
        fit = [
            each
            for each in listed
            if each is not MISSING and self._program.answer_schemas.complaint(told.schema, each) is None
        ]
        unique = [each for at, each in enumerate(fit) if repr(each) not in map(repr, fit[:at])]
        return unique if told.required and told.default is None else [MISSING, *unique]

    def _list_inside(self, name: str, terms: Iterable[Term]) -> Iterator[Json]:
        """Yield values of an input for each combination of what conditions tell apart inside them."""
        wanted: dict[tuple[Key, ...], list[RequiredValue]] = {}
        for term in terms:
            if path := term.path[2:]:
                values = [*_list_told(term), *(self._list_finite(name, path) or ())]
                some = wanted.setdefault(path, [RequiredValue(path, absent=True)])
                some += [each for value in values if (each := RequiredValue(path, value)) not in some]
        for chosen in islice(product(*wanted.values()), _COMBINATIONS) if wanted else ():
            yield from islice(make_samples(self._program, self._program.plan.inputs[name].schema, chosen), 1)

    def _list_finite(self, name: str, path: Iterable[Key] = ()) -> list[Json] | None:
        """Return the values that the schema of an input lists one by one, at a path inside it."""
        return list_values(self._program, self._program.plan.inputs[name].schema, path)

    def _make(self, name: str) -> Json:
        schema, told = self._program.plan.inputs[name].schema, f"some {name}"
        if self._program.answer_schemas.complaint(schema, told) is None:
            return told
        return make_value(self._program, schema)


def list_context_terms(program: Program) -> Iterator[Term]:
    """Yield the conditions that look at the context of a stage, in which the inputs are."""
    for node in program.plan.nodes.values():
        terms = () if node.admission is None else (*node.admission.defer, *node.admission.block)
        checks = node.gate.checks if isinstance(node.gate, VerdictGate) else ()
        looked = (*terms, *(term for check in checks for term in check.when))
        yield from (term for term in looked if term.path[0] == "ctx" and len(term.path) > 1)


def _list_admission(plan: Plan) -> Iterator[Term]:
    """Yield the conditions that keep nodes from acting."""
    for node in plan.nodes.values():
        yield from () if node.admission is None else (*node.admission.defer, *node.admission.block)


def _list_told(term: Term) -> tuple[Json, ...]:
    """Return values for which a condition holds."""
    match term:
        case Among():
            return term.values
        case Reads():
            return (*map(read_text, term.texts), *term.texts)
        case Exists():
            return ("text", True)


@value
class RunPosition:
    """A state of the search: the position of a run, and the memory that later edges read."""

    place: Hashable
    memory: Hashable


class Positions:
    """Finds the positions of states of one program."""

    def __init__(self, program: Program) -> None:
        plan = program.plan
        self._program = program
        self._known: dict[Hashable, Hashable] = {}  # positions have most of what they describe in common
        self._numbers: dict[tuple[str, ...], int] = {}
        self._numbered: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._reads_items = any(term.path[1:2] == ("item",) for term in _list_admission(plan))
        supplies: list[Supply] = [] if plan.system is None else [*plan.system.variables.values()]
        for node in plan.nodes.values():
            if isinstance(node.act, Prompt):
                supplies += node.act.variables.values()
                supplies += (each for repeat in node.act.repeats or () for each in repeat.variables.values())
        self._carried = sorted({(each.node, each.key) for each in supplies if isinstance(each, Carried)})
        self._validated = [name for name, node in plan.nodes.items() if node.validation is not None]
        self._repeating = [
            name for name, node in plan.nodes.items() if isinstance(node.act, Prompt) and node.act.repeats is not None
        ]
        judge = plan.judge
        parts = [] if judge is None else [object_of(each) for each in list_of(judge.settings.get("conditions"))]
        kinds = [] if judge is None else [judge.kind, *(str(each.get("type")) for each in parts)]
        self._counted = any(each.startswith("count:") for each in kinds)

    def find(self, state: State) -> RunPosition:
        """Return the position of a state."""
        labels = _Labels(state)
        described = (self._describe(each, labels) for each in state.active.values())
        active = tuple(self._known.setdefault(each, each) for each in described)
        waiting = tuple((each.node, labels.of(each.branch), each.begins_branch) for each in state.waiting)
        scopes = tuple(
            (
                labels.of(Branch(name)),
                *self._describe_scope(scope),
                tuple((at, verdict_of(each)) for at, each in scope.results.items()),
            )
            for name, scope in state.scopes.items()
            if scope.agenda is None
        )
        keys = ((read_key(key), isinstance(each, Turn)) for key, each in state.pending.items())  # turns have no order
        pending = tuple((key.node, key.attempt, None if is_turn else key.index) for key, is_turn in keys)
        kinds = tuple(type(each).__name__ for each in state.pending.values())
        return RunPosition(
            (active, waiting, scopes, kinds, pending, *state.statuses.items()), tuple(self._list_memory(state))
        )

    def _describe_scope(self, scope: Scope) -> Iterator[Hashable]:
        """Yield what decides about a scope besides its results: one node may open different ones."""
        if id(scope.nodes) not in self._numbered:  # the nodes of a target are the same tuple in all states
            number = self._numbers.setdefault(scope.nodes, len(self._numbers))
            self._numbered[id(scope.nodes)] = number, scope.nodes
        yield from (self._numbered[id(scope.nodes)][0], scope.join)
        if scope.elements is not None:
            yield from (len(scope.elements), scope.collects, compact(scope.elements) if self._reads_items else "")

    def _describe(self, execution: Execution, labels: _Labels) -> Hashable:
        return (
            execution.node,
            labels.of(execution.branch),
            execution.begins_branch,
            *self._describe_progress(execution),
        )

    def _describe_progress(self, execution: Execution) -> tuple[Hashable, ...]:
        doing = execution.progress
        found: tuple[Hashable, ...] = (execution.attempt, execution.joins is not None)
        match doing:
            case Conversation():
                found = (execution.attempt, doing.asked, doing.turns, len(doing.calls), doing.failure)
                found += (compact(dict(doing.result)),) if doing.result else ()  # edges are chosen by it later
            case PendingValidation():
                found = ("validation", doing.index, doing.result.named, compact(doing.result.result))
            case PendingPreflight():
                found = ("preflight", doing.index)
            case PendingJudgement():
                found = ("judgement", *doing.answers)
            case StageAttempt():
                found = ("attempt", execution.attempt, doing.outcome)
            case PendingMove():
                found = ("move", doing.result.outcome, doing.result.named, compact(doing.result.result))
            case PendingTransition():
                found = ("transition", doing.result.outcome, doing.phase, len(doing.todo))
            case _:
                pass
        return found

    def _list_memory(self, state: State) -> Iterator[Hashable]:
        past = state.past
        yield tuple(key in (past[node].record or {}) if node in past else False for node, key in self._carried)
        yield tuple((past[name].origin, past[name].failures) if name in past else None for name in self._validated)
        yield tuple(past[name].repeats if name in past else 0 for name in self._repeating)
        yield (state.executions, state.judged) if self._counted else None
        if state.issue is not None and self._program.plan.phases is not None and self._program.plan.phases.row:
            yield state.issue.phase, state.issue.row


class _Labels:
    """The branches of one state, each by the nodes that have opened the scopes around it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._openers: dict[str, tuple[str, Branch]] = {}

    def of(self, branch: Branch) -> Hashable:
        """Return the name of a branch."""
        found: list[Hashable] = []
        while branch.scope is not None:
            if branch.scope not in self._openers:  # many branches are in one scope
                opener = "" if branch.scope.endswith("/") else read_key(f"{branch.scope}/1.0").node
                self._openers[branch.scope] = opener, self._state.scopes[branch.scope].around
            opener, around = self._openers[branch.scope]
            found.append((opener, branch.index))
            branch = around
        return tuple(found)
