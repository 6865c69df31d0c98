"""From the members of `steps` to steps, sections included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stagec.core.json import Json, Object, list_of, object_of, objects_in, text_in
from stagec.core.place import Place
from stagec.core.value import NOTHING, value
from stagec.frontends.registry.address import Address, read_address
from stagec.frontends.registry.agreement import agree
from stagec.frontends.registry.document import (
    ALLOWED,
    KIND_OF_PHASE,
    Gate,
    Intent,
    OutputSchema,
    Step,
    StepKind,
    Transition,
)
from stagec.frontends.registry.gates import GateReader, OutputReader, read_reference
from stagec.frontends.registry.generation import LEGACY_MEMBERS, Generation
from stagec.frontends.registry.guards import read_chain, read_retry
from stagec.frontends.registry.prompts import VARIABLE

_KINDS = {kind.value: kind for kind in StepKind}


def read_steps(root: Object, at: Place, outputs: OutputReader, written: Generation) -> Mapping[str, Step]:
    """Return the steps of a registry by their keys."""
    found: dict[str, list[str]] = {}
    for _, body in objects_in(root, "steps"):
        for given in object_of(body.get("inputs")).values():
            step, _, key = (text_in(object_of(given), "from") or "").rpartition(".")
            found.setdefault(step, []).append(key)
    reading = _StepReading(outputs, GateReader(), {step: tuple(keys) for step, keys in found.items()}, written)
    return {key: _step(key, body, at, reading) for key, body in objects_in(root, "steps")}


@value
class _StepReading:
    """What all steps are read with; `wanted` are the keys that others take as inputs, by what they call the step."""

    outputs: OutputReader
    gates: GateReader
    wanted: Mapping[str, tuple[str, ...]]
    generation: Generation

    def output(self, key: str, body: Object, gate: Gate | None) -> OutputSchema | None:
        """Return what the answers of a step look like."""
        file, name = read_reference(body)
        is_taken_whole = gate is None or not gate.handoff
        wanted = (*self.wanted.get(key, ()), *self.wanted.get(text_in(body, "stepId") or "", ()))
        return self.outputs.output(file, name, gate, wanted if is_taken_whole else ()) if file and name else None


def _step(key: str, body: Object, registry: Place, reading: _StepReading) -> Step:
    at = Place(registry.file, ("steps", key))
    address, is_old = read_address(body, at, reading.generation), reading.generation is Generation.V1_13
    is_section = address.c2 == "section" or key.startswith("section.")
    flow: Object = {} if is_section else body  # what a section says about running means nothing
    gate = reading.gates.read(flow.get("structuredGate"))
    routes, output = _read_routes(flow.get("transitions")), reading.output(key, flow, gate)
    kind_member, kind = _find_kind(flow, address if address.at == at else None, is_old=is_old)
    return Step(
        key=key,
        at=at,
        id=text_in(body, "stepId"),
        kind=kind,
        acts_as=kind if kind is None or gate is None or gate.allowed.keys() <= ALLOWED[kind] else None,
        phase=address.c2,
        is_section=is_section,
        gate=gate,
        **routes,
        output=output,
        body=body,
        declared=_list_declared(body),
        agrees=agree(gate, output, routes["intents"]),
        address=address,
        kind_member=kind_member,
        **({} if is_old else _read_additions(body, at, gate)),
    )


def _list_declared(body: Object) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for index, each in enumerate(list_of(body.get("uvVariables"))):
        if isinstance(each, str) and (name := each.removeprefix(VARIABLE)):
            found.setdefault(name, index)
    return found or NOTHING


def _read_additions(body: Object, at: Place, gate: Gate | None) -> dict[str, Any]:
    """Return what only steps of 1.14 have, and what they have of 1.13 although it is refused."""
    legacy = tuple(each for each in LEGACY_MEMBERS if each in body)
    chain = read_chain(body, at)
    repeats = _USUAL_CHAIN if chain is None else tuple(each.name for each in chain)
    return {
        "adaptation_chain": chain,
        "repeats": repeats if gate is not None and Intent.REPEAT in gate.allowed else None,
        "retry": read_retry(body, at),
        "legacy": legacy,
    }


_USUAL_CHAIN = ("default",)


def _find_kind(flow: Object, inferring: Address | None, *, is_old: bool) -> tuple[str, StepKind | None]:
    """Return the member that states the kind of a step, and the kind; flat coordinates tell it where nothing does."""
    member = "stepKind" if is_old or ("kind" not in flow and "stepKind" in flow) else "kind"
    if member in flow or inferring is None or not flow:
        return member, _KINDS.get(str(flow.get(member)))
    return member, KIND_OF_PHASE.get(inferring.c2 or "")


def _read_routes(transitions: Json) -> dict[str, Any]:
    rules = object_of(transitions)
    return {
        "moves": tuple(_moves(rules)),
        "intents": frozenset(rules) if isinstance(transitions, dict) else None,
        "has_cases": any(isinstance(rule, dict) and "targets" in rule for rule in rules.values()),
    }


def _moves(transitions: Object) -> Iterator[Transition]:
    for intent, rule in transitions.items():
        if not isinstance(rule, dict):
            continue
        target, fallback = rule.get("target", ...), rule.get("fallback")
        if target is None or isinstance(target, str):
            yield Transition(intent, (intent, "target"), target)
        if isinstance(fallback, str):
            yield Transition(intent, (intent, "fallback"), fallback)
        for case, conditional in object_of(rule.get("targets")).items():
            if conditional is None or isinstance(conditional, str):
                yield Transition(intent, (intent, "targets", case), conditional, case)
