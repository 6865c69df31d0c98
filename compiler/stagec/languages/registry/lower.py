"""Lower a step registry to the flow that it describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.json import Json, object_of, text_in, whole_of
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.ir.flow import Bound, Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.plan.gate import Reads
from stagec.ir.plan.node import Edge, Go, Named, Outcome, Stop
from stagec.languages.registry.answers import (
    DEFAULT,
    conditionals,
    disagreements,
    find_untaken,
    list_offered_by,
    open_jump,
)
from stagec.languages.registry.document import INTENTS, Intent, Registry, Step, StepKind, Transition
from stagec.languages.registry.inputs import list_reads
from stagec.languages.registry.supply import find_unserved_verdict
from stagec.sources.contract.schemas import Miss, Schema

_ROUTING = frozenset({StepKind.WORK.value, StepKind.VERIFICATION.value})
_KINDS: Mapping[tuple[StepKind, str], frozenset[str]] = {
    (StepKind.WORK, Intent.NEXT): _ROUTING,
    (StepKind.WORK, Intent.JUMP): _ROUTING,
    (StepKind.WORK, Intent.HANDOFF): frozenset({StepKind.CLOSURE.value}),
    (StepKind.VERIFICATION, Intent.ESCALATE): _ROUTING,
    (StepKind.CLOSURE, Intent.REPEAT): frozenset({StepKind.WORK.value}),
}
"""The kinds of step that an intent may lead to, where not all are."""

CONTINUED = " (continuation)"
"""The suffix of the verdict type in the names of entries that are the continuation of a pair."""
_NAMES = {"node": "step", "outcome": "intent"}


def lower(document: Registry) -> Flow:
    """Return the flow of a registry; sections are parts of prompts and therefore no nodes."""
    return _Lowering(document).flow()


@value
class _LoweredStep:
    """A lowered step with some facts about its successors."""

    node: FlowNode
    around: tuple[object, ...] | None
    exact: bool
    suspect: bool
    ignored: tuple[WrittenEdge, ...]


class _Lowering:
    """Builds one flow and notes whether anything was too broken to become a part of it."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._exact = registry.is_whole and not registry.broken_steps
        self._suspect = bool(registry.gateless) or find_unserved_verdict(registry) is not None
        self._open: set[str] = set()
        self._naming: set[str] = set()
        self._picks: dict[int, Named] = {}
        self._equal_picks: dict[tuple[tuple[str, str], ...], Named] = {}
        self._lost: list[WrittenEdge] = []
        self._lost_entries: list[tuple[str, Entry]] = []

    def flow(self) -> Flow:
        registry = self._registry
        steps = [step for step in registry.steps.values() if not step.is_section]
        lowered = [self._lower(step) for step in steps]
        nodes = {each.node.id: each.node for each in lowered}
        entries = dict(self._entries())
        # a verdict that counts iterations is reached with their largest number
        counts, most = registry.agent is not None and registry.agent.verdict == "count:iteration", _find_most(registry)
        # the steps that a run can enter by their ids and their keys
        keys = {step.key: step.key for step in steps}
        return Flow(
            id=registry.id,
            at=registry.at,
            entries=entries,
            nodes=nodes,
            bound=None if counts else most,
            exact=self._exact,
            suspect=self._suspect,
            strays=registry.has_strays,
            names=_NAMES,
            open=frozenset(self._open),
            called={**{name: key for name, key in registry.aliases.items() if key in keys}, **keys},
            lost=tuple(self._lost),
            lost_entries=tuple(self._lost_entries),
            reads=tuple(list_reads(registry)),
            ignored=tuple(ignored for each in lowered for ignored in each.ignored),
            counted_at=most.at if counts and most is not None else None,
        )

    def _lower(self, step: Step) -> _LoweredStep:
        """Return a lowered step, from an earlier check if everything that it depends on is the same."""
        around = self._look_around(step) if self._registry.keeps_steps else None
        known = step.known.find("lowered")
        if around is None or not isinstance(known, _LoweredStep) or known.around != around:
            outer, self._exact, self._suspect = (self._exact, self._suspect), True, False
            node = self._node(step)
            known = _LoweredStep(node, around, self._exact, self._suspect, tuple(_list_ignored(step)))
            self._exact, self._suspect = outer
            if around is not None:
                step.known.put("lowered", known)
        self._exact, self._suspect = self._exact and known.exact, self._suspect or known.suspect
        return known

    def _look_around(self, step: Step) -> tuple[object, ...] | None:
        """Return everything that the meaning of a step depends on besides the step.

        Return None where more than the prompt and named steps count: where an answer names the next step, or where a
        name leads nowhere, into a section, or on from a step without a gate.
        """
        if step.gate is None or Intent.JUMP in step.gate.allowed:
            return None
        prompt = self._registry.prompts.of_steps.get(step.key)
        around: list[object] = [prompt.file if prompt is not None else None]
        for move in step.moves:
            if move.target is not None:
                target = self._registry.steps.get(move.target)
                if target is None or target.is_section:
                    return None
                around.append(target.acts_as)
        return tuple(around)

    def _node(self, step: Step) -> FlowNode:
        edges = tuple(self._ways(step))
        if step.gate is not None:
            self._exact = self._exact and not _is_broken(step)
            self._suspect = self._suspect or self._is_in_doubt(step)
        kind = step.acts_as.value if step.acts_as is not None else None
        decided_at = step.allowed_at if step.gate is not None else None
        # what belongs to a step and is written in other files
        parts: list[tuple[str, Place]] = []
        prompt = self._registry.prompts.of_steps.get(step.key)
        if prompt is not None and prompt.file is not None:
            parts.append(("prompt", Place(prompt.file)))
        if step.output is not None and isinstance(step.output.found, Schema):
            parts.append(("schema", step.output.found.at))
        idle, names_any = step.gate is None, step.key in self._naming
        return FlowNode(
            step.key, step.at, kind, edges, idle=idle, decided_at=decided_at, parts=tuple(parts), names_any=names_any
        )

    def _entries(self) -> Iterator[tuple[str, Entry]]:
        """Yield the entries of runs, and the continuations of pairs that begin with another step."""
        first, second = self._registry.entries, self._registry.continuations
        others = ((name, each) for name, each in second.items() if name not in first or first[name].name != each.name)
        every = (*first.items(), *((f"{name}{CONTINUED}", each) for name, each in others))
        for verdict, mention in every:
            found = self._guess_meant(mention.name)
            if found is None or found.is_section:
                self._exact = False
                self._lost_entries.append((verdict, Entry(mention.name, mention.at)))
                continue
            if not self._registry.has_step(mention.name):
                self._suspect = True
                self._lost_entries.append((verdict, Entry(mention.name, mention.at)))
            yield verdict, Entry(found.key, mention.at)

    def _ways(self, step: Step) -> Iterator[WrittenEdge]:
        if step.program is not None:
            return self._leave_program(step)
        return self._edges(step) if step.gate is not None else self._leave_ungated(step)

    def _edges(self, step: Step) -> Iterator[WrittenEdge]:
        untaken = find_untaken(step)
        for move in step.moves:
            ended = _end(step, move)
            if ended is not None:
                yield ended
            if move.target is not None and (ended is None or move.intent == Intent.CLOSING):
                self._suspect = self._suspect or ended is not None
                led = self._lead(step, move, move.target)
                if led is not None:
                    yield replace(led, untaken=True) if (move.intent, move.case) in untaken else led
            elif ended is None:
                self._exact = False
        repeat = step.gate.allowed.get("repeat") if step.gate is not None else None
        routed = frozenset[str]() if "transitions" not in step.body else step.intents
        if repeat is not None and routed is not None and "repeat" not in routed:
            yield WrittenEdge(step.key, Edge("repeat", Go(step.key)), step.allowed_at / repeat)
        yield from self._jumps(step)

    def _lead(self, step: Step, move: Transition, name: str) -> WrittenEdge | None:
        """Return the edge to the step that a move names, or was most likely meant to name."""
        exact = self._registry.steps.get(name)
        target = exact or self._guess_meant(name)
        repair = exact is None and not self._registry.has_step(name)
        if repair or target is None or target.is_section:
            self._lost.append(WrittenEdge(step.key, Edge(move.intent, Go(name), _terms(step, move)), step.place(move)))
        if target is None or target.is_section:
            self._exact = False
            return None
        kinds = None if move.is_fallback else _kinds(step, move.intent, target)
        is_foreign = kinds is not None and target.acts_as is not None and target.acts_as.value not in kinds
        if repair or is_foreign:
            self._suspect = True
        to, when = Go(target.key), _terms(step, move)
        return WrittenEdge(
            step.key,
            Edge(move.intent, to, when),
            step.place(move),
            fallback=move.is_fallback,
            kinds=kinds,
            repair=repair,
        )

    def _jumps(self, step: Step) -> Iterator[WrittenEdge]:
        """Yield an edge to the steps that an answer may name as the target of a jump."""
        if step.gate is None or "jump" not in step.gate.allowed:
            return
        if not step.gate.target_field:
            self._suspect = self._suspect or "jump" not in (step.intents or ())
            return
        at = step.gate_at / "targetField"
        values = step.output.values.get(step.gate.target_field) if step.output is not None else None
        if not isinstance(values, tuple):
            self._naming.add(step.key)
        if values is Miss.NO_MEMBER or values is Miss.INVOLVED:
            self._open.add(step.key)
        elif not isinstance(values, tuple):
            self._exact = False
        picked = self._pick(values) if isinstance(values, tuple) else None
        if picked is not None and picked.nodes:
            kinds = _KINDS.get((step.acts_as, Intent.JUMP.value)) if step.acts_as is not None else None
            yield WrittenEdge(step.key, Edge(Intent.JUMP.value, picked), at, kinds=kinds)

    def _pick(self, values: tuple[Json, ...]) -> Named:
        """Return the steps that some values name; equal ones are one, and found again by the identity of the values."""
        known = self._picks.get(id(values))
        if known is None:
            found = {name: self._registry.step(name) for name in values if isinstance(name, str)}
            names = {name: step.key for name, step in found.items() if step is not None and not step.is_section}
            known = self._picks[id(values)] = self._equal_picks.setdefault(tuple(names.items()), Named(names))
        return known

    def _leave_program(self, step: Step) -> Iterator[WrittenEdge]:
        """Yield the moves of a step that runs a program: where no transition says else, it is done or runs again."""
        edges = tuple(self._edges(step) if step.gate is not None else ())
        yield from edges
        taken = {edge.on for edge in edges if not edge.when}
        if Intent.CLOSING not in taken:
            yield WrittenEdge(step.key, Edge(Intent.CLOSING.value, Stop(Outcome.DONE)), step.at / "runner")
        if Intent.REPEAT not in taken:
            yield WrittenEdge(step.key, Edge(Intent.REPEAT.value, Go(step.key)), step.at / "runner")

    def _leave_ungated(self, step: Step) -> Iterator[WrittenEdge]:
        """Yield the moves of a step without a gate: on to its continuation, and out when the verdict is reached."""
        following = following_of(self._registry, step)
        if following is not None:
            yield WrittenEdge(step.key, Edge("next", Go(following)), step.at)
        yield WrittenEdge(step.key, Edge("verdict", Stop(Outcome.DONE)), step.at)

    def _guess_meant(self, name: str) -> Step | None:
        """Return the step a name means, or the one it was most likely meant to be."""
        found = self._registry.step(name)
        if found is not None or name in self._registry.broken_steps:
            return found
        near = self._registry.step_names.nearest(name)
        return self._registry.steps.get(near) if near is not None else None

    def _is_in_doubt(self, step: Step) -> bool:
        """Tell whether something else is said of a step that, when mended, may add an edge."""
        if step.gate is None:
            return True
        needs_none = step.gate.allowed.keys() <= _UNROUTED and "transitions" not in step.body
        if (step.intents is None and not needs_none) or (not step.gate.allowed and list_offered_by(step) != {}):
            return True
        if disagreements(step) or open_jump(self._registry, step) is not None:
            return True
        return any(each.is_open for each in conditionals(step))


