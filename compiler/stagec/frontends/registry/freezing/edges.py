"""The moves from a step, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.contract.schemas import Miss
from stagec.core.json import Json, Object, object_of, text_in
from stagec.frontends.registry.answers import DEFAULT
from stagec.frontends.registry.document import Intent, Registry, Step
from stagec.frontends.registry.lower import following_of
from stagec.plan.gate import Among, ExitGate, Gate, JudgeGate, Reads, Term
from stagec.plan.node import Edge, Go, Named, Outcome, Stop

_DONE, _FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)
_VERDICT = "verdict"


class Moves:
    """Makes the edges of a registry's steps; every outcome that can be has an edge."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._keys = {step.key: step.key for step in registry.steps.values() if not step.is_section}
        self._anywhere: Named | None = None

    def edges(self, step: Step, gate: Gate) -> tuple[Edge, ...]:
        """Return the edges of a step with this gate."""
        if isinstance(gate, JudgeGate):
            return tuple(self._judged(step))
        edges = tuple(self._routed(step))
        return (*edges, *_missing(step, edges)) if isinstance(gate, ExitGate) else edges

    def _judged(self, step: Step) -> Iterator[Edge]:
        """Yield the moves of a step without a gate; where nothing follows it, work that is not done has failed."""
        following = following_of(self._registry, step)
        yield Edge(Intent.NEXT.value, _FAILED if following is None else Go(following))
        yield Edge(_VERDICT, _DONE)

    def _routed(self, step: Step) -> Iterator[Edge]:
        transitions = object_of(step.body.get("transitions"))
        allowed: Mapping[str, int] = step.gate.allowed if step.gate is not None else {}
        yield from self._jumps(step, allowed)
        for intent, rule in transitions.items():
            if intent in allowed or intent == Intent.ABORT:
                yield from self._moves(intent, object_of(rule))
        if Intent.REPEAT in allowed and Intent.REPEAT not in transitions:
            yield Edge(Intent.REPEAT.value, Go(step.key))
        if Intent.ABORT in allowed and Intent.ABORT not in transitions:
            yield Edge(Intent.ABORT.value, _FAILED)

    def _moves(self, intent: str, rule: Object) -> Iterator[Edge]:
        """Yield the moves of one transition; its fallback serves each of its targets."""
        if intent in _ENDS:
            yield Edge(intent, _ENDS[intent])
            return
        fallback, condition = self._key(rule.get("fallback")), text_in(rule, "condition")
        cases = {DEFAULT: rule["target"]} if "target" in rule else object_of(rule.get("targets"))
        for case, target in cases.items():
            if case != DEFAULT and condition is not None:
                yield from (Edge(intent, go, (_chosen(condition, case),)) for go in self._go(target, fallback))
        yield from (Edge(intent, go) for go in self._go(cases.get(DEFAULT), fallback))

    def _go(self, target: Json, fallback: str | None) -> Iterator[Go]:
        node = self._key(target)
        if node is not None:
            yield Go(node, fallback if fallback != node else None)

    def _key(self, name: Json) -> str | None:
        """Return the key of the step that a name means, if a run can enter it."""
        return self._keys.get(self._registry.aliases.get(name, name)) if isinstance(name, str) else None

    def _jumps(self, step: Step, allowed: Mapping[str, int]) -> Iterator[Edge]:
        """Yield the move to a step that the answer names: to those that it may name, to any where all are possible."""
        field = step.gate.target_field if step.gate is not None else None
        if not field or Intent.JUMP not in allowed:
            return
        values = step.output.values.get(field, Miss.UNKNOWABLE) if step.output is not None else Miss.UNKNOWABLE
        named = Named(self._named(values)) if isinstance(values, tuple) else self._any()
        if named.nodes:
            yield Edge(Intent.JUMP.value, named)

    def _named(self, values: tuple[Json, ...]) -> Mapping[str, str]:
        found = ((each, self._key(each)) for each in values if isinstance(each, str))
        return {name: key for name, key in found if key is not None}

    def _any(self) -> Named:
        if self._anywhere is None:
            aliases = self._named(tuple(self._registry.aliases))
            self._anywhere = Named({**aliases, **self._keys})
        return self._anywhere


def _chosen(condition: str, case: str) -> Term:
    """Return what holds of a value for which a case is written: null is written as JSON writes it, not as holes do."""
    path, is_special = ("handoff", condition), case in {"", _NULL}
    return Among(path, (case, None) if case == _NULL else (case,)) if is_special else Reads(path, (case,))


_NULL = "null"


_ENDS: Mapping[str, Stop] = {Intent.CLOSING.value: _DONE, Intent.ABORT.value: _FAILED}
"""The intents that end a run, whatever their transitions say."""


def _missing(step: Step, edges: tuple[Edge, ...]) -> Iterator[Edge]:
    """Yield what the exit status of a program leads to where no transition says so."""
    taken = {edge.on for edge in edges if not edge.when}
    if Intent.CLOSING not in taken:
        yield Edge(Intent.CLOSING.value, _DONE)
    if Intent.REPEAT not in taken:
        yield Edge(Intent.REPEAT.value, Go(step.key))