def _list_ignored(step: Step) -> Iterator[WrittenEdge]:
    """Yield the moves that no run takes: those of a step without a gate, targets of `abort`, and impossible cases."""
    untaken = find_untaken(step)
    for move in step.moves:
        is_taken = step.gate is not None and move.intent != Intent.ABORT and (move.intent, move.case) not in untaken
        if move.target is not None and not is_taken:
            yield WrittenEdge(step.key, Edge(move.intent, Go(move.target)), step.place(move))


def following_of(registry: Registry, step: Step) -> str | None:
    """Return the step that follows one without a gate: its continuation, and after that itself."""
    name = f"continuation.{step.key.removeprefix('initial.')}" if step.key.startswith("initial.") else step.key
    found = registry.steps.get(name)
    return name if found is not None and not found.is_section else None


def _end(step: Step, move: Transition) -> WrittenEdge | None:
    """Return the edge by which a move ends the run: `closing` completes it, `abort` fails it whatever its target."""
    if move.intent == Intent.ABORT:
        return WrittenEdge(step.key, Edge(move.intent, Stop(Outcome.FAILED), _terms(step, move)), step.place(move))
    if move.intent == Intent.CLOSING and not move.is_fallback:
        return WrittenEdge(step.key, Edge(move.intent, Stop(Outcome.DONE), _terms(step, move)), step.place(move))
    return None


def _terms(step: Step, move: Transition) -> tuple[Reads, ...]:
    """Return the condition of a conditional move: the value of the hand-off key that chooses it."""
    if move.case is None or move.case == DEFAULT:
        return ()
    condition = text_in(object_of(object_of(step.body.get("transitions")).get(move.intent)), "condition")
    return (Reads((condition,), (move.case,)),) if condition is not None else ()


def _kinds(step: Step, intent: str, target: Step) -> frozenset[str] | None:
    """Return the kinds of step that an intent of a step may lead to; a step may always repeat itself.

    Work may also hand off to the first step of another flow.
    """
    if step.acts_as is None or (target.key == step.key and intent == Intent.REPEAT):
        return None
    phase, _, flow = target.key.partition(".")
    if intent == Intent.HANDOFF and phase == "initial" and flow != step.key.partition(".")[2]:
        return None
    return _KINDS.get((step.acts_as, intent))


_UNROUTED = {Intent.REPEAT.value, Intent.ABORT.value}


def _is_broken(step: Step) -> bool:
    """Tell whether a step's own routing cannot be trusted to be complete."""
    gate = step.gate
    if gate is None or not gate.is_whole or not gate.allowed.keys() <= INTENTS:
        return True
    return step.intents is None and "transitions" in step.body


def _find_most(registry: Registry) -> Bound | None:
    """Return the largest number of iterations."""
    agent = registry.agent
    most = None if agent is None else whole_of(agent.settings.get("maxIterations"))
    if agent is None or most is None:
        return None
    return Bound(most, agent.at / "runner" / "verdict" / "config" / "maxIterations")
